"""A job of more accelerators than the stated peak contradicts itself, and is refused."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.request.workload import AcceleratorHours
from planner.portfolio.portfolio import plan_portfolio
from planner.sizing.demand import compute_demand
from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput
from tests.planner.costing.market_of import H100, TODAY, catalog, offer

MARKET = catalog(offer("40"))
REFUSAL = (
    "a job of 16 accelerators at once is more than the peak of 8 (peak_accelerators); allowed are "
    "at most 8, or give a peak of at least 16"
)


def work(job: int, peak: int | list[int], hours: float | list[float] = 2920) -> dict[str, Any]:
    return {
        "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours,
        "peak_accelerators": peak, "accelerators_per_job": job,
    }  # fmt: skip


def refusal_of(ask: Any) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        ask()
    return refused.value.field, refused.value.message


def test_it_is_refused_behind_every_question() -> None:
    asked = {"workload": work(16, 8)}
    field = "workload.accelerators_per_job"
    assert refusal_of(lambda: compare(asked, MARKET, today=TODAY)) == (field, REFUSAL)
    assert refusal_of(lambda: estimate(asked)) == (field, REFUSAL)
    several = {"projects": [{"name": "a", **asked}, {"name": "b", "workload": work(8, 8)}]}
    refused = refusal_of(lambda: plan_portfolio(several, MARKET, today=TODAY))
    assert refused == (f"projects.0.{field}", REFUSAL)


@pytest.mark.parametrize(
    ("job", "peak", "hours", "month"),
    [
        (8, [8, 4, 8], 1000, " of month 2"),
        (8, [4, 8, 8], [0, 1000, 1000], None),  # no hours, no job
        (8, 4, [0, 1000, 1000], ""),
        (8, 8, 1000, None),
    ],
)
def test_every_month_with_hours_holds_a_job(
    job: int, peak: Any, hours: Any, month: str | None
) -> None:
    asked = AcceleratorHours.model_validate(work(job, peak, hours))
    if month is None:
        assert compute_demand(asked, TODAY, 3).peak_accelerators.max() == 8
        return
    _, message = refusal_of(lambda: compute_demand(asked, TODAY, 3))
    assert message.startswith(
        f"a job of 8 accelerators at once is more than the peak of 4{month} (peak_accelerators); "
    )


def test_a_job_without_a_stated_peak_sets_it() -> None:
    asked = {key: value for key, value in work(16, 8).items() if key != "peak_accelerators"}
    answer = compare({"workload": asked}, MARKET, today=TODAY)
    assert answer.demand.highest_peak == 16
