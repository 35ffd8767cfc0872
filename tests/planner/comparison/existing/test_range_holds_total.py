"""The total of a plan lies in its range: what is signed at a price does not move it out."""

import os
import random
from decimal import Decimal
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.analysis.simulation import HALF_CENT, simulation_of
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import TODAY, catalog, offer

NOTHING = Catalog.of([])
EIGHT = {"accelerator": "H100", "accelerator_count": 8}
SEEDS = 400 if os.environ.get("FUZZ") == "1" else 12


def request_of_seed(seed: int) -> dict[str, Any]:
    """Offers, contracts, credits, servers and a trend by chance."""
    draw = random.Random(seed)
    provider = draw.choice(["aws", "gcp", "north"])
    offers = [
        {"label": "By the hour", "provider": provider, "purchase_option": "on_demand",
         "usd_per_hour": 40, **EIGHT},
    ]  # fmt: skip
    if draw.random() < 0.5:
        offers.append(
            {"label": "A year", "provider": provider, "purchase_option": "reserved",
             "term_months": 12, "usd_per_hour": 20, "upfront_usd": 60000, **EIGHT}
        )  # fmt: skip
    existing: dict[str, Any] = {}
    if draw.random() < 0.6:
        ends = draw.choice(["2027-06", "2027-12", "2028-12"])
        existing["commitments"] = [
            {"label": "Signed", "provider": provider, "price_per_month": 20000, "ends": ends,
             **EIGHT}
        ]  # fmt: skip
    if draw.random() < 0.6:
        amount = draw.choice([50_000, 100_000, 500_000])
        existing["credits"] = [
            {"label": "Credit", "amount": amount, "provider": provider, "expires": "2027-09"}
        ]
    is_sure = draw.random() < 0.5
    return {
        "start": "2027-01",
        "horizon_months": draw.choice([6, 12, 18, 24, 36]),
        "use_catalog": False,
        "sensitivity": False,
        "cheaper_if": False,
        "workload": {
            "kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840
        },
        "custom_offers": offers,
        "existing": existing,
        "on_prem": {"servers": [] if draw.random() < 0.7 else None},
        "finance": {"cloud_price_trend_per_year": draw.choice([0, 0, -0.1, -0.19, 0.05])},
        "risk": {"seed": seed, "samples": 500} | ({"demand_growth_sd": 0} if is_sure else {}),
    }  # fmt: skip


def assert_total_in_range(answer: ComparisonAnswer) -> None:
    assert answer.risk is not None
    ranges = {key: answer.risk.range_of(key) for key in answer.by_key}
    assert any(ranges.values())
    for key, ends in ranges.items():
        if ends is not None:
            assert ends.total_p10 is not None
            assert ends.total_p90 is not None
            assert ends.total_p10 <= answer.by_key[key].total_cost <= ends.total_p90, key


@pytest.mark.one_in(4)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(SEEDS))
def test_with_a_given_trend_the_total_lies_in_its_range(seed: int) -> None:
    assert_total_in_range(compare(request_of_seed(seed), NOTHING, today=TODAY))


def other_sources(seed: int) -> dict[str, Any]:
    """The same without a given trend, with everything else that a range comes from: fitted or
    given spreads of prices and resale, spot, delay, growth, quotes and late delivery of servers,
    minimum spends, hours of any share of a machine."""
    draw, one = random.Random(f"other {seed}"), request_of_seed(seed)
    if draw.random() < 0.8:
        one["finance"].pop("cloud_price_trend_per_year")
    provider, risk = one["custom_offers"][0]["provider"], one["risk"]
    spreads = {"price_sd": [0.1, 0.4], "slip_months_sd": [0, 1, 3], "demand_growth_sd": [0, 0.4],
               "residual_sd": [0.3]}  # fmt: skip
    risk |= {name: draw.choice(some) for name, some in spreads.items() if draw.random() < 0.35}
    work = one["workload"]
    work["hours_per_month"] = draw.choice([1_000, 4_000, 5_800, 5_840, 11_000, 20_000, 23_360])
    if draw.random() < 0.4:
        one["custom_offers"].append(
            {"label": "Spot", "provider": provider, "purchase_option": "spot", "usd_per_hour": 15,
             **EIGHT}
        )  # fmt: skip
        work["interruptible"] = True
    if draw.random() < 0.5:
        server = {"server": "custom", "label": "Box", "running_cost_per_hour": 5,
                  "unit_price": draw.choice([200_000, 300_000]), **EIGHT}  # fmt: skip
        if draw.random() < 0.5:
            server["quotes"] = [{"unit_price": 150_000, "quoted": "2026-03"},
                                {"unit_price": 330_000, "quoted": "2026-01"}]  # fmt: skip
        if draw.random() < 0.5:
            server["late_delivery"] = {"probability": 0.3, "months": 6}
        one["on_prem"] = {"servers": [server]}
    if draw.random() < 0.3:
        one["existing"]["minimum_spend"] = [
            {"label": "EDP", "amount": 200_000, "provider": provider, "first": "2027-01",
             "last": "2027-06"}
        ]  # fmt: skip
    return one


