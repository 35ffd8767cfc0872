"""Rows and columns of a model of whole numbers, and HiGHS, which solves it. PURE.

The only module that knows HiGHS. Every run is single-threaded with a fixed seed and stops at a
gap or where the work is over, never at a time, so the same model gives the same answer on any
machine and any day. What HiGHS says is checked: the cost of its columns and every row are worked
out again with its whole numbers settled, and where they do not agree it searches again without
presolve, which in HiGHS 1.16 may lose costs of columns; what stays open is left to the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

import highspy
import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.work import WorkMeter

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ABSENT = -1
"""The row of what counts in none."""
_LARGEST_COST = 1e4
"""Costs are scaled to at most this, about as large as capacity."""
_TOLERANCE = 1e-9
"""Feasibility of rows, whose largest entry is 1, and of whole numbers."""
_WHOLE = 1e-6
_SAME = 1e-6
"""Relative difference of two costs that HiGHS may take for the same."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Effort:
    """How far a search goes."""

    gap: float = 0.0
    """Relative difference of cost and bound at which it ends."""
    most_units: float = 800_000.0
    """Units of work after which the best found stands where its gap is good; as many more for each
    power of ten by which it is not."""
    many_choices: int = 800
    """Columns of the choices from which on few of them are searched first: those of the relaxed
    plan, and the `nearest` of next least reduced cost; 0: no others, where those give a plan."""
    nearest: int = 40
    explains: bool = True
    """Whether limits in conflict are looked for where there is no plan."""


@dataclass(frozen=True)
class Solution:
    """The best values found, None without any, and what no values cost less than."""

    values: Floats | None
    cost: float
    bound: float


