"""The cheapest rentals and hours run of each month for units that are settled. PURE.

Without units to start only a total budget, or groups of which some must be in use, join two months:
where parts of nodes are left over, each month is searched by itself for its whole nodes, or all
together under such a limit. The cost of a month is convex in its nodes, so that where they
are of one type the best whole number is one of the two beside the best number with parts: two
linear programmes settle all such months.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from planner.costing.optimizer.constraints import ABSENT, Rows
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import NO_GROUP, Bools, Ints
from planner.costing.optimizer.variables import Continuous, Entries, StartColumns
from planner.costing.optimizer.work import WorkMeter

_WHOLE = 1e-6
_SHORTFALL = 1e3
"""Cost of a missing accelerator, in times the penalty one."""
_JOINT_GAP = 1e-4
_JOINT_NODES = 2_000
"""Effort for the whole nodes of all months together."""


def cheapest_width(rows: Rows, columns: Continuous, work: WorkMeter) -> Floats | None:
    """[columns] width of each rental and run column; None where a month's limits forbid it."""
    program = LinearProgram(rows.lower, rows.upper, work)
    zeros = np.zeros(columns.count)
    program.add_columns(columns.cost, zeros, zeros + np.inf, columns.entries)
    nodes = StartColumns(rows)
    count = nodes.cost.size
    is_group = rows.reduced.unit_types.group[nodes.candidates.unit_type] != NO_GROUP
    if count:
        entries = nodes.entries(np.arange(count))
        most = np.where(is_group, 1.0, np.inf)
        program.add_columns(nodes.cost, np.zeros(count), most, entries)
    if not program.run():
        return None
    values = program.values()
    width, rented_nodes = np.maximum(values[: columns.count], 0.0), values[columns.count :]
    partial = np.abs(rented_nodes - np.round(rented_nodes)) > _WHOLE
    if partial.any() and (rows.total_row != ABSENT or is_group.any()):
        at_nodes = columns.count + np.arange(count)
        joint = program.solve_milp(
            at_nodes, gap=_JOINT_GAP, node_limit=_JOINT_NODES, is_required=True
        ).values
        return None if joint is None else np.maximum(joint[: columns.count], 0.0)
    per_month = np.bincount(nodes.candidates.month[partial], minlength=rows.required_width.size)
    types = np.bincount(nodes.candidates.month, minlength=rows.required_width.size)
    single = (types == 1) & (per_month == 1)
    settled = np.zeros_like(single)
    if single.sum() > 1:
        beside = _beside_parts(program, rows, columns, nodes, rented_nodes, single)
        if beside is not None:
            settled = single
            of_settled = settled[columns.month]
            width[of_settled] = beside[of_settled]
    known: dict[bytes, Floats | None] = {}
    for month in np.flatnonzero((per_month > 0) & ~settled).tolist():
        at = np.flatnonzero(columns.month == month)
        best = _whole_width(rows, columns, nodes, at, month, known, work)
        if best is None:
            return None
        width[at] = best
    return width


