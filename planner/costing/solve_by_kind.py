"""The cheapest plan that keeps to one group of sources. PURE.

Each group is solved by itself, the one that may be cheapest first; a group whose sources cannot
cost less than a plan that is known is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.problem import CommitmentOption, Floats, Plan, PlanProblem
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


def solve_by_kind(
    problem: PlanProblem,
    groups: Sequence[Collection[str]],
    work: WorkMeter | None = None,
    ceiling: float = np.inf,
    known: Plan | None = None,
    peaks: Sequence[Floats] = (),
    are_level: Sequence[bool] = (),
) -> Plan:
    """The cheapest plan from the sources of one of `groups`, with a bound on all of them.

    Each group may search with its share of the `work`, and what those before it left of theirs, for
    plans that cost less than `ceiling` and than those of the groups before it. A `known` plan from
    the sources of one of them stands where none is cheaper. `peaks` of the groups, each [T], stand
    in for the problem's, and are told of the plan. Groups that are level are tried last,
    rent parts of machines and stand where that is cheaper.

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
    parts = [restrict_sources(problem, group) for group in groups]
    work.charge(sum(presolve_units(part) for part in parts))
    if peaks:
        parts = [replace(part, peak=peak) for part, peak in zip(parts, peaks, strict=True)]
    levels = np.array(are_level or [False] * len(parts), dtype=bool)
    parts = [
        rent_in_parts(part) if level else part for part, level in zip(parts, levels, strict=True)
    ]
    floors = [least_cost(part) for part in parts]
    best, bound, refused = known, np.inf, []
    ceiling = min(ceiling, known.cost) if known is not None else ceiling
    for rank, index in enumerate(np.lexsort((np.array(floors), levels)).tolist()):
        if floors[index] >= ceiling:
            bound = min(bound, floors[index])
            continue
        share = work.share(1 / (len(groups) - rank), stops=False)
        plan = solve(parts[index], work=share, ceiling=ceiling)
        plan = replace(plan, peak=parts[index].peak, is_level=bool(levels[index]))
        if not plan.feasible:
            refused.append(plan)
            bound = min(bound, max(plan.bound, floors[index]))
            continue
        bound = min(bound, plan.bound)
        if best is None or plan.cost < best.cost * (1 - _ROUNDING * plan.is_level):
            best, ceiling = plan, min(ceiling, plan.cost)
    if best is None and not refused and np.isinf(ceiling):
        return replace(solve(parts[0], work=work), bound=bound)
    if best is None and not refused:
        return Plan(False, np.inf, bound, why_not=(NOT_CHEAPER,))
    if best is None:
        undecided = (plan for plan in refused if UNDECIDED in plan.why_not)
        return replace(next(undecided, min(refused, key=_change_needed)), bound=bound)
    return replace(best, bound=min(bound, best.cost))


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


def least_cost(problem: PlanProblem) -> float:
    """What no plan costs less than, + base cost; infinite where no source is left.

    Either all is rented, at the month's lowest price and in whole nodes if machines rent whole; or
    at least one unit is started or in place, and no hour costs less than the lowest of all.
    """
    return problem.base_cost + min(_least_rent(problem), _least_with_units(problem))


def _lowest_rent(problem: PlanProblem) -> Floats:
    """[T] lowest cost of a reference accelerator-hour rented; ∞ where nothing is to be had."""
    prices = [
        rental.hour_cost / rental.capacity
        if rental.available is None
        else np.where(rental.available, rental.hour_cost / rental.capacity, np.inf)
        for rental in problem.rental_options
    ]
    return np.min(prices, axis=0) if prices else np.full(problem.hours.size, np.inf)


def _least_rent(problem: PlanProblem) -> float:
    """Σ lowest rent · the hours of the fewest whole nodes, all of the smallest node's size; of the
    hours asked where a part of some node may be rented."""
    busy = problem.hours > 0
    hours = problem.hours[busy]
    sizes = np.array([rental.capacity for rental in problem.rental_options])
    if problem.whole_nodes and sizes.size and not any(r.in_parts for r in problem.rental_options):
        smallest, peak = sizes.min(), problem.peak[busy]
        parts = sizes / smallest
        if np.all(np.abs(parts - np.round(parts)) <= _ROUNDING):
            nodes = np.ceil(peak / smallest * (1 - _ROUNDING))
            hours = np.maximum(hours, nodes * smallest * hours / peak)
    return float(hours @ _lowest_rent(problem)[busy])


def _least_with_units(problem: PlanProblem) -> float:
    """Σ hours · the lowest cost of any hour, units by their share of the start cost; no less than
    the starts that no rental can replace, one at least, and the hours at their running cost."""
    if not problem.units:
        return np.inf
    busy, rent = problem.hours > 0, _lowest_rent(problem)
    spread = [(u.hour_cost + _start_cost_per_hour(u, busy)) / u.capacity for u in problem.units]
    running = [u.hour_cost / u.capacity for u in problem.units]
    shared, run = (
        float(problem.hours[busy] @ np.minimum(np.min(costs, axis=0), rent)[busy])
        for costs in (spread, running)
    )
    start = min(
        0.0 if u.existing is not None else float(np.min(u.start_cost)) for u in problem.units
    )
    return max(shared, run + start * (_least_units(problem, rent) if start > 0 else 1))


def _least_units(problem: PlanProblem, rent: Floats) -> float:
    """Units that the largest peak of the months without anything to rent takes, at least 1."""
    only_units = (problem.hours > 0) & np.isinf(rent)
    peak = float(np.max(problem.peak[only_units], initial=0.0))
    largest = max(unit.capacity for unit in problem.units)
    return max(1.0, float(np.ceil(peak / largest * (1 - _ROUNDING))))


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
