"""Of equal prices the place that people would choose, at the same total."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import Offer, PurchaseOption
from pricing.market.snapshot import Catalog, Region
from tests.planner.costing.market_of import TODAY

PLACES = {
    ("aws", "a-south"): Region("africa", "ZA", latitude=-33.9, longitude=18.4),
    ("aws", "b-dublin"): Region("europe", "IE", latitude=53.35, longitude=-6.26),
    ("aws", "c-frankfurt"): Region("europe", "DE", latitude=50.11, longitude=8.68),
    ("aws", "d-oregon"): Region("north-america", "US", latitude=45.8, longitude=-119.7),
}
"""By name the first is the furthest from all others."""


def offer(region: str, machine: str = "p5.48xlarge", price: int = 40) -> Offer:
    return Offer("aws", region, machine, "nvidia-h100-80gb-sxm", Fraction(8),
                 PurchaseOption.ON_DEMAND, Decimal(price), as_of=dt.date(2026, 11, 1))  # fmt: skip


def market(dearer: str = "") -> Catalog:
    offers = [offer(region, price=40 + (region != dearer and bool(dearer))) for _, region in PLACES]
    more = [offer("d-oregon", f"p5.{n}xlarge", 90) for n in range(3)]
    return replace(Catalog.of([*offers, *more]), regions=PLACES)


def chosen(catalog: Catalog | None = None, **fields: Any) -> tuple[str, Decimal]:
    request = {
        "start": "2027-01", "horizon_months": 2, "on_prem": {"servers": []},
        "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840},
        "sensitivity": False, "cheaper_if": False, "risk": {"samples": 100}, **fields,
    }  # fmt: skip
    answer = compare(request, market() if catalog is None else catalog, today=TODAY)
    plan = answer.by_key[ScenarioKey.ON_DEMAND]
    (region,) = {line.region for line in plan.lines if line.category == "compute"}
    assert plan.total_cost is not None
    return region, plan.total_cost


def test_the_larger_region_goes_first_and_names_last() -> None:
    assert chosen()[0] == "d-oregon"
    assert chosen(constraints={"place_order": 1})[0] == "a-south"


def test_the_nearest_to_the_team() -> None:
    assert chosen(constraints={"near_country": "DE"})[0] == "c-frankfurt"
    assert chosen(constraints={"near_country": "IE"})[0] == "b-dublin"
    limits = {"near_country": "DE", "regions": ["a-south", "b-dublin", "d-oregon"]}
    assert chosen(constraints=limits)[0] == "b-dublin"


def test_the_nearest_to_the_data_goes_before_the_team() -> None:
    free = {"transfer_gib_per_month": 0, "egress_per_gib": 0, "storage_per_gib_month": 0}
    data = {"storage_gib": 1, "home": {"provider": "aws", "region": "b-dublin"}, **free}
    limits = {"near_country": "DE", "regions": ["a-south", "c-frankfurt", "d-oregon"]}
    assert chosen(data=data, constraints=limits)[0] == "c-frankfurt"
    data["home"] = {"provider": "aws", "region": "d-oregon"}
    assert chosen(data=data, constraints={"near_country": "DE"})[0] == "d-oregon"


def test_no_order_costs_a_cent() -> None:
    totals = {
        chosen(constraints=limits)[1]
        for limits in ({}, {"place_order": 1}, {"near_country": "DE"}, {"near_country": "US"})
    }
    assert len(totals) == 1
    cheapest = market(dearer="a-south")
    assert chosen(cheapest, constraints={"near_country": "DE"})[0] == "a-south"


def test_a_country_without_a_region_is_refused() -> None:
    with pytest.raises(InvalidInput, match="near_country"):
        chosen(constraints={"near_country": "XX"})
