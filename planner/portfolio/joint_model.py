"""Several projects over shared machines, as numbers, and the cheapest plan for all of them. PURE.

Each project brings the problem that it would be planned by alone (`PlanProblem`): its demand, what
it may rent, and the units that it can use, with its own capacity and hourly cost of each. A unit
of one key is the same unit for all of them: it is started once and shared month by month. The model
is that of one plan (`planner.costing.optimizer.plan_model`), with the nodes that each project takes
of the shared machines and the widths that it runs on them in the place of the units in service.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.model import ABSENT, Ints, Model, Relaxation
from planner.costing.optimizer.plan_model import (
    HOURS_PER_MONTH,
    Kind,
    Limits,
    PlanModel,
    hours_at_peak,
    units_in_service,
    units_needed,
)
from planner.costing.optimizer.problem import CommitmentOption, Floats, PlanProblem, RentalOption
from planner.costing.optimizer.work import WorkMeter

DEFAULT_GAP = 1e-3
_NOISE = 1e-7
"""Nodes and node-hours below which a value counts as none."""
_ROUNDING = 1e-9


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
    def choices(self) -> tuple[object, ...]:
        """What it may use, and how."""
        problem = self.problem
        keys = (*(one.key for one in problem.rental_options), *self.units)
        is_alone = problem.whole_nodes or len(set(self.kinds.values())) > 1
        return keys, problem.max_spot_share, self.whole_nodes, self.name if is_alone else ""

    def with_work(self, hours: Floats, peak: Floats) -> ProjectProblem:
        """The same for other hours and peaks."""
        return replace(self, problem=replace(self.problem, hours=hours, peak=peak))

    @cached_property
    def in_widths(self) -> PlanProblem:
        """Its problem; of movable work each month of the window asks for as much as may be at work
        at once, on nodes of which no more is used, for the hours that are needed."""
        problem, movable = self.problem, self.movable
        sources = sorted(problem.rental_options, key=lambda offer: offer.key)
        problem = replace(problem, rental_options=tuple(sources))
        if movable is None:
            return problem
        inside, at_once = movable.indicator(problem.hours.size), movable.at_once
        return replace(
            problem,
            hours=np.where(inside, at_once * HOURS_PER_MONTH, problem.hours),
            peak=np.where(inside, at_once, problem.peak),
        )


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
    in_turn: tuple[JointPart, ...] = ()
    """Work that some of them do in turn, beside their own: at work as long as each other, they
    need together what one project would."""

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

    @cached_property
    def parts(self) -> tuple[JointPart, ...]:
        """The work of each, then that of several."""
        every = np.ones(self.months)
        own = (JointPart(project, {i: every}) for i, project in enumerate(self.projects))
        return (*own, *self.in_turn)


@dataclass(frozen=True)
class JointPart:
    """Work that is planned as that of one project."""

    project: ProjectProblem
    shares: Mapping[int, Floats]
    """Place of a project → [T] the share that it has of the work."""


@dataclass(frozen=True)
class ProjectUse:
    """What one project uses of a joint plan, by source key: [T] each."""

    shares: dict[str, Floats] = field(default_factory=dict)
    """Nodes of units that are its own in a month."""
    used_hours: dict[str, Floats] = field(default_factory=dict)
    """Node-hours of units."""
    rented_hours: dict[str, Floats] = field(default_factory=dict)
    """Node-hours rented."""

    def add(self, other: ProjectUse, share: Floats) -> None:
        """Adds a share of another use."""
        for name in ("shares", "used_hours", "rented_hours"):
            own: dict[str, Floats] = getattr(self, name)
            for key, row in getattr(other, name).items():
                if (row * share).any():
                    own[key] = own.get(key, np.zeros(row.size)) + row * share


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


def solve_joint(
    joint: JointProblem, *, gap: float = DEFAULT_GAP, work: WorkMeter | None = None
) -> JointPlan:
    """The cheapest plan for all projects; infinite cost where limits leave none, or none was found
    within the work (then its bound is finite).

    >>> from planner.costing.optimizer.problem import PlanProblem, RentalOption
    >>> one = np.ones(1)
    >>> rent = RentalOption("rent", 8.0, 8.0, 20 * one, 20 * one)
    >>> needs = PlanProblem(800 * one, 16 * one, (rent,), ())
    >>> both = JointProblem((ProjectProblem("a", needs), ProjectProblem("b", needs)))
    >>> solve_joint(both).cost
    4000.0
    """
    shared = _SharedModel(joint)
    solution = shared.model.solve(WorkMeter() if work is None else work, gap=gap)
    if solution.values is None:
        return JointPlan(np.inf, solution.bound)
    started = {key: row for key, row in shared.units_started(solution.values).items() if row.any()}
    uses = shared.divide(solution.values, started)
    cost = _cost(joint, started, uses)
    return JointPlan(cost, min(solution.bound, cost), started, uses)


def _cost(
    joint: JointProblem, started: Mapping[str, NDArray[np.int64]], uses: Sequence[ProjectUse]
) -> float:
    cost = 0.0
    for key, units in started.items():
        at = np.flatnonzero(units)
        cost += float(joint.units[key].start_cost[at] @ units[at])
    for project, use in zip(joint.projects, uses, strict=True):
        rentals = {rental.key: rental for rental in project.problem.rental_options}
        cost += sum(float(project.units[k].hour_cost @ h) for k, h in use.used_hours.items())
        cost += sum(float(rentals[k].hour_cost @ h) for k, h in use.rented_hours.items())
    return cost


class GroupBounds:
    """What no plan of a group of projects costs less than, for one group after another: the plan
    that may start and rent fractions of machines. One model stands for all groups: who is not in a
    group asks for nothing."""

    def __init__(self, joint: JointProblem, work: WorkMeter) -> None:
        shared = _SharedModel(joint)
        self._relaxation = Relaxation(shared.model, work)
        self._names = [one.name for one in joint.projects]
        self._parts = list(zip(joint.parts, shared.projects, strict=True))
        self._members = set(self._names)

    def least_cost(self, group: frozenset[str]) -> float:
        """Infinite where a limit leaves the group no plan."""
        changed = self._members ^ group
        for part, rows in self._parts:
            if not any(self._names[place] in changed for place in part.shares):
                continue
            own = [row for place, row in part.shares.items() if self._names[place] in group]
            share = sum(own, np.zeros(rows.months))[rows.month_of]
            sides = self._relaxation.sides(rows.rows)
            is_finite = [np.isfinite(side) for side in sides]
            lower, upper = (
                np.where(some, share, 1.0) * side
                for some, side in zip(is_finite, sides, strict=True)
            )
            self._relaxation.set_sides(rows.rows, lower, upper)
        self._members = set(group)
        return self._relaxation.least_cost()


class _SharedModel(PlanModel):
    def __init__(self, joint: JointProblem) -> None:
        self.joint, self.months, self.model = joint, joint.months, Model()
        self.spending, self.is_elastic = None, False
        offers = [s for project in joint.projects for s in project.problem.rental_options]
        self.problem = replace(
            joint.limits, units=tuple(joint.units.values()), rental_options=tuple(offers)
        )
        self.limits = Limits(self.model, self.problem, np.zeros(self.months))
        self.kinds = [self._begin_kind(units) for units in self._alike()]
        self._shared = {id(kind): self._share(kind) for kind in self.kinds}
        for kind in self.kinds:
            self._write_starts(kind)
        self.projects = [_ProjectRows(self, part.project) for part in joint.parts]

    def _share(self, kind: Kind) -> tuple[Ints, Ints]:
        hours = kind.unit.hours_per_month / HOURS_PER_MONTH
        share = self.model.rows(self.months, -np.inf, kind.existing)
        return share, self.model.rows(self.months, -np.inf, hours * kind.existing)

    def shared_rows(self, kind: Kind) -> tuple[Ints, Ints]:
        return self._shared[id(kind)]

    def _service(self, unit: CommitmentOption) -> tuple[object, ...]:
        limits_cash = self.joint.limits.limits_cash
        return tuple(
            None
            if own is None
            else (
                own.capacity,
                own.hour_cost.tobytes(),
                own.hour_cash.tobytes() if limits_cash else b"",
                unit.key in project.whole_nodes,
                project.kinds.get(unit.key),
            )
            for project in self.joint.projects
            for own in [project.units.get(unit.key)]
        )

    def _needed(self, unit: CommitmentOption) -> Floats:
        needed = np.zeros(self.months)
        for part in self.joint.parts:
            own = part.project.units.get(unit.key)
            if own is not None and own.capacity > 0:
                needed += units_needed(part.project.in_widths, own)
        return needed

    def _put_service(self, kind: Kind) -> None:
        share, use = self.shared_rows(kind)
        self.model.put(share, kind.service, -1.0)
        self.model.put(use, kind.service, -kind.unit.hours_per_month / HOURS_PER_MONTH)
        for quota, rows in self.limits.quotas:
            self.model.put(rows, kind.service, kind.unit.size_in(quota.group))

    def divide(
        self, values: Floats, started: Mapping[str, NDArray[np.int64]]
    ) -> tuple[ProjectUse, ...]:
        none = np.zeros(self.months, np.int64)
        nodes = {
            key: units_in_service(unit, started.get(key, none)).astype(float)
            for key, unit in self.joint.units.items()
        }
        hours = {key: nodes[key] * self.joint.units[key].hours_per_month for key in nodes}
        uses = tuple(ProjectUse() for _ in self.joint.projects)
        for part, rows in zip(self.joint.parts, self.projects, strict=True):
            rented = {key: row for key, row in rows.rented(values)[1].items() if row.any()}
            use = ProjectUse(rented_hours=rented)
            for kind, share, used in rows.taken(values):
                _hand_out(kind, share, nodes, use.shares)
                _hand_out(kind, used, hours, use.used_hours)
            for place, own in part.shares.items():
                uses[place].add(use, own)
        return uses


def _hand_out(kind: Kind, wanted: Floats, free: dict[str, Floats], into: dict[str, Floats]) -> None:
    for unit in kind.units:
        taken = np.minimum(wanted, free[unit.key])
        taken[taken < _NOISE] = 0.0
        if taken.any():
            free[unit.key] = free[unit.key] - taken
            wanted = wanted - taken
            into[unit.key] = taken


@dataclass(frozen=True)
class _Taken:
    kind: Kind
    unit: CommitmentOption
    months: Ints
    share: Ints
    used: Ints


class _ProjectRows(PlanModel):
    def __init__(self, shared: _SharedModel, project: ProjectProblem) -> None:
        self.project, self.problem, self.model = project, project.in_widths, shared.model
        self.spending, self.limits, self.months = None, shared.limits, shared.months
        before = self.model.row_count
        self.busy = self.problem.hours > 0
        self.inside = np.zeros(self.months, bool)
        if project.movable is not None:
            self.inside = project.movable.indicator(self.months)
        self.has_peak = self.busy & (self.problem.peak > 0) & ~self.inside
        self.hours_at_peak = hours_at_peak(self.problem)
        self.width = self.problem.hours / self.hours_at_peak
        model, movable = self.model, self.project.movable
        self.width_row = model.rows_in(self.has_peak, self.width, np.inf)
        self.hours_row = model.rows_in(self.busy & ~self.inside, self.width, np.inf)
        self.at_once_row = np.full(self.months, ABSENT)
        if movable is not None:
            total = self.project.problem.hours[self.inside].sum() / HOURS_PER_MONTH
            self.hours_row[self.inside] = model.rows(1, total, np.inf)[0]
            self.at_once_row = model.rows_in(self.inside, -np.inf, movable.at_once)
        share = self.problem.max_spot_share
        self.spot_row = model.rows_in(self.busy & (share < 1), -np.inf, share * self.width)
        self._write_kinds()
        self._taken = [taken for kind in shared.kinds for taken in self._take(shared, kind)]
        self.rentals = list(self._write_rentals())
        self._write_nodes()
        for rented in self.rentals:
            months, columns = rented.months, rented.columns
            self.model.put(self.at_once_row[months], columns, 1.0)
            self.model.put(self._kind_row(rented.offers[0].key)[months], columns, 1.0)
        self.rows = np.arange(before, self.model.row_count)
        self.month_of = np.zeros(self.rows.size, np.int64)
        for row in (self.width_row, self.hours_row, self.spot_row):
            months = np.flatnonzero(row != ABSENT)
            self.month_of[row[months] - before] = months

    def _write_kinds(self) -> None:
        model, kinds = self.model, sorted(set(self.project.kinds.values()))
        self.kind_rows: dict[tuple[str, bool], Ints] = {}
        if len(kinds) < 2:
            return
        chosen = model.columns(np.zeros(len(kinds)), 1.0, is_whole=True)
        model.put(model.rows(1, 1.0, 1.0), chosen, 1.0)
        nodes = [unit.capacity for unit in self.problem.units]
        nodes += [offer.capacity for offer in self.problem.rental_options]
        most = self.width + max(nodes, default=0.0)
        for kind, column in zip(kinds, chosen, strict=True):
            for of_hours in (False, True):
                row = model.rows_in(self.busy, -np.inf, 0.0)
                model.put(row, np.array(column), -most)
                self.kind_rows[kind, of_hours] = row

    def _kind_row(self, key: str, of_hours: bool = False) -> Ints:
        kind = self.project.kinds.get(key, "")
        return self.kind_rows.get((kind, of_hours), np.full(self.months, ABSENT))

    def _take(self, shared: _SharedModel, kind: Kind) -> list[_Taken]:
        unit = self.project.units.get(kind.unit.key)
        held = self.busy & ((kind.existing > 0) | (kind.service != ABSENT))
        months: Ints = np.flatnonzero(held)
        if unit is None or unit.capacity <= 0 or not months.size:
            return []
        put, inside = self.model.put, self.inside[months]
        most, is_whole = self.width[months] / unit.capacity, unit.key in self.project.whole_nodes
        share = self.model.columns(
            np.zeros(months.size),
            np.ceil(most - _ROUNDING) if is_whole else most,
            is_whole=is_whole,
        )
        d = self.hours_at_peak[months]
        used = self.model.columns(unit.hour_cost[months] * d, most)
        share_row, use_row = shared.shared_rows(kind)
        put(share_row[months], share, 1.0)
        put(use_row[months], used, d / HOURS_PER_MONTH)
        put(self.width_row[months], share, unit.capacity)
        put(self.hours_row[months], used, unit.capacity)
        put(self.at_once_row[months], share, unit.capacity)
        put(self._kind_row(unit.key)[months], share, unit.capacity)
        put(self._kind_row(unit.key, of_hours=True)[months], used, unit.capacity)
        self.limits.charge_hours([unit] * months.size, months, used, d)
        if inside.any():
            row = self.model.rows(int(inside.sum()), -np.inf, 0.0)
            put(row, used[inside], 1.0)
            put(row, share[inside], -min(1.0, unit.hours_per_month / HOURS_PER_MONTH))
        return [_Taken(kind, unit, months, share, used)]

    def _apart(self, offer: RentalOption) -> str:
        return self.project.kinds.get(offer.key, "")

    def _at_work(self, offers: Sequence[RentalOption], months: Ints) -> Floats:
        capacity = super()._at_work(offers, months)
        if self.project.movable is None or not self._node(offers[0]):
            return capacity
        at_once = np.minimum(capacity, self.project.movable.at_once)
        return np.where(self.inside[months], at_once, capacity)

    def _link_nodes(self, offer: RentalOption, node: float) -> Ints:
        link, movable = super()._link_nodes(offer, node), self.project.movable
        quotas = [(q, r) for q, r in self.limits.quotas if q.in_machines and offer.size_in(q.group)]
        if movable is None or not quotas:
            return link
        months: Ints = np.flatnonzero(self.inside)
        at_work = min(node, movable.at_once)
        rows = self.model.rows_in(self.inside, -np.inf, 0.0)
        most = np.ceil(self.width[months] / at_work - _ROUNDING)
        nodes = self.model.columns(np.zeros(months.size), most, is_whole=True)
        self.model.put(rows[months], nodes, -at_work)
        for quota, quota_rows in quotas:
            self.model.put(quota_rows[months], nodes, offer.size_in(quota.group))
        return np.where(self.inside, rows, link)

    def taken(self, values: Floats) -> list[tuple[Kind, Floats, Floats]]:
        width, _ = self.rented(values)
        left, uncovered = self.width - width, self.width - width
        movable = 0.0
        if self.project.movable is not None:
            total = self.project.problem.hours[self.inside].sum() / HOURS_PER_MONTH
            movable = float(total - width[self.inside].sum())
        out = []
        for one in self._taken:
            capacity, share, used = one.unit.capacity, np.zeros(self.months), np.zeros(self.months)
            share[one.months] = np.maximum(values[one.share], 0.0)
            used[one.months] = np.maximum(values[one.used], 0.0)
            most = np.maximum(uncovered, 0.0) / capacity
            if one.unit.key in self.project.whole_nodes:
                most = np.ceil(most - _NOISE)
            share = np.where(self.inside, share, np.minimum(share, most))
            uncovered = uncovered - share * capacity
            moved = np.where(self.inside, used, 0.0) * capacity
            moved = np.clip(movable - (np.cumsum(moved) - moved), 0.0, moved)
            movable -= float(moved.sum())
            fixed = np.minimum(used * capacity, np.maximum(left, 0.0))
            used = np.where(self.inside, moved, fixed) / capacity
            left = left - used * capacity
            out.append((one.kind, share, used * self.hours_at_peak))
        return out