class Model:
    """min cost · x over rows lower ≤ A · x ≤ upper and columns 0 ≤ x ≤ upper, some of them whole.

    >>> model = Model()
    >>> row, column = model.rows(1, 1.5, np.inf), model.columns([3.0], 9.0, is_whole=True)
    >>> model.put(row, column, 1.0)
    >>> solution = model.solve(WorkMeter())
    >>> solution.values.tolist(), solution.cost, solution.bound
    ([2.0], 6.0, 6.0)
    """

    def __init__(self) -> None:
        self._columns: list[tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_]]] = []
        none = np.zeros(0)
        self._rows: list[tuple[Floats, Floats]] = [(none, none)]
        self._entries: list[tuple[Ints, Ints, Floats]] = [
            (none.astype(int), none.astype(int), none)
        ]
        self.row_count = self.column_count = 0

    def rows(self, count: int, lower: Floats | float, upper: Floats | float) -> Ints:
        """New rows with these sides; gives their numbers."""
        self._rows.append((np.full(count, lower, float), np.full(count, upper, float)))
        self.row_count += count
        return np.arange(self.row_count - count, self.row_count)

    def rows_in(
        self, months: NDArray[np.bool_], lower: Floats | float, upper: Floats | float
    ) -> Ints:
        """[T] a new row in some months, ABSENT in the others; sides are [T]."""
        rows = np.full(months.size, ABSENT)
        sides = (np.full(months.size, one, float) for one in (lower, upper))
        rows[months] = self.rows(int(months.sum()), *(side[months] for side in sides))
        return rows

    def columns(
        self,
        cost: Floats | Sequence[float],
        upper: Floats | float = np.inf,
        *,
        is_whole: bool = False,
        is_choice: bool = False,
    ) -> Ints:
        """New columns from 0 to `upper`; gives their numbers. `is_choice`: of such columns, where
        there are very many, some are tried first."""
        cost = np.asarray(cost, float)
        most = np.full(cost.size, upper, float)
        whole, choice = np.full(cost.size, is_whole), np.full(cost.size, is_choice)
        self._columns.append((cost, most, whole, choice))
        self.column_count += cost.size
        return np.arange(self.column_count - cost.size, self.column_count)

    def put(self, rows: Ints, columns: Ints, values: Floats | float) -> None:
        """Entries of columns in rows, one each; none where a row is ABSENT."""
        is_entry = np.atleast_1d((rows != ABSENT) & (np.asarray(values) != 0) & (columns >= 0))
        if is_entry.all() and is_entry.shape == rows.shape == columns.shape == np.shape(values):
            self._entries.append((rows, columns, np.asarray(values, float)))
            return
        at = np.flatnonzero(is_entry)
        self._entries.append(
            tuple(  # type: ignore[arg-type]
                side[at] if side.shape == is_entry.shape else np.full(at.size, side)
                for side in (np.atleast_1d(rows), np.atleast_1d(columns), np.asarray(values, float))
            )
        )

    def costs(self) -> Floats:
        """[C] of the columns."""
        return np.concatenate([part[0] for part in self._columns])

    def largest_entries(self) -> Floats:
        """[R] the largest entry of each row, without its sign."""
        at, _, value = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        largest = np.zeros(self.row_count)
        np.maximum.at(largest, at, np.abs(value))
        return largest

    def relax(self, rows: Ints, per_slack: Floats, largest: float) -> tuple[int, float]:
        """A column of slack that raises the upper side of rows, whose largest entry is given; gives
        it, and what 1 of it raises them by, times `per_slack`."""
        unit = float(largest / np.abs(per_slack).max()) or 1.0
        (column,) = self.columns([0.0])
        self.put(rows, column, -unit * per_slack)
        return int(column), unit

    def solve(
        self,
        work: WorkMeter,
        *,
        gap: float = 0.0,
        effort: Effort | None = None,
        ceiling: float = np.inf,
        cost: Floats | None = None,
        closed: Ints | None = None,
    ) -> Solution:
        """The cheapest values to within `gap`, or with an `effort`, at `cost` where it is given,
        `closed` columns at 0. The search ends where nothing costs less than `ceiling`, and where
        the work that may be searched with is spent. Raises `WorkSpentError` where no more work may
        be left out."""
        if not self.column_count:
            lower, upper = self._sides()
            holds = bool(((lower <= 0) & (upper >= 0)).all())
            return Solution(np.zeros(0), 0.0, 0.0) if holds else Solution(None, np.inf, np.inf)
        return _Search(self, work, effort or Effort(gap), ceiling, cost, closed).solve()

    def _sides(self) -> tuple[Floats, Floats]:
        lower, upper = (np.concatenate(side) for side in zip(*self._rows, strict=True))
        return lower, upper


