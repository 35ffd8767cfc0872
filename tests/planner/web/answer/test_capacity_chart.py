"""What serves the demand: machines and the peak stand in one picture where they count the same."""

from __future__ import annotations

from planner.contract.answer.scenario import Purchase
from planner.web.answer.charts import capacity
from planner.web.answer.tables import PurchaseRow
from tests.golden.answers import answered


def test_a_peak_that_counts_another_accelerator_is_named_and_not_drawn() -> None:
    answer = answered("servers bought in several months, sensitivity")
    plan = answer.recommended
    assert plan is not None
    same = capacity(answer, plan)
    assert same.series[-1].name == "peak demand"
    demand = answer.demand.model_copy(update={"accelerator": "nvidia-a100-80gb-sxm"})
    other = capacity(answer.model_copy(update={"demand": demand}), plan)
    assert [one.name for one in other.series] == [one.name for one in same.series[:-1]]
    assert other.summary.endswith("accelerators of A100 SXM4 80 GB.")


def test_units_of_hours_are_rounded_for_readers() -> None:
    hours = Purchase(month=0, source="a", units=738.018785, unit="node-hours", first=0, last=0)
    assert PurchaseRow(hours, "2027-01", "2027-01", "2027-01").units == "738.02 machine-hours"
