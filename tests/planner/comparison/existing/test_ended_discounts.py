"""Contract discounts that end within the plan: in prices, and in what those are compared with."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.analysis.plan_costs import (
    list_priced_sources,
    measure_plan,
    measure_units,
    planned_rent,
)
from planner.costing.analysis.plan_exposure import measure_exposures
from planner.costing.analysis.simulation import planned_simulation
from planner.exports.csv_export import Context
from planner.exports.focus import commitment_rows
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import H100, TODAY, catalog, offer, request_of

HALF = {"label": "EDP", "provider": "aws", "amount": 1, "first": "2027-01", "last": "2027-06"}
GCP = {"provider": "gcp", "region": "us-west1", "instance_type": "a3"}


def asked(*offers: Any, discount: float = 0.2, **fields: Any) -> ComparisonAnswer:
    existing = {"minimum_spend": [HALF | {"discount_rate": discount}]}
    request = {"horizon_months": 12, "existing": existing, "on_prem": {"servers": []}} | fields
    return compare(request_of(5840, **request), catalog(*offers), today=TODAY)


def test_a_discount_of_all_ends_with_its_contract() -> None:
    answer = asked(offer("50"), discount=1)
    plan = answer.by_key[ScenarioKey.ON_DEMAND]
    assert plan.cost_by_category["compute"] == 6 * 730 * 50


def test_spot_falls_back_to_what_is_cheapest_over_the_plan() -> None:
    """50 USD at 20 % off in 6 of 24 months is 47.50 on average, more than 45 throughout."""
    prices = offer("50"), offer("45", **GCP), offer("10", "spot", zone="us-east-1a")
    spot = asked(*prices, horizon_months=24, constraints={"max_spot_share": 1}).by_key["spot"]
    labels = {line.label for line in spot.lines if "while spot is not there" in line.label}
    assert labels
    assert all("a3 in us-west1" in label for label in labels)
    assert {line.unit_price for line in spot.lines if line.label in labels} == {Decimal(45)}


YEAR = offer("30", "reserved", term_months=12, payment_option="no_upfront")


def test_a_commitment_is_billed_at_the_discount_of_each_month() -> None:
    """6 months at 24 USD an hour and 6 at 30: a discount ends on every bill of its provider."""
    answer = asked(offer("50"), YEAR)
    plan = answer.by_key[ScenarioKey.COMMITTED]
    assert plan.total_cost == 6 * 730 * 24 + 6 * 730 * 30
    assert [line.unit_price for line in plan.lines] == [24] * 6 + [30] * 6
    (signed,) = plan.purchases
    assert signed.due_per_month == 730 * 24
    (row,) = commitment_rows(answer, Context(scenario="committed"))
    assert row["ContractCommitmentCost"] == plan.total_cost


def test_an_agreement_after_the_plan_changes_what_a_commitment_is_billed_then() -> None:
    """Six months within the plan at 30 USD, and six after it at 24; the discount of the plan is
    none."""
    later = HALF | {"first": "2027-07", "last": "2027-12", "discount_rate": 0.2}
    answer = asked(
        offer("90"), YEAR, existing={"minimum_spend": [later]}, horizon_months=6, term_end="full"
    )
    plan = answer.by_key[ScenarioKey.COMMITTED]
    assert plan.total_cost == 6 * 730 * (30 + 24)
    (signed,) = plan.purchases
    used = answer.offers[signed.source]
    assert used.multiplier == 1
    assert [one.multiplier for one in used.multiplier_changes] == [1, 0.8, 1]


def test_discounts_on_an_offer_of_your_own_end_with_nothing() -> None:
    """The contract takes nothing off the price of a quote, so that nothing is lost with it."""
    quote = {"label": "Quote", "provider": "aws", "accelerator": H100, "accelerator_count": 8,
             "usd_per_hour": 20, "purchase_option": "on_demand"}  # fmt: skip
    answer = asked(offer("50"), custom_offers=[quote])
    assert answer.by_key[ScenarioKey.ON_DEMAND].total_cost == 12 * 730 * 20


@pytest.mark.parametrize(("tax", "support"), [(0, 0), (0.25, 0), (0, 0.1)])
def test_what_is_owed_after_the_plan_is_at_the_discount_of_its_month(
    tax: float, support: float
) -> None:
    """Of a year that begins with a plan of 6 months, 3 more are at 24 USD an hour and 3 at 30."""
    longer = HALF | {"last": "2027-09", "discount_rate": 0.2}
    finance = {"tax_rate": tax, "cloud_support_rate": support}
    answer = asked(
        offer("50"), YEAR, existing={"minimum_spend": [longer]}, horizon_months=6,
        term_end="prorate", finance=finance,
    )  # fmt: skip
    owed = 3 * 730 * (24 + 30) * (1 - tax) * (1 + support)
    assert answer.verdict is not None
    assert f"{owed:,.0f} USD more is owed after June 2027" in answer.verdict.sentence
    (row,) = commitment_rows(answer, Context(scenario="committed"))
    assert row["ContractCommitmentCost"] == 9 * 730 * 24 + 3 * 730 * 30


@pytest.mark.parametrize(("term_end", "months"), [("full", 12), ("prorate", 3)])
def test_a_commitment_that_is_free_at_first_has_no_cost_to_its_end(
    term_end: str, months: int
) -> None:
    """Three months are paid in full by the agreement, nine are not; the bill of the first month
    does not say what those cost, and none is better than 0."""
    free = HALF | {"last": "2027-03", "discount_rate": 1}
    paid = replace(YEAR, upfront=Decimal(10))
    answer = asked(
        offer("90", **GCP), offer("90"), paid, existing={"minimum_spend": [free]},
        horizon_months=months, term_end=term_end, constraints={"purchase_options": ["reserved"]},
    )  # fmt: skip
    (row,) = commitment_rows(answer, Context(scenario="committed"))
    assert row["ContractCommitmentCost"] is None


def test_outcomes_as_planned_cost_what_a_commitment_is_billed() -> None:
    request = {"horizon_months": 12, "on_prem": {"servers": []},
               "existing": {"minimum_spend": [HALF | {"discount_rate": 0.2}]}}  # fmt: skip
    found = compared(catalog(offer("50"), YEAR), 5840, **request)
    assert found.risk_parameters is not None
    plan = found.scenarios[ScenarioKey.COMMITTED]
    simulation = planned_simulation(found.inputs, found.risk_parameters, [plan])
    present, total, _ = simulation.cost([plan])[:, 0, 0]
    assert total == pytest.approx(float(plan.total_cost))
    assert present == pytest.approx(float(plan.net_present_cost))


def test_hours_beyond_the_plan_are_paid_where_they_are_cheapest_over_it() -> None:
    """50 USD at half price for one month of 12 is 47.92 on average, more than 45 throughout: what
    outcomes rent beside commitments is not the offer that is cheapest in that month."""
    month = HALF | {"last": "2027-01", "discount_rate": 0.5}
    request = {"horizon_months": 12, "on_prem": {"servers": []}}
    prices = catalog(offer("50"), offer("45", **GCP), replace(YEAR, price_per_hour=Decimal(10)))
    found = compared(prices, 5840, existing={"minimum_spend": [month]}, **request)
    plan = found.scenarios[ScenarioKey.COMMITTED]
    mix = planned_rent(plan, found.inputs)
    assert {part.source.provider for part in mix.parts} == {"gcp"}
    terms = [one for one in found.inputs.sources if one.term is not None]
    units = {one.key: measure_units(one, found.inputs.calendar) for one in terms}
    (on_demand,) = measure_plan(plan, found.inputs, units).on_demand.parts
    assert on_demand.source.provider == "gcp"
    priced = [found.inputs.by_key[key] for key in list_priced_sources([plan], found.inputs)]
    assert {one.provider for one in priced if one.term is None} == {"gcp"}
    exposure = measure_exposures([plan], found.inputs)[0]
    assert exposure.on_demand_rent[1] * 8 == pytest.approx(45 * 1.1 ** (-1 / 12), rel=0.02)
