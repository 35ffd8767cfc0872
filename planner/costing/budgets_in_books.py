"""Budgets held against the lines of a plan: in whole cents, with credits and minimum spends. PURE.

The optimiser counts fractions of a cent and bills before credits, a reader adds up lines. So every
budget is first eased by what the lines of a plan may be less than what was counted: half a cent for
each, and the credits. Where the lines of the plan found are over a budget, it is solved again with
the limit lower than what that plan was counted by its excess, until the lines keep to it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import (
    HALF_CENT,
    CapitalBudget,
    ConflictingConstraint,
    Plan,
    PlanProblem,
)
from planner.costing.results.ledger import build_ledger, settle_used_hours
from planner.costing.results.scenario_result import (
    Scenario,
    capital,
    due_per_month,
    total_without_resale,
)
from pricing.common.copies import replace

TOTAL, MONTHLY, CAPITAL = "total_budget", "monthly_budget", "capex_budget"
ROUNDS = 6
"""Times that a plan is looked for; the last time with every budget lower by what its lines may come
to, so that one is found wherever the optimiser's own sums leave one."""
_SOURCES = 4
"""Sources at work in one month whose lines may be rounded the same way, beside what is fixed."""
_TAX_LINES = 4
_OVER = 1e-6
Amounts = Mapping[str, float]
Search = Generator[PlanProblem | Plan, Plan, None]


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


def lower_rooms(
    rooms: Amounts,
    counted: Amounts,
    stated: Amounts,
    excess: Amounts,
    rounding: Amounts,
    *,
    is_last: bool,
) -> Amounts:
    """The room that leaves a plan out that the optimiser `counted` so, and whose lines are over
    budgets by `excess`; for the last plan that is looked for none, but for what lines may come
    to."""
    lower = {
        name: min(rooms[name], counted[name] - stated[name]) - over for name, over in excess.items()
    }
    if MONTHLY in excess and rooms[MONTHLY] > rounding[MONTHLY]:
        lower[MONTHLY] = rounding[MONTHLY]  # which month credits pay for is not known
    least = {name: min(rooms[name], -room) for name, room in rounding.items()}
    return {**rooms, **lower, **(least if is_last else {})}


def list_excess(sums: Mapping[str, Decimal], stated: Amounts) -> dict[str, float]:
    """Budget → by how much the sums of lines are over it, those that are."""
    over = {name: float(sums[name]) - amount for name, amount in stated.items()}
    return {name: amount for name, amount in over.items() if amount > _OVER}


