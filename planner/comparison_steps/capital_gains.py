"""What the capital budgets of a request keep out: the cheaper plan with a higher budget. PURE.

Each budget is lifted alone and the best plan of all sources is solved again; where none alone is
in the way, all together. A request without such budgets costs nothing here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from math import ceil

from planner.comparison_steps.alternatives import (
    MOST_KINDS,
    ROUNDED,
    WORTH_NAMING,
    count_kinds,
    count_machines,
    find_most_machines,
)
from planner.comparison_steps.budgets import list_budget_uses
from planner.comparison_steps.results import SMALL_SHARE, ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import Alternative, BudgetUse, FieldChange
from planner.contract.money import format_money
from planner.costing.advice.decision import describe_parts, list_parts
from planner.costing.advice.limit_words import NamedLimit, name_limit
from planner.costing.advice.payback import best_without_buying, resale_value, why_not_bought
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import solve_scenario

WHOLE_PLAN = "capex_budget"
"""The capital budget of all years, as the optimiser calls it."""


@dataclass(frozen=True)
class CapitalGain:
    """A cheaper plan that capital budgets keep out."""

    plan: Scenario
    uses: tuple[BudgetUse, ...]
    """What it takes of each budget that it does not keep to."""
    alternative: Alternative


def find_capital_gains(results: ComparisonResults) -> tuple[CapitalGain, ...] | None:
    """The cheaper plan behind each capital budget that is in its way, the largest saving first;
    None where that is not worked out: not wanted, no such budget or no work left for it."""
    names = list_capital_limits(results.inputs)
    advised = results.recommendation.scenario
    if not (names and advised and results.request.cheaper_if):
        return None
    plan = results.scenarios[advised]
    return results.within(
        "capital_budgets", SMALL_SHARE, lambda part: _list_gains(results, plan, names, part), None
    )


def list_capital_limits(inputs: ModelInputs) -> list[str]:
    """The capital budgets in force, as the optimiser calls them."""
    whole = [WHOLE_PLAN] if inputs.capex_budget is not None else []
    return [*whole, *(part.name for part in inputs.capex_by_period)]


def limit_of(use: BudgetUse) -> str:
    """The capital budget of a use, as the optimiser calls it."""
    return WHOLE_PLAN if use.fiscal_year is None else f"capex_by_fiscal_year {use.fiscal_year}"


def name_budget(use: BudgetUse, results: ComparisonResults) -> NamedLimit:
    """The capital budget of a use as a reader knows it, with the field that sets it."""
    return name_limit(limit_of(use), results.request, results.inputs)


def _list_gains(
    results: ComparisonResults, plan: Scenario, names: list[str], work: WorkMeter
) -> tuple[CapitalGain, ...]:
    """Without all budgets no plan is dearer than without one: where that gains nothing, none
    does."""
    every = _find_gain(results, plan, names, work)
    if every is None or len(names) == 1:
        return () if every is None else (every,)
    gains = [gain for name in names for gain in _list_gain(results, plan, name, work)]
    gains = gains or [every]
    return tuple(sorted(gains, key=lambda one: -(one.alternative.saving or 0)))


def _list_gain(
    results: ComparisonResults, plan: Scenario, name: str, work: WorkMeter
) -> Iterator[CapitalGain]:
    gain = _find_gain(results, plan, [name], work)
    if gain is not None:
        yield gain


def _find_gain(
    results: ComparisonResults, plan: Scenario, names: Collection[str], work: WorkMeter
) -> CapitalGain | None:
    """The plan without these budgets, if it may be advised and saves what is worth naming."""
    least_saving = abs(plan.net_present_cost) * WORTH_NAMING
    ceiling = float(plan.net_present_cost - least_saving) + ROUNDED
    inputs = _lift(results.inputs, names).keep_from(results.inputs)
    other = solve_scenario(inputs, ScenarioKey.HYBRID, work, ceiling)
    if not other.feasible or plan.net_present_cost - other.net_present_cost <= least_saving:
        return None
    rent = best_without_buying(results.consented_scenarios)
    needs_payback = results.preparation.rules.needs_payback
    if needs_payback and why_not_bought(other, rent, results.payback_margin):
        return None
    uses = list_budget_uses(results, other)
    over = tuple(use for use in uses if use.kind == "capital" and use.headroom < 0)
    return _build_gain(results, plan, other, over) if over else None


def _lift(inputs: ModelInputs, names: Collection[str]) -> ModelInputs:
    return replace(
        inputs,
        capex_budget=None if WHOLE_PLAN in names else inputs.capex_budget,
        capex_by_period=tuple(one for one in inputs.capex_by_period if one.name not in names),
    )


def _build_gain(
    results: ComparisonResults, plan: Scenario, other: Scenario, over: tuple[BudgetUse, ...]
) -> CapitalGain | None:
    currency = results.request.currency
    parts = list_parts(other, results.inputs, results.preparation.name_place, currency)
    is_large = count_machines(parts) > find_most_machines(results, plan)
    if is_large or count_kinds(other, results) > MOST_KINDS:
        return None
    limits = [(name_budget(use, results), ceil(use.planned)) for use in over]
    first, *others = (FieldChange(field=named.field, value=least) for named, least in limits)
    resale = resale_value(other)
    sold = f" Its total counts {format_money(resale, currency)} for its servers at the end."
    alternative = Alternative(
        field=first.field,
        value=first.value,
        together_with=tuple(others),
        change=" and ".join(f"a {named.name} of {named.amount(least)}" for named, least in limits),
        plan=f"{describe_parts(parts)}.",
        total=other.total_cost,
        saving=plan.net_present_cost - other.net_present_cost,
        why=f"The request asks for no more than {_list_budgets(over, results)}."
        + (sold if resale else ""),
    )
    return CapitalGain(other, over, alternative)


def _list_budgets(over: tuple[BudgetUse, ...], results: ComparisonResults) -> str:
    """`300,000 USD of capital in fiscal year 2027`, of each."""
    return " and ".join(
        f"{name_budget(use, results).amount(float(use.budget))} of capital"
        + (f" in fiscal year {use.fiscal_year}" if use.fiscal_year else " in all")
        for use in over
    )
