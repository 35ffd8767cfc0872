"""A credit and a minimum spend with one provider: a bill counts for one of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

BOTH: dict[str, Any] = {
    "credits": [{"label": "Grant", "amount": 200_000, "provider": "aws", "expires": "2027-09"}],
    "minimum_spend": [{"label": "EDP", "provider": "aws", "amount": 300_000,
                       "first": "2027-01", "last": "2028-12"}],
}  # fmt: skip
BOX = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
       "unit_price": 300_000, "power_kw": 10}  # fmt: skip
GOOGLE = offer("52", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g")


def test_the_bound_is_looked_for_where_a_bill_counts_once() -> None:
    """Before, prices of the pools' money were tried as if it counted for both: the same plan was
    proven to 21 % alone."""
    found = compared(
        catalog(offer("50"), GOOGLE),
        hours=5840,
        existing=BOTH,
        on_prem={"servers": [BOX], "count_on_resale": True},
    )
    plan = found.scenarios["hybrid"]
    assert float(plan.net_present_cost) < 528_300
    assert plan.gap is not None
    assert plan.gap < 0.15


def test_a_dearer_payment_upfront_that_a_minimum_spend_counts_is_considered() -> None:
    """Three units for 90,000 USD upfront come to the 270,000 that are owed of the first quarter
    anyway; those paid by the month, 2,400 less each, count with half of their bills alone. Before,
    the plan of 401,400 USD stood with a gap of 0."""
    prices = catalog(
        offer("50"),
        offer("20", "reserved", term_months=6, payment_option="no_upfront"),
        offer(
            "0",
            "reserved",
            term_months=6,
            payment_option="all_upfront",
            upfront=Decimal(90_000),
        ),
    )
    least = {"label": "EDP", "provider": "aws", "amount": 270_000,
             "first": "2027-01", "last": "2027-03"}  # fmt: skip
    totals = {
        rules: compared(
            prices,
            hours=[3 * 8 * 730] * 6,
            horizon_months=6,
            rules=rules,
            existing={"minimum_spend": [least]},
            on_prem={"servers": []},
        )
        .scenarios["hybrid"]
        .total_cost
        for rules in (5, 6)
    }
    assert totals == {5: 401_400, 6: 270_000}
