"""Spot that is not there is paid on demand, and what people add to an hour rented."""

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.costing.cost_model.rental import (
    Fallback,
    estimate_availability,
    price_rental,
    staff_cost_per_accelerator_hour,
    staff_over_plan,
)
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar
from tests.planner.costing.cost_model.test_rental import CALENDAR, HOURS, assumed, source

WAITS = {
    "spot_waiting_hours_training": 73.0, "spot_waiting_hours_other": 7.3,
    "spot_patience_hours": 0.0, "cloud_price_trend_per_year": -0.1,
}  # fmt: skip
TREND = 0.9 ** (np.arange(5) / 12)
SHARE = 0.5 / 1.5
"""Five interruptions of 73 h are half a month beside the hours that run."""


def priced(on_demand: float | None, **values: float) -> Any:
    assumptions = assumed(**(WAITS | values))
    data = CloudData(assumptions)
    fallback = None if on_demand is None else Fallback(on_demand, "two of b")
    return price_rental(source("spot"), assumptions, CALENDAR, HOURS, data, "full", fallback)


def test_hours_that_spot_is_not_there_are_on_demand() -> None:
    found = priced(60.0)
    spot, lost, fallback = found.hour_charges
    assert spot.per_hour == pytest.approx(40 * (1 - SHARE) * TREND)
    assert lost.per_hour == pytest.approx(40 * (1 / found.goodput - 1) * (1 - SHARE) * TREND)
    assert fallback.per_hour == pytest.approx(60 * SHARE * TREND)
    assert [c.is_fallback for c in found.hour_charges] == [False, False, True]
    assert fallback.category is Category.COMPUTE
    assert fallback.label.endswith("hours on demand while spot is not there, two of b")


def test_a_job_that_waits_longer_pays_less_of_it_on_demand() -> None:
    later = 0.5 * np.exp(-1) / (1 + 0.5 * np.exp(-1))
    fallback = priced(60.0, spot_patience_hours=73.0).hour_charges[-1]
    assert fallback.per_hour[0] == pytest.approx(60 * later)


def test_without_a_price_on_demand_spot_is_taken_to_be_there() -> None:
    found = priced(None)
    assert found.availability is None
    assert [c.is_fallback for c in found.hour_charges] == [False, False]
    assert found.hour_charges[0].per_hour == pytest.approx(40 * TREND)


def test_a_support_plan_takes_its_share_of_either_way() -> None:
    bill = priced(60.0, cloud_support_rate=0.05).hour_charges
    assert [c.category for c in bill[3:]] == [Category.SUPPORT] * 3
    assert [c.is_fallback for c in bill[3:]] == [False, False, True]
    for charge, support in zip(bill[:3], bill[3:], strict=True):
        assert support.per_hour == pytest.approx(0.05 * charge.per_hour)


@pytest.mark.parametrize(
    ("accelerator", "job", "rate", "waiting"),
    [
        ("nvidia-h100-80gb-sxm", 1, 5.0, 73.0),
        ("nvidia-h100-80gb-sxm", 17, 15.0, 73.0),
        ("nvidia-x900", 8, 5.0, 73.0),
        ("nvidia-t4", 8, 5.0, 7.3),
    ],
)
def test_all_nodes_of_a_job_have_to_be_there(
    accelerator: str, job: int, rate: float, waiting: float
) -> None:
    one = replace(source("spot"), accelerator=accelerator, min_accelerators=job)
    assert one.offer is not None
    found = estimate_availability(one, one.offer, assumed(**WAITS))
    assert (found.interruptions_per_month, found.waiting_hours) == (rate, waiting)


def test_people_beside_a_rent_grow_with_wages_against_rents() -> None:
    """0.01 · 175,200 / 8,760 h are 0.20 an accelerator-hour; over a bill of 1.05 of the rent."""
    one: Any = assumed(
        cloud_staff_fte_per_accelerator=0.01, cloud_support_rate=0.05,
        staff_cost_trend_per_year=0.1, cloud_price_trend_per_year=-0.2,
    )  # fmt: skip
    assert staff_cost_per_accelerator_hour(one) == pytest.approx(0.2)
    year = Calendar(dt.date(2027, 1, 1), 6)
    first, last = staff_over_plan(np.array([8.0, 1.0]), one, year)
    assert first == pytest.approx([1.6 / 1.05, 0.2 / 1.05])
    assert last == pytest.approx(first * (1.1 / 0.8) ** 0.5)
