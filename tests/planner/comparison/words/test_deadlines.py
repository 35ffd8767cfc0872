"""What an answer says of runs that have no deadline."""

from __future__ import annotations

from typing import Any

import pytest

from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

ALONE: dict[str, Any] = {"on_prem": {"servers": []}}


def training(*runs: dict[str, Any], **fields: Any) -> Any:
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": "H100"}
    workload = work | ({"runs": list(runs)} if runs else {})
    return compared(catalog(offer("50")), workload=workload, horizon_months=12, **ALONE, **fields)


def test_a_run_without_a_deadline_is_said_to_be_done_at_once() -> None:
    found = training()
    peak = found.demand.peak_accelerators.max()
    (words,) = (w for w in found.warnings if "deadline" in w)
    assert (
        "as soon as the usual number of accelerators can do it, here in 2027-01. A deadline"
        in words
    )
    assert "as late as 2027-12, lets fewer do it over more months" in words
    late = training({"start": "2027-01", "deadline": "2027-12"})
    assert late.demand.peak_accelerators.max() < peak


@pytest.mark.parametrize(
    "runs",
    [
        ({"start": "2027-01", "deadline": "2027-12"},),
        ({"start": "2027-01", "deadline": "2027-02"},),
        ({"start": "2027-12"},),
    ],
)
def test_a_run_that_has_a_deadline_or_can_have_none_needs_no_such_words(runs: Any) -> None:
    assert "deadline" not in " ".join(training(*runs).warnings)


def test_beside_runs_with_a_deadline_the_others_are_told_without_figures() -> None:
    runs = {"start": "2027-01", "deadline": "2027-06"}, {"start": "2027-03"}
    (words,) = (w for w in training(*runs).warnings if "deadline" in w)
    assert words.startswith("Without a deadline, work is done as soon as the usual number of acc")
    assert ", here in" not in words


@pytest.mark.parametrize(
    ("runs", "data", "said"),
    [
        (({"start": "2027-03"},), {}, " USD in all"),
        (({"start": "2027-12"},), {}, " USD in all"),
        (({"start": "2027-03"}, {"start": "2027-05"}), {}, " USD over 3 months"),
        (({"start": "2027-01", "deadline": "2027-12"},), {}, " USD in all"),
        (({"start": "2027-01", "deadline": "2027-12"},), {"storage_gib": 9}, " USD over 1 year"),
        (({"start": "2027-03"},), {"storage_gib": 9_000}, " USD over 1 year"),
    ],
)
def test_the_total_of_work_without_a_deadline_is_over_the_months_that_are_paid(
    runs: Any, data: dict[str, Any], said: str
) -> None:
    assert f"{said} (" in training(*runs, data=data).answer.verdict.sentence
