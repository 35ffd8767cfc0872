"""What holds of every plan, whatever was asked: accounting identities and monotone costs."""

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.contract.answer.common import ScenarioKey
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import CONTAINS
from pricing.market.offers import Offer
from tests.planner.comparison.compared import Compared, solved
from tests.planner.costing.generated import catalog_on_date, markets, requests
from tests.planner.costing.market_of import H100
from tests.properties import examples

pytestmark = pytest.mark.fuzz


def compared(request: dict[str, Any], offers: list[Offer]) -> Compared:
    return solved(request, catalog_on_date(offers))


def found(comparison: Compared) -> list[Scenario]:
    return [s for s in comparison.scenarios.values() if s.feasible]


@examples(5, 2000)
@given(requests(), markets())
def test_the_books_balance(request: dict[str, Any], offers: list[Offer]) -> None:
    comparison = compared(request, offers)
    for scenario in found(comparison):
        total = sum((line.amount for line in scenario.lines), Decimal(0))
        assert scenario.total_cost == total
        assert sum(scenario.cash_per_month) == total
        assert sum(scenario.accrued) == total
        assert sum(scenario.cost_by_category.values()) == total
        _is_the_cost_of_the_plan(scenario, comparison)
        _commitments_are_used_or_idle(scenario, comparison)
        _demand_is_met(scenario, comparison)
        if not request["finance"]["discount_rate_per_year"]:
            assert scenario.net_present_cost == total


def _is_the_cost_of_the_plan(scenario: Scenario, comparison: Compared) -> None:
    """What the optimiser weighed is what the lines say, but for the rounding of each line."""
    problem = comparison.inputs.problem
    cost = problem.base_cost
    for unit in problem.units:
        units_started = scenario.units_started.get(unit.key, np.zeros(len(problem.hours)))
        cost += sum(n * unit.start_cost[m] for m, n in enumerate(units_started) if n)
        cost += unit.hour_cost @ scenario.used_hours.get(unit.key, np.zeros(len(problem.hours)))
    calendar = comparison.inputs.calendar
    for source in (s.rental_option(calendar) for s in comparison.inputs.sources if not s.term):
        cost += source.hour_cost @ scenario.used_hours.get(source.key, np.zeros(len(problem.hours)))
    slack = 0.006 * (len(scenario.lines) + 1) + 1e-6 * abs(cost)
    assert float(scenario.net_present_cost) == pytest.approx(cost, abs=slack)


def _commitments_are_used_or_idle(scenario: Scenario, comparison: Compared) -> None:
    """Used and unused hours are the hours bought, and what is written off is what was paid."""
    for key in scenario.units_started:
        source = comparison.inputs.by_key[key]
        if source.is_owned:
            continue
        up = source.units_in_service(np.asarray(scenario.units_started[key], dtype=float))
        bought = sum(
            line.quantity
            for line in scenario.lines
            if line.source == key and line.category == "commitment" and line.month < len(up)
        )
        used = scenario.used_hours.get(key, np.zeros(len(up))).sum()
        rows = [row for row in scenario.capacity if row.source == key]
        idle = sum(row.hours_available - row.hours_used for row in rows) / source.capacity
        if bought:
            assert used + idle == pytest.approx(bought, rel=1e-6, abs=1e-3)
            assert up.sum() * 730 == pytest.approx(bought, rel=1e-6)


def _demand_is_met(scenario: Scenario, comparison: Compared) -> None:
    hours = comparison.demand.hours_per_month
    served = np.zeros(len(hours))
    rented: dict[tuple[int, float], float] = defaultdict(float)
    for row in scenario.capacity:
        assert row.hours_used <= row.hours_available * (1 + 1e-6) + 1e-3
        served[row.month] += row.hours_used
        source = comparison.inputs.by_key[row.source]
        if source.term is None and comparison.inputs.rents_whole(source):
            rented[row.month, source.capacity] += row.accelerators / source.accelerators
    if not comparison.inputs.whole_nodes:
        assert served == pytest.approx(hours, rel=1e-5, abs=1e-2)
        return
    assert (served >= hours * (1 - 1e-5) - 1e-2).all()
    assert all(nodes == pytest.approx(round(nodes), abs=1e-4) for nodes in rented.values())


