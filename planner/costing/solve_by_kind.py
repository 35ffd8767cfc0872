"""The cheapest plan that keeps to one group of sources. PURE.

Each group is solved by itself, the one that may be cheapest first; a group whose sources cannot
cost less than a plan that is known is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.copies import cached_property, replace
from planner.costing.optimizer.model import Effort
from planner.costing.optimizer.problem import CommitmentOption, Floats, Plan, PlanProblem
from planner.costing.optimizer.solve import (
    FULL,
    NOT_CHEAPER,
    UNDECIDED,
    presolve_units,
    restrict_sources,
    solve,
)
from planner.costing.optimizer.work import WorkMeter
from planner.costing.plan_with_credits import PlansWithCredits
from planner.costing.run_machines import RunGroup

_ROUNDING = 1e-9


def solve_by_kind(
    problem: PlanProblem,
    groups: Sequence[RunGroup],
    work: WorkMeter | None = None,
    ceiling: float = np.inf,
    known: Plan | None = None,
    credits: PlansWithCredits | None = None,
    effort: Effort = FULL,
) -> Plan:
    """The cheapest plan from the sources of one of `groups`, with a bound on all of them.

    Each group may search with its share of the `work`, and what those before it left of theirs, for
    plans that cost less than `ceiling` and than those of the groups before it. A `known` plan from
    the sources of one of them stands where none is cheaper. The peak of a group stands in for the
    problem's, and is told of the plan. Groups that are level are tried last, rent parts of machines
    and stand where that is cheaper. `credits` and minimum spends count.

    >>> from planner.costing.optimizer.problem import RentalOption
    >>> month = np.ones(1)
    >>> small, large = (
    ...     RentalOption(key, size, size, price * month, price * month)
    ...     for key, size, price in (("small", 1.0, 2.0), ("large", 8.0, 12.0))
    ... )
    >>> problem = PlanProblem(6570 * month, 9 * month, (small, large), (), whole_nodes=True)
    >>> solve_by_kind(problem, [RunGroup(frozenset({key})) for key in ("small", "large")]).cost
    13140.0
    """
    spending = None if credits is None else credits.spending
    if not groups:
        return solve(problem, (), effort=effort, work=work, ceiling=ceiling)
    work = WorkMeter() if work is None else work
    problem = restrict_sources(problem, None)
    costs, parts = CostFloors(problem), [_restrict(problem, group) for group in groups]
    work.charge(sum(presolve_units(p, len(p.rental_options), len(p.units)) for p in parts))
    floors = np.array([costs.of(part) for part in parts])
    if spending is not None:
        floors -= float(spending.worth.max(axis=(1, 2)) @ (spending.amounts * spending.is_credit))
    best, bound, refused = known, np.inf, []
    ceiling = min(ceiling, known.cost) if known is not None else ceiling
    for rank, index in enumerate(
        np.lexsort((floors, np.array([group.is_level for group in groups]))).tolist()
    ):
        if floors[index] >= ceiling:
            bound = min(bound, floors[index])
            continue
        share = work.share(1 / (len(groups) - rank), stops=False)
        plan = solve(parts[index], effort=effort, work=share, ceiling=ceiling, spending=spending)
        plan = plan if credits is None else credits.settle(plan)
        plan = replace(plan, peak=groups[index].peak, is_level=groups[index].is_level)
        if not plan.feasible:
            refused.append(plan)
            bound = min(bound, max(plan.bound, floors[index]))
            continue
        bound = min(bound, plan.bound)
        if best is None or plan.cost < best.cost * (1 - _ROUNDING * plan.is_level):
            best, ceiling = plan, min(ceiling, plan.cost)
    if best is None and not refused and np.isinf(ceiling):
        return replace(solve(parts[0], effort=effort, work=work), bound=bound)
    if best is None and not refused:
        return Plan(False, np.inf, bound, why_not=(NOT_CHEAPER,))
    if best is None:
        undecided = (plan for plan in refused if UNDECIDED in plan.why_not)
        return replace(next(undecided, min(refused, key=_change_needed)), bound=bound)
    return replace(best, bound=min(bound, best.cost))


def _restrict(problem: PlanProblem, group: RunGroup) -> PlanProblem:
    part = replace(
        problem,
        peak=problem.peak if group.peak is None else group.peak,
        rental_options=tuple(one for one in problem.rental_options if one.key in group.keys),
        units=tuple(unit for unit in problem.units if unit.key in group.keys),
    )
    return rent_in_parts(part) if group.is_level else part


def rent_in_parts(problem: PlanProblem) -> PlanProblem:
    """The problem with machines that may be rented for less than the hours at peak."""
    rentals = tuple(replace(one, in_parts=True) for one in problem.rental_options)
    return replace(problem, rental_options=rentals)


def _change_needed(refused: Plan) -> float:
    shares = [
        one.required_value / one.current_value
        if one.current_value and one.required_value is not None
        else np.inf
        for one in refused.conflicts
    ]
    return max(shares, default=np.inf)


@dataclass(frozen=True)
class CostFloors:
    """What plans from some of a problem's sources cost at least: either all is rented, at the
    month's lowest price and in whole nodes if machines rent whole; or no hour costs less than the
    lowest of all, units with their share of the start."""

    problem: PlanProblem

    def of(self, part: PlanProblem) -> float:
        """What no plan of a part of the problem's sources costs less than, `base_cost` in; infinite
        where no source is left."""
        busy = part.hours > 0
        hours, rows = part.hours[busy], [self._hour[one.key] for one in part.rental_options]
        rent = np.min(rows, axis=0, initial=np.inf) if rows else np.full(busy.size, np.inf)
        least = float(self._hours_rented(part, busy) @ rent[busy])
        if part.units:
            units = np.min([self._hour[unit.key] for unit in part.units], axis=0)
            least = min(least, float(hours @ np.minimum(units, rent)[busy]))
        return part.base_cost + least

    def _hours_rented(self, part: PlanProblem, busy: NDArray[np.bool_]) -> Floats:
        hours, peak = part.hours[busy], part.peak[busy]
        sizes = np.array([one.capacity for one in part.rental_options])
        rents_parts = any(one.in_parts for one in part.rental_options)
        if not part.whole_nodes or rents_parts or not sizes.size:
            return hours
        parts = sizes / sizes.min()
        if np.any(np.abs(parts - np.round(parts)) > _ROUNDING):
            return hours
        nodes = np.ceil(peak / sizes.min() * (1 - _ROUNDING)) * sizes.min()
        whole = np.divide(nodes * hours, peak, out=hours.copy(), where=peak > 0)
        return np.asarray(np.maximum(hours, whole))

    @cached_property
    def _hour(self) -> dict[str, Floats]:
        problem, busy = self.problem, self.problem.hours > 0
        rows = {
            one.key: np.where(
                True if one.available is None else one.available, one.hour_cost, np.inf
            )
            / one.capacity
            for one in problem.rental_options
        }
        for unit in problem.units:
            start = _start_cost_per_hour(unit, busy)
            rows[unit.key] = (unit.hour_cost + start) / unit.capacity
        return rows


def _start_cost_per_hour(unit: CommitmentOption, busy: NDArray[np.bool_]) -> float:
    """Lowest start cost over the hours that a unit can deliver in the `busy` months of the horizon,
    by the month of its start; 0 for units in place, whose start is paid; −inf where a start earns
    money, which no use makes less of; ∞ where no start delivers any."""
    if unit.existing is not None:
        return 0.0
    if float(np.min(unit.start_cost, initial=0.0)) < 0:
        return -np.inf
    months = busy.size
    delivered = np.concatenate([[0.0], np.cumsum(busy * unit.hours_per_month)])
    first = np.minimum(np.arange(months) + unit.lead_months, months)
    last = np.minimum(first + unit.duration_months, months)
    hours = delivered[last] - delivered[first]
    costs = np.divide(unit.start_cost, hours, out=np.full(months, np.inf), where=hours > 0)
    return float(np.min(costs))
