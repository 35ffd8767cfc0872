"""What each purchase option charges, line by line."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.scenario import CostLine
from planner.costing.results.scenario_result import Scenario
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import solved
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

NODE = 8 * 730.0
"""Accelerator-hours of one eight-way node around the clock."""
PLAIN = {"discount_rate_per_year": 0.0, "cloud_price_trend_per_year": 0.0}


def scenario(
    key: str, prices: Catalog, hours: Any = NODE, months: int = 12, **fields: Any
) -> Scenario:
    fields = {"finance": PLAIN, "on_prem": {"servers": []}} | fields
    request = request_of(hours, horizon_months=months, **fields)
    return solved(request, prices).scenarios[ScenarioKey(key)]


def of(one: Scenario, category: str) -> list[CostLine]:
    return [line for line in one.lines if line.category == category]


@pytest.mark.parametrize(
    ("in_part", "hours", "amount"), [(True, 365.0, "18250.00"), (False, 730.0, "36500.00")]
)
def test_on_demand_pays_the_hours_used(in_part: bool, hours: float, amount: str) -> None:
    """Four of eight accelerators around the clock: half the hours or the whole machine."""
    limits = {"allow_partial_nodes": in_part}
    lines = scenario("on_demand", catalog(offer("50")), hours=NODE / 2, constraints=limits).lines
    assert {(line.quantity, line.amount) for line in lines} == {(hours, Decimal(amount))}


def test_a_commitment_pays_every_hour_of_its_term() -> None:
    prices = catalog(offer("50"), offer("20", "reserved", term_months=12))
    one = scenario("cloud", prices, hours=NODE * 0.8)
    assert [line.quantity for line in of(one, "commitment")] == [730.0] * 12
    assert one.total_cost == Decimal("175200.00")


def test_an_upfront_payment_is_due_when_it_begins() -> None:
    prices = catalog(offer("50"), offer("5", "reserved", term_months=12, upfront=Decimal(90_000)))
    one = scenario("cloud", prices)
    (line,) = of(one, "upfront")
    assert (line.month, line.amount) == (0, 90_000)
    assert one.total_cost == Decimal(90_000 + 5 * 8760)


def test_an_upfront_payment_is_written_off_over_the_term() -> None:
    prices = catalog(offer("50"), offer("0", "reserved", term_months=12, upfront=Decimal(120_000)))
    one = scenario("cloud", prices)
    assert one.accrued[:12] == (Decimal("10000.00"),) * 12


def test_what_runs_beyond_the_horizon_falls_due_there() -> None:
    prices = catalog(offer("60"), offer("10", "reserved", term_months=24))
    one = scenario("cloud", prices, term_end="full")
    assert max(line.month for line in one.lines) == 23
    assert sum(one.cash_per_month[12:]) == Decimal(10 * 730 * 12)


STOPS = {**request_of(NODE)["workload"], "interruptible": True}


def test_more_interruptions_cost_more() -> None:
    prices = catalog(offer("50"), offer("20", "spot"))
    calm = scenario("cloud", prices, workload=STOPS, risk={"spot_interruptions_per_month": 0.1})
    rough = scenario("cloud", prices, workload=STOPS, risk={"spot_interruptions_per_month": 20})
    assert rough.total_cost > calm.total_cost


def test_a_capacity_block_is_paid_ahead() -> None:
    """For the 181 days from January to June; what follows is rented on demand."""
    prices = catalog(offer("50"), offer("30", "capacity_block"))
    one = scenario("cloud", prices)
    assert {line.category for line in one.lines if line.month < 6} == {"upfront"}
    assert one.total_cost == Decimal(30 * 6 * 730 + 50 * 6 * 730)


def test_a_dated_offer_serves_its_months() -> None:
    block = {
        "label": "block", "accelerator": "H100-80GB-SXM", "accelerator_count": 8,
        "purchase_option": "capacity_block", "usd_per_hour": 10,
        "available_from": "2027-03", "available_until": "2027-04",
    }  # fmt: skip
    one = scenario("cloud", catalog(offer("50")), custom_offers=[block])
    assert sorted({line.month for line in of(one, "upfront")}) == [2, 3]


def test_a_price_trend_moves_rents_and_later_commitments() -> None:
    prices = catalog(offer("50"), offer("40", "reserved", term_months=12))
    finance = PLAIN | {"cloud_price_trend_per_year": -0.2}
    one = scenario("cloud", prices, months=24, finance=finance)
    paid = {line.month: float(line.unit_price) for line in of(one, "commitment")}
    assert paid[0] == paid[11] == 40
    assert paid[12] == pytest.approx(32, rel=1e-6)
    rent = scenario("on_demand", prices, months=24, finance=finance)
    assert float(rent.lines[12].unit_price) == pytest.approx(40, rel=1e-6)


def test_storage_and_egress_follow_the_work() -> None:
    one = scenario(
        "on_demand", catalog(offer("50")), data={"storage_gib": 1000, "egress_gib_per_month": 100}
    )
    assert {line.quantity for line in of(one, "storage")} == {1000.0}
    assert {line.quantity for line in of(one, "egress")} == {100.0}
    assert {float(line.unit_price) for line in of(one, "egress")} == {0.09}


def test_data_at_rest_is_paid_in_months_without_work() -> None:
    one = scenario(
        "on_demand",
        catalog(offer("50")),
        hours=[NODE, 0, NODE],
        months=3,
        data={"storage_gib": 1000},
    )
    assert [line.quantity for line in of(one, "storage")] == [1000.0] * 3


def test_data_draws_the_work_to_where_it_is_cheap() -> None:
    prices = catalog(
        offer("50"),
        offer("50.001", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g"),
    )
    near = scenario("on_demand", prices, data={"storage_gib": 1e6})
    far = scenario("on_demand", prices)
    assert {line.provider for line in far.lines} == {"aws"}
    assert near.total_cost <= far.total_cost + Decimal(1e6 * 12)
    assert {line.provider for line in of(near, "storage")} == {"gcp"}


def test_a_price_in_another_currency_is_converted_and_kept() -> None:
    rates = ExchangeRates.of([ExchangeRate("CNY", TODAY, Decimal("7.2"), "Federal Reserve")])
    yuan = offer("360", provider="aws", region="cn-north-1", currency="CNY")
    prices = Catalog.of([yuan], exchange_rates=rates)
    request = request_of(NODE, horizon_months=1, finance=PLAIN, on_prem={"servers": []})
    answer = solved(request | {"constraints": {"partitions": ["aws-china"]}}, prices).as_dict()
    one = next(s for s in answer["scenarios"] if s["key"] == "on_demand")
    assert float(one["total_cost"]) == pytest.approx(50 * 730, abs=0.02)
    (native,) = answer["offers"].values()
    assert (native["native_currency"], native["native_price_per_hour"]) == ("CNY", "360")
    assert native["rate_date"] == TODAY.isoformat()


def test_a_share_of_a_card_is_no_whole_card() -> None:
    from fractions import Fraction

    sixth = offer("1", accelerator="nvidia-a10", instance_type="NV6ads_A10_v5")
    object.__setattr__(sixth, "accelerator_count", Fraction(1, 6))
    one = scenario("on_demand", catalog(sixth, offer("50")))
    assert one.feasible
    request = request_of(
        730, on_prem={"servers": []}, horizon_months=1,
        workload={"kind": "accelerator_hours", "accelerator": "A10", "hours_per_month": 730},
    )  # fmt: skip
    found = solved(request, catalog(sixth)).scenarios[ScenarioKey.ON_DEMAND]
    assert not found.feasible
    shares = solved(
        request | {"constraints": {"min_accelerators_per_node": 0.1}}, catalog(sixth)
    ).scenarios[ScenarioKey.ON_DEMAND]
    assert shares.total_cost == Decimal("4380.00")  # six sixths for 730 h


def test_a_price_trend_moves_later_upfront_payments_and_their_write_off() -> None:
    prices = catalog(offer("90"), offer("5", "reserved", term_months=12, upfront=Decimal(90_000)))
    finance = PLAIN | {"cloud_price_trend_per_year": -0.2}
    one = scenario("cloud", prices, months=24, finance=finance)
    assert [(line.month, line.amount) for line in of(one, "upfront")] == [
        (0, Decimal("90000.00")),
        (12, Decimal("72000.00")),
    ]
    monthly = {month: Decimal(5 * 730) * (1 if month < 12 else Decimal("0.8")) for month in (0, 23)}
    assert one.accrued[0] == 7500 + monthly[0]
    assert one.accrued[23] == 6000 + monthly[23]


def test_a_support_plan_is_taken_of_the_bill_at_the_cheapest_price_on_demand() -> None:
    """8 × 730 hours at 40/8 USD are 29,200 USD a month; of spot and reserved nothing is counted."""
    plan = {"cloud_support_plan": "aws_enterprise", "cloud_support_rate": None}
    others = offer("4", "spot"), offer("3", "reserved", term_months=12)
    prices = catalog(offer("40"), offer("48"), *others)
    found = solved(request_of(730 * 8, finance=PLAIN | plan), prices)
    rate = found.preparation.priced_assumptions["cloud_support_rate"]
    assert rate == pytest.approx(5000 / 29_200)  # the least that the plan costs in a month
