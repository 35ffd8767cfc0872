"""What an answer becomes: the changes of a variant give back what was asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.comparison import read_request
from planner.services.projects.projects import _apply_changes
from planner.services.projects.saved_comparisons import changes_between
from tests.planner.workspace import WORKLOAD


def requests() -> st.SearchStrategy[dict[str, Any]]:
    """Requests with some of the sections, fields and lists that a form can send."""
    hours = st.fixed_dictionaries(
        {"kind": st.just("accelerator_hours"), "accelerator": st.sampled_from(["H100", "H200"]),
         "hours_per_month": st.integers(1, 9000)},
        optional={"peak_accelerators": st.integers(1, 64)},
    )  # fmt: skip
    training = st.fixed_dictionaries(
        {"kind": st.just("training"), "parameters": st.just(7e9), "tokens": st.just(1e11)},
        optional={"experiments_factor": st.just(2.0), "precision": st.just("fp8")},
    )
    regions = st.lists(st.sampled_from(["us-east-1", "eu-west-1"]), min_size=1, unique=True)
    section = {"regions": regions, "max_spot_share": st.just(0.5)}
    return st.fixed_dictionaries(
        {"workload": st.one_of(hours, training)},
        optional={
            "name": st.just("A name"),
            "horizon_months": st.integers(1, 60),
            "currency": st.just("EUR"),
            "constraints": st.fixed_dictionaries({}, optional=section),
            "finance": st.fixed_dictionaries({}, optional={"tax_rate": st.just(0.2)}),
            "price_adjustments": st.just([{"multiplier": 0.9}]),
        },
    )


@given(requests(), requests())
def test_changes_laid_over_the_project_ask_what_was_asked(base, wanted) -> None:
    overlaid = _apply_changes(base, changes_between(base, wanted))
    asked, meant = read_request(overlaid), read_request(wanted)
    assert asked.model_copy(update={"name": ""}) == meant.model_copy(update={"name": ""})


@pytest.mark.parametrize("name", ["constraints", "finance"])
def test_a_section_left_out_is_taken_out(name) -> None:
    base = {"workload": WORKLOAD, name: {"max_spot_share": 0.5}}
    assert changes_between(base, {"workload": WORKLOAD}) == {name: None}