class _Search:
    def __init__(
        self,
        model: Model,
        work: WorkMeter,
        effort: Effort,
        ceiling: float,
        cost: Floats | None = None,
        closed: Ints | None = None,
    ) -> None:
        self.work, self.effort = work, effort
        own, self.upper, self.is_whole, self.is_choice = (
            np.concatenate(part) for part in zip(*model._columns, strict=True)
        )
        self.cost = own if cost is None else cost
        if closed is not None:
            self.upper[closed] = 0.0
        self.money = float(np.abs(self.cost).max(initial=0.0)) / _LARGEST_COST or 1.0
        self.ceiling = ceiling / self.money
        row, column, value = (np.concatenate(part) for part in zip(*model._entries, strict=True))
        work.charge_model(value.size + model.column_count + model.row_count)
        largest = np.zeros(model.row_count)
        np.maximum.at(largest, row, np.abs(value))
        largest[largest == 0] = 1.0
        lower, upper = model._sides()
        self.row_scale = largest
        self.lower_side, self.upper_side = lower / largest, upper / largest
        order = np.lexsort((row, column))
        self.row, self.column = row[order], column[order]
        self.value = (value / largest[row])[order]
        self.start = np.searchsorted(self.column, np.arange(model.column_count))
        self.size = value.size + model.row_count + model.column_count
        work.charge(_BUILD_UNITS + self.size * _ENTRY_UNITS)

    def solve(self) -> Solution:
        relaxed = self._relax(self.upper)
        if relaxed.values is None:
            relaxed = self._relax(self.upper, "off")
        if relaxed.values is None or relaxed.bound > self.ceiling * (1 + _ROUNDING):
            return Solution(None, np.inf, relaxed.bound * self.money)
        whole = relaxed.values[self.is_whole]
        self.fractions = int((np.abs(whole - np.round(whole)) > _TOLERANCE).sum())
        if not self.fractions:
            return self._in_money(relaxed)
        return self._in_money(self._search(relaxed))

    def _search(self, relaxed: Solution) -> Solution:
        assert relaxed.values is not None
        choices = np.flatnonzero(self.is_choice)
        if choices.size <= self.effort.many_choices:
            return self._settled(self.upper, relaxed.bound)
        reduced = self._reduced_costs()[choices]
        nearest = np.argsort(reduced, kind="stable")[: self.effort.nearest]
        is_tried = relaxed.values[choices] > _WHOLE
        is_tried[nearest] = True
        upper = self.upper.copy()
        upper[choices[~is_tried]] = 0.0
        few = self._settled(upper, relaxed.bound)
        few = Solution(few.values, few.cost, relaxed.bound)
        is_enough = few.cost - few.bound <= self.effort.gap * abs(few.cost)
        if few.values is not None and (is_enough or not self.effort.many_choices):
            return few
        open_ = min(few.cost, self.ceiling) - relaxed.bound
        upper[choices] = np.where(reduced <= open_ * (1 + _SAME) + _SAME, self.upper[choices], 0.0)
        whole = self._settled(upper, relaxed.bound)
        if few.cost < whole.cost:
            return Solution(few.values, few.cost, min(whole.bound, few.cost))
        return whole

    def _settled(self, upper: Floats, least: float) -> Solution:
        for presolve in ("choose", "off") if self.is_whole.sum() < _MANY_WHOLE else ("off",):
            solution = self._branch(upper, presolve)
            if solution.values is None:
                if np.isinf(solution.bound) and solution.bound > 0 and presolve == "choose":
                    continue  # said to be impossible, which the relaxed model is not
                return solution
            whole = np.where(self.is_whole, np.round(solution.values), 0.0)
            fixed = self._relax(np.where(self.is_whole, whole, upper), "off", whole)
            if fixed.values is None:
                continue
            is_same = abs(fixed.cost - solution.cost) <= _SAME * max(abs(solution.cost), 1.0)
            bound = max(min(solution.bound, fixed.cost), least)
            if is_same or presolve == "off":
                return Solution(fixed.values, fixed.cost, bound)
        return Solution(None, np.inf, least)

    def _relax(
        self, upper: Floats, presolve: str = "choose", lower: Floats | None = None
    ) -> Solution:
        highs = self.programme(np.zeros(upper.size) if lower is None else lower, upper)
        highs.setOptionValue("presolve", presolve)
        self.run(highs)
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return Solution(None, np.inf, np.inf)
        solution = highs.getSolution()
        values = np.clip(np.array(solution.col_value), 0.0, upper)
        self._duals = np.array(solution.row_dual)
        cost = float(self.cost @ values) / self.money
        return Solution(values, cost, min(cost, self._bound(upper)) if lower is None else cost)

    def run(self, highs: highspy.Highs) -> None:
        per_iteration = _ITERATION_UNITS + self.size * _ITERATION_ENTRY_UNITS
        most = min(self.work.stop_after / per_iteration + 1, _NO_LIMIT)
        highs.setOptionValue("simplex_iteration_limit", int(most))
        highs.run()
        iterations = max(int(highs.getInfo().simplex_iteration_count), 0)
        self.work.charge(_RUN_UNITS + iterations * per_iteration)
        if highs.getModelStatus() == highspy.HighsModelStatus.kIterationLimit:
            raise self.work.leave_out("a linear programme takes more work than is left")

    def _bound(self, upper: Floats) -> float:
        """Σ dual · side of the row + Σ least of 0 and reduced cost · most of the column: true
        whatever the duals. (Neumaier and Shcherbina, Safe bounds in linear and mixed-integer
        programming, 2004.)"""
        duals = np.where(np.isneginf(self.lower_side), np.minimum(self._duals, 0.0), self._duals)
        duals = np.where(np.isposinf(self.upper_side), np.maximum(duals, 0.0), duals)
        side = np.where(duals > 0, self.lower_side, self.upper_side)
        reduced, priced = self._reduced_costs(duals), duals != 0
        earns = reduced < -_ROUNDING
        return float(duals[priced] @ side[priced] + reduced[earns] @ upper[earns])

    def _reduced_costs(self, duals: Floats | None = None) -> Floats:
        worth = np.zeros(self.cost.size)
        np.add.at(
            worth, self.column, self.value * (self._duals if duals is None else duals)[self.row]
        )
        return np.asarray(self.cost / self.money - worth)

    def _branch(self, upper: Floats, presolve: str) -> Solution:
        units = self.work.remaining
        must_stop = units >= self.work.stop_after
        root = _ROOT_UNITS + self.size * _ROOT_ENTRY_UNITS
        per_look = _LOOK_UNITS + self.fractions**2 * _FRACTION_UNITS
        left = units - root
        if left < 0 and must_stop:
            raise self.work.leave_out("a search for whole units")
        highs = self.programme(np.zeros(upper.size), upper, is_whole=True)
        options = {**_BRANCH_OPTIONS, "presolve": presolve, "mip_rel_gap": self.effort.gap}
        beyond = self.ceiling + _SAME * abs(self.ceiling)
        if np.isfinite(beyond):
            options["objective_bound"] = beyond
        for option, value in options.items():
            highs.setOptionValue(option, value)
        looks, spent = 0, 0.0

        def look(event: highspy.HighsCallbackEvent) -> None:
            nonlocal looks, spent
            gap, is_root = event.data_out.mip_gap, event.data_out.mip_node_count < 1
            looks, spent = looks + 1, spent + (per_look if is_root else _LOOK_UNITS)
            most = self.effort.most_units * (1 + max(log10(max(gap, _TOLERANCE) / _GOOD_GAP), 0))
            is_over = spent > left and (must_stop or gap < 1)
            if is_over or (spent > most and gap < 1) or self.work.is_cancelled():
                event.interrupt()

        highs.cbMipInterrupt.subscribe(look)
        highs.run()
        highs.cbMipInterrupt.unsubscribe(look)  # else it and the programme would hold each other
        info = highs.getInfo()
        iterations = max(int(info.simplex_iteration_count), looks)
        per_iteration = _BRANCH_ITERATION_UNITS
        per_iteration += max(self.size - _LARGE, 0) * _BRANCH_ITERATION_ENTRY_UNITS
        self.work.charge(root + iterations * per_iteration)
        if spent > left:
            error = self.work.leave_out("the rest of a search for whole units")
            if must_stop:
                raise error
        self.work.check()
        if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return Solution(None, np.inf, beyond)
        bound = min(float(info.mip_dual_bound), beyond)
        if int(info.primal_solution_status) != _FEASIBLE:
            return Solution(None, np.inf, bound)
        values = np.array(highs.getSolution().col_value)
        return Solution(values, float(info.objective_function_value), bound)

    def programme(self, lower: Floats, upper: Floats, *, is_whole: bool = False) -> highspy.Highs:
        highs = _SilentHighs()  # type: ignore[no-untyped-call]
        for option, value in _OPTIONS.items():
            highs.setOptionValue(option, value)
        highs.passModel(
            self.cost.size, self.lower_side.size, self.value.size,
            int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMinimize), 0.0,
            self.cost / self.money, lower, upper, self.lower_side, self.upper_side,
            self.start.astype(np.int32), self.row.astype(np.int32), self.value,
            (self.is_whole if is_whole else np.zeros(self.cost.size)).astype(np.int32),
        )  # fmt: skip
        return highs

    def _in_money(self, solution: Solution) -> Solution:
        bound = solution.bound * self.money
        if solution.values is None:
            return Solution(None, np.inf, bound)
        values = np.where(self.is_whole, np.round(solution.values), solution.values)
        cost = float(self.cost @ values)
        return Solution(values, cost, cost if cost - bound <= _ROUNDING * abs(cost) else bound)


