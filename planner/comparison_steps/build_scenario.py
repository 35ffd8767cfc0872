"""One scenario of the answer, from its plan's books. PURE."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate

from planner.comparison_steps.build_finance import build_finance
from planner.comparison_steps.build_purchases import build_purchases
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.energy import ScenarioEnergy, SourceEnergy
from planner.contract.answer.scenario import ScenarioAnswer, sum_by_source
from planner.costing.analysis.carbon import Energy
from planner.costing.results.scenario_result import Scenario, cents


def build_scenarios(results: ComparisonResults) -> tuple[ScenarioAnswer, ...]:
    """The six scenarios; a plan that two of them share is written out once."""
    rent = results.scenarios[ScenarioKey.ON_DEMAND]
    built: dict[int, ScenarioAnswer] = {}
    answers = []
    for scenario in results.scenarios.values():
        same = built.get(id(scenario.lines)) if scenario.feasible else None
        answer = (
            _build(scenario, results, rent) if same is None else _repeat(same, scenario, results)
        )
        built[id(scenario.lines)] = answer
        answers.append(answer)
    return tuple(answers)


def _repeat(same: ScenarioAnswer, scenario: Scenario, results: ComparisonResults) -> ScenarioAnswer:
    """A scenario with the plan of another one: only key, proof and warnings are its own."""
    own = {
        "key": scenario.key,
        "allowed": not results.why_not_allowed(scenario.key),
        "why_not_allowed": results.why_not_allowed(scenario.key),
        "gap": scenario.gap,
        "bound": _bound(scenario),
        "warnings": scenario.warnings,
    }
    return same.model_copy(update=own)


def _build(scenario: Scenario, results: ComparisonResults, rent: Scenario) -> ScenarioAnswer:
    if not scenario.feasible:
        return ScenarioAnswer(
            key=scenario.key,
            feasible=False,
            allowed=not results.why_not_allowed(scenario.key),
            why_not_allowed=results.why_not_allowed(scenario.key),
            why_not=scenario.why_not,
            relaxations=scenario.relaxations,
            warnings=scenario.warnings,
        )
    cash = scenario.cash_per_month
    return ScenarioAnswer(
        key=scenario.key,
        feasible=True,
        allowed=not results.why_not_allowed(scenario.key),
        why_not_allowed=results.why_not_allowed(scenario.key),
        why_not=scenario.why_not,
        total_cost=scenario.total_cost,
        within_horizon=scenario.total_cost - scenario.owed_after,
        owed_after=scenario.owed_after,
        net_present_cost=scenario.net_present_cost,
        levelised_cost_per_accelerator_hour=scenario.levelised_cost_per_accelerator_hour,
        saving_against_on_demand=rent.total_cost - scenario.total_cost if rent.feasible else None,
        cost_by_category=scenario.cost_by_category,
        cash_per_month=cash,
        accrued_per_month=scenario.accrued,
        write_off=dict(scenario.write_off),
        cumulative_cost=tuple(accumulate(cash)),
        lines=scenario.lines,
        capacity=scenario.capacity,
        purchases=build_purchases(scenario, results.inputs),
        costs_by_source=sum_by_source(scenario.lines),
        gap=scenario.gap,
        bound=_bound(scenario),
        warnings=scenario.warnings,
        energy=_energy(results.energy(scenario)),
        finance=build_finance(scenario, results),
    )


def _bound(scenario: Scenario) -> Decimal:
    return min(cents(scenario.bound), scenario.net_present_cost)


def _energy(energy: Energy) -> ScenarioEnergy:
    return ScenarioEnergy(
        kwh=_round(energy.kwh),
        kg_co2e=_round(energy.kg_co2e),
        kg_co2e_of_known_grid=_round(energy.kg_co2e_of_known_grid),
        why_not=energy.why_not,
        kwh_of_unknown_grid=round(energy.kwh_of_unknown_grid, 3),
        unknown_power=energy.unknown_power,
        sources=tuple(
            SourceEnergy(
                source=one.source,
                kwh=round(one.kwh, 3),
                kg_co2e=_round(one.kg_co2e),
                g_co2e_per_kwh=one.g_co2e_per_kwh,
                carbon_source=one.carbon_source,
                method=one.method,
            )
            for one in energy.by_source
        ),
    )


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 3)
