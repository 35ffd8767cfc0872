"""How many examples a property is tried on, and how many cases of a table."""

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

IS_LONG = os.environ.get("FUZZ") == "1"
IS_QUICK = os.environ.get("QUICK") == "1"


def examples(short: int, long: int) -> settings:
    """Settings of a property: some examples always, a few under QUICK=1, many under FUZZ=1."""
    return settings(
        max_examples=long if IS_LONG else max(short // 5, 2) if IS_QUICK else short,
        deadline=None,
        derandomize=not IS_LONG,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def one_in(every: int, cases: Sequence[Any]) -> list[Any]:
    """Cases of a table, of which one in so many always runs and all others in `make sweep`. Under
    FUZZ=1 none is left to the sweep."""
    return [
        case if IS_LONG or not place % every else pytest.param(case, marks=pytest.mark.sweep)
        for place, case in enumerate(cases)
    ]
