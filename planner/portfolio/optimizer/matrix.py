"""Rows and columns of a model as they are written down, for HiGHS at the end. PURE."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.variables import Entries
from planner.costing.optimizer.work import WorkMeter

Ints = NDArray[np.int64]
Sides = NDArray[np.floating[Any]] | NDArray[np.int64] | float
LARGEST_COST = 1e4
"""Costs are scaled to at most this, about as large as capacity."""


class Matrix:
    """A model that grows by blocks of rows and columns.

    >>> model = Matrix()
    >>> rows = model.rows(1, 1.5, np.inf)
    >>> columns = model.columns(np.array([3.0]), 9.0, is_whole=True)
    >>> model.put(rows, columns, 1.0)
    >>> model.program(WorkMeter()).solve_milp(model.whole).values.tolist()
    [2.0]
    """

    def __init__(self) -> None:
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []
        self._cost: list[Floats] = []
        self._bound: list[Floats] = []
        self._whole: list[Ints] = []
        self._pieces: list[tuple[Ints, Ints, Floats]] = []
        self.row_count = self.column_count = 0

    def rows(self, count: int, lower: Sides, upper: Sides) -> Ints:
        """New rows with these sides; gives their numbers."""
        self._lower.append(np.broadcast_to(np.asarray(lower, float), count))
        self._upper.append(np.broadcast_to(np.asarray(upper, float), count))
        self.row_count += count
        return np.arange(self.row_count - count, self.row_count)

    def columns(self, cost: Floats, upper: Floats | float, is_whole: bool = False) -> Ints:
        """New columns from 0 to `upper`; gives their numbers."""
        count = cost.size
        self._cost.append(cost)
        self._bound.append(np.broadcast_to(np.asarray(upper, float), count))
        self.column_count += count
        at = np.arange(self.column_count - count, self.column_count)
        if is_whole:
            self._whole.append(at)
        return at

    def put(self, rows: Ints, columns: Ints, values: Floats | float) -> None:
        """Entries of columns in rows, one each; none where the row is negative."""
        value = np.broadcast_to(np.asarray(values, float), np.shape(rows))
        is_entry = (rows >= 0) & (value != 0)
        self._pieces.append((rows[is_entry], columns[is_entry], value[is_entry]))

    def sides(self) -> tuple[Floats, Floats]:
        """Lower and upper side of every row."""
        return np.concatenate(self._lower), np.concatenate(self._upper)

    @property
    def cost(self) -> Floats:
        """Cost of every column."""
        return np.concatenate(self._cost) if self._cost else np.zeros(0)

    @property
    def scale(self) -> float:
        """Money of one unit of the programme's objective."""
        return float(np.abs(self.cost).max(initial=0.0)) / LARGEST_COST or 1.0

    @property
    def whole(self) -> Ints:
        """Columns that are whole numbers."""
        return np.concatenate(self._whole) if self._whole else np.zeros(0, np.int64)

    def program(self, work: WorkMeter) -> LinearProgram:
        """The model as a linear programme. Raises `WorkSpentError` where it is too large."""
        work.charge_model(sum(piece[0].size for piece in self._pieces) + self.column_count)
        lower, upper = self.sides()
        program = LinearProgram(lower, upper, work)
        entries = Entries.ordered(self._pieces, self.column_count)
        program.add_columns(
            self.cost / self.scale,
            np.zeros(self.column_count),
            np.concatenate(self._bound),
            entries,
        )
        return program
