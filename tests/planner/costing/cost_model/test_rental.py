"""What offers charge under each purchase option, by hand."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.costing.assumptions.assumptions import default
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.rental import (
    describe_offer,
    estimate_spot_goodput,
    estimate_spot_goodputs,
    expected_interruptions_per_month,
    price_rental,
)
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar
from planner.sizing.performance.goodput import spot_goodput
from pricing.market.interruptions import find_interruption_band
from tests.planner.costing.market_of import H100, offer

CALENDAR = Calendar(dt.date(2027, 1, 1), 4)
HOURS = np.array([100.0, 200.0, 0.0, 100.0])


class Assumed(dict[str, float]):
    """Assumptions, of which the interruptions may be given."""

    given = False

    def is_from_request(self, field: str) -> bool:
        return self.given and field == "spot_interruptions_per_month"


def assumed(given: bool = False, **values: float) -> Any:
    plain = {
        "spot_goodput": 0.9, "spot_interruptions_per_month": 5.0, "checkpoint_save_hours": 0.1,
        "restart_hours": 0.5, "cloud_price_trend_per_year": 0.0, "storage_per_gib_month": 0.02,
        "egress_per_gib": 0.08, "cloud_support_rate": 0.0, "staff_cost_trend_per_year": 0.0,
        "cloud_staff_fte_per_accelerator": 0.0, "staff_cost_per_year": 175_200.0,
    }  # fmt: skip
    found = Assumed(plain | values)
    found.given = given
    return found


def useful(interruptions: float, nodes: float, save: float) -> float:
    """What the sizing makes of it, half an hour lost to each restart."""
    return spot_goodput(interruptions, nodes, save, 0.5)


def source(option: str = "on_demand", price: float = 40.0, upfront: float = 0.0, **fields: Any):
    term = {"term_months": 3} if option == "reserved" else {}
    place = {"provider": "elsewhere"} if option == "spot" else {}
    return CapacitySource(
        "o", "o", option, H100, 8, 8.0, offer=offer("40", option, **term, **place),
        price_per_hour=price, upfront=upfront, is_spot=option == "spot", **fields,
    )  # fmt: skip


def priced(one: CapacitySource, *, data: float = 0.0, end: str = "full", **values: float) -> Any:
    assumptions = assumed(**values)
    held = CloudData(assumptions, storage_gib=data)
    return price_rental(one, assumptions, CALENDAR, HOURS, held, end)


@pytest.mark.parametrize(
    ("accelerators", "checkpoint", "save", "nodes"),
    [(1, None, 0.1, 1), (17, None, 0.1, 3), (16, 8640.0, 1.0, 2), (1, 0.0, 1e-6, 1)],
)
def test_spot_is_worth_less_to_a_job_of_many_nodes_and_big_checkpoints(
    accelerators: int, checkpoint: float | None, save: float, nodes: int
) -> None:
    """8,640 GiB are written by two nodes at 1.2 GiB/s each in an hour."""
    usual = useful(default("spot_interruptions_per_month").value, 1, 0.1)
    data = CloudData(assumed(), checkpoint_gib=checkpoint)
    found = estimate_spot_goodput(
        offer("20", "spot", provider="elsewhere"), accelerators, assumed(), data
    )
    assert found == pytest.approx(min(1.0, 0.9 * useful(5, nodes, save) / usual))


def test_an_hour_of_spot_is_never_worth_more_than_an_hour() -> None:
    none = assumed(given=True, spot_interruptions_per_month=0.0, spot_goodput=0.9999)
    one = offer("20", "spot")
    assert estimate_spot_goodput(one, 1, none, CloudData(none)) == 1.0


def test_interruptions_are_those_given_else_those_published() -> None:
    one = offer("20", "spot")
    band = find_interruption_band(one.provider, one.region, one.instance_type)
    assert band is not None
    assert expected_interruptions_per_month(one, assumed()) == band.interruptions_per_month
    assert expected_interruptions_per_month(one, assumed(given=True)) == 5.0
    elsewhere = offer("20", "spot", provider="elsewhere")
    assert expected_interruptions_per_month(elsewhere, assumed()) == 5.0


@pytest.mark.parametrize("from_request", [False, True])
def test_many_machines_are_judged_as_each_by_itself(from_request: bool) -> None:
    """Published bands, none published, several job sizes; NaN stands for not published."""
    assumptions = assumed(given=from_request)
    machines = [offer("20", "spot"), offer("20", "spot", provider="elsewhere")] * 2
    least = [1, 17, 9, 16]
    bands = [find_interruption_band(o.provider, o.region, o.instance_type) for o in machines]
    published = np.array([b.interruptions_per_month if b else np.nan for b in bands])
    nodes = np.ceil(np.array(least) / 8.0)
    data = CloudData(assumptions, checkpoint_gib=4_000)
    expected = [
        estimate_spot_goodput(one, count, assumptions, data)
        for one, count in zip(machines, least, strict=True)
    ]
    found = estimate_spot_goodputs(published, nodes, assumptions, data)
    assert np.isnan(published).sum() == 2
    assert found.tolist() == expected
    assert estimate_spot_goodputs(np.zeros(0), np.zeros(0), assumptions, data).size == 0


def test_an_offer_is_called_by_its_machine_place_and_terms() -> None:
    assert describe_offer(offer("40")) == "p5.48xlarge in us-east-1, on demand"
    assert (
        describe_offer(offer("4", "spot", zone="us-east-1a")) == "p5.48xlarge in us-east-1a, spot"
    )


def test_a_support_plan_takes_its_share_of_what_an_hour_is_billed() -> None:
    rent, support = priced(source(), cloud_support_rate=0.05).hour_charges
    assert support.category is Category.SUPPORT
    assert support.per_hour == pytest.approx(0.05 * rent.per_hour)
    assert support.is_rent  # it moves with the price of machines


def test_a_support_plan_takes_its_share_of_a_commitment() -> None:
    one = source("reserved", price=10.0, upfront=9000.0)
    found = priced(one, cloud_support_rate=0.05).unit_charges
    due = {(c.category, c.timing.value): c.amounts(priced(one).term)[0] for c in found}
    for timing, category in (("monthly", Category.COMMITMENT), ("start", Category.UPFRONT)):
        assert due[Category.SUPPORT, timing] == pytest.approx(0.05 * due[category, timing])


def test_people_are_paid_for_the_accelerators_in_use() -> None:
    """A hundredth of a person of 175,200 a year, 8,760 h, for each of eight: 1.60 an hour."""
    terms = {"cloud_staff_fte_per_accelerator": 0.01, "staff_cost_trend_per_year": 0.1}
    *_, staff = priced(source(), **terms).hour_charges
    assert staff.category is Category.STAFF
    assert staff.per_hour == pytest.approx(1.6 * 1.1 ** (np.arange(5) / 12))
    assert not staff.is_rent
    (committed,) = priced(source("reserved"), **terms).hour_charges
    assert committed.per_hour == pytest.approx(staff.per_hour)
