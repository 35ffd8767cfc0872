"""The cheapest plan that keeps to one group of sources. PURE.

Each group is solved by itself, the one that may be cheapest first; a group whose sources cannot
cost less than a plan that is known is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from planner.costing.cost_floors import CostFloors, Members
from planner.costing.optimizer.problem import Floats, Plan, PlanProblem
from planner.costing.optimizer.solve import (
    NOT_CHEAPER,
    UNDECIDED,
    presolve_units,
    restrict_sources,
    solve,
)
from planner.costing.optimizer.work import WorkMeter
from pricing.common.copies import replace

_ROUNDING = 1e-9
_MARGIN = 1e-6
"""Share by which a group has to cost more than a plan that is known to be left out unsearched."""


def solve_by_kind(
    problem: PlanProblem,
    groups: Sequence[Collection[str]],
    work: WorkMeter | None = None,
    ceiling: float = np.inf,
    known: Plan | None = None,
    peaks: Sequence[Floats] = (),
    are_level: Sequence[bool] = (),
    *,
    leaves_out_dear: bool = False,
) -> Plan:
    """The cheapest plan from the sources of one of `groups`, with a bound on all of them.

    Each group may search with its share of the `work`, and what those before it left of theirs, for
    plans that cost less than `ceiling` and than those of the groups before it. A `known` plan from
    the sources of one of them stands where none is cheaper. `peaks` of the groups, each [T], stand
    in for the problem's, and are told of the plan. Groups that are level are tried last,
    rent parts of machines and stand where that is cheaper. Where it `leaves_out_dear`, groups whose
    starts alone cost more than the cheapest plan before are not searched.

    >>> from planner.costing.optimizer.problem import RentalOption
    >>> month = np.ones(1)
    >>> small, large = (
    ...     RentalOption(key, size, size, price * month, price * month)
    ...     for key, size, price in (("small", 1.0, 2.0), ("large", 8.0, 12.0))
    ... )
    >>> problem = PlanProblem(6570 * month, 9 * month, (small, large), (), whole_nodes=True)
    >>> solve_by_kind(problem, [["small"], ["large"]]).cost
    13140.0
    """
    if not groups:
        return solve(problem, (), work=work, ceiling=ceiling)
    work = WorkMeter() if work is None else work
    parts = _list_parts(restrict_sources(problem, None), groups, peaks, are_level)
    work.charge(sum(part.presolve_units for part in parts))
    floors = np.array([part.least_cost for part in parts])
    best, bound, refused = known, np.inf, []
    ceiling = min(ceiling, known.cost) if known is not None else ceiling
    levels = np.array([part.is_level for part in parts], dtype=bool)
    for rank, index in enumerate(np.lexsort((floors, levels)).tolist()):
        if floors[index] >= ceiling:
            bound = min(bound, floors[index])
            continue
        if leaves_out_dear and best is not None and parts[index].costs_more_than(best.cost):
            continue
        share = work.share(1 / (len(groups) - rank), stops=False)
        part = parts[index]
        plan = solve(part.problem, work=share, ceiling=ceiling)
        plan = replace(plan, peak=part.peak, is_level=part.is_level)
        if not plan.feasible:
            refused.append(plan)
            bound = min(bound, max(plan.bound, floors[index]))
            continue
        bound = min(bound, plan.bound)
        if best is None or plan.cost < best.cost * (1 - _ROUNDING * plan.is_level):
            best, ceiling = plan, min(ceiling, plan.cost)
    if best is None and not refused and np.isinf(ceiling):
        return replace(solve(parts[0].problem, work=work), bound=bound)
    if best is None and not refused:
        return Plan(False, np.inf, bound, why_not=(NOT_CHEAPER,))
    if best is None:
        undecided = (plan for plan in refused if UNDECIDED in plan.why_not)
        return replace(next(undecided, min(refused, key=_change_needed)), bound=bound)
    return replace(best, bound=min(bound, best.cost))


@dataclass(frozen=True)
class _Part:
    """One group of the sources of a problem."""

    floors: CostFloors
    members: Members
    peak: Floats
    is_level: bool

    @property
    def problem(self) -> PlanProblem:
        """The problem with the sources of the group alone."""
        whole, members = self.floors.problem, self.members
        part = replace(
            whole,
            peak=self.peak,
            rental_options=tuple(whole.rental_options[i] for i in members.rentals),
            units=tuple(whole.units[i] for i in members.units),
        )
        return rent_in_parts(part) if self.is_level else part

    @property
    def presolve_units(self) -> float:
        """Units of work that it takes to compare the sources of the group."""
        members = self.members
        return presolve_units(self.floors.problem, members.rentals.size, members.units.size)

    @property
    def least_cost(self) -> float:
        """What no plan of the group costs less than."""
        return self.floors.of(self.members, self.peak, is_level=self.is_level)

    def costs_more_than(self, cost: float) -> bool:
        """Whether what has to be started for the months in which nothing can be rented makes every
        plan of the group cost more, be it in fractions of units: its search would find no plan,
        and prove as much."""
        return self.floors.of_starts(self.members, self.peak) > cost + _MARGIN * abs(cost)


def _list_parts(
    problem: PlanProblem,
    groups: Sequence[Collection[str]],
    peaks: Sequence[Floats],
    are_level: Sequence[bool],
) -> list[_Part]:
    floors = CostFloors(problem)
    peaks, are_level = peaks or [problem.peak] * len(groups), are_level or [False] * len(groups)
    return [
        _Part(floors, floors.members(keys), peak, is_level)
        for keys, peak, is_level in zip(groups, peaks, are_level, strict=True)
    ]


def rent_in_parts(problem: PlanProblem) -> PlanProblem:
    """The problem with machines that may be rented for less than the hours at peak."""
    rentals = tuple(replace(one, in_parts=True) for one in problem.rental_options)
    return replace(problem, rental_options=rentals)


def _change_needed(refused: Plan) -> float:
    """How many times as high the limits in the way of a plan would have to be; infinite where
    something else is, so that a limit is named wherever more of it would do."""
    shares = [
        one.required_value / one.current_value
        if one.current_value and one.required_value is not None
        else np.inf
        for one in refused.conflicts
    ]
    return max(shares, default=np.inf)
