"""The rows and columns of one project: its demand, what it shares and what it rents. PURE.

Widths are in reference accelerators at peak, as in `planner.costing.optimizer.constraints`: hours
over d, the hours at peak of the month; of movable work over 730.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.by_month.whole_nodes import NodeTypes
from planner.costing.optimizer.constraints import HOURS_PER_MONTH, hours_at_peak
from planner.costing.optimizer.presolve_rentals import prune_rentals
from planner.costing.optimizer.problem import CommitmentOption, Floats, PlanProblem
from planner.costing.optimizer.reduced_problem import Rentals
from planner.costing.optimizer.solve import restrict_sources
from planner.portfolio.optimizer.matrix import Matrix
from planner.portfolio.optimizer.node_links import ABSENT, WHOLE, link_nodes
from planner.portfolio.optimizer.pools import SharedUnits
from planner.portfolio.optimizer.problem import ProjectProblem

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SharedRows:
    """The rows that projects have in common."""

    share: Ints
    """[G, T] nodes of a pool that are taken."""
    use: Ints
    """[G, T] node-hours of a pool, over 730."""
    quotas: Ints
    """[Q, T]"""
    monthly: Ints
    """[T], ABSENT without a monthly budget."""
    total: int
    """ABSENT without a total budget."""
    cash_scale: float
    total_scale: float


@dataclass(frozen=True)
class PoolColumns:
    """Nodes of a pool that a project takes and uses, in the months `month`."""

    pool: int
    month: Ints
    share: Ints
    used: Ints
    """Widths run; empty where they are those shared."""


@dataclass(frozen=True)
class RentalColumns:
    """What a project rents, in the months `month`; a column stands for `width` of each of it."""

    source_keys: tuple[str, ...]
    """Key of the offer of each column."""
    capacity: Floats
    """Reference accelerators at work on a node of each."""
    month: Ints
    column: Ints
    width: float
    """Reference accelerators of a column's unit: those of a node where it is one, else 1."""
    is_node: bool


@dataclass
class ProjectColumns:
    """The columns of one project."""

    hours_at_peak: Floats
    """[T]"""
    pools: list[PoolColumns] = field(default_factory=list)
    rentals: list[RentalColumns] = field(default_factory=list)