class Relaxation:
    """A model without whole numbers, solved again and again as its rows ask for more or less: each
    search goes on from where the last one ended."""

    def __init__(self, model: Model, work: WorkMeter) -> None:
        self._parts = parts = _Search(model, work, Effort(), np.inf)
        self._highs = parts.programme(np.zeros(parts.upper.size), parts.upper)
        self._highs.setOptionValue("presolve", "off")
        # Devex: a quarter less time than by steepest edge, which every start weighs anew.
        self._highs.setOptionValue("simplex_dual_edge_weight_strategy", 1)

    def sides(self, rows: Ints) -> tuple[Floats, Floats]:
        """Lower and upper side of rows, over their largest entries."""
        return self._parts.lower_side[rows], self._parts.upper_side[rows]

    def set_sides(self, rows: Ints, lower: Floats, upper: Floats) -> None:
        """Other sides of rows."""
        self._highs.changeRowsBounds(  # type: ignore[attr-defined]
            rows.size, rows.astype(np.int32), lower, upper
        )

    def least_cost(self) -> float:
        """What nothing costs less than, in money; infinite where nothing keeps the rows."""
        for _ in range(2):
            self._parts.run(self._highs)
            if self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                objective = self._highs.getInfo().objective_function_value
                return float(objective) * self._parts.money
            self._highs.clearSolver()  # where the last basis led nowhere: from the beginning
        return np.inf