def _beside_parts(
    program: LinearProgram,
    rows: Rows,
    columns: Continuous,
    nodes: StartColumns,
    rented_nodes: Floats,
    single: Bools,
) -> Floats | None:
    """[columns] width of the `single` months, which rent nodes of one type, with the better of the
    two whole numbers beside their nodes in part; None where a limit forbids the larger one.

    With the smaller number a month may fall short of its work: a column that makes up for that, at
    a cost above all others, shows where.
    """
    at_nodes = np.flatnonzero(single[nodes.candidates.month])
    months = nodes.candidates.month[at_nodes]
    node_columns = columns.count + at_nodes
    upper, lower = np.ceil(rented_nodes[at_nodes]), np.floor(rented_nodes[at_nodes])
    cost_per_column = np.concatenate([columns.cost, nodes.cost])
    month_of_column = np.concatenate([columns.month, nodes.candidates.month])

    def solve_at(whole: Floats) -> tuple[Floats, Floats] | None:
        """Values of all columns, and the cost of each month, with so many nodes."""
        for column, number in zip(node_columns.tolist(), whole.tolist(), strict=True):
            program.set_bounds(column, number, number)
        if not program.run():
            return None
        values = program.values()
        own = values[: cost_per_column.size]
        cost = np.zeros(single.size)
        np.add.at(cost, month_of_column, own * cost_per_column)
        return values, cost

    more = solve_at(upper)
    if more is None:
        return None
    one, each = np.ones(months.size), np.arange(months.size)
    shortfall = [(family.row[months], each, one) for family in (rows.width, rows.hours)]
    penalty = np.full(months.size, _SHORTFALL * max(float(cost_per_column.max()), 1.0))
    entries = Entries.ordered(shortfall, months.size)
    program.add_columns(penalty, np.zeros(months.size), np.full(months.size, np.inf), entries)
    fewer = solve_at(lower)
    if fewer is None:
        return None
    is_short = np.zeros(single.size, dtype=bool)
    is_short[months] = fewer[0][cost_per_column.size :] > _WHOLE
    is_better = ~is_short & (fewer[1] < more[1])
    width = np.where(is_better[columns.month], fewer[0][: columns.count], more[0][: columns.count])
    return np.maximum(width, 0.0)


def _whole_width(
    rows: Rows,
    columns: Continuous,
    nodes: StartColumns,
    at: Ints,
    month: int,
    known: dict[bytes, Floats | None],
    work: WorkMeter,
) -> Floats | None:
    """[at] width of the month's columns with whole nodes; `known` holds what was solved before, as
    most months of a plan differ by the discount of their costs alone."""
    own_nodes = np.flatnonzero(nodes.candidates.month == month)
    row_index = _rows_of(rows, month)
    lower, upper = rows.lower[row_index], rows.upper[row_index]
    rented = _select(columns.entries, at, row_index)
    whole = _select(nodes.entries(own_nodes), np.arange(own_nodes.size), row_index)
    cost = np.concatenate([columns.cost[at], nodes.cost[own_nodes]])
    key = _fingerprint(lower, upper, cost, rented, whole)
    if key not in known:
        program = LinearProgram(lower, upper, work)
        program.add_columns(cost[: at.size], np.zeros(at.size), np.full(at.size, np.inf), rented)
        free = np.full(own_nodes.size, np.inf)
        program.add_columns(cost[at.size :], np.zeros(own_nodes.size), free, whole)
        whole_nodes = at.size + np.arange(own_nodes.size)
        # With the columns replaced that a row makes the same, ten times faster.
        values = program.solve_milp(whole_nodes, keeps_columns=False, is_required=True).values
        known[key] = None if values is None else np.maximum(values[: at.size], 0.0)
    return known[key]


def _fingerprint(
    lower: Floats, upper: Floats, cost: Floats, rented: Entries, whole: Entries
) -> bytes:
    """What two months share that differ by a factor on all their costs alone."""
    scale = float(np.abs(cost).max(initial=0.0)) or 1.0
    arrays: list[np.ndarray[Any, Any]] = [lower, upper, np.round(cost / scale, 12)]
    for entries in (rented, whole):
        arrays += [entries.start, entries.row, entries.value]
    return b"|".join(array.tobytes() for array in arrays)


def _rows_of(rows: Rows, month: int) -> Ints:
    own = [family.row[month] for family in rows.families]
    own += [rows.spot_row[month], rows.budget_row[month]]
    return np.unique([row for row in own if row != ABSENT]).astype(np.int64)


def _select(entries: Entries, columns: Sequence[int] | Ints, row_index: Ints) -> Entries:
    """Entries of some columns, rows counted within `row_index`."""
    spans = [np.arange(entries.start[j], entries.start[j + 1]) for j in columns]
    chosen = np.concatenate(spans) if spans else np.zeros(0, np.int64)
    start = np.cumsum([0, *(span.size for span in spans)]).astype(np.int64)
    row = np.searchsorted(row_index, entries.row[chosen])
    return Entries(start, row, entries.value[chosen])
