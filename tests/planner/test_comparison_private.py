"""Private offers keep to their dates and places, as catalog offers do."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.costing.results import ScenarioKey
from pricing.snapshot import Catalog, Region
from tests.planner.costing.market_of import catalog, compared, offer

ALONE: dict[str, Any] = {"on_prem": {"servers": []}, "horizon_months": 6}
WEST: dict[str, Any] = {"provider": "aws", "region": "eu-west-1"}


def private(option: str, usd_per_hour: float, label: str = "ours", **fields: Any) -> dict[str, Any]:
    plain = {"label": label, "accelerator": "H100", "accelerator_count": 8}
    return plain | {"purchase_option": option, "usd_per_hour": usd_per_hour} | fields


def begun(found: Any) -> dict[str, list[int]]:
    starts = found.scenarios[ScenarioKey.COMMITTED].begun
    return {
        key.split("/")[1].split(":")[0]: np.flatnonzero(m).tolist() for key, m in starts.items()
    }


def test_a_dated_commitment_begins_in_its_months_alone() -> None:
    """20 an hour for three months from February; on demand at 60 around them."""
    dates = {"available_from": "2027-02", "available_until": "2027-02"}
    offers = [private("reserved", 20, term_months=3, **dates)]
    found = compared(catalog(offer("60")), 5840, custom_offers=offers, **ALONE)
    assert begun(found) == {"ours": [1]}
    total = found.scenarios[ScenarioKey.COMMITTED].total_cost
    assert total == Decimal(730 * (3 * 20 + 3 * 60))


def test_a_dated_commitment_does_not_displace_one_that_is_always_there() -> None:
    dates = {"available_from": "2027-04"}
    offers = [
        private("reserved", 20, "late", term_months=3, **dates),
        private("reserved", 30, "ready", term_months=3),
    ]
    found = compared(catalog(offer("60")), 5840, custom_offers=offers, **ALONE)
    assert begun(found) == {"ready": [0], "late": [3]}


@pytest.mark.parametrize(("geography", "fits"), [("europe", True), ("north-america", False)])
def test_a_private_offer_in_a_known_region_keeps_to_the_geographies(
    geography: str, fits: bool
) -> None:
    east, west = offer("60"), offer("70", **WEST)
    places = {
        ("aws", "us-east-1"): Region("north-america"),
        ("aws", "eu-west-1"): Region("europe"),
    }
    prices = Catalog.of([east, west], regions=places)
    offers = [private("on_demand", 10, **WEST)]
    limits = {"geographies": [geography]}
    found = compared(prices, 5840, custom_offers=offers, constraints=limits, **ALONE)
    used = found.scenarios[ScenarioKey.ON_DEMAND].used_hours
    assert any("ours" in key for key in used) is fits


def test_a_private_offer_keeps_to_the_interconnect() -> None:
    """The SXM card's link is NVLink: an order for PCIe leaves it out, private or not."""
    limits = {"interconnect": "pcie"}
    offers = [private("on_demand", 10)]
    found = compared(catalog(offer("60")), 5840, custom_offers=offers, constraints=limits, **ALONE)
    assert not found.scenarios[ScenarioKey.ON_DEMAND].feasible
