"""The purchases that pay back where the cheapest ones do not. PURE.

The cheapest plan of all sources may buy more than pays back before any resale, while a plan that
buys less would. With payments p and capital k of what a plan starts and uses, none of its resale,
and R the payments of the best plan that buys nothing, it pays back where

    p + margin · k ≤ R

which the optimiser holds as it holds a budget in total. R keeps to the budget of the request, so
that this one does too.

What credits and minimum spends pay follows from all bills, which no such row adds up. With them the
most servers that pay back are looked for instead, of all kinds that the cheapest plan buys and of
each of them alone; where none do in the months in which they are cheapest, in those in which their
payments before any credit keep to that row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass

from planner.contract.answer.common import ScenarioKey
from planner.contract.request.rules import PlanRules
from planner.costing.advice.verdict import best_without_buying, why_not_bought
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
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
    if rent is None or not (rules.needs_payback and rent.feasible):
        return None
    most = min(ceiling, float(rent.net_present_cost))
    if inputs.pools:
        search = _Fewer(inputs.for_scenario(ScenarioKey.HYBRID), rent, margin, rules, work, most)
        return search.find()
    paid = sum(_payments(inputs.for_scenario(rent.key), rent))
    for free in ROUNDING:
        held = _hold_to(inputs.for_scenario(ScenarioKey.HYBRID), paid * (1.0 - free), margin)
        plan = solve_scenario(held, ScenarioKey.HYBRID, work, most)
        if not (plan.feasible and plan.buys and plan.net_present_cost < most):
            return None
        if not why_not_bought(plan, rent, margin, rules):
            return plan
    return None


@dataclass(frozen=True)
class _Fewer:
    inputs: ModelInputs
    rent: Scenario
    margin: float
    rules: PlanRules
    work: WorkMeter
    most: float

    def find(self) -> Scenario | None:
        whole = self._solve(self.inputs)
        if whole is None or self._pays(whole):
            return whole
        owned = {unit.key for unit in self.inputs.problem.units if unit.is_owned}
        bought = {k: int(n.sum()) for k, n in whole.units_started.items() if k in owned and n.any()}
        alone = [{key: count} for key, count in bought.items()] if len(bought) > 1 else []
        groups = [bought, *alone]
        paid = sum(_payments(self.inputs.for_scenario(self.rent.key), self.rent))
        for inputs in (self.inputs, _hold_to(self.inputs, paid, self.margin)):
            plans = [plan for one in groups if (plan := self._most_of(one, inputs)) is not None]
            if plans:
                best = min(plans, key=lambda plan: plan.net_present_cost)
                return replace(best, bound=min(best.bound, whole.bound))
        return None

    def _most_of(self, bought: Mapping[str, int], inputs: ModelInputs) -> Scenario | None:
        best, low, high = None, 0, sum(bought.values()) + 1
        with suppress(WorkSpentError):
            while high - low > 1:
                count = (low + high) // 2
                limits = {
                    key: units * count // sum(bought.values()) for key, units in bought.items()
                }
                units = tuple(
                    replace(one, max_units=limits.get(one.key, 0)) if one.is_owned else one
                    for one in inputs.problem.units
                )
                limited = copy(inputs)
                vars(limited)["problem"] = replace(inputs.problem, units=units)
                plan = self._solve(limited)
                if plan is not None and not self._pays(plan):
                    high = count
                    continue
                low = count
                plans = [one for one in (best, plan) if one is not None]
                best = min(plans, key=lambda one: one.net_present_cost, default=None)
        return best

    def _solve(self, inputs: ModelInputs) -> Scenario | None:
        plan = solve_scenario(inputs, ScenarioKey.HYBRID, self.work, self.most)
        return plan if plan.feasible and plan.buys and plan.net_present_cost < self.most else None

    def _pays(self, plan: Scenario) -> bool:
        return not why_not_bought(plan, self.rent, self.margin, self.rules)


def _hold_to(inputs: ModelInputs, paid: float, margin: float) -> ModelInputs:
    problem = inputs.problem
    units = tuple(
        replace(one, payments=one.all_payments + margin * one.capex) if one.is_owned else one
        for one in problem.units
    )
    held = copy(inputs)
    vars(held)["problem"] = replace(problem, units=units, total_budget=paid)
    return held


def _payments(inputs: ModelInputs, plan: Scenario) -> Iterator[float]:
    yield inputs.problem.base_payments
    for key, started in plan.units_started.items():
        yield float(started[started > 0] @ inputs.units[key].all_payments[started > 0])
    for key, used in plan.used_hours.items():
        source = inputs.by_key[key]
        one = source.rental_option(inputs.calendar) if source.term is None else inputs.units[key]
        yield float(used @ one.hour_cash)
