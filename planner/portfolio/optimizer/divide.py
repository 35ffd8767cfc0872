"""From the values of a model's columns to what each project uses of each source. PURE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.by_month.dispatch import count_units_in_service
from planner.costing.optimizer.problem import CommitmentOption, Floats
from planner.portfolio.optimizer.demand_rows import PoolColumns, ProjectColumns
from planner.portfolio.optimizer.pools import Pool, SharedUnits
from planner.portfolio.optimizer.problem import JointProblem, ProjectProblem, ProjectUse

UnitsStarted = Mapping[str, NDArray[np.int64]]
NOISE = 1e-7
"""Nodes and node-hours below which a value counts as none."""


def units_in_service(
    unit: CommitmentOption, started: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """[T] nodes of a unit in service: those started and those there already."""
    none = np.zeros(unit.start_cost.size, np.int64)
    return count_units_in_service(unit, none if started is None else started)


def divide(
    joint: JointProblem,
    shared_units: SharedUnits,
    columns: Sequence[ProjectColumns],
    values: Floats,
    started: UnitsStarted,
) -> tuple[ProjectUse, ...]:
    """What each project uses; the nodes of a pool are handed out in the order of their keys."""
    free_nodes = {
        key: units_in_service(unit, started.get(key)).astype(float)
        for key, unit in joint.units.items()
    }
    free_hours = {key: free_nodes[key] * joint.units[key].hours_per_month for key in free_nodes}
    uses = []
    for project, own in zip(joint.projects, columns, strict=True):
        worked = _ProjectWork(project, own, values, shared_units)
        use = ProjectUse(rented_hours=worked.rented_hours())
        for taken, share, hours in worked.by_pool():
            pool = shared_units.pools[taken.pool]
            _hand_out(pool, share, free_nodes, use.shares)
            _hand_out(pool, hours, free_hours, use.used_hours)
        uses.append(use)
    return tuple(uses)


def _hand_out(pool: Pool, wanted: Floats, free: dict[str, Floats], into: dict[str, Floats]) -> None:
    """Takes `wanted` [T] from what is free of the nodes of a pool."""
    for key in pool.keys:
        taken = np.minimum(wanted, free[key])
        taken[taken < NOISE] = 0.0
        if taken.any():
            free[key] = free[key] - taken
            wanted = wanted - taken
            into[key] = taken


class _ProjectWork:
    """What one project takes, by month."""

    def __init__(
        self,
        project: ProjectProblem,
        own: ProjectColumns,
        values: Floats,
        shared_units: SharedUnits,
    ) -> None:
        self.project, self.own, self.values, self.shared_units = project, own, values, shared_units
        months = project.problem.hours.size
        self.inside = np.zeros(months, bool)
        if project.movable is not None:
            self.inside = project.movable.indicator(months)
        self.rented = np.zeros(months)
        for one in own.rentals:
            np.add.at(self.rented, one.month, self._value(one.column) * one.width)
        self.needed = project.problem.hours / own.hours_at_peak
        self._drop_spare_nodes()

    def _drop_spare_nodes(self) -> None:
        """Whole nodes that a month does without, which a search that ends at a gap may leave."""
        shared, run = np.zeros(self.needed.size), np.zeros(self.needed.size)
        for taken in self.own.pools:
            capacity = self._capacity(taken)
            shared += capacity * self._by_month(taken, taken.share)
            run += capacity * self._by_month(taken, taken.used if taken.used.size else taken.share)
        spare = self.rented + np.minimum(shared, run) - self.needed
        spare[self.inside] = 0.0
        self.values = self.values.copy()
        for one in self.own.rentals:
            if not one.is_node:
                continue
            nodes = np.round(self._value(one.column))
            dropped = np.clip(np.floor(spare[one.month] / one.width + NOISE), 0.0, nodes)
            self.values[one.column] = nodes - dropped
            spare[one.month] -= dropped * one.width
            self.rented[one.month] -= dropped * one.width

    def _value(self, columns: NDArray[np.int64]) -> Floats:
        return np.maximum(self.values[columns], 0.0)

    def rented_hours(self) -> dict[str, Floats]:
        """[T] node-hours of each offer."""
        hours: dict[str, Floats] = {}
        for one in self.own.rentals:
            widths = self._value(one.column) * one.width
            node_hours = widths * self.own.hours_at_peak[one.month] / one.capacity
            for i in np.flatnonzero(node_hours > NOISE).tolist():
                row = hours.setdefault(one.source_keys[i], np.zeros(self.needed.size))
                row[one.month[i]] += node_hours[i]
        return hours

    def by_pool(self) -> list[tuple[PoolColumns, Floats, Floats]]:
        """Each pool with [T] nodes and [T] node-hours taken of it: no more nodes than cover the
        demand, and where running costs nothing the hours that nothing else works."""
        left = np.where(self.inside, 0.0, self.needed - self.rented)
        movable = float((self.needed - self.rented)[self.inside].sum())
        running = self._running()
        for taken, used in zip(self.own.pools, running, strict=True):
            width = used * self._capacity(taken)
            left = left - np.where(self.inside, 0.0, width)
            movable -= float(width[self.inside].sum())
        out = []
        covered = self.rented.copy()
        for taken, used in zip(self.own.pools, running, strict=True):
            capacity = self._capacity(taken)
            share = self._trimmed(taken, self._by_month(taken, taken.share), covered)
            covered = covered + share * capacity
            if not taken.used.size:
                used = np.clip(left / capacity, 0.0, share)
                left = left - used * capacity
                moved = np.where(self.inside, share, 0.0) * capacity
                before = np.cumsum(moved) - moved
                moved = np.clip(movable - before, 0.0, moved)
                movable -= float(moved.sum())
                used = np.where(self.inside, moved / capacity, used)
            out.append((taken, share, used * self.own.hours_at_peak))
        return out

    def _running(self) -> list[Floats]:
        """[T] nodes of each pool that run, where running costs something: no more than work what
        nothing rented does. A search that ends at a gap may leave some over, and to the model
        hours that cost nothing are as good as none. The dearest are left out first."""
        running = [self._by_month(taken, taken.used) for taken in self.own.pools]
        capacities = [self._capacity(taken) for taken in self.own.pools]
        widths = [used * capacity for used, capacity in zip(running, capacities, strict=True)]
        spare = sum(widths, self.rented - self.needed)
        months = [[month] for month in np.flatnonzero(~self.inside).tolist()]
        for together in [*months, np.flatnonzero(self.inside).tolist()]:
            left_over = float(spare[together].sum())
            if left_over <= NOISE:
                continue
            cells = [(month, pool) for month in together for pool in range(len(running))]
            for month, pool in sorted(cells, key=self._hour_cost, reverse=True):
                cut = min(running[pool][month], left_over / capacities[pool])
                running[pool][month] -= cut
                left_over -= cut * capacities[pool]
        return running

    def _hour_cost(self, cell: tuple[int, int]) -> tuple[float, int, int]:
        """What an hour of the reference accelerator costs in a month on a pool; then the cell."""
        month, pool = cell
        unit = self._unit(self.own.pools[pool])
        return float(unit.hour_cost[month]) / unit.capacity, month, pool

    def _trimmed(self, taken: PoolColumns, share: Floats, covered: Floats) -> Floats:
        """The share without nodes that the demand of a month does not ask for."""
        capacity = self._capacity(taken)
        most = np.maximum(self.needed - covered, 0.0) / capacity
        if self.shared_units.pools[taken.pool].keys[0] in self.project.whole_nodes:
            most = np.ceil(most - NOISE)
        return np.where(self.inside, share, np.minimum(share, most))

    def _unit(self, taken: PoolColumns) -> CommitmentOption:
        """The unit that stands for those of a pool."""
        return self.project.units[self.shared_units.pools[taken.pool].keys[0]]

    def _capacity(self, taken: PoolColumns) -> float:
        return self._unit(taken).capacity

    def _by_month(self, taken: PoolColumns, columns: NDArray[np.int64]) -> Floats:
        out = np.zeros(self.needed.size)
        if columns.size:
            out[taken.month] = self._value(columns)
        return out