@pytest.mark.one_in(3)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(SEEDS))
def test_of_any_other_source_the_total_lies_in_its_range(seed: int) -> None:
    assert_total_in_range(compare(other_sources(seed), NOTHING, today=TODAY))


def signed() -> dict[str, Any]:
    """Six months signed, six by the hour, prices as they are."""
    request = request_of_seed(0)
    request["existing"] = {
        "commitments": [
            {"label": "Signed", "provider": "aws", "price_per_month": 20000, "ends": "2027-06",
             **EIGHT}
        ]
    }  # fmt: skip
    request["custom_offers"] = request["custom_offers"][:1]
    request["custom_offers"][0]["provider"] = "aws"
    finance = {"cloud_price_trend_per_year": 0, "cloud_support_rate": 0,
               "cloud_staff_fte_per_accelerator": 0}  # fmt: skip
    servers: dict[str, Any] = {"servers": []}
    return request | {"horizon_months": 12, "on_prem": servers, "finance": finance, "risk": {}}


def test_prices_that_do_not_change_stay_at_the_trend() -> None:
    answer = compare(signed(), NOTHING, today=TODAY)
    assert float(answer.by_key["on_demand"].total_cost) == 6 * 20_000 + 6 * 29_200
    assert_total_in_range(answer)


def test_a_trend_stays_the_mean_of_prices() -> None:
    """What is rented by the hour throughout costs the plan's total on average."""
    risk = {"demand_growth_sd": 0, "slip_months_sd": 0, "samples": 2000, "hours_spread": 0}
    request = signed() | {"existing": {}, "risk": risk}
    request["finance"]["discount_rate_per_year"] = 0
    answer = compare(request, NOTHING, today=TODAY)
    assert answer.risk is not None
    assert answer.risk.on_demand is not None
    plan = answer.by_key["on_demand"]
    assert float(answer.risk.on_demand.mean) == pytest.approx(
        float(plan.total_cost), abs=HALF_CENT * len(plan.lines) + 0.01
    )


@pytest.mark.parametrize("tax_rate", [0.0, 0.25])
def test_a_minimum_spend_is_taxed_in_outcomes_as_in_the_plan(tax_rate: float) -> None:
    spend = {"label": "EDP", "provider": "north", "amount": 900_000, "first": "2027-01"}
    offer = {"label": "By the hour", "provider": "north", "purchase_option": "on_demand",
             "usd_per_hour": 40, **EIGHT}  # fmt: skip
    still = ("demand_growth_sd", "hours_spread", "price_sd", "residual_sd")
    answer = compare(
        {**request_of_seed(0), "horizon_months": 12, "custom_offers": [offer],
         "existing": {"minimum_spend": [{**spend, "last": "2027-12"}]}, "on_prem": {"servers": []},
         "finance": {"tax_rate": tax_rate}, "risk": dict.fromkeys(still, 0.0)},
        NOTHING, today=TODAY,
    )  # fmt: skip
    assert answer.verdict
    expected = float(answer.verdict.expected or 0)
    assert expected == pytest.approx(float(answer.verdict.total), rel=1e-4)


@pytest.mark.parametrize("spot_share", [0.0, 0.5])
def test_no_outcome_costs_less_than_a_minimum_spend(spot_share: float) -> None:
    """What is planned for later is billed only where an outcome begins it."""
    year = {"term_months": 12, "payment_option": "all_upfront", "upfront": Decimal(250_000)}
    spend = {"label": "EDP", "provider": "aws", "amount": 2e6, "first": "2027-01"}
    rents = offer("55.04"), offer("38", "spot", zone="us-east-1a"), offer("33", "dws_calendar_mode")
    found = compared(
        catalog(*rents, offer("0", "reserved", **year)), hours=11_680, on_prem={"servers": []},
        existing={"minimum_spend": [spend | {"last": "2028-12"}]},
        constraints={"max_spot_share": spot_share}, risk={"slip_months_sd": 3},
    )  # fmt: skip
    plans = [one.plan for one in found.choice.candidates]
    assert any(units[1:].any() for one in plans for units in one.units_started.values())
    simulation = simulation_of(found.inputs, found.simulation.parameters)
    assert simulation.cost(plans)[1].min() > 2e6 - 1
