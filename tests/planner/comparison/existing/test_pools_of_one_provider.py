"""A credit and a minimum spend with one provider: a bill counts for one of them."""

from __future__ import annotations

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
