"""The cheapest rentals and hours run of each month for units that are settled. PURE.

Without units to start no limit joins two months: where parts of nodes are left over, each month
is searched by itself for its whole nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planner.costing.optimizer.constraints import ABSENT, Rows
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import Ints
from planner.costing.optimizer.variables import Continuous, Entries, StartColumns

_WHOLE = 1e-6


def cheapest_width(rows: Rows, columns: Continuous) -> Floats | None:
    """[columns] width of each rental and run column; None where a month's limits forbid it."""
    program = LinearProgram(rows.lower, rows.upper)
    zeros = np.zeros(columns.count)
    program.add_columns(columns.cost, zeros, zeros + np.inf, columns.entries)
    nodes = StartColumns(rows)
    count = nodes.cost.size
    if count:
        entries = nodes.entries(np.arange(count))
        program.add_columns(nodes.cost, np.zeros(count), np.full(count, np.inf), entries)
    if not program.run():
        return None
    values = program.values()
    width, rented_nodes = np.maximum(values[: columns.count], 0.0), values[columns.count :]
    partial = np.abs(rented_nodes - np.round(rented_nodes)) > _WHOLE
    for month in np.unique(nodes.candidates.month[partial]).tolist():
        at = np.flatnonzero(columns.month == month)
        best = _whole_width(rows, columns, nodes, at, month)
        if best is None:
            return None
        width[at] = best
    return width


def _whole_width(
    rows: Rows, columns: Continuous, nodes: StartColumns, at: Ints, month: int
) -> Floats | None:
    """[at] width of the month's columns with whole nodes."""
    own_nodes = np.flatnonzero(nodes.candidates.month == month)
    row_index = _rows_of(rows, month)
    program = LinearProgram(rows.lower[row_index], rows.upper[row_index])
    rented = _select(columns.entries, at, row_index)
    program.add_columns(columns.cost[at], np.zeros(at.size), np.full(at.size, np.inf), rented)
    entries = nodes.entries(own_nodes)
    whole = _select(entries, np.arange(own_nodes.size), row_index)
    free = np.full(own_nodes.size, np.inf)
    program.add_columns(nodes.cost[own_nodes], np.zeros(own_nodes.size), free, whole)
    values = program.solve_milp(at.size + np.arange(own_nodes.size)).values
    return None if values is None else np.maximum(values[: at.size], 0.0)


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
