"""HiGHS: a linear programme that grows, and the same with whole columns. PURE.

The only module that knows HiGHS. Every run is single-threaded with a fixed seed and stops at a
gap or a number of nodes, never at a time, so the same model gives the same answer on any
machine and any day. Models go to HiGHS as arrays: its calls that take one column at a time are
some hundred times slower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import highspy
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_OPTIMAL = highspy.HighsModelStatus.kOptimal
_FEASIBLE = int(highspy.SolutionStatus.kSolutionStatusFeasible)
_TOLERANCE = 1e-9
"""Feasibility tolerance on rows scaled to about the size of the demand; HiGHS' own is 1e-7."""


class Entries(Protocol):
    """Entries of a matrix by column (or row): those of j are start[j] … start[j+1]-1."""

    @property
    def start(self) -> Ints: ...
    @property
    def row(self) -> Ints: ...
    @property
    def value(self) -> Floats: ...


@dataclass(frozen=True)
class MilpOutcome:
    """The best solution found with whole columns, None without one, and a bound for all."""

    values: Floats | None
    objective: float
    bound: float


class LinearProgram:
    """min cost·x over rows lower ≤ A·x ≤ upper, to which columns and rows are added.

    >>> from planner.costing.optimizer.variables import Entries
    >>> program = LinearProgram(np.array([1.5]), np.array([np.inf]))
    >>> one = Entries(np.array([0, 1]), np.array([0]), np.ones(1))
    >>> program.add_columns(np.array([3.0]), np.zeros(1), np.array([9.0]), one)
    >>> program.run(), program.objective, program.solve_milp(np.array([0])).objective
    (True, 4.5, 6.0)
    """

    def __init__(self, lower: Floats, upper: Floats) -> None:
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in _OPTIONS.items():
            highs.setOptionValue(option, value)
        row_starts, none = np.zeros(lower.size, np.int32), np.zeros(0, np.int32)
        highs.addRows(lower.size, lower, upper, 0, row_starts, none, np.zeros(0))
        self._highs = highs
        self.columns = 0
        self._holds_at_nothing = bool(((lower <= _TOLERANCE) & (upper >= -_TOLERANCE)).all())

    def add_columns(self, cost: Floats, lower: Floats, upper: Floats, entries: Entries) -> None:
        """Columns with their entries in the rows that are there."""
        self._highs.addCols(
            cost.size, cost, lower, upper, entries.value.size,
            entries.start[:-1].astype(np.int32), entries.row.astype(np.int32), entries.value,
        )  # fmt: skip
        self.columns += cost.size

    def add_rows(self, lower: Floats, upper: Floats, entries: Entries) -> None:
        """Rows with their entries in the columns that are there (`entries.row` holds columns)."""
        self._highs.addRows(
            lower.size, lower, upper, entries.value.size,
            entries.start[:-1].astype(np.int32), entries.row.astype(np.int32), entries.value,
        )  # fmt: skip

    def set_bounds(self, column: int, lower: float, upper: float) -> None:
        self._highs.changeColBounds(column, lower, upper)

    def run(self) -> bool:
        """Solve from the last basis; False when nothing satisfies every row."""
        if self.columns == 0:  # HiGHS does not check the rows of a model without columns
            return self._holds_at_nothing
        self._highs.run()
        return bool(self._highs.getModelStatus() == _OPTIMAL)

    @property
    def objective(self) -> float:
        return float(self._highs.getInfo().objective_function_value)

    def values(self) -> Floats:
        return np.array(self._highs.getSolution().col_value)

    def row_duals(self) -> Floats:
        duals = np.array(self._highs.getSolution().row_dual)
        return duals if self.columns else np.zeros(self._highs.getNumRow())

    def solve_milp(
        self,
        columns: Ints,
        *,
        gap: float = 0.0,
        node_limit: int | None = None,
        start: Floats | None = None,
        keeps_columns: bool = True,
    ) -> MilpOutcome:
        """The best solution in which `columns` are whole; the programme is spent afterwards.

        The search begins with the values `start` of those columns, where they are given. Where
        it `keeps_columns`, none is replaced by a sum of others before it begins.
        """
        highs = self._highs
        for option, value in _WHOLE_OPTIONS.items():
            highs.setOptionValue(option, value)
        highs.setOptionValue("mip_rel_gap", gap)
        highs.setOptionValue("presolve_rule_off", _SUBSTITUTIONS if keeps_columns else 0)
        if node_limit is not None:
            highs.setOptionValue("mip_max_nodes", node_limit)
        unit_types = np.ones(columns.size, np.uint8)
        highs.changeColsIntegrality(columns.size, columns.astype(np.int32), unit_types)
        if start is not None:
            highs.setSolution(start.size, columns.astype(np.int32), start)
        highs.run()
        info = highs.getInfo()
        if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return MilpOutcome(None, np.inf, np.inf)
        if int(info.primal_solution_status) != _FEASIBLE:
            return MilpOutcome(None, np.inf, float(info.mip_dual_bound))
        return MilpOutcome(
            self.values(), float(info.objective_function_value), float(info.mip_dual_bound)
        )


_OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "presolve": "off",
    "simplex_scale_strategy": 0,
    "primal_feasibility_tolerance": _TOLERANCE,
    "dual_feasibility_tolerance": _TOLERANCE,
}
_SUBSTITUTIONS = (1 << 8) | (1 << 9) | (1 << 12)
"""Rules of presolve: free columns, equations of two, the aggregator."""
_WHOLE_OPTIONS: dict[str, bool | int | float | str] = {
    "presolve": "choose",
    "simplex_scale_strategy": 2,
    "mip_abs_gap": 0.0,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_feasibility_jump": False,
}
