"""The units that can be part of a cheapest plan: what another one dominates is left out. PURE.

Units of one kind (the same node, lead, duration, running cost and quotas) begun in the same
month differ by their start alone, so the cheapest stands for all. Kinds are then compared with
one another: `k` small nodes that together are no dearer and no larger than one big node
replace it. What is left out would never make a plan cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from planner.costing.plan_market import Bools, Ints, Kinds, Market, Starts
from planner.costing.plan_problem import Floats, PlanProblem, Quota, UnitSource
from planner.costing.plan_rentals import worthwhile_rentals

ROUNDING = 1e-12
"""Relative error below which a sum of nodes counts as equal to one node."""


def prune(problem: PlanProblem) -> Market:
    """The problem without dominated offers; its cheapest plan costs the same.

    >>> from planner.costing.plan_problem import HourlySource
    >>> one = np.ones(1)
    >>> dear, cheap = (HourlySource(k, 8.0, 8.0, p * one, p * one) for k, p in [("a", 9), ("b", 7)])
    >>> prune(PlanProblem(730 * one, 8 * one, (dear, cheap), ())).rentals.source.tolist()
    [[1]]
    """
    used = {g for s in problem.hourly for g in s.limit_groups}
    used.update(g for s in problem.units for g in s.limit_groups)
    quotas = tuple(q for q in problem.quotas if q.group in used)
    members = _members(problem, quotas)
    kinds = _kinds(problem, quotas, members)
    lines = _lines(problem, members, kinds)
    _leave_out(lines, kinds)
    starts = _starts(lines, problem, kinds)
    kept = np.asarray(kinds.existing.any(axis=1), bool)
    kept[starts.kind] = True
    starts = replace(starts, kind=(kept.cumsum() - 1)[starts.kind])
    rentals = worthwhile_rentals(problem, quotas)
    return Market(problem, quotas, rentals, kinds.only(kept), starts)


def _members(problem: PlanProblem, quotas: Sequence[Quota]) -> list[list[int]]:
    """Unit sources by kind: those of one kind differ by what it costs to begin one.

    A source with a limit of its own, units of its own or a start that earns money is a kind.
    """
    has_budget = problem.monthly_budget is not None
    members: dict[tuple[object, ...], list[int]] = {}
    for i, unit in enumerate(problem.units):
        inside = tuple(q.group in unit.limit_groups for q in quotas)
        key = (
            unit.capacity,
            unit.accelerators if any(inside) else 0.0,
            inside,
            unit.lead_months,
            unit.duration_months,
            unit.hours_per_month,
            unit.hour_cost.tobytes(),
            unit.hour_cash.tobytes() if has_budget else b"",
            unit.key if _stands_alone(unit) else "",
        )
        members.setdefault(key, []).append(i)
    return list(members.values())


def _stands_alone(unit: UnitSource) -> bool:
    has_own = unit.max_units is not None or unit.existing is not None
    return has_own or bool((unit.start_cost < 0).any())


def _kinds(
    problem: PlanProblem, quotas: Sequence[Quota], members: Sequence[Sequence[int]]
) -> Kinds:
    months = problem.hours.size
    units = [problem.units[group[0]] for group in members]
    capacity = np.array([u.capacity for u in units])
    lead = np.array([u.lead_months for u in units], np.int64)
    existing = [np.zeros(months) if u.existing is None else u.existing for u in units]
    in_quota = [[q.group in u.limit_groups for q in quotas] for u in units]
    return Kinds(
        capacity=capacity,
        accelerators=np.array([u.accelerators for u in units]),
        in_quota=np.array(in_quota, bool).reshape(len(units), len(quotas)),
        lead=lead,
        end=lead + np.array([u.duration_months for u in units], np.int64),
        hours_per_month=np.array([u.hours_per_month for u in units]),
        hour_cost=_by_month([u.hour_cost for u in units], months) / capacity[:, None],
        hour_cash=_by_month([u.hour_cash for u in units], months) / capacity[:, None],
        existing=_by_month(existing, months),
        stands_alone=np.array([_stands_alone(u) for u in units], bool),
    )


def _by_month(rows: Sequence[NDArray[np.generic]], months: int) -> Floats:
    return np.array(rows, np.float64).reshape(len(rows), months)


@dataclass(frozen=True)
class _Lines:
    """Offers that compete, L of them, each a source per month in which a unit may begin."""

    kind: Ints
    source: Ints
    """[L, T]"""
    cost: Floats
    """[L, T], `inf` where it may not begin or need not: worked on in place."""
    capex: Floats | None
    """[L, T], or None without a capex budget."""
    cash: Sequence[Floats] | None
    """L times [T, T], or None without a monthly budget."""


def _lines(problem: PlanProblem, members: Sequence[Sequence[int]], kinds: Kinds) -> _Lines:
    """One line per kind; where a budget tells its offers apart, one line per offer."""
    units, months = problem.units, np.arange(problem.hours.size)
    kind: list[int] = []
    source: list[Ints] = []
    for k, group in enumerate(members):
        cost = np.array([units[i].start_cost for i in group])
        rows = [np.array(group)[cost.argmin(axis=0)]]
        if len(group) > 1 and _differ_in_budget(problem, group):
            rows = [np.full(months.size, i) for i in group]
        kind += [k] * len(rows)
        source += rows
    at = np.array(source, np.int64).reshape(len(source), months.size)
    all_costs = _by_month([u.start_cost for u in units], months.size)
    cost = all_costs[at, months]
    cost[_most_units(problem, kinds)[np.array(kind, np.int64)] <= 0] = np.inf
    capex = _by_month([u.capex for u in units], months.size)[at, months]
    return _Lines(
        kind=np.array(kind, np.int64),
        source=at,
        cost=cost,
        capex=None if problem.capex_budget is None else capex,
        cash=None if problem.monthly_budget is None else [_cash(units, row) for row in at],
    )


def _differ_in_budget(problem: PlanProblem, group: Sequence[int]) -> bool:
    if problem.monthly_budget is not None:
        return True
    first = problem.units[group[0]].capex
    return problem.capex_budget is not None and any(
        not np.array_equal(problem.units[i].capex, first) for i in group
    )


def _cash(units: Sequence[UnitSource], sources: Ints) -> Floats:
    if (sources == sources[0]).all():
        return np.asarray(units[sources[0]].start_cash, np.float64)
    return _by_month([units[i].start_cash[m] for m, i in enumerate(sources)], sources.size)


def _leave_out(lines: _Lines, kinds: Kinds) -> None:
    """Set to `inf` the cost of every start that a line which stays replaces at no extra cost."""
    nodes, may = _replacements(kinds, lines.cash is not None)
    at_start = _cash_of_first_start(lines)
    usable = np.where(np.isfinite(lines.cost), lines.cost, 0.0).sum(axis=1)
    for a in np.argsort(usable / kinds.capacity[lines.kind], kind="stable"):
        from_kind = lines.kind[a]
        if kinds.stands_alone[from_kind] or not np.isfinite(lines.cost[a]).any():
            continue
        rivals = np.flatnonzero(may[from_kind, lines.kind])
        rivals = rivals[rivals != a]
        count = nodes[from_kind, lines.kind[rivals], None]
        beaten = (count * lines.cost[a] <= lines.cost[rivals]) & np.isfinite(lines.cost[rivals])
        if lines.capex is not None:
            beaten &= count * lines.capex[a] <= lines.capex[rivals]
        beaten &= (count * at_start[a] <= at_start[rivals]).all(axis=1)[:, None]
        for row in np.flatnonzero(beaten.any(axis=1)):
            b = rivals[row]
            if lines.cash is not None:
                beaten[row] &= (count[row] * lines.cash[a] <= lines.cash[b]).all(axis=1)
            lines.cost[b, beaten[row]] = np.inf


def _cash_of_first_start(lines: _Lines) -> Floats:
    """[L, T] cash of a unit begun in month 0: a quick test before the whole is compared."""
    if lines.cash is None:
        return np.zeros((lines.kind.size, 1))
    return _by_month([cash[0] for cash in lines.cash], lines.source.shape[1])


def _starts(lines: _Lines, problem: PlanProblem, kinds: Kinds) -> Starts:
    months = problem.hours.size
    line, month = np.nonzero(np.isfinite(lines.cost))
    kind, source = lines.kind[line], lines.source[line, month]
    capex = np.zeros(line.size) if lines.capex is None else lines.capex[line, month]
    cash = None
    if lines.cash is not None:
        rows = [lines.cash[at][m] for at, m in zip(line.tolist(), month.tolist(), strict=True)]
        cash = _by_month(rows, months)
    return Starts(
        kind=kind,
        month=month,
        first=np.minimum(month + kinds.lead[kind], months),
        last=np.minimum(month + kinds.end[kind], months),
        source=source,
        cost=lines.cost[line, month],
        capex=capex,
        most=_most_units(problem, kinds)[kind, month],
        cash=cash,
    )


def _most_units(problem: PlanProblem, kinds: Kinds) -> Floats:
    """[K, T] units begun in month m beyond which the months they serve are covered."""
    months = problem.hours.size
    most = np.zeros((kinds.capacity.size, months))
    for k, capacity in enumerate(kinds.capacity):
        delivered = capacity * max(float(kinds.hours_per_month[k]), 1e-9)
        needed = np.ceil(np.maximum(problem.peak / capacity, problem.hours / delivered) - 1e-9)
        lead, duration = int(kinds.lead[k]), int(kinds.end[k] - kinds.lead[k])
        later = np.concatenate([needed, np.zeros(lead + duration)])[lead:]
        most[k] = sliding_window_view(later, max(duration, 1)).max(axis=1)[:months] * (duration > 0)
    return most


def _replacements(kinds: Kinds, has_budget: bool) -> tuple[Floats, Bools]:
    """[K, K] how many nodes of kind a replace one of kind b, and whether every limit allows it."""
    capacity, hours = kinds.capacity, kinds.hours_per_month
    nodes = np.ceil(capacity / capacity[:, None] * (1 - ROUNDING))
    size = nodes * kinds.accelerators[:, None] <= kinds.accelerators * (1 + ROUNDING)
    unlimited = np.asarray(~kinds.in_quota.any(axis=1), bool)
    may = size | unlimited[:, None]
    may &= (kinds.in_quota[:, None] <= kinds.in_quota).all(axis=2)
    may &= (kinds.lead[:, None] <= kinds.lead) & (kinds.end[:, None] >= kinds.end)
    may &= nodes * (capacity * hours)[:, None] >= capacity * hours * (1 - ROUNDING)
    may &= (kinds.hour_cost[:, None] <= kinds.hour_cost).all(axis=2)
    if has_budget:
        may &= (kinds.hour_cash[:, None] <= kinds.hour_cash).all(axis=2)
    return nodes, np.asarray(may, bool)
