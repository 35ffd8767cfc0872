"""The columns of a plan's model: what is rented, what is run, which units are started. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from planner.costing.optimizer.by_month.whole_nodes import linked_unit_types
from planner.costing.optimizer.constraints import ABSENT, Rows
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import Bools, Ints


@dataclass(frozen=True)
class Entries:
    """Entries of a matrix, ordered by column: those of column j are start[j] … start[j+1]-1."""

    start: Ints
    row: Ints
    value: Floats

    @property
    def column(self) -> Ints:
        """The column of each entry."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))

    @classmethod
    def ordered(cls, pieces: Iterable[tuple[Ints, Ints, Floats]], columns: int) -> Entries:
        """Of (row, column, value) in any order; those of no row or no value are left out."""
        present = (_nonzero(*piece) for piece in pieces)
        row, column, value = (np.concatenate(part) for part in zip(*present, strict=True))
        order = np.argsort(column, kind="stable")
        start = np.searchsorted(column[order], np.arange(columns + 1))
        return cls(start, row[order], value[order])


def _nonzero(row: Ints, column: Ints, value: Floats) -> tuple[Ints, Ints, Floats]:
    """What a piece holds; one by one, as most of a large model's pieces hold little."""
    is_kept = (row != ABSENT) & (value != 0)
    return row[is_kept], column[is_kept], value[is_kept]


@dataclass(frozen=True)
class Continuous:
    """The columns that are not whole units: rentals, then hours run, each of one month."""

    rental_type: Ints
    """Kind of each rental column, of which there are fewer than columns."""
    run: Ints
    """Running cost of each run column."""
    month: Ints
    cost: Floats
    """Divided by the rows' `cost_scale`."""
    upper_bound: Floats
    """Width beyond which the month's demand is covered, a bound that no best plan passes."""
    entries: Entries

    @property
    def rentals(self) -> int:
        return self.rental_type.size

    @property
    def count(self) -> int:
        return self.month.size


def continuous_columns(rows: Rows) -> Continuous:
    """The rental and run columns of every month with their entries in the rows."""
    rentals, problem = rows.reduced.rentals, rows.reduced.problem
    unit_type, month = np.nonzero(rentals.offered)
    run_rows = np.array([f.row for f in rows.runs], np.int64).reshape(-1, rows.required_width.size)
    run, run_month = np.nonzero(run_rows != ABSENT)
    all_months = np.concatenate([month, run_month])
    run_at = unit_type.size + np.arange(run.size)
    rental_at = np.arange(unit_type.size)
    of_run = _unit_type_of_each_run(rows)[run]
    has_peak = np.where(problem.peak > 0, 1.0, 0.0)
    cash = np.concatenate(
        [rentals.cash[unit_type, month], rows.reduced.unit_types.hour_cash[of_run, run_month]]
    )
    node_row = _node_rows(rows, unit_type, month)
    width_row = np.where(node_row == ABSENT, rows.width.row[month], ABSENT)
    pieces = [
        (width_row, rental_at, np.ones(unit_type.size)),
        (node_row, rental_at, np.ones(unit_type.size)),
        (rows.hours.row[all_months], np.arange(all_months.size), np.ones(all_months.size)),
        (
            np.where(rentals.is_spot[unit_type], rows.spot_row[month], ABSENT),
            rental_at,
            np.ones(unit_type.size),
        ),
        (run_rows[run, run_month], run_at, np.ones(run.size)),
        (
            rows.budget_row[all_months],
            np.arange(all_months.size),
            np.where(np.isfinite(cash), cash, 0.0)
            * rows.hours_at_peak[all_months]
            / rows.cash_scale,
        ),
    ]
    if rows.total_row != ABSENT:
        paid = np.where(np.isfinite(cash), cash, 0.0) * rows.hours_at_peak[all_months]
        columns = np.arange(all_months.size)
        total_row = np.full(all_months.size, rows.total_row)
        pieces.append((total_row, columns, paid / rows.total_scale))
    for q, family in enumerate(rows.quotas):
        size = rentals.quota_size[unit_type, q] * has_peak[month]
        if rows.reduced.quotas[q].in_machines:  # the nodes count
            size = np.where(node_row == ABSENT, size, 0.0)
        pieces.append((family.row[month], rental_at, size))
    pieces += _group_entries(rows, unit_type, month)
    cost = [rentals.cost[unit_type, month], rows.reduced.unit_types.hour_cost[of_run, run_month]]
    return Continuous(
        rental_type=unit_type,
        run=run,
        month=all_months,
        cost=np.concatenate(cost) * rows.hours_at_peak[all_months] / rows.cost_scale,
        upper_bound=_covering_width(
            rows, np.append(rentals.node[unit_type], np.zeros(run.size)), all_months
        ),
        entries=Entries.ordered(pieces, all_months.size),
    )