class _SilentHighs(highspy.Highs):
    def enableCallbacks(self) -> None:  # noqa: N802 - the name of HiGHS
        self.silent()
        super().enableCallbacks()  # type: ignore[no-untyped-call]


_NO_LIMIT = 2**31 - 1
_FEASIBLE = int(highspy.SolutionStatus.kSolutionStatusFeasible)
_BUILD_UNITS, _ENTRY_UNITS = 2_000.0, 0.3
"""Units of work to write a model down and hand it over, and for each of its entries."""
_RUN_UNITS, _ITERATION_UNITS, _ITERATION_ENTRY_UNITS = 500.0, 20.0, 0.0005
"""The same of a run of simplex, of its iterations and, in each, of an entry."""
_ROOT_UNITS, _ROOT_ENTRY_UNITS = 2_000.0, 2.0
"""The same of a search for whole numbers before its first node."""
_BRANCH_ITERATION_UNITS, _BRANCH_ITERATION_ENTRY_UNITS, _LARGE = 300.0, 0.02, 30_000
"""The same of one of its simplex iterations, cuts and heuristics in, and of each entry beyond
so many."""
_MANY_WHOLE = 6_000
"""Whole numbers from which on presolve is left out: it would probe pairs of them, in 800 MB."""
_LOOK_UNITS, _FRACTION_UNITS = 500.0, 0.6
"""The same, roughly, between two of the calls by which it asks whether to go on, and before its
first node for each pair of numbers that the relaxed plan leaves in parts: iterations are known at
its end only."""
_GOOD_GAP = 0.001
"""Gap that is good: for each power of ten above it a search may take its units once more."""
_OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "primal_feasibility_tolerance": _TOLERANCE,
    "dual_feasibility_tolerance": _TOLERANCE,
}
_BRANCH_OPTIONS: dict[str, bool | int | float | str] = {
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": _TOLERANCE,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_feasibility_jump": False,
}