class DemandRows:
    """Writes one project into a model."""

    def __init__(
        self, model: Matrix, project: ProjectProblem, shared_units: SharedUnits, shared: SharedRows
    ):
        self.model, self.project, self.shared_units, self.shared = (
            model,
            project,
            shared_units,
            shared,
        )
        self.problem = _in_widths(project)
        self.d = hours_at_peak(self.problem)
        self.needed = self.problem.hours / self.d
        self.busy = np.flatnonzero(self.problem.hours > 0)
        self.is_movable = np.zeros(self.needed.size, bool)
        if project.movable is not None:
            self.is_movable = project.movable.indicator(self.needed.size)
        self.columns = ProjectColumns(self.d)

    def write(self) -> ProjectColumns:
        """Its rows and columns."""
        months = self.needed.size
        fixed = self.busy[~self.is_movable[self.busy]]
        self.width_row = np.full(months, ABSENT)
        has_peak = fixed[self.problem.peak[fixed] > 0]
        self.width_row[has_peak] = self.model.rows(has_peak.size, self.needed[has_peak], np.inf)
        self.hours_row = np.full(months, ABSENT)
        self.hours_row[fixed] = self.model.rows(fixed.size, self.needed[fixed], np.inf)
        if self.project.movable is not None:
            self._write_movable()
        self.spot_row = np.full(months, ABSENT)
        if self.problem.max_spot_share < 1:
            most = self.problem.max_spot_share * self.needed[self.busy]
            self.spot_row[self.busy] = self.model.rows(self.busy.size, -np.inf, most)
        self._write_kinds()
        for pool in range(len(self.shared_units.pools)):
            self._write_pool(pool)
        for kind in sorted({"", *self.project.kinds.values()}):
            self._write_rentals(kind)
        return self.columns

    def _write_movable(self) -> None:
        """The hours of the window together, and what is at work at once in its months."""
        movable = self.project.movable
        assert movable is not None
        window = np.flatnonzero(self.is_movable)
        total = self.project.problem.hours[window].sum() / HOURS_PER_MONTH
        self.hours_row[window] = self.model.rows(1, total, np.inf)[0]
        self.at_once_row = np.full(self.needed.size, ABSENT)
        self.at_once_row[window] = self.model.rows(window.size, -np.inf, movable.at_once)

    def _write_kinds(self) -> None:
        """One kind of accelerator for all months, where the project keeps to one."""
        kinds = sorted(set(self.project.kinds.values()))
        self.kind_rows: dict[tuple[str, bool], Ints] = {}
        if len(kinds) < 2:
            return
        chosen = self.model.columns(np.zeros(len(kinds)), 1.0, is_whole=True)
        one = self.model.rows(1, 1.0, 1.0)
        self.model.put(np.repeat(one, len(kinds)), chosen, 1.0)
        nodes = [unit.capacity for unit in self.problem.units]
        nodes += [rental.capacity for rental in self.problem.rental_options]
        most = self.needed[self.busy] + max(nodes, default=0.0)
        for kind, column in zip(kinds, chosen, strict=True):
            for of_hours in (False, True):
                row = np.full(self.needed.size, ABSENT)
                row[self.busy] = self.model.rows(self.busy.size, -np.inf, 0.0)
                self.model.put(row[self.busy], np.repeat(column, self.busy.size), -most)
                self.kind_rows[kind, of_hours] = row

    def _kind_row(self, kind: str, of_hours: bool = False) -> Ints:
        """[T] row in which the widths of a kind count, or the widths that its units run."""
        return self.kind_rows.get((kind, of_hours), np.full(self.needed.size, ABSENT))

    def _write_pool(self, number: int) -> None:
        pool = self.shared_units.pools[number]
        unit = self.project.units.get(pool.keys[0])
        months = self._served(number)
        if unit is None or unit.capacity <= 0 or not months.size:
            return
        is_whole = unit.key in self.project.whole_nodes
        most = self.needed[months] / unit.capacity
        share = self.model.columns(
            np.zeros(months.size), np.ceil(most - WHOLE) if is_whole else most, is_whole
        )
        self.model.put(self.shared.share[number, months], share, 1.0)
        self.model.put(self.width_row[months], share, unit.capacity)
        kind = self._kind_row(self.project.kinds.get(unit.key, ""))
        self.model.put(kind[months], share, unit.capacity)
        movable = self.is_movable[months]
        if movable.any():
            self.model.put(self.at_once_row[months[movable]], share[movable], unit.capacity)
        used = self._write_use(number, unit, months, share)
        if used.size and movable.any():
            row = self.model.rows(int(movable.sum()), -np.inf, 0.0)
            self.model.put(row, used[movable], 1.0)
            self.model.put(row, share[movable], -min(1.0, unit.hours_per_month / HOURS_PER_MONTH))
        self.columns.pools.append(PoolColumns(number, months, share, used))

    def _served(self, number: int) -> Ints:
        """Busy months in which a pool may hold a node."""
        held = self.shared_units.pools[number].existing > 0
        for one in self.shared_units.types:
            if one.pool == number:
                for month in np.flatnonzero(np.isfinite(one.start_cost)):
                    held[month + one.lead : month + one.lead + one.duration] = True
        return self.busy[held[self.busy]]

    def _write_use(self, number: int, unit: CommitmentOption, months: Ints, share: Ints) -> Ints:
        """Widths run of a pool; those shared stand for them where every pool runs for nothing."""
        d = self.d[months]
        if self.runs_for_nothing:
            self.model.put(self.hours_row[months], share, unit.capacity)
            self.model.put(self.shared.use[number, months], share, d / HOURS_PER_MONTH)
            return np.zeros(0, np.int64)
        most = self.needed[months] / unit.capacity
        used = self.model.columns(unit.hour_cost[months] * d, most)
        self.model.put(self.hours_row[months], used, unit.capacity)
        self.model.put(self.shared.use[number, months], used, d / HOURS_PER_MONTH)
        kind = self._kind_row(self.project.kinds.get(unit.key, ""), of_hours=True)
        self.model.put(kind[months], used, unit.capacity)
        self._pay(months, used, unit.hour_cash[months] * d)
        return used

    @cached_property
    def runs_for_nothing(self) -> bool:
        """Whether no unit costs anything to run, and none is short of hours for as long as any
        project's peak lasts, so that the hours follow from the widths; not of whole nodes, of
        which a part is used."""
        if self.project.whole_nodes:
            return False
        return all(
            not unit.hour_cost.any()
            and not (self.problem.limits_cash and unit.hour_cash.any())
            and unit.hours_per_month >= self.shared_units.longest_peak
            for unit in self.problem.units
            if unit.capacity > 0
        )

    def _pay(self, months: Ints, columns: Ints, cash: Floats) -> None:
        """What columns take of the budgets."""
        if self.problem.monthly_budget is not None:
            self.model.put(self.shared.monthly[months], columns, cash / self.shared.cash_scale)
        if self.problem.total_budget is not None:
            rows = np.full(months.size, self.shared.total)
            self.model.put(rows, columns, cash / self.shared.total_scale)

    def _write_rentals(self, kind: str) -> None:
        keys = {
            s.key for s in self.problem.rental_options if self.project.kinds.get(s.key, "") == kind
        }
        problem = restrict_sources(self.problem, keys)
        rentals = prune_rentals(problem, problem.quotas)
        if not rentals.is_spot.size:
            return
        nodes = NodeTypes.read(rentals, problem.quotas)
        for c, months, is_node in self._columns_of(rentals, nodes):
            self._write_rental(problem, rentals, kind, c, months, is_node)
        link_nodes(self, problem, rentals, nodes)
        if not self.project.kinds:
            self._cut(rentals)

    def _columns_of(self, rentals: Rentals, nodes: NodeTypes) -> Iterator[tuple[int, Ints, bool]]:
        """(type, months, whether a column is a whole node): of a type of node with one rental in a
        month the nodes themselves."""
        for c in range(rentals.is_spot.size):
            months = np.flatnonzero(rentals.offered[c] & ~self.is_movable)
            alike = rentals.offered & (nodes.of_rental == nodes.of_rental[c])[:, None]
            alone = (alike.sum(axis=0) == 1) & (rentals.node[c] > 0) & (self.problem.peak > 0)
            yield c, months[alone[months]], True
            yield c, months[~alone[months]], False
            yield c, np.flatnonzero(rentals.offered[c] & self.is_movable), False

    def _write_rental(
        self, problem: PlanProblem, rentals: Rentals, kind: str, c: int, months: Ints, is_node: bool
    ) -> None:
        if not months.size:
            return
        width, movable = float(rentals.node[c]) if is_node else 1.0, self.is_movable[months]
        offers = [problem.rental_options[i] for i in rentals.source[c, months]]
        capacity = np.array([offer.capacity for offer in offers])
        at_once = np.inf if self.project.movable is None else self.project.movable.at_once
        in_use = np.where(movable & (rentals.node[c] > 0), np.minimum(capacity, at_once), capacity)
        d = self.d[months] * width * capacity / in_use
        most = self.needed[months]
        if rentals.node[c] > 0:
            most = np.ceil(most / rentals.node[c] - WHOLE) * rentals.node[c]
        column = self.model.columns(rentals.cost[c, months] * d, most / width, is_whole=is_node)
        if is_node or rentals.node[c] <= 0:
            self.model.put(self.width_row[months], column, width)
        self.model.put(self.hours_row[months], column, width)
        self.model.put(self._kind_row(kind)[months], column, width)
        if rentals.is_spot[c]:
            self.model.put(self.spot_row[months], column, width)
        for q in range(rentals.quota_size.shape[1]):
            size = np.full(months.size, rentals.quota_size[c, q] * width)
            if problem.quotas[q].in_machines and rentals.node[c] > 0 and not is_node:
                size[problem.peak[months] > 0] = 0.0  # the nodes count
            self.model.put(self.shared.quotas[q, months], column, size)
        self._pay(months, column, rentals.cash[c, months] * d)
        if movable.any():
            self.model.put(self.at_once_row[months[movable]], column[movable], width)
        keys = tuple(offer.key for offer in offers)
        self.columns.rentals.append(RentalColumns(keys, in_use, months, column, width, is_node))

    def _cut(self, rentals: Rentals) -> None:
        """X + rem · n ≥ rem · ⌈P / c⌉ with X the widths shared, n the nodes rented and
        rem = P − c · (⌈P / c⌉ − 1): what no whole number of nodes breaks, and fractions do."""
        sizes = rentals.node
        if (sizes <= 0).any() or self.project.movable is not None:
            return
        smallest = float(sizes.min())
        parts = sizes / smallest
        if (np.abs(parts - np.round(parts)) > WHOLE).any():
            return
        months: Ints = np.flatnonzero((self.width_row != ABSENT) & rentals.offered.any(axis=0))
        nodes = np.ceil(self.needed[months] / smallest - WHOLE)
        rest = self.needed[months] - smallest * (nodes - 1)
        is_part = rest < smallest * (1 - WHOLE)
        months, nodes, rest = months[is_part], nodes[is_part], rest[is_part]
        if not months.size:
            return
        row, remainder = np.full(self.needed.size, ABSENT), np.zeros(self.needed.size)
        row[months], remainder[months] = self.model.rows(months.size, rest * nodes, np.inf), rest
        for taken in self.columns.pools:
            unit = self.project.units[self.shared_units.pools[taken.pool].keys[0]]
            self.model.put(row[taken.month], taken.share, unit.capacity)
        for one in self.columns.rentals:
            value = remainder[one.month] * one.width / smallest
            self.model.put(row[one.month], one.column, value)


def _in_widths(project: ProjectProblem) -> PlanProblem:
    """The project's problem; of movable work each month of the window asks for as much as may be
    at work at once, on nodes of which no more is used, for the hours that are needed."""
    problem, movable = project.problem, project.movable
    if movable is None:
        return problem
    inside, at_once = movable.indicator(problem.hours.size), movable.at_once
    return replace(
        problem,
        hours=np.where(inside, at_once * HOURS_PER_MONTH, problem.hours),
        peak=np.where(inside, at_once, problem.peak),
    )
