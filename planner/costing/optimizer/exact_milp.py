"""The plan of whole units, solved exactly over few starts. PURE.

A start that serves thirty months has an entry in the rows of thirty months, and an exact search
spends its time on a matrix of that size. Here the units in service are columns of their own,

    in_service[k, t] = in_service[k, t-1] + Σ units usable from t on − Σ units that end in t,

and each row holds one of them for every kind: a tenth of the entries, and whole numbers in the
rows of a month, from which HiGHS makes better cuts than from sums of starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.costing.optimizer.constraints import ABSENT, Rows
from planner.costing.optimizer.cuts import Cut
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import Bools, Ints
from planner.costing.optimizer.variables import Continuous, Entries, StartColumns
from planner.costing.optimizer.work import WorkMeter


@dataclass(frozen=True)
class Incumbent:
    """Whole units started [n] and what they cost, in scaled money."""

    units_started: Floats
    cost: float


@dataclass(frozen=True)
class Proof:
    """The best plan found, None without one, and what no plan of those starts costs less than."""

    incumbent: Incumbent | None
    bound: float


def solve_milp(
    rows: Rows,
    continuous: Continuous,
    start_columns: StartColumns,
    start_indices: Ints,
    *,
    gap: float,
    node_limit: int | None,
    work: WorkMeter,
    warm_start: Incumbent | None = None,
    cuts: Sequence[Cut] | None = None,
    nodes_are_whole: bool = True,
) -> Proof:
    """The cheapest plan that starts no units but those of `start_indices`, to within `gap`.

    The search begins with `warm_start`, which may start nothing else either. For a good plan the
    bare model is quickest; a proof to the end is, where `cuts` are given and sums of starts may
    stand for the units in service again.
    """
    in_service = _InServiceColumns(rows, start_columns, start_indices)
    first_start = continuous.count + in_service.count
    lower, upper = (
        np.concatenate([side, np.zeros(in_service.count)]) for side in (rows.lower, rows.upper)
    )
    program = LinearProgram(lower, upper, work)
    free = np.full(first_start, np.inf)
    program.add_columns(
        np.concatenate(
            [continuous.cost, np.zeros(in_service.count), start_columns.cost[start_indices]]
        ),
        np.zeros(first_start + start_indices.size),
        np.concatenate([free, start_columns.candidates.upper_bound[start_indices]]),
        _entries(continuous, in_service, first_start + start_indices.size),
    )
    if cuts:
        program.add_rows(*_cut_rows(cuts, continuous, in_service))
    is_whole = in_service.are_units() | nodes_are_whole
    whole = continuous.count + np.flatnonzero(is_whole)
    start = None
    if warm_start is not None:
        start = in_service.values(warm_start.units_started)[is_whole]
    outcome = program.solve_milp(
        whole, gap=gap, node_limit=node_limit, start=start, keeps_columns=cuts is None
    )
    if outcome.values is None:
        return Proof(None, outcome.bound)
    units_started = np.zeros(start_columns.cost.size)
    units_started[start_indices] = np.round(outcome.values[first_start:])
    return Proof(Incumbent(units_started, outcome.objective), outcome.bound)


def _entries(continuous: Continuous, in_service: _InServiceColumns, columns: int) -> Entries:
    rented = continuous.entries
    pieces = [(rented.row, rented.column, rented.value)]
    pieces += [
        (row, continuous.count + column, value) for row, column, value in in_service.pieces()
    ]
    return Entries.ordered(pieces, columns)


def _cut_rows(
    cuts: Sequence[Cut], continuous: Continuous, in_service: _InServiceColumns
) -> tuple[Floats, Floats, Entries]:
    """Sides of the cuts, and their entries by row."""
    columns, values = [], []
    for cut in cuts:
        column, value = in_service.in_cut(cut)
        columns.append(np.concatenate([cut.columns, continuous.count + column]))
        values.append(np.concatenate([np.full(cut.columns.size, cut.rented), value]))
    start = np.cumsum([0, *(row.size for row in columns)])
    entries = Entries(start, np.concatenate(columns), np.concatenate(values))
    lower, upper = np.array([c.lower for c in cuts]), np.array([c.upper for c in cuts])
    return lower, upper, entries


class _InServiceColumns:
    """Units in service of a type in a month that limits them, a row each for their change since the
    month before, then the starts."""

    def __init__(self, rows: Rows, start_columns: StartColumns, start_indices: Ints) -> None:
        self.rows, self.start_columns, self.start_indices = rows, start_columns, start_indices
        candidates = start_columns.candidates
        unit_type, first, last = (
            candidates.unit_type[start_indices],
            candidates.first[start_indices],
            candidates.last[start_indices],
        )
        change = np.zeros((rows.busy_width.shape[0], start_columns.months + 1), np.int64)
        np.add.at(change, (unit_type, first), 1)
        np.subtract.at(change, (unit_type, last), 1)
        matters = (change.cumsum(axis=1)[:, :-1] > 0) & start_columns.limits_units_in_service()
        self.unit_type, self.month = np.nonzero(matters)
        self._follows = np.append(self.unit_type[1:] == self.unit_type[:-1], False)[: self.count]
        """Whether the column after it is that of a later month of the same kind."""
        before = np.searchsorted(self._key(self.unit_type, self.month), self._key(unit_type, first))
        after = np.searchsorted(self._key(self.unit_type, self.month), self._key(unit_type, last))
        self._enters = np.where(before < after, before, ABSENT)
        """[chosen] the first column that a start adds to, ABSENT where it serves no month."""
        ends = (before < after) & (np.append(self.unit_type, ABSENT)[after] == unit_type)
        self._leaves = np.where(ends, after, ABSENT)

    def _key(self, unit_type: Ints, month: Ints) -> Ints:
        return np.asarray(unit_type * (self.start_columns.months + 1) + month, np.int64)

    @property
    def count(self) -> int:
        return self.unit_type.size

    def values(self, units_started: Floats) -> Floats:
        """Units in service and units started, in the order of the columns."""
        in_service = (
            self.start_columns.units_in_service(units_started)
            - self.rows.reduced.unit_types.existing
        )
        return np.concatenate(
            [in_service[self.unit_type, self.month], units_started[self.start_indices]]
        )

    def are_units(self) -> Bools:
        """[columns] whether a column is of commitments and servers, not of nodes rented hourly."""
        is_rented_node = self.rows.reduced.unit_types.is_rented_node
        started = self.start_columns.candidates.unit_type[self.start_indices]
        return ~np.concatenate([is_rented_node[self.unit_type], is_rented_node[started]])

    def in_cut(self, cut: Cut) -> tuple[Ints, Floats]:
        """Columns and entries of a cut of one month, or of one over the starts."""
        if cut.month == ABSENT:
            column, value = (
                self.count + np.arange(self.start_indices.size),
                cut.unit[self.start_indices],
            )
        else:
            column = np.flatnonzero(self.month == cut.month % self.start_columns.months)
            value = cut.unit[self.unit_type[column]]
        inside = value != 0
        return column[inside], value[inside]

    def pieces(self) -> list[tuple[Ints, Ints, Floats]]:
        """(row, column, value) of every entry, columns counted from the first of these."""
        return [*self._in_limits(), *self._changes(), *self._of_starts()]

    def _in_limits(self) -> list[tuple[Ints, Ints, Floats]]:
        months, column = self.start_columns.months, np.arange(self.count)
        return [
            (family.row[at], column, family.value_per_unit[self.unit_type, at])
            for family in self.rows.families
            for at in (self.month + months * copy for copy in range(self.start_columns.copies))
        ]

    def _changes(self) -> list[tuple[Ints, Ints, Floats]]:
        column, ones = np.arange(self.count), np.ones(self.count)
        later = np.where(self._follows, column + 1, ABSENT)
        return [(self._row(column), column, ones), (self._row(later), column, -ones)]

    def _of_starts(self) -> list[tuple[Ints, Ints, Floats]]:
        column, ones = (
            self.count + np.arange(self.start_indices.size),
            np.ones(self.start_indices.size),
        )
        beside = self.start_columns.entries_outside_service(self.start_indices)
        return [
            (self._row(self._enters), column, -ones),
            (self._row(self._leaves), column, ones),
            *((row, self.count + at, value) for row, at, value in beside),
        ]

    def _row(self, column: Ints) -> Ints:
        """The row that says how a column changes."""
        return np.where(column == ABSENT, ABSENT, self.rows.count + column)
