"""Credits and minimum spends of a small market: the plan is proven to a hundredth."""

from __future__ import annotations

import pytest

from tests.planner.comparison.compared import compared
from tests.planner.comparison.existing.test_pools_of_one_provider import BOTH, BOX, GOOGLE
from tests.planner.costing.market_of import H100, catalog, offer


def test_a_small_market_is_proven_with_its_pools() -> None:
    """Prices of the pools' money alone left a gap of more than 2 %."""
    prices = catalog(offer("50"), GOOGLE)
    found = compared(prices, hours=5840, existing=BOTH, on_prem={"servers": [BOX]})
    plan = found.scenarios["hybrid"]
    assert plan.gap is not None
    assert plan.gap <= 0.01


def test_a_dearer_node_stays_that_fills_up_one_paid_by_a_credit() -> None:
    """A credit pays a third of the month of a node at Google, and the larger machine of AWS, dearer
    than eight small ones, does the rest of it. Before, the small ones replaced that machine, and
    20,440 USD were told as the least."""
    credit = {"label": "Grant", "amount": 14_600, "provider": "gcp", "expires": "2027-01"}
    prices = catalog(
        offer("3.5", count=1, instance_type="small"),
        offer("30"),
        offer("60", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g"),
    )
    found = compared(
        prices,
        hours=[5840],
        horizon_months=1,
        existing={"credits": [credit]},
        on_prem={"servers": []},
    )
    plan = found.scenarios["hybrid"]
    assert 14_599 < float(plan.net_present_cost) < 14_601


def test_eight_small_machines_are_one_large_beside_a_credit() -> None:
    """Both are sources of the plan there; the larger one is still what a team rents."""
    prices = catalog(offer("7", count=1, instance_type="small"), offer("56"))
    credit = {"label": "Grant", "amount": 9_000, "provider": "aws", "expires": "2027-03"}
    found = compared(
        prices,
        hours=5840,
        horizon_months=3,
        existing={"credits": [credit]},
        on_prem={"servers": []},
    )
    used = found.scenarios["on_demand"].used_hours
    rented = {found.inputs.by_key[key].instance_type for key, hours in used.items() if hours.any()}
    assert rented == {"p5.48xlarge"}


def test_rules_before_6_go_on_where_a_first_plan_is_nearly_the_best() -> None:
    """The first plan, of 111,134 USD, is within a hundredth of its bound."""
    prices = catalog(
        offer("3.5116", count=1, instance_type="small"),
        offer("21.2204", "reserved", term_months=3, payment_option="no_upfront"),
    )
    grants = [
        {"label": "Grant 0", "provider": "aws", "amount": 165_622.94, "expires": "2027-03"},
        {"label": "Grant 1", "provider": "aws", "amount": 131_668.96, "expires": "2027-12"},
    ]
    least = {"label": "EDP", "provider": "aws", "amount": 116_355.25,
             "first": "2027-03", "last": "2027-08"}  # fmt: skip
    found = compared(
        prices,
        hours=[11_680, 11_680, 0, 11_680, 17_520, 17_520, 0, 0],
        horizon_months=8,
        rules=1,
        term_end="full",
        existing={"credits": grants, "minimum_spend": [least]},
        on_prem={"servers": []},
        finance={"discount_rate_per_year": 0.08, "cash_timing": "month_start",
                 "cloud_price_trend_per_year": 0},
    )  # fmt: skip
    assert round(found.scenarios["hybrid"].net_present_cost) == 110_578


def test_hours_beside_a_credit_are_the_cheapest_of_their_month() -> None:
    """The solver, going on from the basis of a programme in fractions, called an optimum a machine
    of eight for the work of two, so that the credit was left: 77,315 USD, 5 % from its bound."""
    prices = catalog(
        offer("6.22", count=1, provider="azure", region="eastus", instance_type="n1"),
        offer("37.36", instance_type="n8"),
        offer("5.36", count=1, instance_type="n1"),
        offer("24.12", count=4, region="us-west-2", instance_type="n4"),
    )
    credit = {"label": "Grant", "amount": 9_018, "provider": "azure", "expires": "2027-01"}
    work = {
        "kind": "accelerator_hours",
        "accelerator": H100,
        "hours_per_month": [11_680, 1_460, 3_200],
        "peak_accelerators": [16, 2, 16],
    }
    found = compared(
        prices,
        workload=work,
        horizon_months=3,
        existing={"credits": [credit]},
        on_prem={"servers": []},
        finance={"discount_rate_per_year": 0, "cloud_price_trend_per_year": 0},
    )
    plan = found.scenarios["on_demand"]
    assert float(plan.total_cost) == pytest.approx(73_573.66)
    assert plan.gap < 0.001
