"""The line of spot that falls back on demand names the offer that it is priced at."""

from __future__ import annotations

from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import H100, catalog, offer

PRICES = catalog(
    offer("22.00", "spot", zone="us-east-1a"),
    offer("55.04"),
    offer("6.00", provider="gcp", region="us-central1", instance_type="a3-highgpu-1g", count=1),
)
SPOT = "p5.48xlarge in us-east-1a, spot: hours on demand while spot is not there"
WORK = {
    "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 5840,
    "interruptible": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("limits", "priced_as", "price"),
    [
        ({}, "8 × a3-highgpu-1g in us-central1, on demand at Google Cloud", 48),
        ({"providers": ["aws"]}, "p5.48xlarge in us-east-1, on demand at AWS", 55.04),
        ({"regions": ["us-east-1"]}, "p5.48xlarge in us-east-1, on demand at AWS", 55.04),
    ],
)
def test_the_line_says_which_offer_it_is_priced_at(
    limits: dict[str, Any], priced_as: str, price: float
) -> None:
    found = compared(PRICES, workload=WORK, constraints=limits)
    lines = [
        line
        for line in found.scenarios[ScenarioKey.SPOT].lines
        if "while spot is not there" in line.label
    ]
    assert {line.label for line in lines} == {f"{SPOT}, priced as {priced_as}"}
    assert float(lines[0].unit_price) == pytest.approx(price)
