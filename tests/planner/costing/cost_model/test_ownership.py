"""What one server costs from its purchase to its resale, by hand."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.costing.cost_model.ownership import (
    ServerBatch,
    ServerToBuy,
    build_existing_server_source,
    build_server_source,
    first_arrival_month,
    running_cost_per_hour,
)
from planner.costing.cost_model.terms import Calendar

CALENDAR = Calendar(dt.date(2027, 1, 1), 12)
SERVER = ServerToBuy("box", "Box", "h100", 8, 120_000.0, 10.0, 2.0)
GIVEN = ServerToBuy("box", "Box", "h100", 8, 120_000.0, 10.0, 2.0, running_cost_per_hour=4.0)


class Assumed(dict[str, float]):
    depreciation = "straight_line"

    def staff_fte(self, accelerators: float) -> float:
        return 0.01 * accelerators


def assumed(depreciation: str = "straight_line", **values: float) -> Any:
    plain = {
        "lead_time_months": 2, "useful_life_months": 24, "network_storage_rate": 0.1,
        "install_cost_rate": 0.05, "spare_rate": 0.02, "support_rate_per_year": 0.06,
        "colocation_per_kw_month": 150.0, "staff_cost_per_year": 120_000.0, "pue": 1.5,
        "electricity_per_kwh": 0.2, "electricity_trend_per_year": 0.1, "residual_rate": 0.25,
        "utilisation_ceiling": 0.9, "insurance_rate_per_year": 0.0, "resale_cost_rate": 0.0,
        "staff_cost_trend_per_year": 0.0, "colocation_trend_per_year": 0.0,
        "support_trend_per_year": 0.0, "server_price_trend_per_year": 0.0,
    }  # fmt: skip
    found = Assumed(plain | values)
    found.depreciation = depreciation
    return found


def build(server: ServerToBuy = SERVER, **values: float) -> Any:
    return build_server_source(server, 2.0, assumed(**values), CALENDAR)


def amounts(one: Any, start: int = 0) -> dict[Category, list[float]]:
    return {c.category: c.amounts(one.term)[start].tolist() for c in one.unit_charges}


def test_a_purchase_is_its_price_and_the_rates_on_it() -> None:
    found = {name: due[0] for name, due in amounts(build()).items() if due[0]}
    assert found == pytest.approx({
        Category.CAPEX: 120_000, Category.NETWORK_STORAGE: 12_000,
        Category.INSTALL: 6_000, Category.SPARES: 2_400,
    })  # fmt: skip
    bare = build(network_storage_rate=0.0, install_cost_rate=0.0, spare_rate=0.0)
    assert [c.category for c in bare.unit_charges][0:2] == [Category.CAPEX, Category.COLOCATION]


def test_a_month_in_service_is_space_support_staff_and_idle_power() -> None:
    """10 kW · 150, 120,000 · 6 % / 12, 0.08 FTE · 10,000, 2 kW · 1.5 · 730 h · 0.2 as it rises."""
    found = amounts(build())
    months = [0.0] * 2 + [1.0] * 10 + [0.0]
    assert found[Category.COLOCATION] == pytest.approx([1500 * m for m in months])
    assert found[Category.SUPPORT] == pytest.approx([600 * m for m in months])
    assert found[Category.STAFF] == pytest.approx([800 * m for m in months])
    rising = 1.1 ** (np.arange(13) / 12)
    assert found[Category.POWER] == pytest.approx(2 * 1.5 * 730 * 0.2 * rising * months)


def test_an_hour_of_use_draws_what_is_above_idle() -> None:
    (charge,) = build().hour_charges
    assert charge.category is Category.POWER
    assert charge.per_hour == pytest.approx(8 * 1.5 * 0.2 * 1.1 ** (np.arange(13) / 12))


def test_a_server_is_worth_its_price_by_its_years_at_the_horizon() -> None:
    """A quarter is left after a year: started in month 6 a half, and nothing once worn out."""
    assert amounts(build())[Category.RESIDUAL][12] == pytest.approx(-30_000)
    assert amounts(build(), 6)[Category.RESIDUAL][12] == pytest.approx(-60_000)
    worn = amounts(build(useful_life_months=6, lead_time_months=0))
    assert worn[Category.RESIDUAL][12] == 0
    assert Category.RESIDUAL not in amounts(build(residual_rate=0.0))


def test_a_worn_out_server_is_sold_when_its_life_is_over_less_what_the_sale_costs() -> None:
    """Bought in month 0 for six months after a lead of one: a quarter a year, seven months old."""
    found = build(useful_life_months=6, lead_time_months=1, resale_cost_rate=0.1)
    value = 120_000 * 0.25 ** (7 / 12) * 0.9
    expected = [0.0] * 7 + [-value] + [0.0] * 5
    assert amounts(found)[Category.RESIDUAL] == pytest.approx(expected)
    later = amounts(found, 8)[Category.RESIDUAL]
    assert later == pytest.approx([0.0] * 12 + [-120_000 * 0.25 ** (4 / 12) * 0.9])


def test_the_value_of_a_server_has_no_cliff_at_the_end_of_its_life() -> None:
    """A month more of life moves it by a month's loss, also where the life ends at the horizon."""
    lives = [build(useful_life_months=n, lead_time_months=0) for n in (11, 12, 13)]
    worth = [-sum(amounts(one)[Category.RESIDUAL]) for one in lives]
    assert worth == pytest.approx([120_000 * 0.25 ** (n / 12) for n in (11, 12, 12)])


