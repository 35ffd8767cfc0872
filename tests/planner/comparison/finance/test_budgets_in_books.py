"""Budgets against the lines of a plan: what is shown keeps to them, and a budget of it holds it."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.advice.verdict import choose
from planner.costing.results.payments import capital, due_per_month, total_without_resale
from planner.costing.results.scenario_result import Scenario
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import CATALOG, H100, catalog, offer

CENT = Decimal("0.01")
SUMS: dict[str, Callable[[Scenario], Decimal]] = {
    "total_budget": total_without_resale,
    "monthly_budget": lambda plan: max(due_per_month(plan)),
    "capex_budget": capital,
}
PRICES = catalog(
    offer("55.04"),
    offer("7.1937", count=1),
    offer("34.0013", "reserved", term_months=12, payment_option="no_upfront"),
)
YEAR = {
    "label": "Signed", "provider": "aws", "accelerator": H100, "accelerator_count": 8,
    "price_per_month": 14_000, "ends": "2029-02",
}  # fmt: skip
BOX = {
    "server": "custom", "label": "Box", "accelerator": H100, "accelerator_count": 8,
    "unit_price": 123_456.78, "power_kw": 10.2, "rack_units": 8,
}  # fmt: skip


def asked(seed: int, **fields: Any) -> Compared:
    draw = random.Random(seed)
    hours = [round(draw.uniform(500, 9000), 4) for _ in range(36)]
    finance = {"cloud_support_rate": 0.03, "tax_rate": draw.choice([0, 0.25])}
    plain: dict[str, Any] = {"on_prem": {"servers": []}, "finance": finance}
    return compared(PRICES, hours, horizon_months=36, **(plain | fields))


def advised(found: Compared) -> Scenario:
    plan = choose(found.allowed_scenarios)
    assert plan is not None
    return plan


@pytest.mark.one_in(3)
@pytest.mark.parametrize("limit", ["total_budget", "monthly_budget"])
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 12])
def test_a_budget_of_what_a_plan_is_shown_with_holds_it_and_a_cent_less_does_not(
    seed: int, limit: str
) -> None:
    plan, sum_of = advised(asked(seed)), SUMS[limit]
    kept = advised(asked(seed, constraints={limit: float(sum_of(plan))}))
    assert kept.net_present_cost == plan.net_present_cost
    below = sum_of(plan) - CENT
    less = choose(asked(seed, constraints={limit: float(below)}).allowed_scenarios)
    assert less is None or sum_of(less) <= below


@pytest.mark.parametrize("fraction", [0, CENT])
def test_capital_counts_as_its_lines_do(fraction: Decimal) -> None:
    own: dict[str, Any] = {
        "servers": [BOX], "network_storage_rate": 0.0713, "spare_rate": 0.0331,
        "lead_time_months": 0,
    }  # fmt: skip
    free = compared(catalog(offer("98.32")), 730 * 16, horizon_months=36, on_prem=own)
    limit = capital(advised(free)) - fraction
    assert limit > 0
    held = compared(
        catalog(offer("98.32")), 730 * 16, horizon_months=36, on_prem=own,
        constraints={"capex_budget": float(limit)},
    )  # fmt: skip
    assert capital(advised(held)) <= limit
    if not fraction:
        assert advised(held).net_present_cost == advised(free).net_present_cost


def test_what_would_do_of_a_budget_does() -> None:
    found = asked(2, constraints={"total_budget": 10_000})
    least = min(
        one.required_value
        for plan in found.scenarios.values()
        for one in plan.relaxations
        if one.field == "constraints.total_budget"
    )
    assert choose(asked(2, constraints={"total_budget": least}).allowed_scenarios) is not None


def test_a_minimum_spend_that_bills_do_not_come_to_counts() -> None:
    """365 h at 7.20 USD a month leave 137,000 of a minimum of 200,000 USD to be paid."""
    least = [{"label": "EDP", "provider": "aws", "amount": 200_000, "first": "2027-01",
              "last": "2028-12"}]  # fmt: skip
    plain: dict[str, Any] = {
        "on_prem": {"servers": []}, "existing": {"minimum_spend": least},
        "hours": 365, "prices": catalog(offer("7.20", count=1)),
    }  # fmt: skip
    paid = total_without_resale(advised(compared(**plain)))
    assert paid == 200_000
    assert choose(compared(**plain, constraints={"total_budget": 199_999}).scenarios) is None
    assert choose(compared(**plain, constraints={"total_budget": 200_000}).scenarios) is not None


@pytest.mark.parametrize("limit", ["total_budget", "monthly_budget"])
def test_what_a_credit_pays_takes_nothing_of_a_budget(limit: str) -> None:
    """80,358.40 and 40,179.20 USD are billed; the credit leaves 50,358.40 of the first."""
    credit = [{"label": "Credit", "provider": "aws", "amount": 30_000, "expires": "2028-12"}]
    plain: dict[str, Any] = {
        "on_prem": {"servers": []}, "existing": {"credits": credit},
        "hours": [11_680, 5_840], "prices": catalog(offer("55.04")), "horizon_months": 2,
    }  # fmt: skip
    shown = {"total_budget": 90_537.60, "monthly_budget": 50_358.40}[limit]
    plan = advised(compared(**plain, constraints={limit: shown}))
    assert float(SUMS[limit](plan)) == shown
    assert choose(compared(**plain, constraints={limit: shown - 1}).allowed_scenarios) is None


def test_what_is_signed_counts_in_the_month_of_a_resale_too() -> None:
    """Two payments of 14,000 USD fall due after the plan, the first beside the resale of a
    server in place."""
    owned = [{"server": "Box", "units": 1, "bought": "2026-10"}]
    plain: dict[str, Any] = {
        "on_prem": {"servers": [BOX], "already_owned": owned, "count_on_resale": True},
        "existing": {"commitments": [YEAR]}, "term_end": "full",
    }  # fmt: skip
    found = compared(catalog(offer("55.04")), 730 * 24, **plain)
    paid = total_without_resale(advised(found))
    short = compared(
        catalog(offer("55.04")), 730 * 24, **plain,
        constraints={"total_budget": float(paid) - 10_000},
    )  # fmt: skip
    for plan in short.allowed_scenarios.values():
        assert not plan.feasible or total_without_resale(plan) <= paid - 10_000


@pytest.mark.sweep
def test_the_plan_for_what_may_come_keeps_to_the_cent_too() -> None:
    """With 660,012.76 stated less a cent, the plan of 660,012.76 was named all the same."""
    draw = np.random.default_rng(0)
    hours = (draw.uniform(1000, 5000) * np.ones(24) + draw.uniform(0, 1500, 24)).round(2).tolist()
    risk = {"cvar_weight": 1.0, "samples": 200}
    fields: dict[str, Any] = {"on_prem": {"servers": []}, "risk": risk}
    free = compared(CATALOG, hours, **fields).robust_plan
    assert free is not None
    assert free.same_as is None
    stated = total_without_resale(free.scenario) - CENT
    below = compared(CATALOG, hours, constraints={"total_budget": float(stated)}, **fields)
    assert below.robust_plan is not None
    assert total_without_resale(below.robust_plan.scenario) <= stated


@pytest.mark.sweep
def test_a_month_in_which_a_shortfall_is_due_asks_for_no_budget_below_what_is_stated() -> None:
    """A cent below the 70,144.44 USD that the plan needs, −13,964 was named as what would do."""
    aws = {"provider": "aws"}
    existing = {
        "credits": [{"label": "A", "amount": 97_134, "expires": "2027-03", **aws},
                    {"label": "B", "amount": 62_930, "expires": "2027-05", **aws}],
        "minimum_spend": [
            {"label": "First", "amount": 176_315, "first": "2027-01", "last": "2027-03", **aws},
            {"label": "Then", "amount": 77_726, "first": "2027-04", "last": "2027-05", **aws},
        ],
    }  # fmt: skip
    monthly = offer("17.2", "reserved", term_months=6, payment_option="no_upfront")
    upfront = offer(
        "0", "reserved", term_months=6, payment_option="all_upfront", upfront=Decimal(75_696)
    )
    plain: dict[str, Any] = {
        "on_prem": {"servers": []}, "existing": existing, "horizon_months": 5, "term_end": "full",
        "prices": catalog(offer("36.304"), monthly, upfront),
        "hours": [23_360, 17_520, 0, 23_360, 17_520],
        "finance": {"discount_rate_per_year": 0.3, "tax_rate": 0.25, "upfront_deduction_spread": 0,
                    "cash_timing": "month_middle"},
    }  # fmt: skip
    limits: dict[str, Any] = {"allow_partial_nodes": True}
    free = compared(**plain, constraints=limits).scenarios[ScenarioKey.HYBRID]
    limits["monthly_budget"] = stated = float(max(due_per_month(free)) - CENT)
    found = compared(**plain, constraints=limits).scenarios[ScenarioKey.HYBRID]
    assert not found.feasible
    assert found.relaxations
    assert all(one.required_value > stated for one in found.relaxations)
