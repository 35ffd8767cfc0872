"""The capacity plan written out in full as a mixed-integer model. PURE.

Columns: units begun per unit source and month (whole), then node-hours used per unit source
and month, then node-hours rented per hourly source and month.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planner.costing.plan_highs import LinearModel
from planner.costing.plan_problem import Floats, Plan, PlanProblem, Quota, UnitSource


@dataclass(frozen=True)
class PlanModel:
    """The model with the way back from its columns to a plan."""

    problem: PlanProblem
    linear: LinearModel
    cost_scale: float

    def plan(self, values: Floats) -> Plan:
        """The plan that the column values stand for, its cost summed from the plan itself."""
        months, units = self.problem.hours.size, len(self.problem.units)
        blocks = values.reshape(-1, months)
        begun = np.round(blocks[:units]).astype(np.int64)
        used = np.maximum(blocks[units : 2 * units], 0.0)
        rented = np.maximum(blocks[2 * units :], 0.0)
        plan = Plan(
            feasible=True,
            cost=0.0,
            bound=0.0,
            begun={s.key: b for s, b in zip(self.problem.units, begun, strict=True)},
            used_hours={s.key: u for s, u in zip(self.problem.units, used, strict=True)},
            rented_hours={s.key: r for s, r in zip(self.problem.hourly, rented, strict=True)},
        )
        cost = plan_cost(self.problem, plan)
        return Plan(True, cost, cost, plan.begun, plan.used_hours, plan.rented_hours)


def plan_cost(problem: PlanProblem, plan: Plan) -> float:
    """Net present cost of a plan: Σ coefficient × what it begins, uses and rents, + base cost."""
    cost = problem.base_cost
    for unit in problem.units:
        begun = plan.begun[unit.key]
        cost += float(unit.start_cost[begun > 0] @ begun[begun > 0])
        cost += float(unit.hour_cost @ plan.used_hours[unit.key])
    for source in problem.hourly:
        cost += float(source.hour_cost @ plan.rented_hours[source.key])
    return cost


def months_up(unit: UnitSource, start: int, months: int) -> slice:
    """The months in which a unit begun in month `start` can be used."""
    first = start + unit.lead_months
    return slice(min(first, months), min(first + unit.duration_months, months))


def most_units(unit: UnitSource, problem: PlanProblem) -> Floats:
    """[T] units begun in month m beyond which the demand of the months they serve is covered."""
    months = problem.hours.size
    by_peak = problem.peak / unit.capacity
    by_hours = problem.hours / (unit.capacity * max(unit.hours_per_month, 1e-9))
    needed = np.ceil(np.maximum(by_peak, by_hours) - 1e-9)
    most = np.array([needed[months_up(unit, m, months)].max(initial=0.0) for m in range(months)])
    most[~np.isfinite(unit.start_cost)] = 0.0
    return most if unit.max_units is None else np.minimum(most, unit.max_units)


@dataclass
class _Rows:
    """Rows and entries gathered one constraint at a time."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    row: list[NDArray[np.int32]] = field(default_factory=list)
    column: list[NDArray[np.int32]] = field(default_factory=list)
    value: list[Floats] = field(default_factory=list)

    def add(self, terms: Iterable[tuple[ArrayLike, ArrayLike]], lower: float, upper: float) -> None:
        """A row Σ value·column between the two, scaled so that its largest entry is 1."""
        columns, values = [], []
        for column, value in terms:
            at = np.atleast_1d(np.asarray(column, np.int32))
            columns.append(at)
            values.append(np.broadcast_to(np.asarray(value, np.float64), at.shape))
        column_, value_ = np.concatenate(columns), np.concatenate(values)
        scale = float(np.abs(value_).max(initial=0.0)) or 1.0
        self.row.append(np.full(column_.size, len(self.lower), np.int32))
        self.column.append(column_)
        self.value.append(value_ / scale)
        self.lower.append(lower / scale)
        self.upper.append(upper / scale)


@dataclass(frozen=True)
class _Up:
    """Units of one source that are up in one month: columns of their starts, units existing."""

    starts: NDArray[np.int64]
    existing: int


