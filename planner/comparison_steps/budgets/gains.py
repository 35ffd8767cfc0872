"""What the budgets of a request keep out: the cheaper plan with a higher budget. PURE.

Each budget of capital, and that of a month or in total where it leaves a scenario without a plan,
is lifted alone and the best plan of all sources is solved again; where none alone is in the way,
all together. A request without such budgets costs nothing here. Where purchases have to pay back
before their resale the budget in total is left alone: what it keeps out pays more before that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from planner.comparison_steps.alternatives import (
    ROUNDED,
    WORTH_NAMING,
    find_most_machines,
)
from planner.comparison_steps.budgets.uses import exceeds, list_budget_uses
from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.scenario_results import SMALL_SHARE
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import Alternative, BudgetUse, FieldChange
from planner.contract.money import format_money
from planner.costing.advice.decision import list_parts
from planner.costing.advice.limit_words import NamedLimit, name_limit
from planner.costing.advice.part_words import describe_parts
from planner.costing.advice.payback import best_without_buying, why_not_bought
from planner.costing.kept_charges import keep_charges
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter
from planner.costing.paying_purchases import buy_what_pays_back
from planner.costing.results.payments import resale_value
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import solve_scenario
from planner.costing.sensible_plans import MOST_KINDS, count_kinds, count_machines

WHOLE_PLAN, A_MONTH, IN_TOTAL = "capex_budget", "monthly_budget", "total_budget"
"""The capital budget of all years, that of a month and that of all payments, as the optimiser
calls them."""


@dataclass(frozen=True)
class BudgetGain:
    """A cheaper plan that budgets keep out."""

    plan: Scenario
    uses: tuple[BudgetUse, ...]
    """What it takes of each budget that it does not keep to."""
    alternative: Alternative


def find_budget_gains(results: ComparisonResults) -> tuple[BudgetGain, ...] | None:
    """The cheaper plan behind each budget that is in its way, the largest saving first; None where
    that is not worked out: not wanted, no such budget or no work left for it."""
    names = list_budget_limits(results)
    advised = results.recommendation.scenario
    if not (names and advised and results.request.cheaper_if):
        return None
    plan = results.scenarios[advised]
    return results.within(
        "budgets", SMALL_SHARE, lambda part: _list_gains(results, plan, names, part), None
    )


def list_budget_limits(results: ComparisonResults) -> list[str]:
    """The budgets that may keep something out, as the optimiser calls them."""
    inputs = results.inputs
    names = [WHOLE_PLAN] if inputs.capex_budget is not None else []
    names += [part.name for part in inputs.capex_by_period]
    plans = results.scenarios.values()
    conflicts = {one.limit for scenario in plans for one in scenario.conflicts}
    of_cash = [A_MONTH] if results.preparation.rules.needs_payback else [A_MONTH, IN_TOTAL]
    return [*names, *(name for name in of_cash if name in conflicts)]


def limit_of(use: BudgetUse) -> str:
    """The budget of a use, as the optimiser calls it."""
    if use.kind != "capital":
        return A_MONTH if use.kind == "monthly" else IN_TOTAL
    return WHOLE_PLAN if use.fiscal_year is None else f"capex_by_fiscal_year {use.fiscal_year}"


def name_budget(use: BudgetUse, results: ComparisonResults) -> NamedLimit:
    """The budget of a use as a reader knows it, with the field that sets it."""
    return name_limit(limit_of(use), results.request, results.inputs)


def _list_gains(
    results: ComparisonResults, plan: Scenario, names: list[str], work: WorkMeter
) -> tuple[BudgetGain, ...]:
    """Without all budgets no plan is dearer than without one: where that gains nothing, none
    does."""
    every = _find_gain(results, plan, names, work)
    if every is None:
        return ()
    gains = [every]
    if len(names) > 1:
        alone = [gain for name in names for gain in _list_gain(results, plan, name, work)]
        gains = alone or gains
    gains += _list_smaller_raise(results, plan, gains, work)
    return tuple(sorted(gains, key=lambda one: -(one.alternative.saving or 0)))


def _list_smaller_raise(
    results: ComparisonResults, plan: Scenario, gains: Sequence[BudgetGain], work: WorkMeter
) -> Iterator[BudgetGain]:
    """Where a monthly budget leaves a way to buy without a plan, the least raise that lets one in
    and gains something, if it is less than what the plan without that budget takes."""
    taken = [use.planned for gain in gains for use in gain.uses if limit_of(use) == A_MONTH]
    conflicts = (one for scenario in results.scenarios.values() for one in scenario.conflicts)
    raises = {one.least for one in conflicts if one.limit == A_MONTH and one.is_sufficient}
    for least in sorted(raises):
        if taken and least < float(min(taken)):
            raised = replace(results.inputs, monthly_budget=least)
            gain = _find_gain(results, plan, [A_MONTH], work, raised)
            if gain is not None:
                yield gain
                return


def _list_gain(
    results: ComparisonResults, plan: Scenario, name: str, work: WorkMeter
) -> Iterator[BudgetGain]:
    gain = _find_gain(results, plan, [name], work)
    if gain is not None:
        yield gain


def _find_gain(
    results: ComparisonResults,
    plan: Scenario,
    names: Collection[str],
    work: WorkMeter,
    raised: ModelInputs | None = None,
) -> BudgetGain | None:
    """The plan without these budgets, or with them as `raised`, if it may be advised and saves what
    is worth naming."""
    least_saving = abs(plan.net_present_cost) * WORTH_NAMING
    ceiling = float(plan.net_present_cost - least_saving) + ROUNDED
    inputs = keep_charges(raised or _lift(results.inputs, names), results.inputs)
    other = solve_scenario(inputs, ScenarioKey.HYBRID, work, ceiling)
    if not other.feasible or plan.net_present_cost - other.net_present_cost <= least_saving:
        return None
    rent = best_without_buying(results.consented_scenarios)
    if other.buys and not {A_MONTH, IN_TOTAL}.isdisjoint(names):  # which keep rent out as well
        rent = solve_scenario(inputs, ScenarioKey.CLOUD_MIX, work)
    terms = results.payback_margin, results.preparation.rules
    if why_not_bought(other, rent, *terms):
        fewer = buy_what_pays_back(inputs, rent, *terms, work, ceiling) or rent
        if fewer is None or plan.net_present_cost - fewer.net_present_cost <= least_saving:
            return None
        other = fewer
    uses = list_budget_uses(results, other)
    over = tuple(use for use in uses if limit_of(use) in names and exceeds(use))
    return _build_gain(results, plan, other, over) if over else None


def _lift(inputs: ModelInputs, names: Collection[str]) -> ModelInputs:
    return replace(
        inputs,
        capex_budget=None if WHOLE_PLAN in names else inputs.capex_budget,
        total_budget=None if IN_TOTAL in names else inputs.total_budget,
        monthly_budget=None if A_MONTH in names else inputs.monthly_budget,
        capex_by_period=tuple(one for one in inputs.capex_by_period if one.name not in names),
    )


def _build_gain(
    results: ComparisonResults, plan: Scenario, other: Scenario, over: tuple[BudgetUse, ...]
) -> BudgetGain | None:
    currency = results.request.currency
    parts = list_parts(other, results.inputs, results.preparation.name_place, currency)
    is_large = count_machines(other, results.inputs) > find_most_machines(results, plan)
    if is_large or count_kinds(other, results.inputs) > MOST_KINDS:
        return None
    limits = [(name_budget(use, results), ceil(use.planned)) for use in over]
    first, *others = (FieldChange(field=named.field, value=least) for named, least in limits)
    resale = resale_value(other)
    sold = f" Its total includes {format_money(resale, currency)} from reselling the servers."
    alternative = Alternative(
        field=first.field,
        value=first.value,
        together_with=tuple(others),
        change=" and ".join(f"a {named.name} of {named.amount(least)}" for named, least in limits),
        plan=f"{describe_parts(parts)}.",
        total=other.total_cost,
        saving=plan.net_present_cost - other.net_present_cost,
        why=f"The request allows no more than {_list_budgets(over, results)}."
        + (sold if resale else ""),
    )
    return BudgetGain(other, over, alternative)


def _list_budgets(over: tuple[BudgetUse, ...], results: ComparisonResults) -> str:
    """`300,000 USD of capital in fiscal year 2027`, of each."""

    def describe(use: BudgetUse) -> str:
        amount = name_budget(use, results).amount(float(use.budget))
        if use.kind == "monthly":
            return f"{amount} in any month"
        if use.kind == "total":
            return f"{amount} of payments"
        when = f"in fiscal year {use.fiscal_year}" if use.fiscal_year else "in all"
        return f"{amount} of capital {when}"

    return " and ".join(map(describe, over))
