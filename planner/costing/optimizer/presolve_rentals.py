"""The rentals that can be part of a cheapest plan: one offer per kind and month. PURE.

Rentals of one kind (spot or not, the same quotas, the same accelerators per unit of capacity)
differ by price alone, so the cheapest of a month stands for all. A kind that is no cheaper than
another one which no limit treats worse is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.costing.optimizer.by_month.whole_nodes import machine_sizes
from planner.costing.optimizer.problem import Floats, PlanProblem, Quota
from planner.costing.optimizer.reduced_problem import Bools, Ints, Rentals, needed_quotas

_ROUNDING = 1e-12
_RentalType = tuple[bool, tuple[float, ...], float]


def prune_rentals(problem: PlanProblem, quotas: Sequence[Quota]) -> Rentals:
    """The rentals of a problem without dominated ones.

    >>> from planner.costing.optimizer.problem import RentalOption
    >>> one = np.ones(1)
    >>> dear, cheap = (RentalOption(k, 8.0, 8.0, p * one, p * one) for k, p in [("a", 9), ("b", 7)])
    >>> problem = PlanProblem(730 * one, 8 * one, (dear, cheap), ())
    >>> prune_rentals(problem, ()).source.tolist()
    [[1]]
    """
    members = _group_rentals(problem, quotas)
    cost, cash = _figures(problem)
    has_budget = problem.limits_cash
    picked = [
        (rental_type, row)
        for rental_type, group in members.items()
        for row in _cheapest(np.array(group), cost, cash, has_budget)
    ]
    shape = (len(picked), problem.hours.size)
    source = np.array([row for _, row in picked], np.int64).reshape(shape)
    rentals = Rentals(
        is_spot=np.array([rental_type[0] for rental_type, _ in picked], bool),
        quota_size=np.array([rental_type[1] for rental_type, _ in picked], np.float64).reshape(
            len(picked), len(quotas)
        ),
        node=np.array([rental_type[2] for rental_type, _ in picked], np.float64),
        source=source,
        cost=np.take_along_axis(cost, source, axis=0),
        cash=np.take_along_axis(cash, source, axis=0),
        offered=np.ones(source.shape, bool),
    )
    return _without_dominated(rentals, problem, quotas)


def all_rentals(problem: PlanProblem, quotas: Sequence[Quota]) -> Rentals:
    """Every rental of a problem as a kind of its own."""
    cost, cash = _figures(problem)
    options, months = problem.rental_options, problem.hours.size
    sizes = [[s.size_in(q.group) / s.capacity for q in quotas] for s in options]
    node = [s.capacity if problem.whole_nodes and not s.in_parts else 0.0 for s in options]
    return Rentals(
        is_spot=np.array([problem.max_spot_share < 1.0 and s.is_spot for s in options], bool),
        quota_size=np.array(sizes, np.float64).reshape(len(options), len(quotas)),
        node=np.array(node, np.float64),
        source=np.arange(len(options))[:, None] + np.zeros(months, np.int64),
        cost=cost,
        cash=cash,
        offered=np.isfinite(cost) & (problem.hours > 0),
    )


def _group_rentals(problem: PlanProblem, quotas: Sequence[Quota]) -> dict[_RentalType, list[int]]:
    limits_spot = problem.max_spot_share < 1.0
    members: dict[_RentalType, list[int]] = {}
    for j, source in enumerate(problem.rental_options):
        sizes = tuple(source.size_in(q.group) / source.capacity for q in quotas)
        node = source.capacity if problem.whole_nodes and not source.in_parts else 0.0
        members.setdefault((limits_spot and source.is_spot, sizes, node), []).append(j)
    return members


def _figures(problem: PlanProblem) -> tuple[Floats, Floats]:
    """[n, T] cost and cash per reference accelerator-hour, `inf` where it cannot be rented."""
    shape = (len(problem.rental_options), problem.hours.size)
    capacity = np.array([s.capacity for s in problem.rental_options])[:, None]
    cost = np.array([s.hour_cost for s in problem.rental_options]).reshape(shape) / capacity
    cash = np.array([s.hour_cash for s in problem.rental_options]).reshape(shape) / capacity
    for j, source in enumerate(problem.rental_options):
        if source.available is not None:
            cost[j, ~source.available] = np.inf
            cash[j, ~source.available] = np.inf
    return cost, cash


def _cheapest(group: Ints, cost: Floats, cash: Floats, has_budget: bool) -> list[Ints]:
    """Rows of offers, one a month: the cheapest, then those that need less cash than it."""
    best = group[cost[group].argmin(axis=0)]
    months = np.arange(cost.shape[1])
    if not has_budget or (cash[best, months] <= cash[group].min(axis=0)).all():
        return [best]
    by_cost = np.lexsort((cash[group], cost[group]), axis=0)
    ranked = np.take_along_axis(cash[group], by_cost, axis=0)
    less = ranked[1:] < np.minimum.accumulate(ranked, axis=0)[:-1]
    return [group[by_cost[0]], *(group[by_cost[1 + r]] for r in np.flatnonzero(less.any(axis=1)))]


def _without_dominated(rentals: Rentals, problem: PlanProblem, quotas: Sequence[Quota]) -> Rentals:
    """A type leaves a month to one that costs no more and is limited no more; of twins the last."""
    is_needed, counted = needed_quotas(problem, quotas), machine_sizes(rentals.quota_size, quotas)
    parts_nodes = bool(rentals.is_spot.any() or (rentals.quota_size != counted).any())
    parts_nodes = parts_nodes or (problem.limits_cash and bool(counted.any()))
    offered = np.isfinite(rentals.cost) & (problem.hours > 0)
    later = np.arange(rentals.is_spot.size)
    no_more_limited = [
        _no_more_limited(rentals, a, is_needed)
        & _may_replace(rentals, a, counted, parts_nodes, problem.parts_replace_nodes)
        for a in range(later.size)
    ]
    for a, no_less_limited in enumerate(no_more_limited):
        twins = no_less_limited & np.array([other[a] for other in no_more_limited], bool)
        cost, cash = _replacement_prices(rentals, a)
        better = cost < rentals.cost
        if problem.limits_cash:
            better &= cash <= rentals.cash
            better |= (cost <= rentals.cost) & (cash < rentals.cash)
        equal = (cost == rentals.cost) & (cash == rentals.cash)
        if not problem.limits_cash:
            equal = cost == rentals.cost
        dominated = better | (equal & (~twins | (later > a))[:, None])
        offered &= ~(no_less_limited[:, None] & dominated & np.isfinite(rentals.cost[a]))
    is_kept = offered.any(axis=1)
    columns = {name: getattr(rentals, name)[is_kept] for name in _COLUMNS}
    return Rentals(**columns, offered=offered[is_kept])


_COLUMNS = ("is_spot", "quota_size", "node", "source", "cost", "cash")


def _replacement_prices(rentals: Rentals, a: int) -> tuple[Floats, Floats]:
    """[C, T] cost and cash of nodes of type a that stand for one node of each type, per reference
    accelerator-hour of that node: ⌈other / own⌉ · own / other times its own; 1 · own without
    whole nodes, and never for a node of which parts are rented."""
    own, other = rentals.node[a], rentals.node
    factor = np.ones(other.size)
    if own > 0:
        whole = np.ceil(other / own * (1 - _ROUNDING)) * own
        factor = np.divide(whole, other, out=np.full(other.size, np.inf), where=other > 0)
        factor = np.where(np.abs(factor - 1) <= _ROUNDING, 1.0, factor)
    can = np.isfinite(factor)[:, None]
    times = np.where(can, factor[:, None], 1.0)
    cost, cash = (np.where(can, times * one[a], np.inf) for one in (rentals.cost, rentals.cash))
    return cost, cash


def _no_more_limited(rentals: Rentals, a: int, is_needed: Bools) -> Bools:
    """[C] kinds other than a that every limit treats at least as hard as kind a; [Q] quotas of
    which some must be in use ask for the same of both."""
    no_less_limited = rentals.is_spot[a] <= rentals.is_spot
    no_less_limited &= (rentals.quota_size[a] <= rentals.quota_size).all(axis=1)
    no_less_limited &= (rentals.quota_size[a] == rentals.quota_size)[:, is_needed].all(axis=1)
    no_less_limited[a] = False
    return np.asarray(no_less_limited, bool)


def _may_replace(
    rentals: Rentals, a: int, counted: Floats, parts_nodes: bool, in_parts: bool
) -> Bools:
    """[C] types whose nodes those of type a may replace: of one size that the same quotas of
    machines count, or of another where nothing else parts the offers of a node, so that no node is
    left in part; `counted` [C, Q] is what such quotas count, `in_parts` whether what is rented in
    parts replaces nodes that are left in part all the same."""
    is_alike = (counted == counted[a]).all(axis=1)
    if rentals.node[a] <= 0:
        is_alike &= in_parts | (rentals.node <= 0)
        return np.asarray(is_alike | (not parts_nodes))
    is_same_size = rentals.node == rentals.node[a]
    if parts_nodes:
        return np.asarray(is_same_size & is_alike, bool)
    return np.asarray(is_same_size | (not counted[a].any()), bool)
