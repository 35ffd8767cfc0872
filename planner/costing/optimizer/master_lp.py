"""The plan with fractions of units allowed: its cost bounds that of every whole plan. PURE.

Starts enter only when they would lower the cost (column generation), rounding cuts only when
they are broken; HiGHS' dual simplex goes on from the last basis each time.
"""

from __future__ import annotations

import numpy as np

from planner.costing.optimizer.constraints import ABSENT, Rows
from planner.costing.optimizer.cuts import Cut, Separator
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import Ints
from planner.costing.optimizer.variables import (
    Continuous,
    Entries,
    StartColumns,
    continuous_columns,
)
from planner.costing.optimizer.work import CELL_UNITS, WorkMeter

_COLUMNS_PER_ROUND = 150
_CUT_ROUNDS = 12
ARRAYS_PER_ENTRY = 5
"""Arrays that an entry of a matrix takes until it is in the model."""
ASSEMBLY_UNITS = 0.4
"""Units of work to put one entry into the model."""
_ENTRIES_AT_ONCE = 200_000
"""Entries that are put in order together: some 20 MB while that lasts."""
_LEAST_REDUCED_COST = 1e-8
"""On costs scaled to at most 1e4; what is missed is taken off the bound."""
_LEAST_GAIN = 1e-6
"""Relative gain of the bound below which another round of cuts is not worth its time."""


