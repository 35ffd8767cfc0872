"""The purchases that pay back where the cheapest ones do not. PURE.

The cheapest plan of all sources may buy more than pays back before any resale, while a plan that
buys less would. With payments p and capital k of what a plan starts and uses, none of its resale,
and R the payments of the best plan that buys nothing, it pays back where

    p + margin · k ≤ R

which the optimiser holds as it holds a budget in total. R keeps to the budget of the request, so
that this one does too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy

from planner.contract.answer.common import ScenarioKey
from planner.contract.request.rules import PlanRules
from planner.costing.advice.payback import best_without_buying, why_not_bought
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import is_allowed, solve_scenario
from pricing.common.copies import replace

ROUNDING = (0.0, 1e-5)
"""Shares of R left free: none, then what cost lines in whole cents may come to besides."""


def buy_fewer_servers(
    inputs: ModelInputs,
    solved: Mapping[ScenarioKey, Scenario],
    margin: float,
    rules: PlanRules,
    work: WorkMeter,
) -> dict[ScenarioKey, Scenario]:
    """The hybrid with the servers that pay back, where not all of the `solved` one do; nothing
    where all do, or none."""
    consented = {k: plan for k, plan in solved.items() if is_allowed(k, inputs.interruptible)}
    rent = best_without_buying(consented)
    if not why_not_bought(solved[ScenarioKey.HYBRID], rent, margin, rules):
        return {}
    plan = buy_what_pays_back(inputs, rent, margin, rules, work)
    return {} if plan is None else {ScenarioKey.HYBRID: plan}


def buy_what_pays_back(
    inputs: ModelInputs,
    rent: Scenario | None,
    margin: float,
    rules: PlanRules,
    work: WorkMeter,
    ceiling: float = float("inf"),
) -> Scenario | None:
    """The cheapest plan of all sources whose purchases save `margin` of their price against `rent`
    before any resale; None where none does that costs less than `rent` and `ceiling`."""
    if rent is None or not (rules.limits_to_payback and rent.feasible):
        return None
    most = min(ceiling, float(rent.net_present_cost))
    paid = sum(_payments(inputs.for_scenario(rent.key), rent))
    for free in ROUNDING:
        held = _hold_to(inputs.for_scenario(ScenarioKey.HYBRID), paid * (1.0 - free), margin)
        plan = solve_scenario(held, ScenarioKey.HYBRID, work, most)
        if not (plan.feasible and plan.buys and plan.net_present_cost < most):
            return None
        if not why_not_bought(plan, rent, margin, rules):
            return plan
    return None


def _hold_to(inputs: ModelInputs, paid: float, margin: float) -> ModelInputs:
    """The same, in whose plans payments and `margin` of the capital are at most `paid`."""
    problem = inputs.problem
    units = tuple(
        replace(one, payments=one.all_payments + margin * one.capex) if one.is_owned else one
        for one in problem.units
    )
    held = copy(inputs)
    vars(held)["problem"] = replace(problem, units=units, total_budget=paid)
    return held


def _payments(inputs: ModelInputs, plan: Scenario) -> Iterator[float]:
    """What a plan pays, as the optimiser counts it: no resale of what it starts."""
    yield inputs.problem.base_payments
    for key, started in plan.units_started.items():
        yield float(started[started > 0] @ inputs.units[key].all_payments[started > 0])
    for key, used in plan.used_hours.items():
        source = inputs.by_key[key]
        one = source.rental_option(inputs.calendar) if source.term is None else inputs.units[key]
        yield float(used @ one.hour_cash)
