"""Level work that fills a machine and a little more: the rest is rented by the hour."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

from planner.contract.answer.common import ScenarioKey
from pricing.market.offers import Offer, PurchaseOption
from tests.planner.comparison.compared import solved
from tests.planner.costing.generated import catalog_on_date

H100 = "nvidia-h100-80gb-sxm"


def offer(machine: str, accelerators: int, price: str) -> Offer:
    return Offer(
        provider="aws", region="us-east-1", instance_type=machine, accelerator=H100,
        accelerator_count=Fraction(accelerators), purchase_option=PurchaseOption.ON_DEMAND,
        price_per_hour=Decimal(price), as_of=dt.date(2026, 6, 18),
    )  # fmt: skip


def test_an_hour_beyond_a_full_month_of_one_accelerator_costs_an_hour() -> None:
    request = {
        "start": "2027-01",
        "horizon_months": 1,
        "workload": {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 731},
        "on_prem": {"servers": []},
    }
    market = catalog_on_date([offer("p5.6xlarge", 1, "2"), offer("p5.48xlarge", 8, "16")])
    comparison = solved(request, market)
    plan = comparison.scenarios[ScenarioKey.ON_DEMAND]
    (rent,) = (line for line in plan.lines if line.unit == "node-hours")
    assert (rent.quantity, rent.amount) == (731, Decimal("1462.00"))
    assert comparison.inputs.whole_nodes
