"""List prices of what is billed under contract discounts, which may end within the plan."""

from decimal import Decimal
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports.csv_export import Context
from planner.exports.focus import focus_rows
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

GCP = {"provider": "gcp", "region": "us-west1", "instance_type": "a3"}


def asked(*offers: Any, **fields: Any) -> ComparisonAnswer:
    cut = [{"provider": "aws", "multiplier": 0.8}]
    request = {"horizon_months": 12, "price_adjustments": cut, "on_prem": {"servers": []}} | fields
    return compare(request_of(5840, **request), catalog(*offers), today=TODAY)


def test_the_answer_says_which_discount_applies() -> None:
    answer = asked(offer("50"))
    used = answer.offers[answer.by_key[ScenarioKey.ON_DEMAND].lines[0].offer_id]
    assert used.multiplier == 0.8


@pytest.mark.parametrize("trend", [0, -0.15])
def test_list_prices_are_without_the_discount_of_the_month(trend: float) -> None:
    """Of hours that of their month; of commitments that of the month in which they begin."""
    year = offer("30", "reserved", term_months=6, payment_option="no_upfront")
    finance = {"cloud_price_trend_per_year": trend, "cloud_staff_fte_per_accelerator": 0.001,
               "cloud_support_rate": 0.1}  # fmt: skip
    data = {"storage_gib": 1000, "egress_gib_per_month": 100}
    answer = asked(offer("50"), year, finance=finance, data=data)
    by_hour = priced(answer, "on_demand", "compute")
    assert by_hour == pytest.approx([50 * (1 + trend) ** (m / 12) for m in range(12)])
    committed = priced(answer, "cloud", "commitment")
    assert committed == pytest.approx([30.0] * 6 + [30 * (1 + trend) ** 0.5] * 6)
    for category in ("staff", "support", "storage", "egress"):
        rows = [row for row in focus_rows(answer, Context(scenario="on_demand"))
                if row["x_Category"] == category]  # fmt: skip
        assert rows
        assert all(row["ListUnitPrice"] == row["ContractedUnitPrice"] for row in rows)


@pytest.mark.parametrize("cuts", [{"gcp": 0.8}, {"aws": 0.9}, {"aws": 0.9, "gcp": 0.8}])
def test_hours_in_the_place_of_spot_are_listed_as_on_demand(cuts: dict[str, float]) -> None:
    """At the list price of the offer that they name, whatever discount the spot machine has."""
    other = offer("45", **GCP, count=16), offer("10", "spot", zone="us-east-1a")
    adjustments = [{"provider": name, "multiplier": cut} for name, cut in cuts.items()]
    request = request_of(
        5840, horizon_months=3, constraints={"max_spot_share": 1}, price_adjustments=adjustments
    )
    answer = compare(request, catalog(offer("50"), *other), today=TODAY)
    rows = list(focus_rows(answer, Context(scenario="cloud")))
    by_price = {row["ListUnitPrice"]: row for row in rows if row["x_Category"] == "compute"}
    assert sorted(by_price) == [10, 22.5]
    categories = {price: row["PricingCategory"] for price, row in by_price.items()}
    assert categories == {10: "Dynamic", Decimal("22.5"): "Standard"}
    assert sum(row["BilledCost"] for row in rows) == answer.by_key[ScenarioKey.CLOUD].total_cost


def priced(answer: ComparisonAnswer, scenario: str, category: str) -> list[float]:
    """List prices of what is billed for a category, month by month."""
    return [
        float(row["ListUnitPrice"])
        for row in focus_rows(answer, Context(scenario=scenario))
        if row["x_Category"] == category and row["BilledCost"]
    ]
