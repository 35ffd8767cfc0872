"""HiGHS: a linear programme that grows, and the same with whole columns. PURE.

The only module that knows HiGHS. Every run is single-threaded with a fixed seed and stops at a
gap, a number of nodes or the work that is left, never at a time, so the same model gives the same
answer on any machine and any day. Models go to HiGHS as arrays: its calls that take one column at
a time are some hundred times slower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import highspy
import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.work import WorkMeter

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


class _SilentHighs(highspy.Highs):
    """HiGHS that prints nothing: from 1.16 it names itself on standard output when made, before
    any option can be set, in the midst of a JSON answer or of what an assistant reads."""

    def enableCallbacks(self) -> None:  # noqa: N802 - the name of HiGHS
        self.silent()
        super().enableCallbacks()  # type: ignore[no-untyped-call]


class LinearProgram:
    """min cost·x over rows lower ≤ A·x ≤ upper, to which columns and rows are added.

    >>> from planner.costing.optimizer.variables import Entries
    >>> program = LinearProgram(np.array([1.5]), np.array([np.inf]), WorkMeter())
    >>> one = Entries(np.array([0, 1]), np.array([0]), np.ones(1))
    >>> program.add_columns(np.array([3.0]), np.zeros(1), np.array([9.0]), one)
    >>> program.run(), program.objective, program.solve_milp(np.array([0])).objective
    (True, 4.5, 6.0)
    """

    def __init__(self, lower: Floats, upper: Floats, work: WorkMeter) -> None:
        highs = _SilentHighs()  # type: ignore[no-untyped-call]
        for option, value in _OPTIONS.items():
            highs.setOptionValue(option, value)
        row_starts, none = np.zeros(lower.size, np.int32), np.zeros(0, np.int32)
        highs.addRows(lower.size, lower, upper, 0, row_starts, none, np.zeros(0))
        self._highs = highs
        self.columns, self.rows, self._entries = 0, lower.size, 0
        self._work = work
        self._holds_at_nothing = bool(((lower <= _TOLERANCE) & (upper >= -_TOLERANCE)).all())

    def add_columns(self, cost: Floats, lower: Floats, upper: Floats, entries: Entries) -> None:
        """Columns with their entries in the rows that are there."""
        self._highs.addCols(
            cost.size, cost, lower, upper, entries.value.size,
            entries.start[:-1].astype(np.int32), entries.row.astype(np.int32), entries.value,
        )  # fmt: skip
        self.columns += cost.size
        self._entries += entries.value.size

    def add_rows(self, lower: Floats, upper: Floats, entries: Entries) -> None:
        """Rows with their entries in the columns that are there (`entries.row` holds columns)."""
        self._highs.addRows(
            lower.size, lower, upper, entries.value.size,
            entries.start[:-1].astype(np.int32), entries.row.astype(np.int32), entries.value,
        )  # fmt: skip
        self.rows += lower.size
        self._entries += entries.value.size

    def set_bounds(self, column: int, lower: float, upper: float) -> None:
        self._highs.changeColBounds(column, lower, upper)

    def set_row_bounds(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        self._highs.changeRowsBounds(  # type: ignore[attr-defined]
            rows.size, rows.astype(np.int32), lower, upper
        )

    def forget(self) -> None:
        """Begin the next run from nothing: a search for whole columns that goes on from the basis
        of a run leaves, in HiGHS 1.16, costs of columns out and calls a dear solution an optimum.
        """
        self._highs.clearSolver()

    def run(self) -> bool:
        """Solve from the last basis; False when nothing satisfies every row.

        Raises `WorkSpentError` where that takes more work than there is.
        """
        if self.columns == 0:  # HiGHS does not check the rows of a model without columns
            return self._holds_at_nothing
        status = self._run_simplex()
        if status in _GIVEN_UP:  # the last basis led nowhere: from the beginning, without it
            self._highs.clearSolver()
            status = self._run_simplex()
        if status in _GIVEN_UP or status == highspy.HighsModelStatus.kIterationLimit:
            raise self._work.leave_out("a linear programme takes more work than is left")
        return bool(status == _OPTIMAL)

    def _run_simplex(self) -> highspy.HighsModelStatus:
        """One run of simplex within the work that is left, charged by its iterations.

        Where a basis is close to singular HiGHS takes iterations back and no longer counts them,
        thousands of them: a large programme is interrupted once it has taken back too many.
        """
        highs, per_iteration = self._highs, self._work_per_iteration()
        most = min(self._work.stop_after / per_iteration + 1, _NO_LIMIT)
        highs.setOptionValue("simplex_iteration_limit", int(most))
        looks = taken_back = 0

        def look(event: highspy.HighsCallbackEvent) -> None:
            nonlocal looks, taken_back
            looks += 1
            taken_back = looks - event.data_out.simplex_iteration_count
            if looks == 1 or taken_back > _MOST_TAKEN_BACK:  # an interrupt outlives its run
                event.interrupt(taken_back > _MOST_TAKEN_BACK)

        is_watched = self._size > _LARGE_SIZE
        if is_watched:
            highs.cbSimplexInterrupt.subscribe(look)
        highs.run()
        if is_watched:
            highs.cbSimplexInterrupt.unsubscribe(look)
        iterations = max(int(highs.getInfo().simplex_iteration_count), 0)
        iterations += _TAKEN_BACK_COST * max(taken_back, 0)
        self._work.charge(self._work_per_run() + iterations * per_iteration)
        return highs.getModelStatus()

    @property
    def _size(self) -> int:
        return self._entries + self.rows + self.columns

    def _work_per_run(self) -> float:
        """Units of a run before its first iteration."""
        return _RUN_UNITS + self._size * _ENTRY_UNITS

    def _work_per_iteration(self) -> float:
        """Units of a simplex iteration."""
        return _ITERATION_UNITS + self._size * _ITERATION_ENTRY_UNITS

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
        is_required: bool = False,
    ) -> MilpOutcome:
        """The best solution in which `columns` are whole; the programme is spent afterwards.

        The search begins with the values `start` of those columns, where they are given. Where
        it `keeps_columns`, none is replaced by a sum of others before it begins. It ends early
        where what may be searched with is spent, with the best found so far; raises
        `WorkSpentError` where nothing may be left out any more, or where it `is_required` and
        there is not enough work for it.
        """
        highs = self._highs
        stop_after, remaining = self._work.stop_after, self._work.remaining
        units = max(remaining, stop_after * _REQUIRED_SHARE) if is_required else remaining
        must_stop = is_required or units >= stop_after
        checks_left = (units - self._work_of_root()) / _CHECK_UNITS
        if checks_left < 0:
            error = self._work.leave_out("a search for whole units")
            if must_stop:
                raise error
            return MilpOutcome(None, np.inf, -np.inf)
        self._set_milp_options(gap, node_limit, keeps_columns)
        unit_types = np.ones(columns.size, np.uint8)
        highs.changeColsIntegrality(columns.size, columns.astype(np.int32), unit_types)
        if start is not None:
            highs.setSolution(start.size, columns.astype(np.int32), start)
        checks = 0

        def check(event: highspy.HighsCallbackEvent) -> None:
            nonlocal checks
            checks += 1
            if checks > checks_left or self._work.is_cancelled():
                event.interrupt()

        highs.cbMipInterrupt.subscribe(check)
        highs.run()
        highs.cbMipInterrupt.unsubscribe(check)  # else it and the programme would hold each other
        iterations = max(int(highs.getInfo().simplex_iteration_count), checks)
        searched = self._work_of_search(keeps_columns) if checks > _FEW_CHECKS else 0.0
        self._work.charge(self._work_of_root() + searched + iterations * _MILP_ITERATION_UNITS)
        if checks > checks_left:
            error = self._work.leave_out("the rest of a search for whole units")
            if must_stop and not is_required:
                raise error
        self._work.check()
        info = highs.getInfo()
        if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return MilpOutcome(None, np.inf, np.inf)
        if int(info.primal_solution_status) != _FEASIBLE:
            return MilpOutcome(None, np.inf, float(info.mip_dual_bound))
        return MilpOutcome(
            self.values(), float(info.objective_function_value), float(info.mip_dual_bound)
        )

    def _set_milp_options(self, gap: float, node_limit: int | None, keeps_columns: bool) -> None:
        for option, value in _WHOLE_OPTIONS.items():
            self._highs.setOptionValue(option, value)
        self._highs.setOptionValue("simplex_iteration_limit", _NO_LIMIT)
        self._highs.setOptionValue("mip_rel_gap", gap)
        self._highs.setOptionValue("presolve_rule_off", _SUBSTITUTIONS if keeps_columns else 0)
        if node_limit is not None:
            self._highs.setOptionValue("mip_max_nodes", node_limit)

    def _work_of_search(self, keeps_columns: bool) -> float:
        """Units of the heuristics of a search."""
        is_small = not keeps_columns and self.columns <= _FEW_COLUMNS
        return _SMALL_SEARCH_UNITS if is_small else _SEARCH_UNITS

    def _work_of_root(self) -> float:
        """Units of a search for whole columns before its first node."""
        return _ROOT_UNITS + self._size * _ROOT_ENTRY_UNITS


_NO_LIMIT = 2**31 - 1
_GIVEN_UP = (highspy.HighsModelStatus.kSolveError, highspy.HighsModelStatus.kInterrupt)
_LARGE_SIZE = 50_000
"""Entries from which on looking at every iteration costs nothing beside it."""
_MOST_TAKEN_BACK, _TAKEN_BACK_COST = 1_000, 6
"""Iterations taken back after which a run is interrupted, and what one of them costs in others:
the basis is factorised anew."""
_RUN_UNITS, _ENTRY_UNITS = 50.0, 0.08
"""Units of work of a run of simplex, and for each entry of its matrix."""
_ITERATION_UNITS, _ITERATION_ENTRY_UNITS = 8.0, 0.0003
"""The same of an iteration."""
_ROOT_UNITS, _ROOT_ENTRY_UNITS = 300.0, 2.0
"""The same of a search for whole columns before its first node."""
_FEW_CHECKS, _SEARCH_UNITS = 2, 20_000.0
"""Calls within which a small search is over in a millisecond, and units of one that is not: its
heuristics take 20 ms whatever its size."""
_FEW_COLUMNS, _SMALL_SEARCH_UNITS = 100, 6_000.0
"""Columns of a model that is over in 2 to 9 ms where columns may be replaced, and its units."""
_MILP_ITERATION_UNITS = 250.0
"""The same of one of its simplex iterations, cuts and heuristics in, whatever the size."""
_REQUIRED_SHARE = 0.5
"""Share of the work left of which a search that is required may take more than it may search
with."""
_CHECK_UNITS = 2_500.0
"""The same, roughly, between two of the calls by which it asks whether to go on: iterations are
known at its end only."""
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
