"""Between which values figures are moved, and against what."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.sensitivity import (
    TornadoBar,
    _assumption_case,
    _break_even_hours,
    _first_to_break_even,
    _on_demand_keys,
    _parameters,
    case_units,
    cost_plans,
    distinct_plans,
    one_way_sensitivity,
)
from planner.costing.assumptions.assumptions import Assumptions, all_defaults
from planner.costing.optimizer.work import WorkMeter
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer


def moved(name: str, value: float, given: bool = True, **others: float) -> tuple[float, float]:
    row: Any = SimpleNamespace(field=f"on_prem.{name}", unit="", given=given)
    values = {name: value, "lead_time_months": 3} | others
    inputs: Any = SimpleNamespace(assumptions=Assumptions(values, ()))
    case = _assumption_case(row, name, inputs)
    return case.low, case.high


@pytest.mark.parametrize(
    ("name", "value", "low", "high"),
    [
        ("electricity_per_kwh", 0.5, 0.4, 0.6),
        ("cloud_price_trend_per_year", -0.1, -0.12, -0.08),
        ("pue", 1.1, 1.0, 1.32),
        ("pue", 1.5, 1.2, 1.8),
        ("utilisation_ceiling", 0.9, 0.72, 1.0),
        ("residual_rate", 0.9, 0.72, 1.0),
        ("discount_rate_per_year", 0.9, 0.72, 1.0),
        ("discount_rate_per_year", 0.1, 0.08, 0.12),
        ("useful_life_months", 48, 38, 58),
    ],
)
def test_a_figure_given_moves_by_a_fifth_within_what_it_can_be(
    name: str, value: float, low: float, high: float
) -> None:
    assert moved(name, value) == pytest.approx((low, high))


def test_a_life_ends_after_the_server_has_come() -> None:
    assert moved("useful_life_months", 10, lead_time_months=11) == (12, 12)


@pytest.mark.parametrize("factor", [1, 2])
def test_a_default_moves_between_its_published_ends_in_the_unit_of_its_value(factor: int) -> None:
    """In a currency of half a dollar a tariff and its ends are twice as many."""
    tariff = all_defaults()["electricity_per_kwh"]
    assert moved("electricity_per_kwh", tariff.value * factor, given=False) == pytest.approx(
        (tariff.low * factor, tariff.high * factor)
    )


@pytest.mark.parametrize(("known", "low", "high"), [((1.0, 1.0), 0.8, 1.2), ((0.7, 1.6), 0.7, 1.6)])
def test_demand_moves_by_what_is_known_of_it_and_prices_by_a_fifth(
    known: tuple[float, float], low: float, high: float
) -> None:
    one = compared(horizon_months=1, on_prem={"server_price_spread": 0}).inputs
    hours, rents, servers, *_ = _parameters(one, known)
    assert (hours.field, hours.low, hours.high) == ("workload.hours", low, high)
    assert (rents.low, rents.high) == pytest.approx((0.8, 1.2))
    assert (servers.low, servers.high) == pytest.approx((0.8, 1.2))
    assert hours.change(one, 2.0).hours == pytest.approx(one.hours * 2)
    assert rents.change(one, 2.0).rentals[0].price_per_hour == pytest.approx(
        one.rentals[0].price_per_hour * 2
    )


def test_the_price_of_a_server_moves_between_its_dated_quotes() -> None:
    """Bought at 100: quoted at 90 in 2025 and at 140 in 2026; a firm one beside it stays in step,
    one of a narrower range at its own ends."""
    box = {"server": "custom", "accelerator": "H100", "accelerator_count": 8, "power_kw": 1}

    def quoted(label: str, *prices: float) -> dict[str, Any]:
        quotes = [{"unit_price": p, "quoted": f"2026-0{i + 1}"} for i, p in enumerate(prices)]
        return {**box, "label": label, "unit_price": 100, "quotes": quotes}

    servers = [quoted("wide", 90, 140), quoted("narrow", 95, 110), quoted("one", 70)]
    one = compared(horizon_months=1, on_prem={"servers": servers}).inputs
    _, _, case, *_ = _parameters(one, (1.0, 1.0))
    assert (case.field, case.low, case.high) == ("on_prem.servers.unit_price", 0.9, 1.4)
    ends = [[s.unit_price for s in case.change(one, at).servers.to_buy] for at in (0.9, 1.4)]
    assert ends == [pytest.approx([90, 95, 90]), pytest.approx([140, 110, 140])]


def test_plans_of_one_cost_are_moved_once_and_the_advised_one_first() -> None:
    def plan(key: str, cost: float, feasible: bool = True) -> Any:
        return SimpleNamespace(key=key, net_present_cost=cost, feasible=feasible)

    plans: Any = {
        "a": plan("a", 5), "b": plan("b", 3), "c": plan("c", 5), "d": plan("d", 9),
        "e": plan("e", 1, feasible=False),
    }  # fmt: skip
    assert [one.key for one in distinct_plans(plans, plans["b"].key)] == ["b", "a", "d"]


def test_the_span_is_how_far_both_ends_lie_apart() -> None:
    bar = TornadoBar("f", "", 0, 1, 0, 0, 70.0, 50.0, ScenarioKey.SPOT, ScenarioKey.SPOT, None, 1)
    assert bar.span == 20.0


def boxes(**prices: float) -> list[dict[str, Any]]:
    return [
        {"server": "custom", "label": name, "unit_price": price, "accelerator": "H100",
         "accelerator_count": 8, "running_cost_per_hour": 5}
        for name, price in prices.items()
    ]  # fmt: skip


def test_the_server_that_pays_back_first_does_so_against_on_demand() -> None:
    """55 an hour on demand, whatever spot costs: 100,000 over 50 are 2,000 hours."""
    prices = catalog(offer("55"), offer("20", "spot", zone="us-east-1a"))
    fields = {"servers": boxes(dear=200_000, cheap=100_000)}
    inputs = compared(prices, horizon_months=2, on_prem=fields).inputs
    hours = _break_even_hours(inputs, frozenset())
    assert sorted(hours.values()) == pytest.approx([2_000, 4_000])
    (first,) = _first_to_break_even(inputs, frozenset())
    assert hours[first.removeprefix("server:")] == pytest.approx(2_000)
    on_demand = {one.key for one in inputs.sources if one.purchase_option == "on_demand"}
    assert _on_demand_keys(inputs) == on_demand
    nothing = compared(prices, horizon_months=2, on_prem={"servers": []}).inputs
    assert _first_to_break_even(nothing, frozenset()) == set()


def test_a_bar_is_what_the_advised_plan_costs_and_which_would_be_cheapest() -> None:
    """Hours and rents scale a plan that only rents: 100 h of 8 at 55 an hour are 687.50."""
    prices = catalog(offer("55"), offer("60", provider="gcp", region="us-central1"))
    limits = {"allow_partial_nodes": True}
    found = compared(
        prices, 100, horizon_months=1, on_prem={"servers": []}, constraints=limits, sensitivity=True
    )
    bars = {bar.field: bar for bar in found.tornado}
    for field in ("workload.hours", "rental_prices"):
        bar = bars[field]
        assert (bar.total_at_low, bar.total_at_high) == pytest.approx((550, 825))
        assert (bar.net_present_cost_at_low, bar.net_present_cost_at_high) == pytest.approx(
            (550, 825)
        )
        assert bar.cheapest_at_low == bar.cheapest_at_high == found.recommendation.scenario


def test_no_more_figures_are_moved_than_the_work_allows_for() -> None:
    one = compared(catalog(offer("55")), 100, horizon_months=1, on_prem={"servers": []})
    plans, key = one.scenarios, one.recommendation.scenario
    asked: Any = (one.inputs, plans, key, (1.0, 1.0), frozenset())
    each = case_units(one.inputs)
    assert [bar.field for bar in one_way_sensitivity(*asked, WorkMeter(1.5 * each))] == [
        "workload.hours"
    ]
    assert one_way_sensitivity(*asked, WorkMeter(0.5 * each)) == []
    assert len(one_way_sensitivity(*asked)) >= 2


def test_what_moves_cents_is_listed_and_what_moves_nothing_is_not() -> None:
    found = compared(
        catalog(offer("55")),
        0.1,
        horizon_months=1,
        on_prem={"servers": []},
        constraints={"allow_partial_nodes": True},
        sensitivity=True,
    )
    assert [bar.field for bar in found.tornado] == ["workload.hours", "rental_prices"]
    assert found.tornado[0].span == pytest.approx(0.4 * 0.6875)


def test_the_advised_plan_is_costed_whichever_is_cheapest_there() -> None:
    """The commitment is advised, and on demand is among the plans that are moved."""
    prices = catalog(offer("55"), offer("30", "reserved", term_months=1))
    found = compared(prices, 5840, horizon_months=2, on_prem={"servers": []}, sensitivity=True)
    plan = found.scenarios[found.recommendation.scenario]
    plans = [plan, found.scenarios[ScenarioKey.ON_DEMAND]]
    for bar in found.tornado:
        if bar.field == "rental_prices":
            low = cost_plans(plans, found.inputs.with_rental_prices(0.8))
            assert bar.net_present_cost_at_low == pytest.approx(low[0])
            assert low[0] < low[1]