@dataclass(frozen=True)
class Budgets:
    """The budgets of a request, by the name that the optimiser has for each."""

    inputs: ModelInputs
    problem: PlanProblem

    def search(self) -> Search:
        """The problems to solve, each after the plan of the one before, and in the end the plan
        whose lines keep to the budgets of the request, with the larger machines that stand for
        small ones."""
        if not self.stated:
            plan = yield self.problem
            yield use_larger_nodes(plan, self.inputs) if plan.feasible else plan
            return
        rooms, bound = self.most_room, np.inf
        excess: Amounts = {}
        needed: Amounts = {}
        for turn in range(ROUNDS):
            plan = yield self.eased(rooms)
            bound = min(bound, plan.bound) if self.inputs.pools else plan.bound
            if not plan.feasible:
                plan = yield from self._explain(plan, needed)
                yield replace(plan, bound=bound)
                return
            excess = self.excess(plan)
            if not excess:
                yield replace(use_larger_nodes(plan, self.inputs), bound=bound)
                return
            if len(excess) == 1:
                needed = {k: min(over, needed.get(k, np.inf)) for k, over in excess.items()}
            rooms = self.lower(rooms, plan, excess, is_last=turn == ROUNDS - 2)
        stated, is_alone = self.stated, len(excess) == 1
        conflicts = tuple(
            ConflictingConstraint(name, stated[name], stated[name] + over, is_alone)
            for name, over in excess.items()
        )
        yield Plan(False, np.inf, bound, why_not=tuple(map(str, conflicts)), conflicts=conflicts)

    @cached_property
    def stated(self) -> Amounts:
        """Budget → what the request gives."""
        limits = {name: one.amount for name, one in self._capital.items()}
        if self.inputs.monthly_budget is not None:
            limits[MONTHLY] = self.inputs.monthly_budget
        # paying purchases are held to another sum, which the request's own leaves room for
        if self.problem.total_budget is not None and (
            self.problem.total_budget == self.inputs.total_budget
        ):
            limits[TOTAL] = self.problem.total_budget
        return limits

    @property
    def most_in_total(self) -> float | None:
        """What lines may come to in all, with half a cent for each; None without such a budget."""
        return self.stated[TOTAL] + self._rounding[TOTAL] if TOTAL in self.stated else None

    @property
    def _capital(self) -> dict[str, CapitalBudget]:
        return {budget.name: budget for budget in self.problem.capital_budgets}

    @property
    def most_room(self) -> Amounts:
        """Budget → how much more the optimiser may count than the lines come to."""
        credits = sum(pool.amount for pool in self.inputs.pools if pool.is_credit)
        paid = credits * (1.0 - self.inputs.calendar.tax_rate)
        return {
            name: room + paid * (name in (TOTAL, MONTHLY)) for name, room in self._rounding.items()
        }

    @cached_property
    def _rounding(self) -> Amounts:
        month, length = rounding_of_month(self.inputs), self.inputs.calendar.length
        return {name: month if name == MONTHLY else month * length for name in self.stated}

    def eased(self, rooms: Amounts) -> PlanProblem:
        """The problem with so much added to each budget that is asked for."""
        return ease_budgets(self.problem, rooms)

    def lower(self, rooms: Amounts, plan: Plan, excess: Amounts, *, is_last: bool) -> Amounts:
        """The room that leaves a plan out whose lines are over budgets by `excess`."""
        return lower_rooms(
            rooms, self._count(plan), self.stated, excess, self._rounding, is_last=is_last
        )

    def _count(self, plan: Plan) -> Amounts:
        problem = self.problem
        cash = np.zeros(problem.hours.size)
        paid, starts = problem.base_payments, np.zeros(problem.hours.size)
        if problem.base_cash is not None:
            cash += problem.base_cash
        by_hour = {one.key: one.hour_cash for one in problem.rental_options}
        by_hour |= {unit.key: unit.hour_cash for unit in problem.units}
        for key, hours in (*plan.rented_hours.items(), *plan.used_hours.items()):
            cash += by_hour[key] * hours
            paid += float(by_hour[key] @ hours)
        for unit in problem.units:
            units = plan.units_started.get(unit.key)
            if units is not None and units.any():
                at = np.flatnonzero(units)
                starts[at] += unit.capex[at] * units[at]
                paid += float(unit.all_payments[at] @ units[at])
                if problem.monthly_budget is not None:
                    cash += units[at] @ unit.cash_by_month[at]
        sums = {TOTAL: paid, MONTHLY: float(cash.max(initial=0.0))}
        spent = {k: float(starts[b.first : b.last].sum()) for k, b in self._capital.items()}
        return {**sums, **spent}

    def excess(self, plan: Plan) -> dict[str, float]:
        """Budget → by how much the lines of a plan are over it, those that are."""
        lines = self._lines(plan)
        sums = {TOTAL: total_without_resale(lines), MONTHLY: max(due_per_month(lines))}
        for name, budget in self._capital.items():
            sums[name] = capital(lines, range(budget.first, budget.last))
        return list_excess(sums, self.stated)

    def is_over(self, plan: Plan) -> bool:
        """Whether the lines of a plan are over a budget; they are written only where what was
        counted leaves that open."""
        if not self.stated:
            return False
        if not self.inputs.pools:
            counted = self._count(plan)
            rooms = {name: self.stated[name] - counted[name] for name in self.stated}
            if all(room >= self._rounding[name] for name, room in rooms.items()):
                return False
        return bool(self.excess(plan))

    def most_over(self, plan: Plan) -> float:
        """The largest of these, 0 where the plan keeps to all budgets."""
        return max(self.excess(plan).values(), default=0.0) if self.stated else 0.0

    def _lines(self, plan: Plan) -> Scenario:
        inputs = self.inputs
        plan = use_larger_nodes(plan, inputs)
        used = settle_used_hours(plan, inputs.by_key, inputs.hours)
        ledger = build_ledger(plan, inputs.by_key, used, inputs.calendar, inputs.pools)
        return Scenario(ScenarioKey.HYBRID, True, lines=ledger.lines, calendar=inputs.calendar)

    def _explain(self, plan: Plan, needed: Amounts) -> Generator[PlanProblem, Plan, Plan]:
        explained = {}
        for one in plan.conflicts:
            explained[one] = yield from self._in_lines(one, needed)
        words = {str(one): str(other) for one, other in explained.items()}
        return replace(
            plan,
            conflicts=tuple(explained.values()),
            why_not=tuple(words.get(reason, reason) for reason in plan.why_not),
        )

    def _in_lines(
        self, conflict: ConflictingConstraint, needed: Amounts
    ) -> Generator[PlanProblem, Plan, ConflictingConstraint]:
        name, required = conflict.limit, conflict.required_value
        if name not in self.stated or required is None:
            return conflict
        stated = self.stated[name]
        if conflict.is_sufficient:
            rooms = {**self.most_room, name: required - stated + HALF_CENT}
            plan = yield self.eased(rooms)
            over = self.excess(plan) if plan.feasible else {}
            if set(over) == {name}:
                required = stated + min(over[name], needed.get(name, np.inf))
        if required <= stated and name in needed:  # lowered by what shortfalls add to lines
            required = stated + needed[name]
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
