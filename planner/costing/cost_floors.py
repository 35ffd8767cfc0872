"""What plans from some of a problem's sources cost at least, worked out once for each source. PURE.

A comparison asks it of dozens of overlapping groups of the same sources: what an hour of a source
costs does not depend on its group.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.problem import CommitmentOption, Floats, PlanProblem
from planner.costing.start_floors import least_started, months_served

Ints = NDArray[np.intp]
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Members:
    """The sources of a group, by their places in the problem."""

    rentals: Ints
    units: Ints
    rent: Floats
    """[T] lowest cost of a reference accelerator-hour rented; ∞ where nothing is to be had."""
    shared: float
    """Σ hours · the lowest cost of any hour, units by their share of the start cost; ∞ without
    units."""
    run: float
    """Σ hours · the lowest cost of any hour, units at their running cost."""
    start: float
    """Lowest cost of starting a unit; ∞ without any."""
    sizes: Floats
    """Reference accelerators of a node of each rental."""
    in_parts: bool
    """Whether a part of any node may be rented."""


@dataclass(frozen=True)
class CostFloors:
    """Of the groups of one problem."""

    problem: PlanProblem

    def members(self, keys: Collection[str]) -> Members:
        """The sources with these keys; the same for the same keys."""
        known, wanted = self._members, frozenset(keys)
        if wanted not in known:
            rentals, units = self.problem.rental_options, self.problem.units
            known[wanted] = self._measure(
                np.array([i for i, one in enumerate(rentals) if one.key in wanted], np.intp),
                np.array([i for i, one in enumerate(units) if one.key in wanted], np.intp),
            )
        return known[wanted]

    @cached_property
    def _members(self) -> dict[frozenset[str], Members]:
        return {}

    def _measure(self, rentals: Ints, units: Ints) -> Members:
        rent = self._rents[rentals].min(axis=0, initial=np.inf)
        shared, run = (
            float(self._busy_hours @ np.minimum(costs[units].min(axis=0), rent)[self._busy])
            if units.size
            else np.inf
            for costs in (self._spread, self._running)
        )
        start = float(self._starts[units].min(initial=np.inf))
        in_parts = bool(self._in_parts[rentals].any())
        return Members(rentals, units, rent, shared, run, start, self._sizes[rentals], in_parts)

    def of(self, group: Members, peak: Floats, *, is_level: bool = False) -> float:
        """What no plan of a group costs less than, + base cost, at a `peak` [T]; infinite where no
        source is left. Of groups that are level, machines rent in parts.

        Either all is rented, at the month's lowest price and in whole nodes if machines rent whole;
        or at least one unit is started or in place, and no hour costs less than the lowest of all.
        """
        rented = self._least_rent(group, peak, is_level=is_level)
        return self.problem.base_cost + min(rented, self._least_with_units(group, peak))

    def of_starts(self, group: Members, peak: Floats) -> float:
        """The same told by the starts that no rental can replace, in fractions of units at least;
        every hour of the plan costs what is cheapest to use in its month."""
        units = [self.problem.units[i] for i in group.units]
        served = np.array([self._served[i] for i in group.units]).reshape(-1, peak.size)
        running = np.where(served, self._running[group.units], np.inf)
        hour = np.minimum(running.min(axis=0, initial=np.inf), group.rent)
        started = least_started(units, peak, self._busy & np.isinf(group.rent))
        return self.problem.base_cost + started + float(self._busy_hours @ hour[self._busy])

    @cached_property
    def _served(self) -> list[NDArray[np.bool_]]:
        """[U][T] months in which units may be in service."""
        return [months_served(unit) for unit in self.problem.units]

    @cached_property
    def _busy(self) -> NDArray[np.bool_]:
        return self.problem.hours > 0

    @cached_property
    def _busy_hours(self) -> Floats:
        return self.problem.hours[self._busy]

    @cached_property
    def _rents(self) -> Floats:
        """[R, T] cost of a reference accelerator-hour rented; ∞ where it is not to be had."""
        return self._by_month(
            [
                rental.hour_cost / rental.capacity
                if rental.available is None
                else np.where(rental.available, rental.hour_cost / rental.capacity, np.inf)
                for rental in self.problem.rental_options
            ]
        )

    @cached_property
    def _sizes(self) -> Floats:
        """[R] reference accelerators of a node."""
        return np.array([rental.capacity for rental in self.problem.rental_options])

    @cached_property
    def _in_parts(self) -> NDArray[np.bool_]:
        """[R] whether a part of a node may be rented."""
        return np.array([rental.in_parts for rental in self.problem.rental_options], dtype=bool)

    @cached_property
    def _running(self) -> Floats:
        """[U, T] running cost of a reference accelerator-hour of a unit."""
        return self._by_month([unit.hour_cost / unit.capacity for unit in self.problem.units])

    @cached_property
    def _spread(self) -> Floats:
        """[U, T] the same with its share of the start cost."""
        return self._by_month(
            [
                (unit.hour_cost + _start_cost_per_hour(unit, self._busy)) / unit.capacity
                for unit in self.problem.units
            ]
        )

    @cached_property
    def _starts(self) -> Floats:
        """[U] lowest cost of a start; 0 for units in place."""
        units = self.problem.units
        return np.array([0.0 if u.existing is not None else np.min(u.start_cost) for u in units])

    @cached_property
    def _unit_sizes(self) -> Floats:
        return np.array([unit.capacity for unit in self.problem.units])

    def _by_month(self, rows: list[Floats]) -> Floats:
        return np.array(rows, np.float64).reshape(len(rows), self.problem.hours.size)

    def _least_rent(self, group: Members, peak: Floats, *, is_level: bool) -> float:
        """Σ lowest rent · the hours of the fewest whole nodes, all of the smallest node's size; of
        the hours asked where a part of some node may be rented."""
        hours, sizes = self._busy_hours, group.sizes
        if self.problem.whole_nodes and sizes.size and not (is_level or group.in_parts):
            smallest, busy_peak = sizes.min(), peak[self._busy]
            parts = sizes / smallest
            if np.all(np.abs(parts - np.round(parts)) <= _ROUNDING):
                nodes = np.ceil(busy_peak / smallest * (1 - _ROUNDING))
                hours = np.maximum(hours, nodes * smallest * hours / busy_peak)
        return float(hours @ group.rent[self._busy])

    def _least_with_units(self, group: Members, peak: Floats) -> float:
        """The hours at their lowest cost with a share of the starts; no less than the starts that
        no rental can replace, one at least, and the hours at their running cost; −∞ where a start
        earns money, as any number may be started."""
        if not group.units.size:
            return np.inf
        if group.start < 0:
            return -np.inf
        count = self._least_units(group, peak) if group.start > 0 else 1
        return max(group.shared, group.run + group.start * count)

    def _least_units(self, group: Members, peak: Floats) -> float:
        """Units that the largest peak of the months without anything to rent takes, at least 1."""
        only_units = self._busy & np.isinf(group.rent)
        highest = float(np.max(peak[only_units], initial=0.0))
        largest = float(self._unit_sizes[group.units].max())
        return max(1.0, float(np.ceil(highest / largest * (1 - _ROUNDING))))


def least_cost(problem: PlanProblem) -> float:
    """What no plan from any of a problem's sources costs less than, + base cost."""
    floors = CostFloors(problem)
    rentals, units = problem.rental_options, problem.units
    every = {one.key for one in rentals} | {one.key for one in units}
    return floors.of(floors.members(every), problem.peak)


def _start_cost_per_hour(unit: CommitmentOption, busy: NDArray[np.bool_]) -> float:
    """Lowest start cost over the hours that a unit can deliver in the `busy` months of the horizon,
    by the month of its start; 0 for units in place, whose start is paid; −inf where a start earns
    money, which no use makes less of; ∞ where no start delivers any."""
    if unit.existing is not None:
        return 0.0
    if float(np.min(unit.start_cost, initial=0.0)) < 0:
        return -np.inf
    months = busy.size
    delivered = np.concatenate([[0.0], np.cumsum(busy * unit.hours_per_month)])
    first = np.minimum(np.arange(months) + unit.lead_months, months)
    last = np.minimum(first + unit.duration_months, months)
    hours = delivered[last] - delivered[first]
    costs = np.divide(unit.start_cost, hours, out=np.full(months, np.inf), where=hours > 0)
    return float(np.min(costs))
