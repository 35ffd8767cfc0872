"""Budgets held against the lines of a plan: in whole cents, with credits and minimum spends. PURE.

The optimiser counts fractions of a cent, and in a month bills before credits; a reader adds up
lines. So every budget is first eased by what the lines of a plan may be less than what was counted:
half a cent for each, and what credits pay of a month. Where the lines of the plan are over a
budget, it is solved again with the budget lower by the excess, until the lines keep to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.contract.copies import cached_property, replace
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import HALF_CENT, ConflictingConstraint, Plan, PlanProblem
from planner.costing.optimizer.solve import NOT_CHEAPER
from planner.costing.results.ledger import build_ledger, settle_used_hours
from planner.costing.results.scenario_result import (
    Scenario,
    capital,
    due_per_month,
    total_without_resale,
)

TOTAL, MONTHLY, CAPITAL = "total_budget", "monthly_budget", "capex_budget"
ROUNDS = 6
"""Times that a plan is looked for; the third is lower by all that lines may be rounded by."""
_SOURCES = 4
"""Sources at work in one month whose lines may be rounded the same way, beside what is fixed."""
_TAX_LINES = 4
_OVER = 1e-6
Amounts = Mapping[str, float]
Solve = Callable[[PlanProblem], Plan]


def rounding_of_month(inputs: ModelInputs) -> float:
    """Half a cent for each line that a month of a plan may have."""
    charges = [len(one.hour_charges) + len(one.unit_charges) for one in inputs.sources]
    fixed = sum(len(one.fixed_streams) for one in inputs.sources) + len(inputs.pools)
    half = HALF_CENT * inputs.calendar.smallest_cents
    return half * (fixed + _SOURCES * max(charges, default=0) + _TAX_LINES)


def ease_budgets(problem: PlanProblem, rooms: Amounts) -> PlanProblem:
    """A problem with so much added to each of its budgets."""

    def add(name: str, amount: float | None) -> float | None:
        return None if amount is None else amount + rooms.get(name, 0.0)

    return replace(
        problem,
        total_budget=add(TOTAL, problem.total_budget),
        monthly_budget=add(MONTHLY, problem.monthly_budget),
        capex_budget=add(CAPITAL, problem.capex_budget),
        capex_by_period=tuple(
            replace(part, amount=part.amount + rooms.get(part.name, 0.0))
            for part in problem.capex_by_period
        ),
    )


def lower_rooms(rooms: Amounts, excess: Amounts, rounding: Amounts) -> Amounts:
    """Less room in the budgets that lines are over by `excess`. Of a month first without what
    credits pay, as which month they pay for is not known."""
    lower = {
        name: rounding[name]
        if rooms[name] > rounding[name]
        else rooms[name] - max(over, rounding[name])
        for name, over in excess.items()
    }
    return {**rooms, **lower}


def list_excess(plan: Scenario, problem: PlanProblem, stated: Amounts) -> dict[str, float]:
    """Budget → by how much the lines of a plan are over it, those that are."""
    if not stated:
        return {}
    sums = {TOTAL: total_without_resale(plan), MONTHLY: max(due_per_month(plan))}
    for budget in problem.capital_budgets:
        sums[budget.name] = capital(plan, range(budget.first, budget.last))
    over = {name: float(sums[name]) - amount for name, amount in stated.items()}
    return {name: amount for name, amount in over.items() if amount > _OVER}


@dataclass(frozen=True)
class Budgets:
    """The budgets of a request, by the name that the optimiser has for each."""

    inputs: ModelInputs
    problem: PlanProblem

    def solve_within(self, solve: Solve) -> Plan:
        """The plan whose lines keep to the budgets of the request, with the larger machines that
        stand for small ones. A budget that the cheapest plan keeps to by itself changes nothing."""
        plan = solve(
            replace(
                self.problem,
                total_budget=None, monthly_budget=None, capex_budget=None, capex_by_period=(),
            )
        )  # fmt: skip
        if plan.feasible and not self._excess(plan):
            return use_larger_nodes(plan, self.inputs)
        if not self.stated or NOT_CHEAPER in plan.why_not:
            return plan
        rooms, bound = self._first_rooms, np.inf
        excess: Amounts = {}
        for _ in range(ROUNDS):
            plan = solve(ease_budgets(self.problem, rooms))
            bound = min(bound, plan.bound)
            if not plan.feasible:
                return replace(self._explain(plan, excess, solve), bound=bound)
            excess = self._excess(plan)
            if not excess:
                return replace(use_larger_nodes(plan, self.inputs), bound=bound)
            rooms = lower_rooms(rooms, excess, self._rounding)
        stated, is_alone = self.stated, len(excess) == 1
        conflicts = tuple(
            ConflictingConstraint(name, stated[name], stated[name] + over, is_alone)
            for name, over in excess.items()
        )
        return Plan(False, np.inf, bound, why_not=tuple(map(str, conflicts)), conflicts=conflicts)

    @cached_property
    def stated(self) -> Amounts:
        """Budget → what the request gives."""
        limits = {budget.name: budget.amount for budget in self.problem.capital_budgets}
        if self.inputs.monthly_budget is not None:
            limits[MONTHLY] = self.inputs.monthly_budget
        if self.problem.total_budget is not None:
            limits[TOTAL] = self.problem.total_budget
        return limits

    @property
    def _first_rooms(self) -> Amounts:
        credits = sum(pool.amount for pool in self.inputs.pools if pool.is_credit)
        paid = credits * (1.0 - self.inputs.calendar.tax_rate)
        return {name: room + paid * (name == MONTHLY) for name, room in self._rounding.items()}

    @cached_property
    def _rounding(self) -> Amounts:
        month, length = rounding_of_month(self.inputs), self.inputs.calendar.length
        return {name: month if name == MONTHLY else month * length for name in self.stated}

    def _excess(self, plan: Plan) -> Amounts:
        if not self.stated:
            return {}
        inputs = self.inputs
        plan = use_larger_nodes(plan, inputs)
        used = settle_used_hours(plan, inputs.by_key, inputs.hours)
        ledger = build_ledger(plan, inputs.by_key, used, inputs.calendar, inputs.pools)
        lines = Scenario(ScenarioKey.HYBRID, True, lines=ledger.lines, calendar=inputs.calendar)
        return list_excess(lines, self.problem, self.stated)

    def _explain(self, plan: Plan, excess: Amounts, solve: Solve) -> Plan:
        in_lines = {one: self._in_lines(one, excess, solve) for one in plan.conflicts}
        words = {str(one): str(other) for one, other in in_lines.items()}
        return replace(
            plan,
            conflicts=tuple(in_lines.values()),
            why_not=tuple(words.get(reason, reason) for reason in plan.why_not),
        )

    def _in_lines(
        self, conflict: ConflictingConstraint, excess: Amounts, solve: Solve
    ) -> ConflictingConstraint:
        name, required = conflict.limit, conflict.required_value
        if name not in self.stated or required is None:
            return conflict
        stated = self.stated[name]
        if conflict.is_sufficient:
            rooms = {**self._first_rooms, name: required - stated + HALF_CENT}
            plan = solve(ease_budgets(self.problem, rooms))
            over = self._excess(plan) if plan.feasible else {}
            if set(over) == {name}:
                required = stated + min(over[name], excess.get(name, np.inf))
        if required <= stated and name in excess:  # lowered by what shortfalls add to lines
            required = stated + excess[name]
        return replace(conflict, current_value=stated, required_value=required)


_WHOLE = 1e-6
_SAME = 1e-9


def use_larger_nodes(plan: Plan, inputs: ModelInputs) -> Plan:
    """The plan with larger machines where they stand for small ones in every month."""
    rented = dict(plan.rented_hours)
    for source, small in _pairs(inputs, rented):
        hours = rented.get(small.key)
        if hours is None or not hours.any():
            continue
        at_peak = inputs.runs.hours_in(plan.peak, source.accelerator)
        parts = source.capacity / small.capacity
        nodes = np.divide(hours, at_peak, out=np.zeros_like(hours), where=at_peak > 0) / parts
        one, other = (machine.hour_cash(inputs.calendar) for machine in (small, source))
        costs_the_same = np.all(np.abs(other - one * parts) <= _SAME * np.abs(other))
        if costs_the_same and np.all(np.abs(nodes - np.round(nodes)) <= _WHOLE):
            rented[source.key] = hours / parts + rented.get(source.key, 0.0)
            rented[small.key] = np.zeros_like(hours)
    return replace(plan, rented_hours=rented)


def _pairs(
    inputs: ModelInputs, rented: Iterable[str]
) -> Iterator[tuple[CapacitySource, CapacitySource]]:
    """Larger machines with the small ones that they may take the place of. Beside credits, minimum
    spends and limits that part machines, rentals of every size are sources of the plan, the largest
    come first."""
    yield from ((s, inputs.by_key[s.stands_for]) for s in inputs.sources if s.stands_for)
    if not (inputs.pools or inputs.parts_nodes):
        return
    alike: dict[tuple[object, ...], list[CapacitySource]] = {}
    for source in map(inputs.by_key.__getitem__, rented):
        offer = source.offer
        if offer is not None and source.available is None:
            place = (source.provider, offer.region, source.purchase_option, source.accelerator)
            alike.setdefault((*place, source.limit_groups), []).append(source)
    for group in alike.values():
        by_size = sorted(group, key=lambda source: -source.capacity)
        for large, small in combinations(by_size, 2):
            parts = large.capacity / small.capacity
            if parts > 1.5 and abs(parts - round(parts)) <= _SAME:
                yield large, small
