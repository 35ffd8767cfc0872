"""A request as the plan form types it: each figure in the unit of its box."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from planner.web.common.form_fields import SINGLE
from planner.web.common.query_codec import SCALES, flatten

_SCALES = {field.path: field.scale for field in SINGLE if field.scale}


def encode_in_units(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the address of a request.

    >>> encode_in_units({"workload": {"tokens": 150_000_000_000}, "finance": {"tax_rate": 0.07}})
    [('workload.tokens~bn', '150'), ('finance.tax_rate~pct', '7')]
    """
    return [_in_unit(path, value) for path, value in flatten(request)]


def _in_unit(path: str, value: str) -> tuple[str, str]:
    scale = _SCALES.get(path)
    if not scale:
        return path, value
    figure = Decimal(value) / SCALES[scale]
    return f"{path}~{scale}", f"{figure.normalize():f}"
