"""Runs that differ in their months alone share what was sized."""

from __future__ import annotations

import datetime as dt

from planner.contract.request.workload import Training
from planner.sizing.candidates.candidates import task_on
from planner.sizing.demand import compute_demand


def test_a_run_with_another_deadline_is_sized_on_what_is_known() -> None:
    def hours(deadline: str) -> float:
        runs = [{"start": "2027-01", "deadline": deadline}]
        work = {"kind": "training", "parameters": 7e9, "tokens": 2e11, "runs": runs}
        training = Training.model_validate(work)
        demand = compute_demand(training, dt.date(2027, 1, 1), 6, ["H100 SXM"])
        return float(demand.hours_per_month.sum())

    task_on.cache_clear()
    hours("2027-06")
    after = hours("2027-02")
    assert task_on.cache_info().misses == 1
    task_on.cache_clear()
    assert hours("2027-02") == after
