"""Machines of one type that one project rents as a whole number of nodes. PURE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.by_month.whole_nodes import NodeTypes
from planner.costing.optimizer.problem import Floats, PlanProblem
from planner.costing.optimizer.reduced_problem import Rentals

if TYPE_CHECKING:
    from planner.portfolio.optimizer.demand_rows import DemandRows

Ints = NDArray[np.int64]
ABSENT = -1
WHOLE = 1e-9
"""Relative error below which a peak counts as a whole number of nodes."""


def link_nodes(rows: DemandRows, problem: PlanProblem, rentals: Rentals, types: NodeTypes) -> None:
    """Σ widths rented of one type of node = size · nodes, where several offers share a type; of
    movable work, whose machines rent in part, at most that where a quota counts the nodes."""
    for number, size in enumerate(types.capacity.tolist()):
        of_type = rentals.offered & (types.of_rental == number)[:, None]
        counted = types.quota_size[number]
        fixed = (of_type.sum(axis=0) > 1) & (problem.peak > 0) & ~rows.is_movable
        movable = of_type.any(axis=0) & rows.is_movable & bool(counted.any())
        keys = {problem.rental_options[i].key for i in np.unique(rentals.source[of_type])}
        if fixed.any():
            months = np.flatnonzero(fixed)
            nodes = _write_nodes(rows, months, size, 0.0, counted, keys)
            rows.model.put(rows.width_row[months], nodes, size)
        if movable.any() and rows.project.movable is not None:
            at_work = min(size, rows.project.movable.at_once)
            _write_nodes(rows, np.flatnonzero(movable), at_work, -np.inf, counted, keys)


def _write_nodes(
    rows: DemandRows, months: Ints, size: float, lower: float, counted: Floats, keys: set[str]
) -> Ints:
    """The nodes of some months, each of which does the work of `size`; gives their columns."""
    row = np.full(rows.needed.size, ABSENT)
    row[months] = rows.model.rows(months.size, lower, 0.0)
    most = np.ceil(rows.needed[months] / size - WHOLE)
    nodes = rows.model.columns(np.zeros(months.size), most, is_whole=True)
    rows.model.put(row[months], nodes, -size)
    for q in np.flatnonzero(counted):
        rows.model.put(rows.shared.quotas[q, months], nodes, float(counted[q]))
    for one in rows.columns.rentals:
        if not one.is_node and keys & set(one.source_keys):
            rows.model.put(row[one.month], one.column, 1.0)
    return nodes
