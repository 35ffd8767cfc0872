"""Contract discounts that end within the plan: in prices, and in what those are compared with."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

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


def test_a_named_support_plan_goes_by_the_mean_price() -> None:
    """730 h at 40 USD in half of the months and at 50 in the others are 32,850 USD a month."""
    finance = {"cloud_support_plan": "aws_business_plus", "cloud_support_rate": None}
    answer = asked(offer("50"), finance=finance)
    (row,) = [row for row in answer.assumptions if row.field.endswith("cloud_support_rate")]
    assert "at a bill of 32,850 USD a month" in row.source
