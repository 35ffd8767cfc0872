"""Why no plan meets every limit, and the smallest change of each limit that lets one in. PURE.

Each limit in turn gets slack s ≥ 0 in the model of the plan, the others stay as they are, and
the least s for which a plan exists is found. Where no limit alone is enough, all get slack and the
least sum of slacks, each relative to its limit, tells which must give way together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.costing.optimizer.model import Effort
from planner.costing.optimizer.plan_model import Bools, Limit, PlanModel
from planner.costing.optimizer.problem import (
    CommitmentOption,
    ConflictingConstraint,
    PlanProblem,
    RentalOption,
)
from planner.costing.optimizer.work import WorkMeter, WorkSpentError

_NO_SLACK = 1e-7
_EFFORT = Effort(1e-3, many_choices=0, nearest=150)
_COST_SHARE = 1e-4
"""Of the dearest column's cost beside slack: of plans that need the same slack, cheap ones are
looked at first."""


def find_conflicts(problem: PlanProblem, work: WorkMeter) -> tuple[ConflictingConstraint, ...]:
    """The limits of a problem without a plan that would have to give way, and how far; those found
    within the work that there is.

    >>> from planner.costing.optimizer.problem import RentalOption, Quota
    >>> two = np.ones(2)
    >>> rent = RentalOption("h100", 8.0, 8.0, 20 * two, 20 * two, limit_groups=("gcp h100",))
    >>> problem = PlanProblem(730 * 24 * two, 24 * two, (rent,), (), (Quota("gcp h100", 16),))
    >>> [str(conflict) for conflict in find_conflicts(problem, WorkMeter())]
    ['quota gcp h100: 16 → at least 24']
    """
    months = problem.hours.size
    offered, width, hours = np.zeros(months, bool), np.zeros(months), np.zeros(months)
    for rental in problem.rental_options:
        offered |= np.isfinite(rental.hour_cost) & (
            True if rental.available is None else rental.available
        )
    for unit in problem.units:
        for month in np.flatnonzero(np.isfinite(unit.start_cost)).tolist():
            first = month + unit.lead_months
            offered[first : first + unit.duration_months] = True
        if unit.existing is not None:
            width += unit.capacity * unit.existing
            hours += unit.capacity * unit.hours_per_month * unit.existing
    short = (width < problem.peak * (1 - _NO_SLACK)) | (hours < problem.hours * (1 - _NO_SLACK))
    unserved = np.asarray((problem.hours > 0) & ~offered & short, bool)
    if unserved.any():
        return (ConflictingConstraint(_describe_gap(problem, unserved), None, None),)
    elastic = _Elastic(_without_replaceable(problem))
    sufficient: list[ConflictingConstraint] = []
    try:
        for limit in elastic.limits:
            sufficient += elastic.relax([limit], work)
        if sufficient or not elastic.limits:
            return tuple(sufficient)
        return tuple(elastic.relax(elastic.limits, work))
    except WorkSpentError:
        return tuple(sufficient)


def _without_replaceable(problem: PlanProblem) -> PlanProblem:
    """The problem without units in whose place the same nodes may be rented in any month: where no
    cash is limited, renting takes no more of any limit."""
    limits_spot = problem.max_spot_share < 1
    rented = {
        _counted(rental)
        for rental in problem.rental_options
        if rental.available is None and np.isfinite(rental.hour_cost).all()
        if not (rental.is_spot and limits_spot)
    }
    others = (u for u in problem.units if u.existing is not None or _counted(u) not in rented)
    return problem if problem.limits_cash else replace(problem, units=tuple(others))


def _counted(source: RentalOption | CommitmentOption) -> tuple[object, ...]:
    sizes = tuple(sorted(source.limit_sizes.items()))
    return source.capacity, source.accelerators, source.limit_groups, sizes


class _Elastic:
    """The model of a problem with a column of slack for each of its limits."""

    def __init__(self, problem: PlanProblem) -> None:
        plan = PlanModel(problem, is_elastic=True)
        self.model = plan.model
        self.limits = [limit for limit in plan.limits.limits if limit.rows.size]
        largest = self.model.largest_entries()
        self.slacks = {
            limit.name: self.model.relax(
                limit.rows, limit.per_slack, float(largest[limit.rows].max())
            )
            for limit in self.limits
        }

    def relax(self, limits: Sequence[Limit], work: WorkMeter) -> list[ConflictingConstraint]:
        """The least slack of these limits together, the others as they are."""
        own, open_ = self.model.costs(), {limit.name for limit in limits}
        cost = np.zeros(own.size)
        for limit in limits:
            column, unit = self.slacks[limit.name]
            cost[column] = unit / max(abs(limit.value), unit)
        closed = [column for name, (column, _) in self.slacks.items() if name not in open_]
        cost += own * (_COST_SHARE * cost.max() / max(float(np.abs(own).max()), 1e-9))
        values = self.model.solve(
            work, effort=_EFFORT, cost=cost, closed=np.array(closed, np.int64)
        ).values
        if values is None:
            return []
        slacks = [(limit, *self.slacks[limit.name]) for limit in limits]
        return [
            ConflictingConstraint(
                limit.name,
                limit.value,
                limit.value + limit.sign * unit * float(values[column]),
                is_sufficient=len(limits) == 1,
            )
            for limit, column, unit in slacks
            if len(limits) == 1 or unit * values[column] > _NO_SLACK
        ]


def _describe_gap(problem: PlanProblem, unserved: Bools) -> str:
    when = _describe_months(unserved)
    there = [unit.existing for unit in problem.units if unit.existing is not None]
    if any(row[unserved].any() for row in there):
        return f"what is in place is not enough {when}, and nothing more may be bought or rented"
    return f"nothing that may be bought or rented is available {when}"


def _describe_months(unserved: Bools) -> str:
    """Months counted from 1.

    >>> _describe_months(np.array([1, 1, 1, 0], bool)), _describe_months(np.array([1, 1], bool))
    ('in the first 3 months', 'in any month')
    >>> _describe_months(np.array([0, 1, 0, 1, 1, 1], bool))
    'in months 2, 4 to 6 of 6'
    >>> _describe_months(np.array([0, 1], bool))
    'in month 2 of 2'
    >>> _describe_months(np.array([1, 0], bool))
    'in the first month'
    """
    months = np.flatnonzero(unserved) + 1
    if months.size == unserved.size:
        return "in any month"
    if months[-1] == months.size:
        return f"in the first {f'{months.size} months' if months.size > 1 else 'month'}"
    if months.size == 1:
        return f"in month {months[0]} of {unserved.size}"
    runs = np.split(months, np.flatnonzero(np.diff(months) > 1) + 1)
    spans = (f"{r[0]} to {r[-1]}" if r.size > 1 else str(r[0]) for r in runs)
    return f"in months {', '.join(spans)} of {unserved.size}"