def test_trends_move_people_space_support_and_later_purchases() -> None:
    trends = {
        "staff_cost_trend_per_year": 0.04, "colocation_trend_per_year": 0.1,
        "support_trend_per_year": 0.02, "server_price_trend_per_year": -0.2,
        "insurance_rate_per_year": 0.01,
    }  # fmt: skip
    found = build(**trends)
    monthly = amounts(found)
    assert monthly[Category.COLOCATION][11] == pytest.approx(1500 * 1.1 ** (11 / 12))
    assert monthly[Category.SUPPORT][11] == pytest.approx(600 * 1.02 ** (11 / 12))
    assert monthly[Category.STAFF][11] == pytest.approx(800 * 1.04 ** (11 / 12))
    assert monthly[Category.INSURANCE][2:12] == pytest.approx([100.0] * 10)
    half_year = amounts(found, 6)
    price = 120_000 * 0.8**0.5
    assert half_year[Category.CAPEX][6] == pytest.approx(price)
    assert half_year[Category.SPARES][6] == pytest.approx(0.02 * price)
    assert half_year[Category.RESIDUAL][12] == pytest.approx(-price * 0.25**0.5)


def test_electricity_follows_the_draw_at_work_and_space_the_nameplate() -> None:
    found = build(ServerToBuy("box", "Box", "h100", 8, 1.0, 10.0, 2.0, typical_power_kw=7.0))
    (charge,) = found.hour_charges
    assert charge.per_hour[0] == pytest.approx(5 * 1.5 * 0.2)
    assert amounts(found)[Category.COLOCATION][2] == pytest.approx(1500)
    assert found.power_kw == 7.0


def test_a_running_cost_given_stands_for_power_space_support_and_staff() -> None:
    found = build(GIVEN)
    assert set(amounts(found)) == {
        Category.CAPEX, Category.NETWORK_STORAGE, Category.INSTALL, Category.SPARES,
        Category.RESIDUAL,
    }  # fmt: skip
    (charge,) = found.hour_charges
    assert charge.per_hour.tolist() == [4.0] * 13
    assert running_cost_per_hour(GIVEN, assumed()) == 4.0
    free = ServerToBuy("box", "Box", "h100", 8, 1.0, 10.0, 2.0, running_cost_per_hour=0.0)
    assert build(free).hour_charges == ()