@dataclass(frozen=True)
class _Builder:
    problem: PlanProblem
    begun: NDArray[np.int64]
    used: NDArray[np.int64]
    rented: NDArray[np.int64]
    rows: _Rows = field(default_factory=_Rows)

    def up(self, unit: int, month: int) -> _Up:
        source, months = self.problem.units[unit], self.problem.hours.size
        first = max(0, month - source.lead_months - source.duration_months + 1)
        starts = self.begun[unit, first : max(first, min(month - source.lead_months + 1, months))]
        return _Up(starts, 0 if source.existing is None else int(source.existing[month]))

    def add_month(self, t: int) -> None:
        problem = self.problem
        ups = [self.up(i, t) for i in range(len(problem.units))]
        for unit, up, used in zip(problem.units, ups, self.used[:, t], strict=True):
            most = unit.hours_per_month
            self.rows.add([(used, 1.0), (up.starts, -most)], -np.inf, most * up.existing)
        hours, peak = float(problem.hours[t]), float(problem.peak[t])
        per_hour = peak / hours if hours > 0 else 0.0
        if hours > 0:
            self._add_demand(t, ups, hours, peak, per_hour)
        for quota in problem.quotas:
            self._add_quota(t, ups, per_hour, quota)
        if problem.monthly_budget is not None:
            self._add_budget(t, problem.monthly_budget)

    def _add_demand(self, t: int, ups: list[_Up], hours: float, peak: float, rate: float) -> None:
        problem = self.problem
        units, hourly = problem.units, problem.hourly
        rented = self.rented[:, t]
        ready = sum(u.capacity * up.existing for u, up in zip(units, ups, strict=True))
        width = [(up.starts, u.capacity) for u, up in zip(units, ups, strict=True)]
        delivered = [(rented, np.array([s.capacity for s in hourly]))]
        self.rows.add([*width, *((c, v * rate) for c, v in delivered)], peak - ready, np.inf)
        used = (self.used[:, t], np.array([u.capacity for u in units]))
        self.rows.add([used, *delivered], hours, np.inf)
        if problem.max_spot_share < 1.0:
            spot = (rented, np.array([s.capacity * s.is_spot for s in hourly]))
            self.rows.add([spot], -np.inf, problem.max_spot_share * hours)

    def _add_quota(self, t: int, ups: list[_Up], rate: float, quota: Quota) -> None:
        problem, room, terms = self.problem, quota.max_accelerators, []
        for unit, up in zip(problem.units, ups, strict=True):
            if quota.group in unit.limit_groups:
                terms.append((up.starts, np.float64(unit.accelerators)))
                room -= unit.accelerators * up.existing
        inside = [j for j, s in enumerate(problem.hourly) if quota.group in s.limit_groups]
        sizes = np.array([problem.hourly[j].accelerators * rate for j in inside])
        self.rows.add([*terms, (self.rented[inside, t], sizes)], -np.inf, room)

    def _add_budget(self, t: int, budget: float) -> None:
        problem = self.problem
        base = 0.0 if problem.base_cash is None else float(problem.base_cash[t])
        terms: list[tuple[ArrayLike, ArrayLike]] = [
            (self.begun[i], np.where(np.isfinite(u.start_cost), u.start_cash[:, t], 0.0))
            for i, u in enumerate(problem.units)
        ]
        terms.append((self.used[:, t], np.array([u.hour_cash[t] for u in problem.units])))
        terms.append((self.rented[:, t], np.array([s.hour_cash[t] for s in problem.hourly])))
        self.rows.add(terms, -np.inf, budget - base)

    def add_totals(self) -> None:
        """The limits over the whole horizon: units per source, capital."""
        problem = self.problem
        for begun, unit in zip(self.begun, problem.units, strict=True):
            if unit.max_units is not None:
                self.rows.add([(begun, 1.0)], -np.inf, unit.max_units)
        if problem.capex_budget is not None and problem.units:
            capex = [
                (begun, np.where(np.isfinite(u.start_cost), u.capex, 0.0))
                for begun, u in zip(self.begun, problem.units, strict=True)
            ]
            self.rows.add(capex, -np.inf, problem.capex_budget)


def build_model(problem: PlanProblem) -> PlanModel:
    """Every row and column of the problem, written out."""
    months, units = problem.hours.size, len(problem.units)
    place = np.arange((2 * units + len(problem.hourly)) * months).reshape(-1, months)
    builder = _Builder(problem, place[:units], place[units : 2 * units], place[2 * units :])
    for t in range(months):
        builder.add_month(t)
    builder.add_totals()
    return _assembled(problem, builder.rows, place.size)


def _assembled(problem: PlanProblem, rows: _Rows, columns: int) -> PlanModel:
    months = problem.hours.size
    starts = [np.where(np.isfinite(u.start_cost), u.start_cost, 0.0) for u in problem.units]
    runs = [u.hour_cost for u in problem.units] + [s.hour_cost for s in problem.hourly]
    cost = np.concatenate([*starts, *runs, np.zeros(0)])
    scale = float(np.abs(cost).max(initial=0.0)) / 1e4 or 1.0
    upper = np.full((columns // months, months), np.inf)
    for i, unit in enumerate(problem.units):
        upper[i] = most_units(unit, problem)
    for row, source in zip(upper[2 * len(problem.units) :], problem.hourly, strict=True):
        rentable = problem.hours > 0
        row[~(rentable if source.available is None else rentable & source.available)] = 0.0
    linear = LinearModel(
        cost=cost / scale,
        lower=np.zeros(columns),
        upper=upper.ravel(),
        row_lower=np.array(rows.lower),
        row_upper=np.array(rows.upper),
        entry_row=np.concatenate([*rows.row, np.zeros(0, np.int32)]),
        entry_column=np.concatenate([*rows.column, np.zeros(0, np.int32)]),
        entry_value=np.concatenate([*rows.value, np.zeros(0)]),
        integer=np.arange(columns) < len(problem.units) * months,
    )
    return PlanModel(problem, linear, scale)