class Master:
    """The relaxed plan over the starts that matter so far."""

    def __init__(
        self,
        rows: Rows,
        continuous: Continuous | None = None,
        start_columns: StartColumns | None = None,
        *,
        work: WorkMeter,
        elastic: bool = False,
    ) -> None:
        self.rows, self.work = rows, work
        self.continuous = continuous_columns(rows) if continuous is None else continuous
        self.start_columns = StartColumns(rows) if start_columns is None else start_columns
        self.elastic = elastic
        self.separator = Separator(rows, self.continuous, self.start_columns, elastic=elastic)
        self.cuts: list[Cut] = []
        self.nodes_are_whole = elastic
        """Whether the search takes whole rented nodes for whole units throughout."""
        self.start_indices: Ints = np.zeros(0, np.int64)
        """Starts in the model, in the order of its columns after the continuous ones."""
        count = self.continuous.count
        work.charge(ASSEMBLY_UNITS * self.continuous.entries.row.size)
        self.program = LinearProgram(rows.lower, rows.upper, work)
        self.program.add_columns(
            self.continuous.cost, np.zeros(count), np.full(count, np.inf), self.continuous.entries
        )

    @property
    def node_starts(self) -> Ints:
        """Start candidates that are whole nodes rented by the hour."""
        candidates = self.start_columns.candidates
        return np.flatnonzero(self.rows.reduced.unit_types.is_rented_node[candidates.unit_type])

    def solve(self) -> bool:
        """Solve to the end: no start and no cut would change the optimum. False: infeasible."""
        if not self._price_out():
            return False
        for _ in range(_CUT_ROUNDS):
            before = self.program.objective
            cuts = self.separator.cuts(self.units_started(), self.values()[: self.continuous.count])
            if not cuts:
                break
            self.add_cuts(cuts)
            if not self._price_out():
                return False
            if self.program.objective - before <= _LEAST_GAIN * abs(before):
                break
        return True

    def _price_out(self) -> bool:
        if not self.program.run():
            self.add_starts(np.arange(self.start_columns.cost.size))
            return self.program.run()
        while True:
            self.work.charge(self._pricing_units())
            reduced = self.reduced_costs()
            reduced[self.start_indices] = 0.0
            cheaper = np.flatnonzero(reduced < -_LEAST_REDUCED_COST)
            if cheaper.size == 0:
                return True
            best = cheaper[np.argsort(reduced[cheaper], kind="stable")[:_COLUMNS_PER_ROUND]]
            self.add_starts(np.sort(best))
            self.program.run()

    def _pricing_units(self) -> float:
        """Units of work to price every start."""
        cells = len(self.rows.families) * self.rows.busy_width.size
        return CELL_UNITS * 0.1 * (cells + self.start_columns.cost.size)

    def values(self) -> Floats:
        return self.program.values()

    def units_started(self) -> Floats:
        """[n] units started, fractions included."""
        out = np.zeros(self.start_columns.cost.size)
        out[self.start_indices] = self.values()[self.continuous.count :]
        return out

    def add_starts(self, start_indices: Ints) -> None:
        """Put those of the wanted starts into the model that are not in it."""
        new = start_indices[~np.isin(start_indices, self.start_indices)]
        if new.size == 0:
            return
        count = self.start_columns.count_entries(new)
        self.work.charge_model(ARRAYS_PER_ENTRY * count)
        blocks = min(new.size, 1 + count // _ENTRIES_AT_ONCE)
        for block in np.array_split(new, blocks):
            self._add_block(block)
        self.start_indices = np.concatenate([self.start_indices, new])

    def _add_block(self, new: Ints) -> None:
        entries = self.start_columns.entries(new)
        self.work.charge(ASSEMBLY_UNITS * entries.row.size)
        if self.cuts:
            entries = self._with_cuts(new, entries)
        upper_bound = self.start_columns.candidates.upper_bound[new]
        self.program.add_columns(
            self.start_columns.cost[new], np.zeros(new.size), upper_bound, entries
        )

    def _with_cuts(self, new: Ints, entries: Entries) -> Entries:
        units = self._in_cuts(new)
        rows, values = [], []
        for place in range(new.size):
            span = slice(int(entries.start[place]), int(entries.start[place + 1]))
            extra = np.flatnonzero(units[:, place])
            rows.append(np.concatenate([entries.row[span], self.rows.count + extra]))
            values.append(np.concatenate([entries.value[span], units[extra, place]]))
        start = np.concatenate([[0], np.cumsum([r.size for r in rows])]).astype(np.int64)
        return Entries(start, np.concatenate(rows), np.concatenate(values))

    def _in_cuts(self, start_indices: Ints, cuts: list[Cut] | None = None) -> Floats:
        """[cuts, chosen] entries of starts in cuts."""
        unit_type = self.start_columns.candidates.unit_type[start_indices]
        out = [
            cut.unit[start_indices]
            if cut.month == ABSENT
            else cut.unit[unit_type] * self.start_columns.are_in_service(start_indices, cut.month)
            for cut in (self.cuts if cuts is None else cuts)
        ]
        return np.array(out, np.float64).reshape(-1, start_indices.size)

    def add_cuts(self, cuts: list[Cut]) -> None:
        units = self._in_cuts(self.start_indices, cuts)
        rows, values = [], []
        for cut, unit in zip(cuts, units, strict=True):
            inside = np.flatnonzero(unit)
            rows.append(np.concatenate([cut.columns, self.continuous.count + inside]))
            values.append(np.concatenate([np.full(cut.columns.size, cut.rented), unit[inside]]))
        start = np.concatenate([[0], np.cumsum([r.size for r in rows])]).astype(np.int64)
        entries = Entries(start, np.concatenate(rows), np.concatenate(values))
        lower, upper = np.array([c.lower for c in cuts]), np.array([c.upper for c in cuts])
        self.program.add_rows(lower, upper, entries)
        self.cuts += cuts

    def _duals(self) -> Floats:
        """Row duals with the sign that a bound asks for: not negative below, not positive above."""
        duals = self.program.row_duals()
        lower, upper = self._sides()
        duals = np.where(np.isneginf(lower), np.minimum(duals, 0.0), duals)
        return np.where(np.isposinf(upper), np.maximum(duals, 0.0), duals)

    def _sides(self) -> tuple[Floats, Floats]:
        lower = np.concatenate([self.rows.lower, [c.lower for c in self.cuts]])
        return lower, np.concatenate([self.rows.upper, [c.upper for c in self.cuts]])

    def reduced_costs(self) -> Floats:
        """[n] reduced cost of every start, in the model or not."""
        return self._reduced_costs(self._duals())

    def _reduced_costs(self, duals: Floats) -> Floats:
        unit_types, months = self.rows.reduced.unit_types.existing.shape
        more = np.zeros((unit_types, months))
        over_horizon = np.zeros(self.start_columns.cost.size)
        for cut, dual in zip(self.cuts, duals[self.rows.count :], strict=True):
            if cut.month == ABSENT:
                over_horizon += dual * cut.unit
            elif dual:
                more[:, cut.month] += dual * cut.unit
        return self.start_columns.reduced_costs(duals, more) - over_horizon

    def bound(self) -> tuple[float, Floats]:
        """What no whole plan costs less than, in scaled money, and every start's reduced cost.

        Σ dual · side of the row + Σ least of 0 and reduced cost · most of the column: true
        whatever the duals, so HiGHS' tolerances cannot falsify it.
        (Neumaier and Shcherbina, Safe bounds in linear and mixed-integer programming, 2004.)
        """
        duals = self._duals()
        lower, upper = self._sides()
        side = np.where(duals > 0, lower, upper)
        bound = float(np.where(duals != 0, duals * np.where(duals != 0, side, 0.0), 0.0).sum())
        reduced = self._reduced_costs(duals)
        bound += float((np.minimum(reduced, 0.0) * self.start_columns.candidates.upper_bound).sum())
        bound += float((np.minimum(self._rented(duals), 0.0) * self.continuous.upper_bound).sum())
        return bound, reduced

    def _rented(self, duals: Floats) -> Floats:
        """Reduced cost of the continuous columns."""
        entries = self.continuous.entries
        worth = np.zeros(self.continuous.count)
        np.add.at(worth, entries.column, entries.value * duals[entries.row])
        for cut, dual in zip(self.cuts, duals[self.rows.count :], strict=True):
            if dual:
                worth[cut.columns] += dual * cut.rented
        return np.asarray(self.continuous.cost - worth)