def test_an_hour_at_full_use_is_power_at_load_and_its_part_of_the_month() -> None:
    assert running_cost_per_hour(SERVER, assumed()) == pytest.approx(
        10 * 1.5 * 0.2 + (1500 + 600 + 800) / 730
    )


def test_without_a_tariff_or_a_difference_to_idle_an_hour_of_use_is_free() -> None:
    assert build(electricity_per_kwh=0.0).hour_charges == ()
    assert Category.POWER not in amounts(build(electricity_per_kwh=0.0))
    flat = ServerToBuy("box", "Box", "h100", 8, 1.0, 2.0, 2.0)
    assert build(flat).hour_charges == ()
    always_off = ServerToBuy("box", "Box", "h100", 8, 1.0, 2.0, 0.0)
    assert Category.POWER not in amounts(build(always_off))


def test_a_server_stands_in_a_rack_unless_it_is_said_to_stand_elsewhere() -> None:
    assert (SERVER.is_workstation, SERVER.is_hosted) == (False, True)
    at_home = ServerToBuy("box", "Box", "h100", 8, 1.0, 10.0, 2.0, is_hosted=False)
    assert Category.COLOCATION not in amounts(build(at_home))


def test_a_server_stands_for_its_accelerators_times_their_speed() -> None:
    found = build()
    assert (found.key, found.label, found.accelerators, found.capacity) == (
        "server:box", "Box", 8, 16,
    )  # fmt: skip
    assert found.hours_per_month == pytest.approx(657)
    assert (found.term.lead_months, found.term.duration_months) == (2, 24)
    assert (found.power_kw, found.idle_power_kw, found.pue) == (10, 2, 1.5)
    assert found.max_units is None


@pytest.mark.parametrize(
    ("method", "taxed"), [("straight_line", True), ("macrs_5", True), ("none", False)]
)
def test_capital_is_written_off_as_assumed(method: str, taxed: bool) -> None:
    found = build_server_source(SERVER, 1.0, assumed(method), CALENDAR)
    assert (found.term.depreciation, found.taxes_capital) == (method, taxed)


def existing(*batches: ServerBatch, **values: float) -> Any:
    return build_existing_server_source(SERVER, batches, 2.0, assumed(**values), CALENDAR)


def test_servers_already_owned_serve_to_the_end_of_their_life() -> None:
    found = existing(ServerBatch(2, 20), ServerBatch(1, 30), ServerBatch(3, 6))
    assert found.existing.tolist() == [5] * 4 + [3] * 8
    assert (found.key, found.label, found.max_units) == ("owned:box", "Box, already owned", 0)
    assert (found.unit_charges, found.term.lead_months) == ((), 0)


def test_servers_already_owned_are_operated_while_they_live_and_sold_in_no_plan() -> None:
    """Of the ages 20 and 6 only the younger outlive the 12 months."""
    found = existing(ServerBatch(2, 20), ServerBatch(3, 6))
    streams = {s.category: s for s in found.fixed_streams}
    assert len(found.fixed_streams) == len(streams) == 4
    support = streams[Category.SUPPORT]
    assert (support.quantity * support.unit_price).tolist() == pytest.approx(
        [5 * 600] * 4 + [3 * 600] * 8 + [0]
    )
    assert Category.RESIDUAL not in streams


def test_servers_arrive_after_the_shortest_lead_of_those_sold() -> None:
    def sold(lead: int, most: int | None = None) -> Any:
        return SimpleNamespace(term=SimpleNamespace(lead_months=lead), max_units=most)

    rented: Any = SimpleNamespace(term=None, max_units=None)
    assert first_arrival_month([sold(5), sold(3), sold(1, 0), rented], 12) == 3
    assert first_arrival_month([sold(20)], 12) == 12
    assert first_arrival_month([rented], 12) == 0
