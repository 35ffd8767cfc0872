"""The model of a joint problem: the fleet month by month, its limits, and every project. PURE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.constraints import HOURS_PER_MONTH
from planner.costing.optimizer.problem import Floats
from planner.portfolio.optimizer.demand_rows import (
    DemandRows,
    ProjectColumns,
    SharedRows,
)
from planner.portfolio.optimizer.divide import divide
from planner.portfolio.optimizer.matrix import Matrix
from planner.portfolio.optimizer.node_links import ABSENT
from planner.portfolio.optimizer.pools import SharedUnits, UnitType
from planner.portfolio.optimizer.problem import JointPlan, JointProblem

Ints = NDArray[np.int64]
_NOISE = 1e-9


@dataclass(frozen=True)
class StartColumns:
    """Units started of one type: a column for each month in which one may start."""

    type: UnitType
    month: Ints
    column: Ints


class JointModel:
    """Rows and columns of a joint problem, and plans as their values."""

    def __init__(self, joint: JointProblem) -> None:
        self.joint, self.shared_units, self.matrix = joint, SharedUnits(joint), Matrix()
        self.limits, self.months = joint.limits, joint.months
        self.shared = self._shared_rows()
        self.starts = [self._write_type(one) for one in self.shared_units.types]
        self._write_capital()
        self.projects: list[ProjectColumns] = []
        self.project_rows: list[Ints] = []
        """Rows of each project alone."""
        for project in joint.projects:
            before = self.matrix.row_count
            rows = DemandRows(self.matrix, project, self.shared_units, self.shared)
            self.projects.append(rows.write())
            self.project_rows.append(np.arange(before, self.matrix.row_count))

    def _shared_rows(self) -> SharedRows:
        """What holds for all projects together, with what is there already."""
        pools, months = self.shared_units.pools, self.months
        share, use = (np.zeros((len(pools), months), np.int64) for _ in range(2))
        for number, pool in enumerate(pools):
            share[number] = self.matrix.rows(months, -np.inf, pool.existing)
            hours = pool.hours_per_month / HOURS_PER_MONTH
            use[number] = self.matrix.rows(months, -np.inf, hours * pool.existing)
        monthly, total = np.full(months, ABSENT), ABSENT
        cash_scale = self.limits.monthly_budget or 1.0
        total_scale = self.limits.total_budget or 1.0
        if self.limits.monthly_budget is not None:
            base = self.limits.base_cash
            left = self.limits.monthly_budget - (np.zeros(months) if base is None else base)
            monthly = self.matrix.rows(months, -np.inf, left / cash_scale)
        if self.limits.total_budget is not None:
            left_in_all = (self.limits.total_budget - self.limits.base_payments) / total_scale
            total = int(self.matrix.rows(1, -np.inf, left_in_all)[0])
        return SharedRows(share, use, self._quota_rows(), monthly, total, cash_scale, total_scale)

    def _quota_rows(self) -> Ints:
        rows = np.zeros((len(self.limits.quotas), self.months), np.int64)
        for q, quota in enumerate(self.limits.quotas):
            existing = sum(
                (
                    unit.size_in(quota.group) * unit.existing
                    for unit in self.joint.units.values()
                    if unit.existing is not None and quota.group in unit.limit_groups
                ),
                np.zeros(self.months),
            )
            rows[q] = self.matrix.rows(self.months, -np.inf, quota.most - existing)
        return rows

    def _write_type(self, one: UnitType) -> StartColumns:
        """Starts of a type, and its units in service as columns of their own:
        in_service[t] = in_service[t-1] + Σ usable from t on − Σ that end in t."""
        can_serve = np.arange(self.months) + one.lead < self.months
        month = np.flatnonzero(np.isfinite(one.start_cost) & can_serve)
        most = self._most_useful(one)
        start = self.matrix.columns(one.start_cost[month], most, is_whole=True)
        service = self.matrix.columns(np.zeros(self.months), np.inf, is_whole=True)
        row = self.matrix.rows(self.months, 0.0, 0.0)
        self.matrix.put(row, service, 1.0)
        self.matrix.put(row[1:], service[:-1], -1.0)
        self.matrix.put(row[month + one.lead], start, -1.0)
        end = month + one.lead + one.duration
        ends = end < self.months
        self.matrix.put(row[end[ends]], start[ends], 1.0)
        hours = self.shared_units.pools[one.pool].hours_per_month / HOURS_PER_MONTH
        self.matrix.put(self.shared.share[one.pool], service, -1.0)
        self.matrix.put(self.shared.use[one.pool], service, -hours)
        if one.max_units is not None:
            limit = self.matrix.rows(1, -np.inf, float(one.max_units))
            self.matrix.put(np.repeat(limit, start.size), start, 1.0)
        self._write_limits(one, month, start, service)
        return StartColumns(one, month, start)

    def _write_limits(self, one: UnitType, month: Ints, start: Ints, service: Ints) -> None:
        unit = self.joint.units[one.keys[0]]
        for q, quota in enumerate(self.limits.quotas):
            if quota.group in unit.limit_groups:
                self.matrix.put(self.shared.quotas[q], service, unit.size_in(quota.group))
        if self.limits.monthly_budget is not None:
            at, due = np.nonzero(unit.cash_by_month[month])
            cash = unit.cash_by_month[month[at], due] / self.shared.cash_scale
            self.matrix.put(self.shared.monthly[due], start[at], cash)
        if self.limits.total_budget is not None:
            payments = unit.all_payments[month] / self.shared.total_scale
            self.matrix.put(np.full(start.size, self.shared.total), start, payments)

    def _most_useful(self, one: UnitType) -> float:
        """Units beyond which every project's peak is covered."""
        most = 0.0
        for project in self.joint.projects:
            unit = project.units.get(one.keys[0])
            if unit is None or unit.capacity <= 0:
                continue
            problem, hours = project.problem, max(unit.hours_per_month, 1e-9)
            widest = max(problem.peak.max(initial=0.0), problem.hours.max(initial=0.0) / hours)
            at_once = project.movable.at_once if project.movable else 0.0
            most += np.ceil(max(float(widest), at_once) / unit.capacity - _NOISE)
        return most

    def _write_capital(self) -> None:
        """The budgets of capital, each over the starts of its months."""
        for budget in self.limits.capital_budgets:
            scale = budget.amount or 1.0
            row = self.matrix.rows(1, -np.inf, budget.amount / scale)
            for one in self.starts:
                unit = self.joint.units[one.type.keys[0]]
                inside = (one.month >= budget.first) & (one.month < budget.last)
                capital = unit.capex[one.month[inside]] / scale
                self.matrix.put(np.repeat(row, capital.size), one.column[inside], capital)

    def plan(self, values: Floats, bound: float) -> JointPlan:
        """The plan behind the values of the columns."""
        started: dict[str, NDArray[np.int64]] = {}
        for one in self.starts:
            counts = np.round(values[one.column]).astype(np.int64)
            for month, count in zip(one.month.tolist(), counts.tolist(), strict=True):
                if count:
                    key = one.type.keys[one.type.source[month]]
                    started.setdefault(key, np.zeros(self.months, np.int64))[month] += count
        uses = divide(self.joint, self.shared_units, self.projects, values, started)
        plan = JointPlan(0.0, -np.inf, started, uses)
        cost = plan_cost(self.joint, plan)
        return JointPlan(cost, min(bound, cost), started, uses)


def plan_cost(joint: JointProblem, plan: JointPlan) -> float:
    """Σ coefficient × what is started, used and rented."""
    cost = 0.0
    for key, units in plan.units_started.items():
        at = np.flatnonzero(units)
        cost += float(joint.units[key].start_cost[at] @ units[at])
    for project, use in zip(joint.projects, plan.uses, strict=True):
        rentals = {rental.key: rental for rental in project.problem.rental_options}
        cost += sum(float(project.units[k].hour_cost @ h) for k, h in use.used_hours.items())
        cost += sum(float(rentals[k].hour_cost @ h) for k, h in use.rented_hours.items())
    return cost
