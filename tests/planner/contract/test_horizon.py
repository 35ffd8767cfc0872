"""The horizon that a request's deadlines ask for, where it names none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.comparison import read_request
from planner.contract.request.workload import months_to_last_deadline
from tests.properties import examples

TRAINING: dict[str, Any] = {"kind": "training", "parameters": 7e9, "tokens": 1e11}


def horizon(*runs: dict[str, str], **fields: Any) -> int:
    request = {"start": "2027-01", "workload": {**TRAINING, "runs": list(runs)}, **fields}
    return read_request(request).horizon_months


def test_a_plan_ends_with_the_last_deadline() -> None:
    first = {"start": "2027-01", "deadline": "2027-06"}
    assert horizon(first, {"start": "2027-07", "deadline": "2027-12"}) == 12


@pytest.mark.parametrize("fields", [{"horizon_months": 36}, {"start": None}])
def test_unless_it_says_how_long_it_is_or_has_no_start(fields: dict[str, Any]) -> None:
    assert horizon({"start": "2027-01", "deadline": "2027-06"}, **fields) == 36


def test_a_deadline_beyond_the_longest_horizon_leaves_the_longest() -> None:
    assert horizon({"start": "2027-01", "deadline": "2036-12"}) == 120
    assert horizon({"start": "2027-01", "deadline": "2090-01"}) == 120


@examples(20, 2000)
@given(st.recursive(st.none() | st.text(max_size=9) | st.integers(), lambda x: st.lists(x)))
def test_anything_may_be_asked(value: Any) -> None:
    for part in ({"runs": value}, value, {"runs": [{"deadline": value}]}):
        assert months_to_last_deadline({"start": "2027-01", "workload": part}) is None
