"""What sweeps over many machines need beside the library."""

from __future__ import annotations

from importlib.util import find_spec

from pricing.common.invalid_input import InvalidInput


def check_celery(field: str) -> None:
    """Raise `InvalidInput` where what workers need is not installed."""
    if find_spec("celery") is None:
        hint = "install it with pip install 'gpu-cost-planner[cluster]'"
        raise InvalidInput(field, f"needs Celery; {hint}")