def _group_entries(
    rows: Rows, rental_type: Ints, month: Ints
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """(row, column, value) of rentals in the groups of which some must be in use."""
    least, places = rows.reduced.problem.least_groups, rows.reduced.quotas
    names = [quota.group for quota in places]
    at = np.arange(rental_type.size)
    for name, family in zip(() if least is None else least.groups, rows.groups, strict=False):
        if name in names:
            size = rows.reduced.rentals.quota_size[rental_type, names.index(name)]
            yield family.row[month], at, size


def _node_rows(rows: Rows, rental_type: Ints, month: Ints) -> Ints:
    """The row that links each rental column to whole nodes, ABSENT where parts may be rented."""
    first = rows.reduced.unit_types.capacity.size - len(rows.nodes)
    links = np.array([f.row for f in rows.nodes], np.int64).reshape(-1, rows.required_width.size)
    unit_type = linked_unit_types(rows.reduced)[rental_type]
    is_linked = unit_type >= 0
    out = np.full(rental_type.size, ABSENT)
    out[is_linked] = links[unit_type[is_linked] - first, month[is_linked]]
    return out


def _covering_width(rows: Rows, node: Floats, month: Ints) -> Floats:
    """Width beyond which a month's demand is covered; whole nodes where they rent whole."""
    width = rows.required_width[month]
    size = np.where(node > 0, node, 1.0)
    return np.where(node > 0, size * np.ceil(width / size), width)


def _unit_type_of_each_run(rows: Rows) -> Ints:
    first = [int(np.flatnonzero(rows.run_of_type == r)[0]) for r in range(len(rows.runs))]
    return np.array(first, np.int64)


class StartColumns:
    """The columns of the units that may be started: priced all at once, written out when wanted.

    With `copies` above 1 the rows stand for that many scenarios of the same months, one after
    another, and a unit is in service in its months of each; `cost_weight` multiplies the cost of
    starting one.
    """

    def __init__(self, rows: Rows, copies: int = 1, cost_weight: float = 1.0) -> None:
        candidates = rows.reduced.start_candidates
        self.rows, self.candidates, self.copies = rows, candidates, copies
        self.months = rows.required_width.size // copies
        self.cost = candidates.cost * cost_weight / rows.cost_scale
        self.capital = tuple(self._capital())
        self.cash = None if candidates.cash is None else candidates.cash / rows.cash_scale
        self.payments = (
            None if candidates.payments is None else candidates.payments * copies / rows.total_scale
        )
        families = rows.families
        self._row = np.array([f.row for f in families])
        self._value = np.array([f.value_per_unit for f in families])
        self._has_row = self._row != ABSENT
        self._types = (self._value != 0).any(axis=2)
        """[F, K] whether a unit of a type is in any row of a family."""

    def reduced_costs(self, duals: Floats, more: Floats) -> Floats:
        """[n] cost of each start less the worth of what it brings at the given row duals.

        `more` is a further worth of a unit of each type in service in each month (that of cuts).
        """
        candidates, rows = self.candidates, self.rows
        price = np.append(duals[: rows.count], 0.0)  # an ABSENT row, -1, is worth nothing
        worth = self._by_month(np.einsum("ft,fkt->kt", price[self._row], self._value) + more)
        until = np.concatenate([np.zeros((worth.shape[0], 1)), worth.cumsum(axis=1)], axis=1)
        out = self.cost - (
            until[candidates.unit_type, candidates.last]
            - until[candidates.unit_type, candidates.first]
        )
        if self.cash is not None:
            out -= self.cash @ self._by_month(price[rows.budget_row][None])[0]
        for row, capital in self.capital:
            out -= capital * price[row]
        if self.payments is not None:
            out -= self.payments * price[rows.total_row]
        out -= price[rows.limited_row[candidates.unit_type]]
        return np.asarray(out, np.float64)

    def _capital(self) -> Iterator[tuple[int, Floats]]:
        """The row of each budget of capital, with what each start takes of it."""
        rows, candidates = self.rows, self.candidates
        budgets = rows.reduced.problem.capital_budgets
        for row, budget in zip(rows.capex_rows.tolist(), budgets, strict=True):
            if row != ABSENT:
                capital = candidates.capex_of(budget) / rows.capex_scale
                yield row, capital

    def _by_month(self, figures: Floats) -> Floats:
        """[…, T] sums over the copies."""
        by_copy = figures.reshape(len(figures), self.copies, self.months)
        return np.asarray(by_copy.sum(axis=1), np.float64)

    def entries(self, start_indices: Ints) -> Entries:
        """The entries of the chosen starts, in that order."""
        pieces = [
            *self._service_entries(start_indices),
            *self.entries_outside_service(start_indices),
        ]
        return Entries.ordered(pieces, start_indices.size)

    def count_entries(self, start_indices: Ints) -> int:
        """Entries of the chosen starts in rows of units in service, at most."""
        candidates = self.candidates
        months = candidates.last[start_indices] - candidates.first[start_indices]
        families = self._types.sum(axis=0)[candidates.unit_type[start_indices]]
        return int((months * families).sum()) * self.copies

    def _service_entries(self, start_indices: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
        candidates = self.candidates
        service_months = candidates.last[start_indices] - candidates.first[start_indices]
        column = np.repeat(np.arange(start_indices.size), service_months)
        since = np.arange(column.size) - np.repeat(
            service_months.cumsum() - service_months, service_months
        )
        month, unit_type = (
            candidates.first[start_indices][column] + since,
            candidates.unit_type[start_indices][column],
        )
        for copy in range(self.copies):
            service_month = month + self.months * copy
            for row, value, is_in in zip(self._row, self._value, self._types, strict=True):
                at = np.flatnonzero(is_in[unit_type])
                if at.size:
                    yield (
                        row[service_month[at]],
                        column[at],
                        value[unit_type[at], service_month[at]],
                    )

    def entries_outside_service(self, start_indices: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
        """(row, column, value) of what does not come from units in service: the starts' money."""
        rows, column = self.rows, np.arange(start_indices.size)
        if self.cash is not None:
            at, month = np.nonzero(self.cash[start_indices])
            for copy in range(self.copies):
                row = rows.budget_row[month + self.months * copy]
                yield row, at, self.cash[start_indices[at], month]
        for capex_row, capital in self.capital:
            yield np.full(start_indices.size, capex_row), column, capital[start_indices]
        if self.payments is not None:
            total_row = np.full(start_indices.size, rows.total_row)
            yield total_row, column, self.payments[start_indices]
        yield (
            rows.limited_row[self.candidates.unit_type[start_indices]],
            column,
            np.ones(start_indices.size),
        )

    def limits_units_in_service(self) -> Bools:
        """[K, T] whether a unit of a type in service in a month is in any row, of any copy."""
        is_in = (self._has_row[:, None] & (self._value != 0)).any(axis=0)
        return np.asarray(is_in.reshape(len(is_in), self.copies, self.months).any(axis=1), bool)

    def are_in_service(self, start_indices: Ints, month: int) -> Bools:
        """[start] whether a unit of each start is in service in a month, of whichever copy."""
        first, last = self.candidates.first[start_indices], self.candidates.last[start_indices]
        return np.asarray((first <= month % self.months) & (month % self.months < last), bool)

    def units_in_service(self, units_started: Floats) -> Floats:
        """[K, T · copies] units in service of each type: those started [n] and existing ones."""
        candidates, existing = self.candidates, self.rows.reduced.unit_types.existing
        change = np.zeros((existing.shape[0], self.months + 1))
        np.add.at(change, (candidates.unit_type, candidates.first), units_started)
        np.subtract.at(change, (candidates.unit_type, candidates.last), units_started)
        in_service = np.tile(change.cumsum(axis=1)[:, :-1], self.copies)
        return np.asarray(existing + in_service, np.float64)
