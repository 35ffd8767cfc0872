"""What offers charge under each purchase option, by hand."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.costing.assumptions.assumptions import default
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.rental import (
    available_months,
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


def priced(one: CapacitySource, *, data: float = 0.0, end: str = "prorate", **values: float) -> Any:
    assumptions = assumed(**values)
    held = CloudData(assumptions, storage_gib=data)
    return price_rental(one, assumptions, CALENDAR, HOURS, held, end)


def test_only_an_offer_of_a_whole_term_is_a_commitment() -> None:
    assert source("reserved").is_committed
    assert not source("on_demand").is_committed
    assert not CapacitySource("server", "", "owned", H100, 8, 8.0).is_committed


def test_an_hour_on_demand_costs_its_price_as_prices_move() -> None:
    found = priced(source(), cloud_price_trend_per_year=-0.1)
    (charge,) = found.hour_charges
    assert charge.category is Category.COMPUTE
    assert charge.per_hour == pytest.approx(40 * 0.9 ** (np.arange(5) / 12))
    assert (found.term, found.goodput) == (None, 1.0)


def test_a_block_is_paid_ahead() -> None:
    (charge,) = priced(source("capacity_block")).hour_charges
    assert charge.category is Category.UPFRONT


def test_hours_lost_on_spot_are_paid_again() -> None:
    found = priced(source("spot"))
    goodput = (
        0.9 * useful(5, 1, 0.1) / useful(default("spot_interruptions_per_month").value, 1, 0.1)
    )
    assert found.goodput == pytest.approx(goodput)
    hour, lost = found.hour_charges
    assert hour.per_hour[0] == 40
    assert hour.per_hour[0] + lost.per_hour[0] == pytest.approx(40 / goodput)


def test_data_is_shared_over_the_hours_that_are_served() -> None:
    """1,000 GiB over 100 reference hours are 80 GiB a node-hour of 8; none where none is asked."""
    _, storage = priced(source(), data=1000.0).hour_charges
    assert storage.category is Category.STORAGE
    assert np.asarray(storage.quantity).tolist() == [80, 40, 0, 80, 0]


def test_a_commitment_is_charged_for_all_hours_of_the_months_within() -> None:
    """Started in month 2 of 4, two of three months are charged, and as much of the upfront."""
    found = priced(source("reserved", price=10.0, upfront=900.0))
    monthly, upfront = found.unit_charges
    assert monthly.amounts(found.term)[2].tolist() == [0, 0, 7300, 7300, 0]
    assert upfront.amounts(found.term)[2].tolist() == pytest.approx([0, 0, 600, 0, 0])
    assert upfront.amounts(found.term)[0].tolist() == pytest.approx([900, 0, 0, 0, 0])
    assert (found.term.lead_months, found.term.duration_months) == (0, 3)
    assert not found.term.charges_after_horizon
    assert found.hour_charges == ()
    assert found.available is None


def test_a_commitment_without_a_price_or_upfront_has_no_charge_for_it() -> None:
    (upfront,) = priced(source("reserved", price=0.0, upfront=900.0)).unit_charges
    assert upfront.category is Category.UPFRONT
    (monthly,) = priced(source("reserved", price=10.0)).unit_charges
    assert monthly.category is Category.COMMITMENT


def test_a_price_is_that_of_the_month_in_which_the_commitment_begins() -> None:
    found = priced(source("reserved", 10.0, 900.0), cloud_price_trend_per_year=-0.1)
    monthly, upfront = found.unit_charges
    later = 0.9 ** (1 / 12)
    assert monthly.amounts(found.term)[1].tolist() == pytest.approx([0, *[7300 * later] * 3, 0])
    assert upfront.amounts(found.term)[1][1] == pytest.approx(900 * later)


def test_within_the_horizon_only_starts_that_end_in_it_are_open() -> None:
    within = priced(source("reserved"), end="within")
    assert within.available.tolist() == [True, True, False, False]
    dated = priced(source("reserved", available=np.array([False, True, True, True])), end="within")
    assert dated.available.tolist() == [False, True, False, False]
    full = priced(source("reserved"), end="full")
    assert full.term.charges_after_horizon
    assert full.available is None


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


def test_an_offer_is_available_from_its_first_to_its_last_month() -> None:
    month = dt.date(2027, 2, 1)
    assert available_months(None, None, CALENDAR) is None
    assert available_months(month, None, CALENDAR).tolist() == [False, True, True, True]
    assert available_months(None, month, CALENDAR).tolist() == [True, True, False, False]
    assert available_months(month, month, CALENDAR).tolist() == [False, True, False, False]


def test_an_offer_is_called_by_its_machine_place_and_terms() -> None:
    assert describe_offer(offer("40")) == "p5.48xlarge in us-east-1, on demand"
    assert (
        describe_offer(offer("4", "spot", zone="us-east-1a")) == "p5.48xlarge in us-east-1a, spot"
    )


def test_a_source_costs_nothing_but_its_charges() -> None:
    plain = CapacitySource("k", "k", "owned", H100, 8, 8.0)
    assert (plain.price_per_hour, plain.upfront, plain.power_kw, plain.idle_power_kw) == (0,) * 4
    assert (plain.goodput, plain.pue, plain.min_accelerators) == (1, 1, 1)
    assert (plain.hours_per_month, plain.is_spot, plain.taxes_capital) == (730, False, True)


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