@examples(4, 500)
@given(requests(), markets())
def test_a_scenario_is_never_dearer_than_one_it_contains(
    request: dict[str, Any], offers: list[Offer]
) -> None:
    comparison = compared(request, offers)
    scenarios = comparison.solved_scenarios
    allowed = {one.key for one in comparison.answer.scenarios if one.allowed}
    for key, inner in CONTAINS.items():
        for other in inner:
            if other in allowed and scenarios[other].feasible:
                assert scenarios[key].feasible
                assert scenarios[key].net_present_cost <= scenarios[other].net_present_cost
    assert all(0 <= one.gap <= 0.01 for one in scenarios.values() if one.feasible)
    for one in comparison.as_dict()["scenarios"]:
        if one["feasible"]:
            assert Decimal(one["bound"]) <= Decimal(one["net_present_cost"])


LOOSE = {
    "quotas": [{"provider": "aws", "accelerator": H100, "max_accelerators": 100_000}],
    "max_provider_share": 1.0,
    "min_providers": 1,
    "max_term_months": 120,
    "capex_budget": 1e12,
    "monthly_budget": 1e12,
    "total_budget": 1e12,
}
"""Limits that nothing reaches."""


@examples(10, 500)
@given(requests(), markets(), st.sampled_from([*LOOSE]))
def test_a_limit_that_does_not_bind_changes_nothing(
    request: dict[str, Any], offers: list[Offer], limit: str
) -> None:
    limits = request.get("constraints", {})
    assume(limit not in limits)
    wider = request | {"constraints": limits | {limit: LOOSE[limit]}}
    free, limited = (compared(one, offers) for one in (request, wider))
    for key in ScenarioKey:
        assert limited.scenarios[key].lines == free.scenarios[key].lines, (key, limit)
    verdicts = [one.answer.verdict for one in (free, limited)]
    assert [v and v.expected for v in verdicts[:1]] == [v and v.expected for v in verdicts[1:]]


def _never_less(low: Compared, high: Compared) -> None:
    """No scenario of `high` costs less than the proven least of the same scenario of `low`."""
    for key in ScenarioKey:
        one, other = low.scenarios[key], high.scenarios[key]
        if not other.feasible:
            continue
        assert one.feasible
        slack = 0.006 * (len(one.lines) + len(other.lines)) + 1e-6 * abs(one.bound)
        assert float(other.net_present_cost) >= one.bound - slack


@examples(3, 500)
@given(requests(), markets(), st.floats(1.0, 2.0), st.integers(0, 23))
def test_more_demand_never_costs_less(
    request: dict[str, Any], offers: list[Offer], factor: float, month: int
) -> None:
    """At one peak: a peak that follows from the hours moves them to more accelerators for less
    time, and machines that rent whole are then rented for less time."""
    request = {k: v for k, v in request.items() if k != "data"}
    hours = request["workload"]["hours_per_month"]
    months = request["horizon_months"]
    every = list(hours) if isinstance(hours, list) else [hours] * months
    more = [h * factor if m == month % months else h for m, h in enumerate(every)]
    less = request["workload"] | {"peak_accelerators": ceil(max(more) / 730)}
    one, other = (
        compared(request | {"workload": less | {"hours_per_month": hours}}, offers)
        for hours in (every, more)
    )
    _never_less(one, other)


@examples(3, 500)
@given(requests(), markets(), st.integers(0, 5), st.floats(1.0, 3.0))
def test_a_dearer_price_never_lowers_a_cost(
    request: dict[str, Any], offers: list[Offer], which: int, factor: float
) -> None:
    i = which % len(offers)
    times = Decimal(str(round(factor, 4)))
    dear = replace(
        offers[i],
        price_per_hour=offers[i].price_per_hour * times,
        upfront=offers[i].upfront * times,
    )
    dearer = [*offers[:i], dear, *offers[i + 1 :]]
    _never_less(compared(request, offers), compared(request, dearer))


@examples(2, 200)
@given(requests(), markets())
def test_the_order_of_offers_changes_nothing(request: dict[str, Any], offers: list[Offer]) -> None:
    one, other = compared(request, offers), compared(request, offers[::-1])
    assert one.as_dict()["scenarios"] == other.as_dict()["scenarios"]
