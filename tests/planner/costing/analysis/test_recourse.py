"""A sample in which all goes as planned costs what the plan costs; later starts follow demand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.outcomes import (
    Outcomes,
    RiskParameters,
    find_drivers,
    planned_outcomes,
)
from planner.costing.analysis.plan_costs import PlanCosts, RentMix, measure_plan, measure_units
from planner.costing.analysis.samples import Market
from planner.costing.analysis.simulation import (
    Simulation,
    cost_plans,
    planned_simulation,
    simulation_of,
)
from planner.costing.results.scenario_result import Scenario
from tests.planner.comparison.compared import Compared, compared
from tests.properties import examples

SURE = RiskParameters(1, 1)
GROWING = [30_000 + 3_000 * month for month in range(24)]


def _months(least: float, most: float, count: int) -> st.SearchStrategy[list[float]]:
    hours = st.one_of(st.just(0.0), st.floats(least, most).map(lambda h: round(h, 1)))
    return st.lists(hours, min_size=count, max_size=count).filter(lambda values: sum(values) > 0)


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """Work of any shape, with what changes the way a plan is costed."""
    months = draw(st.sampled_from([1, 7, 14, 30]))
    workload: dict[str, Any] = {"hours_per_month": draw(_months(300, 30_000, months))}
    if draw(st.booleans()):
        at_peak = draw(st.sampled_from([730, 365, 80]))
        highest = max(workload["hours_per_month"])
        workload["peak_accelerators"] = int(highest / at_peak) + 1
    workload["interruptible"] = draw(st.booleans())
    options: list[dict[str, Any]] = [
        {"finance": {"tax_rate": 0.25, "cloud_price_trend_per_year": -0.2}},
        {"data": {"storage_gib": 5000, "egress_gib_per_month": 300}},
        {"constraints": {"max_spot_share": 0.3}},
        {"constraints": {"allow_partial_nodes": True}},
        {"on_prem": {"already_owned": [{"server": "dgx-h100", "units": 1, "bought": "2025-01"}]}},
        {"on_prem": {"electricity_per_kwh": 4.0}},
        {"term_end": "full"},
    ]
    fields: dict[str, Any] = {}
    for option in draw(st.lists(st.sampled_from(options), max_size=4)):
        fields |= option
    return {"horizon_months": months, "workload": workload} | fields


def solved(request: dict[str, Any]) -> Compared:
    workload = {"kind": "accelerator_hours", "accelerator": "nvidia-h100-80gb-sxm"}
    asked = request | {"workload": workload | request["workload"]}
    return compared(**asked)


@pytest.mark.sweep
@examples(short=12, long=400)
@given(requests())
def test_a_sample_without_shocks_costs_what_the_plan_costs(request: dict[str, Any]) -> None:
    one = solved(request)
    feasible = [s for s in one.scenarios.values() if s.feasible]
    present, total = planned_simulation(one.inputs, SURE).cost(feasible)[:, :, 0]
    for scenario, of_sample, nominal in zip(feasible, present, total, strict=True):
        assert of_sample == pytest.approx(scenario.cost, abs=0.01, rel=1e-9), scenario.key
        rounding = 0.005 * len(scenario.lines) + 0.01
        assert nominal == pytest.approx(float(scenario.total_cost), abs=rounding), scenario.key


# Later starts ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def growing() -> Compared:
    limits = {"min_accelerators_per_node": 8}
    return compared(hours=GROWING, risk={"samples": 500}, constraints=limits)


def _costs(
    one: Compared, scenario: Scenario, growth: list[float], prices: dict[str, float] | None = None
) -> float:
    """Net present cost in one sample of given growth, with some prices times a factor."""
    drivers = find_drivers(one.inputs)
    months = one.inputs.calendar.months
    outcomes = replace(planned_outcomes(drivers, months), growth=np.array([growth]))
    for key, factor in (prices or {}).items():
        outcomes.prices[drivers.of_source[key], :, 1:] = factor
    simulation = Simulation(one.inputs, SURE, drivers, outcomes)
    return float(simulation.cost([scenario])[0][0, 0])


def _later(one: Compared, key: ScenarioKey) -> Scenario:
    """A scenario whose plan starts something after the first month."""
    scenario = one.scenarios[key]
    assert any(units[1:].any() for units in scenario.units_started.values())
    return scenario


def _measured(one: Compared, scenario: Scenario) -> PlanCosts:
    units = {
        key: measure_units(source, one.inputs.calendar)
        for key, source in one.inputs.by_key.items()
        if source.term is not None
    }
    return measure_plan(scenario, one.inputs, units)


def test_a_later_start_that_demand_does_not_need_is_not_made(growing: Compared) -> None:
    """Without any demand no later commitment is made: what the first month signed remains."""
    committed = _later(growing, ScenarioKey.COMMITTED)
    signed = float(_measured(growing, committed).fixed[0])
    assert 0 < signed < 0.7 * committed.cost
    assert _costs(growing, committed, [0.0] * 24) == pytest.approx(signed, rel=1e-9)


def test_more_demand_than_planned_starts_no_more_and_rents_the_rest(growing: Compared) -> None:
    committed = _later(growing, ScenarioKey.COMMITTED)
    rent = growing.scenarios[ScenarioKey.ON_DEMAND]
    planned, doubled = ([factor] * 24 for factor in (1.0, 2.0))
    more = _costs(growing, committed, doubled) - _costs(growing, committed, planned)
    assert 0.8 * rent.cost < more <= 1.02 * rent.cost


def test_what_is_signed_keeps_its_price_and_later_commitments_do_not(growing: Compared) -> None:
    committed = _later(growing, ScenarioKey.COMMITTED)
    later = {k for k, u in committed.units_started.items() if u[1:].any()}
    signed = {k for k, u in committed.units_started.items() if u[0]} - later
    ones = [1.0] * 24
    moved = _costs(growing, committed, ones, dict.fromkeys(later, 2.0))
    assert moved > 1.05 * committed.cost
    for key in signed:
        assert _costs(growing, committed, ones, {key: 2.0}) == pytest.approx(committed.cost)


def test_a_residual_value_moves_with_the_hardware_and_the_first_purchase_does_not() -> None:
    one = compared(hours=9000, horizon_months=36)
    owned = one.scenarios[ScenarioKey.ON_PREM]
    (key,) = owned.units_started
    assert owned.units_started[key].sum() == owned.units_started[key][0]
    lines = [line for line in owned.lines if line.category == "residual"]
    assert owned.calendar is not None
    residual = sum(float(line.amount) * owned.calendar.discount[line.month] for line in lines)
    half = _costs(one, owned, [1.0] * 36, {key: 0.5})
    assert half - owned.cost == pytest.approx(-0.5 * residual, abs=1)


def test_samples_cost_the_same_alone_and_in_company(growing: Compared) -> None:
    simulation = growing.simulation
    assert isinstance(simulation, Simulation)
    plans = [s for s in growing.allowed_scenarios.values() if s.feasible]
    together = simulation.cost(plans)
    rows = np.array([0, 17, 350, 499])
    alone = replace(simulation, outcomes=simulation.outcomes.select(rows)).cost(plans)
    assert alone == pytest.approx(together[:, :, rows], rel=1e-12)


def test_a_sample_is_costed_as_one_would_by_hand(growing: Compared) -> None:
    """On demand alone: whole nodes of 8 to the nearest, at the price of each month."""
    simulation = growing.simulation
    assert isinstance(simulation, Simulation)
    scenario = growing.scenarios[ScenarioKey.ON_DEMAND]
    inputs, outcomes = growing.inputs, simulation.outcomes
    total = simulation.cost([scenario])[1, 0]
    (key,) = scenario.used_hours
    assert inputs.by_key[key].capacity == 8
    planned = scenario.used_hours[key] / inputs.runs.hours_on(())
    price = outcomes.prices[simulation.drivers.of_source[key]]
    for n in np.flatnonzero(outcomes.slip == 0)[:20].tolist():
        change = inputs.hours * (outcomes.growth[n] - 1.0) / inputs.runs.hours_on(()) / 8
        nodes = np.maximum(planned + np.rint(change), 0)
        expected = (nodes * inputs.runs.hours_on(()) * 55.04 * price[n, :-1]).sum()
        assert total[n] == pytest.approx(expected, rel=1e-9)


def test_spot_beyond_its_share_goes_on_demand() -> None:
    one = compared(constraints={"max_spot_share": 0.5, "allow_partial_nodes": True}, hours=4000)
    scenario = one.scenarios[ScenarioKey.SPOT]
    inputs = one.inputs
    simulation = planned_simulation(inputs, SURE)
    plan = _measured(one, scenario)
    free = Market(inputs.hours, inputs.peak, simulation.drivers.of_source, 1.0, 0.0)
    held = replace(free, max_spot_share=0.25)
    outcomes: Outcomes = simulation.outcomes
    assert plan.rent.spot_share == pytest.approx(np.full(24, 0.5))
    more = cost_plans([plan], held, outcomes) - cost_plans([plan], free, outcomes)
    spot = next(s for s in inputs.sources if s.is_spot and s.key in scenario.used_hours)
    dearer = 55.04 - float(spot.hour_cash(inputs.calendar)[0])
    assert more[1, 0, 0] == pytest.approx(0.25 * 4000 * 24 / 8 * dearer, rel=1e-6)


def test_work_that_is_there_never_rents_nothing() -> None:
    """A node of 8, planned for a peak of 8: a sample that needs 2 rents it for part of its time,
    one that needs 5 rents all of it, one that needs 13 a second."""
    width, node = np.array([8.0]), np.array([8.0])
    mix = RentMix((), np.zeros((1, 2)), np.zeros(1), width, node)
    needed = np.array([[2.0], [5.0], [13.0], [0.0]])
    followed = mix.follow(needed, np.array([8.0]), np.array([True]))
    assert followed.tolist() == [[2.0], [8.0], [16.0], [0.0]]


def test_work_that_slips_costs_something_in_every_sample() -> None:
    """3 accelerators for a month, and nothing but nodes of 8 to rent: in samples that begin a
    month later the plan rents nothing itself."""
    only = {"min_accelerators_per_node": 8}
    one = compared(hours=[2190, 0, 0], horizon_months=3, constraints=only)
    scenario = one.scenarios[ScenarioKey.ON_DEMAND]
    unsure = replace(SURE, samples=200, slip_months_sd=1.0)
    simulation = simulation_of(one.inputs, unsure)
    assert isinstance(simulation, Simulation)
    assert simulation.outcomes.slip.max() > 0
    present = simulation.cost([scenario])[0]
    assert present.min() > 0.2 * scenario.cost
