"""Energy and carbon of each scenario, by source and place."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from planner.comparison import compare
from planner.costing.analysis.carbon import CLOUD_PUE, Energy, node_power_kw
from pricing.market.snapshot import Catalog, Region
from tests.planner.costing.market_of import H100, offer, request_of

PLACES = {
    ("aws", "us-east-1"): Region("north-america", "US", g_co2e_per_kwh=400, carbon_source="EPA")
}
PRICES = Catalog.of([offer("55.04")], regions=PLACES)
SERVER = {
    "server": "custom", "accelerator": H100, "accelerator_count": 8, "unit_price": 100_000,
    "power_kw": 10, "idle_power_kw": 2,
}  # fmt: skip
OWNING = {"servers": [SERVER], "pue": 1.5, "lead_time_months": 0, "utilisation_ceiling": 1}


def energy(key: str, prices: Catalog = PRICES, **owning: Any) -> dict[str, Any]:
    request = request_of(8 * 365, horizon_months=10, on_prem=OWNING | owning)
    answer = compare(request, prices, today=dt.date(2026, 11, 20)).to_json()
    return next(s["energy"] for s in answer["scenarios"] if s["key"] == key)


def test_a_rented_node_draws_by_its_accelerators() -> None:
    """Four of eight around the clock: the machine is rented, and draws, whole."""
    found = energy("on_demand")
    kwh = node_power_kw(H100, 8, 3) * CLOUD_PUE * 730 * 10
    assert found["kwh"] == pytest.approx(kwh, rel=1e-6)
    assert found["kg_co2e"] == pytest.approx(kwh * 0.4, rel=1e-6)
    assert found["sources"][0]["carbon_source"] == "EPA"


def test_an_owned_server_draws_at_load_and_idle() -> None:
    assert energy("on_prem")["kwh"] == pytest.approx((10 * 365 + 2 * 365) * 10 * 1.5)


def test_what_an_owned_server_draws_is_what_it_is_billed() -> None:
    request = request_of(8 * 365, horizon_months=10, on_prem=OWNING)
    answer = compare(request, PRICES, today=dt.date(2026, 11, 20)).to_json()
    one = next(s for s in answer["scenarios"] if s["key"] == "on_prem")
    billed = sum(line["quantity"] for line in one["lines"] if line["category"] == "power")
    assert one["energy"]["kwh"] == pytest.approx(billed, rel=1e-6)


def test_the_grid_of_owned_servers_can_be_given() -> None:
    found = energy("on_prem", g_co2e_per_kwh=50)
    assert found["kg_co2e"] == pytest.approx(found["kwh"] * 0.05)
    assert found["sources"][0]["carbon_source"] == "request"


def test_an_unknown_grid_is_said_and_not_taken_for_clean() -> None:
    found = energy("on_demand", Catalog.of([offer("55.04")]))
    assert found["kg_co2e"] is None
    assert found["kg_co2e_of_known_grid"] is None
    assert found["why_not"] == ["the carbon of the grid of aws us-east-1 is not known"]
    assert found["kwh_of_unknown_grid"] == found["kwh"] > 0
    assert found["sources"][0]["kg_co2e"] is None


def test_what_is_known_of_the_carbon_is_told_as_a_part() -> None:
    """Servers of a grid that is known, topped up where it is not."""
    found = energy("hybrid", Catalog.of([offer("55.04")]), lead_time_months=3)
    owned = next(one for one in found["sources"] if one["source"].startswith("server:"))
    assert found["kg_co2e"] is None
    assert found["kg_co2e_of_known_grid"] == owned["kg_co2e"] > 0
    assert 0 < found["kwh_of_unknown_grid"] < found["kwh"]


def test_a_grid_without_carbon_is_0_and_known() -> None:
    found = energy("on_prem", g_co2e_per_kwh=0)
    assert (found["kg_co2e"], found["kg_co2e_of_known_grid"], found["why_not"]) == (0, 0, [])


def test_energy_of_an_unknown_power_is_not_known_either() -> None:
    found = Energy((), ("card",))
    assert (found.kwh, found.kg_co2e, found.kg_co2e_of_known_grid) == (None, None, None)
    assert found.why_not == ("the power of card is not known",)


def test_a_scenario_that_uses_nothing_draws_nothing() -> None:
    assert (Energy(()).kwh, Energy(()).kg_co2e, Energy(()).kg_co2e_of_known_grid) == (0, 0, 0)


def test_hours_lost_to_interruptions_draw_power_too() -> None:
    prices = Catalog.of([offer("55.04"), offer("20", "spot")], regions=PLACES)
    request = request_of(8 * 365, horizon_months=10, on_prem=OWNING, rules=1)
    answer = compare(request, prices, today=dt.date(2026, 11, 20)).to_json()
    one = next(s for s in answer["scenarios"] if s["key"] == "spot")
    billed = sum(line["quantity"] for line in one["lines"] if line["category"] == "compute")
    assert billed > 365 * 10
    kwh = node_power_kw(H100, 8) * CLOUD_PUE * billed
    assert one["energy"]["kwh"] == pytest.approx(kwh, rel=1e-6)
