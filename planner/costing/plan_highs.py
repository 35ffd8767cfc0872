"""A linear or mixed-integer model as arrays, and HiGHS asked to solve it. PURE.

The only module that knows HiGHS. Every run is single-threaded with a fixed seed and stops at
a gap or a number of nodes, never at a time, so the same model gives the same answer on any
machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import highspy
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_COLUMN_WISE = int(highspy.MatrixFormat.kColwise)
_MINIMISE = int(highspy.ObjSense.kMinimize)
_SOLVED = highspy.HighsModelStatus.kOptimal
_NO_PLAN = (
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)
_FEASIBILITY_TOLERANCE = 1e-9
"""Absolute, on rows scaled to about 1; HiGHS' own default is 1e-7."""


@dataclass(frozen=True)
class LinearModel:
    """min cost·x subject to row_lower ≤ A·x ≤ row_upper and lower ≤ x ≤ upper.

    A is given by its entries (row, column, value), in any order, each place at most once.
    """

    cost: Floats
    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    entry_row: Ints
    entry_column: Ints
    entry_value: Floats
    integer: NDArray[np.bool_]


@dataclass(frozen=True)
class Outcome:
    """What HiGHS found: `values` is None when there is no solution."""

    values: Floats | None
    objective: float
    bound: float
    """No solution costs less (the objective itself for a linear programme)."""
    row_duals: Floats = field(default_factory=lambda: np.zeros(0))


def solve_model(
    model: LinearModel,
    *,
    gap: float = 0.0,
    node_limit: int | None = None,
    start: Floats | None = None,
) -> Outcome:
    """The cheapest solution of `model` within `gap`, or the best one after `node_limit` nodes.

    >>> one = np.ones(1)
    >>> at_least_2 = LinearModel(3 * one, 0 * one, 9 * one, 1.5 * one, np.inf * one,
    ...     np.zeros(1, np.int32), np.zeros(1, np.int32), one, np.array([True]))
    >>> solve_model(at_least_2).objective
    6.0
    """
    highs = _solver(gap, node_limit)
    _pass(highs, model)
    if start is not None:
        highs.setSolution(start.size, np.arange(start.size, dtype=np.int32), start)
    highs.run()
    return _outcome(highs, bool(model.integer.any()))


def _solver(gap: float, node_limit: int | None) -> highspy.Highs:
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("random_seed", 0)
    highs.setOptionValue("primal_feasibility_tolerance", _FEASIBILITY_TOLERANCE)
    highs.setOptionValue("mip_feasibility_tolerance", _FEASIBILITY_TOLERANCE)
    highs.setOptionValue("mip_rel_gap", gap)
    highs.setOptionValue("mip_abs_gap", 0.0)
    if node_limit is not None:
        highs.setOptionValue("mip_max_nodes", node_limit)
    return highs


def _pass(highs: highspy.Highs, model: LinearModel) -> None:
    columns, rows = model.cost.size, model.row_lower.size
    order = np.argsort(model.entry_column, kind="stable")
    starts = np.searchsorted(model.entry_column[order], np.arange(columns)).astype(np.int32)
    highs.passModel(
        columns,
        rows,
        model.entry_value.size,
        _COLUMN_WISE,
        _MINIMISE,
        0.0,
        model.cost,
        model.lower,
        model.upper,
        model.row_lower,
        model.row_upper,
        starts,
        model.entry_row[order].astype(np.int32),
        model.entry_value[order],
        model.integer.astype(np.int32),
    )


def _outcome(highs: highspy.Highs, is_integer: bool) -> Outcome:
    status, info = highs.getModelStatus(), highs.getInfo()
    if status in _NO_PLAN:
        return Outcome(None, np.inf, np.inf)
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    bound = float(info.mip_dual_bound) if is_integer else float(info.objective_function_value)
    if not found:
        return Outcome(None, np.inf, bound)
    solution = highs.getSolution()
    duals = np.zeros(0) if is_integer else np.array(solution.row_dual)
    values = np.array(solution.col_value)
    return Outcome(values, float(info.objective_function_value), bound, duals)
