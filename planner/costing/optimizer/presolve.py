"""The units that can be part of a cheapest plan: what another one dominates is left out. PURE.

Units of one kind (the same node, lead, duration, running cost and quotas) started in the same
month differ by their start alone, so the cheapest stands for all. Kinds are then compared with
one another: `k` small nodes that together are no more expensive and no larger than one big node
replace it. What is left out would never make a plan cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from planner.costing.optimizer.by_month.group_uses import add_group_uses
from planner.costing.optimizer.by_month.whole_nodes import add_whole_nodes
from planner.costing.optimizer.presolve_rentals import all_rentals, prune_rentals
from planner.costing.optimizer.problem import CommitmentOption, Floats, PlanProblem, Quota
from planner.costing.optimizer.reduced_problem import (
    NO_GROUP,
    Bools,
    Ints,
    ReducedProblem,
    StartCandidates,
    UnitTypes,
    needed_quotas,
)
from planner.costing.optimizer.work import WorkMeter

CASH_ARRAYS = 3
"""Arrays that the cash of the starts takes until it is in the model."""
ROUNDING = 1e-12
"""Relative error below which a sum of nodes counts as equal to one node."""


def prune(problem: PlanProblem, work: WorkMeter | None = None) -> ReducedProblem:
    """The problem without dominated offers; its cheapest plan costs the same. Raises
    `WorkSpentError` where the cash of its starts takes too much memory.

    >>> from planner.costing.optimizer.problem import RentalOption
    >>> one = np.ones(1)
    >>> dear, cheap = (RentalOption(k, 8.0, 8.0, p * one, p * one) for k, p in [("a", 9), ("b", 7)])
    >>> prune(PlanProblem(730 * one, 8 * one, (dear, cheap), ())).rentals.source.tolist()
    [[1]]
    """
    quota_groups = {g for s in problem.rental_options for g in s.limit_groups}
    quota_groups.update(g for s in problem.units for g in s.limit_groups)
    quotas = tuple(q for q in problem.quotas if q.group in quota_groups)
    members = _group_units(problem, quotas)
    unit_types = _unit_types(problem, quotas, members)
    max_units = _max_useful_units(problem, unit_types)
    offers = _offers(problem, members, unit_types, max_units)
    _remove_dominated(offers, unit_types, needed_quotas(problem, quotas))
    if offers.cash is not None and work is not None:
        starts = int(np.isfinite(offers.cost).sum())
        work.charge_model(CASH_ARRAYS * starts * problem.hours.size)
    start_candidates = _start_candidates(offers, unit_types, max_units)
    is_kept = np.asarray(unit_types.existing.any(axis=1), bool)
    is_kept[start_candidates.unit_type] = True
    start_candidates = replace(
        start_candidates, unit_type=(is_kept.cumsum() - 1)[start_candidates.unit_type]
    )
    rentals = prune_rentals(problem, quotas)
    reduced = ReducedProblem(problem, quotas, rentals, unit_types.select(is_kept), start_candidates)
    return add_whole_nodes(add_group_uses(reduced))


def keep_all(problem: PlanProblem) -> ReducedProblem:
    """The problem with every offer and every start that serves any work, each a kind of its own."""
    quotas = problem.quotas
    members = [[i] for i in range(len(problem.units))]
    unit_types = _unit_types(problem, quotas, members)
    most = _max_useful_units(problem, unit_types)
    starts = _start_candidates(_offers(problem, members, unit_types, most), unit_types, most)
    reduced = ReducedProblem(problem, quotas, all_rentals(problem, quotas), unit_types, starts)
    return add_whole_nodes(add_group_uses(reduced))


def _group_units(problem: PlanProblem, quotas: Sequence[Quota]) -> list[list[int]]:
    """Unit sources by kind: those of one kind differ by what it costs to start one.

    A source with a limit of its own, units of its own or a start that earns money is a kind.
    """
    has_budget = problem.monthly_budget is not None
    start_cost = _by_month([u.start_cost for u in problem.units], problem.hours.size)
    earns = np.asarray((start_cost < 0).any(axis=1), bool)
    none = (0.0,) * len(quotas)
    members: dict[tuple[object, ...], list[int]] = {}
    for i, unit in enumerate(problem.units):
        alone = earns[i] or unit.max_units is not None or unit.existing is not None
        key = (
            unit.capacity,
            tuple(unit.size_in(q.group) for q in quotas) if unit.limit_groups else none,
            unit.lead_months,
            min(unit.duration_months, problem.hours.size),
            unit.hours_per_month,
            unit.hour_cost.tobytes(),
            unit.hour_cash.tobytes() if has_budget else b"",
            unit.key if alone else "",
        )
        members.setdefault(key, []).append(i)
    return list(members.values())


def _stands_alone(unit: CommitmentOption) -> bool:
    has_own = unit.max_units is not None or unit.existing is not None
    return has_own or bool((unit.start_cost < 0).any())


def _unit_types(
    problem: PlanProblem, quotas: Sequence[Quota], members: Sequence[Sequence[int]]
) -> UnitTypes:
    months = problem.hours.size
    units = [problem.units[group[0]] for group in members]
    capacity = np.array([u.capacity for u in units])
    lead = np.array([min(u.lead_months, months) for u in units], np.int64)
    existing = [np.zeros(months) if u.existing is None else u.existing for u in units]
    quota_size = [[u.size_in(q.group) for q in quotas] for u in units]
    return UnitTypes(
        capacity=capacity,
        quota_size=np.array(quota_size, np.float64).reshape(len(units), len(quotas)),
        lead=lead,
        end=lead + np.array([min(u.duration_months, months) for u in units], np.int64),
        hours_per_month=np.array([u.hours_per_month for u in units]),
        hour_cost=_by_month([u.hour_cost for u in units], months) / capacity[:, None],
        hour_cash=_by_month([u.hour_cash for u in units], months) / capacity[:, None],
        existing=_by_month(existing, months),
        stands_alone=np.array([_stands_alone(u) for u in units], bool),
        is_rented_node=np.zeros(len(units), bool),
        group=np.full(len(units), NO_GROUP),
    )


def _by_month(rows: Sequence[NDArray[np.generic]], months: int) -> Floats:
    return np.array(rows, np.float64).reshape(len(rows), months)


@dataclass(frozen=True)
class _Offers:
    """Offers that compete, L of them, each a source per month in which a unit may start."""

    unit_type: Ints
    source: Ints
    """[L, T]"""
    cost: Floats
    """[L, T], `inf` where it may not start or need not: worked on in place."""
    capex: Floats | None
    """[L, T], or None without a capex budget."""
    cash: Sequence[Floats] | None
    """L times [T, T], or None without a monthly budget."""
    payments: Floats | None
    """[L, T], or None without a total budget."""


def _offers(
    problem: PlanProblem, members: Sequence[Sequence[int]], unit_types: UnitTypes, max_units: Floats
) -> _Offers:
    """One line per kind; where a budget tells its offers apart, one line per offer."""
    units, months = problem.units, np.arange(problem.hours.size)
    all_costs = _by_month([u.start_cost for u in units], months.size)
    unit_type: list[int] = []
    source: list[Ints] = []
    for k, group in enumerate(members):
        if len(group) == 1 or _differ_in_budget(problem, group):
            rows = list(np.repeat(group, months.size).reshape(len(group), months.size))
        else:
            rows = [np.array(group)[all_costs[group].argmin(axis=0)]]
        unit_type += [k] * len(rows)
        source += rows
    of_type, at = np.array(unit_type, np.int64), np.array(source, np.int64).reshape(-1, months.size)
    cost = all_costs[at, months]
    cost[max_units[of_type] <= 0] = np.inf
    capex = cash = None
    if problem.capital_budgets:
        capex = _by_month([u.capex for u in units], months.size)[at, months]
    if problem.monthly_budget is not None:  # then a line is one offer in every month
        cash = [units[i].cash_by_month for i in at[:, 0].tolist()]
    payments = None
    if problem.total_budget is not None:
        payments = _by_month([u.all_payments for u in units], months.size)[at, months]
    return _Offers(of_type, at, cost, capex, cash, payments)


def _differ_in_budget(problem: PlanProblem, group: Sequence[int]) -> bool:
    if problem.limits_cash:
        return True
    first = problem.units[group[0]].capex
    return bool(problem.capital_budgets) and any(
        not np.array_equal(problem.units[i].capex, first) for i in group
    )


def _remove_dominated(offers: _Offers, unit_types: UnitTypes, is_needed: Bools) -> None:
    """Set to `inf` the cost of every start that a line which stays replaces at no extra cost."""
    nodes, is_allowed = _replacements(
        unit_types, offers.cash is not None or offers.payments is not None, is_needed
    )
    first_cash = _cash_of_first_start(offers)
    finite = np.isfinite(offers.cost)
    usable = np.where(finite, offers.cost, 0.0).sum(axis=1)
    alive = np.asarray(finite.any(axis=1), bool)
    for a in np.argsort(usable / unit_types.capacity[offers.unit_type], kind="stable"):
        unit_type = offers.unit_type[a]
        if not alive[a] or unit_types.stands_alone[unit_type]:
            continue
        rivals = is_allowed[unit_type, offers.unit_type] & alive
        rivals[a] = False
        count = nodes[unit_type, offers.unit_type]
        rivals &= (count[:, None] * first_cash[a] <= first_cash).all(axis=1)
        at = np.flatnonzero(rivals)
        dominated = _dominated(offers, int(a), at, count[at])
        offers.cost[at] = np.where(dominated, np.inf, offers.cost[at])
        alive[at] = np.isfinite(offers.cost[at]).any(axis=1)


def _dominated(offers: _Offers, a: int, rivals: Ints, count: Floats) -> Bools:
    """[rivals, T] months in which `count` nodes of line a do for one at no extra cost."""
    dominated = np.asarray(count[:, None] * offers.cost[a] <= offers.cost[rivals], bool)
    if offers.capex is not None:
        dominated &= count[:, None] * offers.capex[a] <= offers.capex[rivals]
    if offers.payments is not None:
        dominated &= count[:, None] * offers.payments[a] <= offers.payments[rivals]
    if offers.cash is None:
        return dominated
    paid, rows = offers.cash[a], np.flatnonzero(dominated.any(axis=1))
    for row, b, nodes in zip(rows, rivals[rows], count[rows].tolist(), strict=True):
        less = (paid if nodes == 1 else nodes * paid) <= offers.cash[b]
        if not less.all():
            dominated[row] &= less.all(axis=1)
    return dominated


def _cash_of_first_start(offers: _Offers) -> Floats:
    """[L, 3] in month 0, month 1 and month 0's row in all, of a unit started in month 0: a quick
    test before the whole is compared."""
    if offers.cash is None:
        return np.zeros((offers.unit_type.size, 3))
    first = _by_month([cash[0] for cash in offers.cash], offers.source.shape[1])
    return np.stack([first[:, 0], first[:, min(1, first.shape[1] - 1)], first.sum(axis=1)], axis=1)


def _start_candidates(offers: _Offers, unit_types: UnitTypes, max_units: Floats) -> StartCandidates:
    months = max_units.shape[1]
    offer, month = np.nonzero(np.isfinite(offers.cost))
    unit_type, source = offers.unit_type[offer], offers.source[offer, month]
    capex = np.zeros(offer.size) if offers.capex is None else offers.capex[offer, month]
    cash = None
    if offers.cash is not None:
        rows = [offers.cash[at][m] for at, m in zip(offer.tolist(), month.tolist(), strict=True)]
        cash = _by_month(rows, months)
    return StartCandidates(
        unit_type=unit_type,
        month=month,
        first=np.minimum(month + unit_types.lead[unit_type], months),
        last=np.minimum(month + unit_types.end[unit_type], months),
        source=source,
        cost=offers.cost[offer, month],
        capex=capex,
        upper_bound=max_units[unit_type, month],
        cash=cash,
        payments=None if offers.payments is None else offers.payments[offer, month],
    )


def _max_useful_units(problem: PlanProblem, unit_types: UnitTypes) -> Floats:
    """[K, T] units started in month m beyond which the months they serve are covered."""
    months = problem.hours.size
    delivered = unit_types.capacity * np.maximum(unit_types.hours_per_month, 1e-9)
    by_peak = problem.peak / unit_types.capacity[:, None]
    needed = np.ceil(np.maximum(by_peak, problem.hours / delivered[:, None]) - 1e-9)
    max_units = np.zeros(needed.shape)
    for lead, end in set(zip(unit_types.lead.tolist(), unit_types.end.tolist(), strict=True)):
        if lead >= end:
            continue
        of_it = (unit_types.lead == lead) & (unit_types.end == end)
        later = np.pad(needed[of_it], ((0, 0), (0, end)))[:, lead:]
        max_units[of_it] = sliding_window_view(later, end - lead, axis=1).max(axis=2)[:, :months]
    return max_units


def _replacements(
    unit_types: UnitTypes, has_budget: bool, is_needed: Bools
) -> tuple[Floats, Bools]:
    """[K, K] how many nodes of kind a replace one of kind b, and whether every limit allows it;
    [Q] quotas whose groups may have to be in use ask for as much of both."""
    capacity, hours = unit_types.capacity, unit_types.hours_per_month
    nodes = np.ceil(capacity / capacity[:, None] * (1 - ROUNDING))
    is_allowed = np.ones(nodes.shape, bool)
    for size, must_be_used in zip(unit_types.quota_size.T, is_needed, strict=True):
        held = nodes * size[:, None]
        is_allowed &= held <= size * (1 + ROUNDING)
        if must_be_used:
            is_allowed &= held >= size * (1 - ROUNDING)
    is_allowed &= (unit_types.lead[:, None] <= unit_types.lead) & (
        unit_types.end[:, None] >= unit_types.end
    )
    is_allowed &= nodes * (capacity * hours)[:, None] >= capacity * hours * (1 - ROUNDING)
    is_allowed &= _is_nowhere_above(unit_types.hour_cost)
    if has_budget:
        is_allowed &= _is_nowhere_above(unit_types.hour_cash)
    return nodes, np.asarray(is_allowed, bool)


def _is_nowhere_above(figures: Floats) -> Bools:
    """[K, K] whether the figures of row a are at most those of row b in every month."""
    index: dict[bytes, int] = {}
    of_row = [index.setdefault(row.tobytes(), len(index)) for row in figures]
    distinct = figures[np.unique(of_row, return_index=True)[1]]
    below = np.asarray((distinct[:, None] <= distinct).all(axis=2), bool)
    return below[np.ix_(of_row, of_row)]
