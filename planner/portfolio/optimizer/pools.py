"""Units that every project uses alike, as one pool of nodes; their starts as columns. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.constraints import HOURS_PER_MONTH, hours_at_peak
from planner.costing.optimizer.problem import CommitmentOption, Floats
from planner.portfolio.optimizer.problem import JointProblem

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class UnitType:
    """Units of one pool with the same lead and duration, of which the cheapest start counts."""

    pool: int
    lead: int
    duration: int
    keys: tuple[str, ...]
    source: Ints
    """[T] index in `keys` of the unit started in month m."""
    start_cost: Floats
    """[T] `inf` where none may start."""
    max_units: int | None


@dataclass(frozen=True)
class Pool:
    """Nodes that are the same to every project: capacity, hourly cost, hours a month."""

    keys: tuple[str, ...]
    hours_per_month: float
    existing: Ints
    """[T] nodes there already."""


@dataclass(frozen=True)
class SharedUnits:
    """The units of a joint problem as pools and types."""

    joint: JointProblem

    @cached_property
    def longest_peak(self) -> float:
        """Most hours at peak of any project and month; 730 where hours may move."""
        longest = 0.0
        for project in self.joint.projects:
            busy = project.problem.hours > 0
            moves = project.movable is not None
            hours = hours_at_peak(project.problem)[busy].max(initial=0.0)
            longest = max(longest, HOURS_PER_MONTH if moves else float(hours))
        return longest

    @cached_property
    def _groups(self) -> list[list[CommitmentOption]]:
        groups: dict[tuple[object, ...], list[CommitmentOption]] = {}
        for unit in self.joint.units.values():
            groups.setdefault(self._signature(unit), []).append(unit)
        return list(groups.values())

    def _signature(self, unit: CommitmentOption) -> tuple[object, ...]:
        """What makes two units one and the same to every project."""
        by_project = (
            None
            if own is None
            else (
                own.capacity,
                own.hour_cost.tobytes(),
                own.hour_cash.tobytes() if self.joint.limits.limits_cash else b"",
                unit.key in project.whole_nodes,
                project.kinds.get(unit.key),
            )
            for project in self.joint.projects
            for own in [project.units.get(unit.key)]
        )
        return (unit.hours_per_month, *by_project)

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        return tuple(
            Pool(
                keys=tuple(unit.key for unit in group),
                hours_per_month=group[0].hours_per_month,
                existing=sum(
                    (unit.existing for unit in group if unit.existing is not None),
                    np.zeros(self.joint.months, np.int64),
                ),
            )
            for group in self._groups
        )

    @cached_property
    def types(self) -> tuple[UnitType, ...]:
        """Types of which at least one unit may be started."""
        return tuple(
            one
            for pool, group in enumerate(self._groups)
            for one in self._types_of(pool, group)
            if np.isfinite(one.start_cost).any()
        )

    def _types_of(self, pool: int, group: list[CommitmentOption]) -> Iterator[UnitType]:
        limits = self.joint.limits
        differ_in_budgets = bool(limits.capital_budgets) or limits.limits_cash
        alike: dict[tuple[object, ...], list[CommitmentOption]] = {}
        for unit in group:
            alone = differ_in_budgets or unit.max_units is not None or bool(unit.limit_groups)
            duration = min(unit.duration_months, self.joint.months)
            key = (unit.lead_months, duration, unit.key if alone else "")
            alike.setdefault(key, []).append(unit)
        for units in alike.values():
            costs = np.array([unit.start_cost for unit in units])
            source = costs.argmin(axis=0)
            yield UnitType(
                pool=pool,
                lead=units[0].lead_months,
                duration=min(units[0].duration_months, self.joint.months),
                keys=tuple(unit.key for unit in units),
                source=source,
                start_cost=costs[source, np.arange(self.joint.months)],
                max_units=units[0].max_units,
            )
