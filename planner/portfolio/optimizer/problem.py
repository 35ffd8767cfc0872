"""Several projects over one fleet, as numbers. PURE.

Each project brings the problem that it would be planned by alone (`PlanProblem`): its demand, what
it may rent, and the units that it can use, with its own capacity and hourly cost of each. A unit
of one key is the same unit for all of them: it is started once and shared month by month.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.problem import CommitmentOption, Floats, PlanProblem


@dataclass(frozen=True)
class MovableWork:
    """Work whose hours may move: those of months first … last-1 may be done in any of them."""

    first: int
    last: int
    at_once: float
    """Most reference accelerators at once."""

    def indicator(self, months: int) -> NDArray[np.bool_]:
        """[T] whether the work may be done in a month."""
        month = np.arange(months)
        return np.asarray((month >= self.first) & (month < self.last))


@dataclass(frozen=True)
class ProjectProblem:
    """What one project needs and may use."""

    name: str
    problem: PlanProblem
    movable: MovableWork | None = None
    """Of work with a window; its hours outside the window are none."""
    whole_nodes: frozenset[str] = frozenset()
    """Keys of units of which the project takes whole nodes, as one of its jobs fills a node."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """source key → kind of accelerator, where a project keeps to one kind; empty: it may mix."""

    @cached_property
    def units(self) -> dict[str, CommitmentOption]:
        """The units that it can use, by key."""
        return {unit.key: unit for unit in self.problem.units}

    @property
    def total_hours(self) -> float:
        """Reference accelerator-hours over the horizon."""
        return float(self.problem.hours.sum())


@dataclass(frozen=True)
class JointProblem:
    """Meet the demand of every project from the sources that it may use, at the least cost.

    With the hours at peak d = hours / peak of a project's month, and per project and month `share`
    nodes of a unit, `used` and `rented` node-hours:

    - width: Σ capacity·share + Σ capacity·rented / d ≥ peak, of each project
    - hours: Σ capacity·used + Σ capacity·rented ≥ hours, of each project; of movable work over all
      months of its window together, `share` and rented machines at most its `at_once`
    - sharing: Σ over projects of share ≤ units in service
    - use: Σ over projects of used ≤ hours_per_month · units in service
    - machines rented by the hour serve one project; they rent whole as they do for it alone
    - limits (quotas, budgets) hold for all projects together; a share of spot for each

    One project without a window gives the problem of `PlanProblem`. The plans of all projects
    apart, put together, meet all of this but the limits.
    """

    projects: tuple[ProjectProblem, ...]

    @property
    def months(self) -> int:
        """T"""
        return int(self.projects[0].problem.hours.size)

    @property
    def limits(self) -> PlanProblem:
        """The problem whose quotas and budgets hold for all: every project states the same."""
        return self.projects[0].problem

    @cached_property
    def units(self) -> dict[str, CommitmentOption]:
        """Every unit that some project can use, by key, in their order."""
        known: dict[str, CommitmentOption] = {}
        for project in self.projects:
            known = {**project.units, **known}
        return {key: known[key] for key in sorted(known)}


@dataclass(frozen=True)
class ProjectUse:
    """What one project uses of a joint plan, by source key: [T] each."""

    shares: dict[str, Floats] = field(default_factory=dict)
    """Nodes of units that are its own in a month."""
    used_hours: dict[str, Floats] = field(default_factory=dict)
    """Node-hours of units."""
    rented_hours: dict[str, Floats] = field(default_factory=dict)
    """Node-hours rented."""


@dataclass(frozen=True)
class JointPlan:
    """What is started for all, and what each project uses of it."""

    cost: float
    """Net present cost without what is due whatever the plan."""
    bound: float
    """No plan costs less."""
    units_started: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    """key → [T]"""
    uses: tuple[ProjectUse, ...] = ()
    """In the order of the projects."""
