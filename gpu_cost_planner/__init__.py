"""The planner as a library: the figures of page, API and commands without their server.

    from gpu_cost_planner import compare

    answer = compare({"workload": {"kind": "accelerator_hours", "accelerator": "H100",
                                   "hours_per_month": 5840}})
    print(answer)                       # the advice and its tables, as on the command line
    answer.lines.to_frame()             # any table of it as a pandas frame

Importing costs little: solver, pandas and prices are loaded by the first call that needs them.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

for _name in ("planner", "pricing"):
    _spec = find_spec(_name)
    if (
        _spec is None
        or _spec.origin is None
        or not Path(_spec.origin).is_relative_to(Path(__file__).parents[1] / _name)
    ):
        raise ImportError(
            f"gpu_cost_planner needs its own package {_name}, but Python finds "
            f"{_spec and (_spec.origin or list(_spec.submodule_search_locations or ()))}. Rename "
            "that one, or install gpu-cost-planner into a virtual environment of its own."
        )

from gpu_cost_planner.planning import (  # noqa: E402
    compare,
    estimate,
    offers,
    plan_ladder,
    plan_portfolio,
    sweep,
)
from gpu_cost_planner.server import server_catalog  # noqa: E402
from pricing.common.invalid_input import InvalidInput  # noqa: E402

__all__ = [
    "InvalidInput",
    "compare",
    "estimate",
    "offers",
    "plan_ladder",
    "plan_portfolio",
    "server_catalog",
    "sweep",
]
