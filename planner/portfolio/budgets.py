"""Budgets of all projects together held against the lines of their plan, in whole cents. PURE.

As for one project (`planner.costing.budgets_in_books`): every budget is first eased by half a cent
for each line, and where the lines of the plan found are over one, a plan is looked for again with
the limit lower by the excess, until its lines keep to all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.costing.budgets_in_books import (
    MONTHLY,
    ROUNDS,
    TOTAL,
    Amounts,
    ease_budgets,
    list_excess,
    lower_rooms,
    rounding_of_month,
)
from planner.costing.optimizer.problem import Floats, PlanProblem
from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.books import Books, write_books
from planner.portfolio.joint_inputs import JointInputs
from planner.portfolio.optimizer.problem import JointPlan, JointProblem
from planner.portfolio.optimizer.solve import solve_joint


@dataclass(frozen=True)
class JointBudgets:
    """The budgets of all projects together, by the name that the optimiser has for each."""

    joint: JointInputs

    def search(self, work: WorkMeter) -> tuple[Books | None, float]:
        """The books of the cheapest plan whose lines keep to the budgets, and what no plan costs
        less than; under rules before 6 the optimiser's own sums keep to them."""
        rooms, bound = self._rounding, np.inf
        for turn in range(ROUNDS if self.stated else 1):
            plan = solve_joint(self.eased(rooms), work=work)
            bound = plan.bound + self.joint.base_cost
            if not np.isfinite(plan.cost):
                return None, bound
            books = write_books(self.joint, plan)
            excess = self.excess(books)
            if not excess:
                return books, bound
            rooms = lower_rooms(
                rooms,
                self._count(plan),
                self.stated,
                excess,
                self._rounding,
                is_last=turn == ROUNDS - 2,
            )
        return None, bound

    @property
    def eased_problem(self) -> JointProblem:
        """The joint problem with as much room in each budget as lines may be rounded by."""
        return self.eased(self._rounding)

    @cached_property
    def stated(self) -> Amounts:
        """Budget → what the request gives; none under rules before 6."""
        first = self.joint.inputs[0]
        if not first.keeps_books:
            return {}
        limits = {budget.name: budget.amount for budget in self._limits.capital_budgets}
        if first.monthly_budget is not None:
            limits[MONTHLY] = first.monthly_budget
        if first.total_budget is not None:
            limits[TOTAL] = first.total_budget
        return limits

    @property
    def _limits(self) -> PlanProblem:
        return self.joint.problem.limits

    @cached_property
    def _rounding(self) -> Amounts:
        """Budget → half a cent for each line that counts against it: of what all share, and of
        each project's own."""
        inputs = self.joint.inputs
        month = rounding_of_month(inputs[0]) + sum(map(rounding_of_month, inputs))
        length = inputs[0].calendar.length
        return {name: month if name == MONTHLY else month * length for name in self.stated}

    def eased(self, rooms: Amounts) -> JointProblem:
        """The joint problem with so much added to each budget."""
        problem = self.joint.problem
        if not self.stated:
            return problem
        limits = ease_budgets(self._limits, rooms)
        if TOTAL in self.stated and self._limits.total_budget != self.stated[TOTAL]:
            # purchases that pay back are held to a sum of their own, below the budget
            most = self.stated[TOTAL] + rooms[TOTAL]
            limits = replace(limits, total_budget=min(self._limits.total_budget or most, most))
        first = replace(problem.projects[0], problem=limits)
        return JointProblem((first, *problem.projects[1:]))

    def excess(self, books: Books) -> dict[str, float]:
        """Budget → by how much the lines of a plan are over it, those that are."""
        if not self.stated:
            return {}
        sums = {TOTAL: books.total_without_resale, MONTHLY: max(books.due_per_month)}
        for budget in self._limits.capital_budgets:
            sums[budget.name] = books.capital_in(range(budget.first, budget.last))
        return list_excess(sums, self.stated)

    def _count(self, plan: JointPlan) -> Amounts:
        """Budget → what the optimiser counts against it."""
        limits, problem = self._limits, self.joint.problem
        cash, starts = np.zeros(problem.months), np.zeros(problem.months)
        paid = limits.base_payments
        if limits.base_cash is not None:
            cash += limits.base_cash
        for hourly in self._hourly_cash(plan):
            cash += hourly
            paid += float(hourly.sum())
        for key, units in plan.units_started.items():
            unit, at = problem.units[key], np.flatnonzero(units)
            starts[at] += unit.capex[at] * units[at]
            paid += float(unit.all_payments[at] @ units[at])
            if limits.monthly_budget is not None:
                cash += units[at] @ unit.cash_by_month[at]
        sums = {TOTAL: paid, MONTHLY: float(cash.max(initial=0.0))}
        spent = {b.name: float(starts[b.first : b.last].sum()) for b in limits.capital_budgets}
        return {**sums, **spent}

    def _hourly_cash(self, plan: JointPlan) -> Iterator[Floats]:
        """[T] what falls due for the hours that each project uses of each source."""
        for project, use in zip(self.joint.problem.projects, plan.uses, strict=True):
            by_hour = {one.key: one.hour_cash for one in project.problem.rental_options}
            by_hour |= {unit.key: unit.hour_cash for unit in project.problem.units}
            for key, hours in (*use.rented_hours.items(), *use.used_hours.items()):
                yield by_hour[key] * hours
