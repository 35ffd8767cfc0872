"""Which hours come from where once it is settled what was started: exact, month by month. PURE.

Also demand given hour by hour instead of by month, put into as few levels as it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.budgets import (
    keeps_capital_budgets,
    keeps_cash_budgets,
    tightened,
)
from planner.costing.optimizer.by_month.group_uses import add_group_uses
from planner.costing.optimizer.by_month.month_dispatch import cheapest_width
from planner.costing.optimizer.by_month.whole_nodes import add_whole_nodes
from planner.costing.optimizer.constraints import ABSENT, Rows, build_rows
from planner.costing.optimizer.problem import CommitmentOption, Floats, Plan, PlanProblem, Quota
from planner.costing.optimizer.reduced_problem import (
    NO_GROUP,
    ReducedProblem,
    Rentals,
    StartCandidates,
    UnitTypes,
)
from planner.costing.optimizer.variables import Continuous, continuous_columns
from planner.costing.optimizer.work import WorkMeter

UnitsStarted = Mapping[str, NDArray[np.int64]]
_Array = TypeVar("_Array", bound=NDArray[np.generic])


def dispatch(
    problem: PlanProblem,
    quotas: tuple[Quota, ...],
    rentals: Rentals,
    units_started: UnitsStarted,
    work: WorkMeter,
) -> Plan | None:
    """The cheapest plan that starts exactly these units, None where a limit forbids it; budgets
    are kept to the cent.

    Its cost is Σ coefficient × what the plan starts, uses and rents, `base_cost` included. The
    bound is left at −inf: it is not known here.
    """
    if not keeps_capital_budgets(problem, units_started):
        return None
    fixed = _fix_units(problem, units_started)
    hours = _settle_hours(fixed, quotas, rentals, work)
    if hours is not None and not keeps_cash_budgets(fixed, *hours):
        hours = _settle_hours(tightened(fixed), quotas, rentals, work)
        if hours is not None and not keeps_cash_budgets(fixed, *hours):
            return None
    if hours is None:
        return None
    by_unit, by_rental = hours
    months = problem.hours.size
    no_units, no_hours = _read_only(np.zeros(months, np.int64)), _read_only(np.zeros(months))
    return Plan(
        feasible=True,
        cost=_cost(problem, units_started, by_unit, by_rental),
        bound=-np.inf,
        units_started={u.key: no_units for u in problem.units} | dict(units_started),
        used_hours={u.key: no_hours for u in problem.units} | by_unit,
        rented_hours={s.key: no_hours for s in problem.rental_options} | by_rental,
    )


def _settle_hours(
    fixed: PlanProblem, quotas: tuple[Quota, ...], rentals: Rentals, work: WorkMeter
) -> tuple[dict[str, Floats], dict[str, Floats]] | None:
    """Hours used and rented, by source; None where a month's limits forbid them."""
    unit_types = _unit_type_per_option(fixed, quotas)
    settled = ReducedProblem(fixed, quotas, rentals, unit_types, _no_start_candidates())
    reduced = add_whole_nodes(add_group_uses(settled))
    rows = build_rows(reduced, work)
    columns = continuous_columns(rows)
    width = cheapest_width(rows, columns, work)
    if width is None:
        return None
    used = used_hours(rows, columns, width)
    by_unit = {unit.key: hours for unit, hours in zip(fixed.units, used, strict=True)}
    return by_unit, rented_hours(rows, columns, width)


def _cost(
    problem: PlanProblem,
    units_started: UnitsStarted,
    used_hours: Mapping[str, Floats],
    rented_hours: Mapping[str, Floats],
) -> float:
    """Σ coefficient × what is started, used and rented, + base cost."""
    cost = problem.base_cost
    for unit in problem.units:
        if unit.key in units_started:
            months = np.flatnonzero(units_started[unit.key])
            cost += float(unit.start_cost[months] @ units_started[unit.key][months])
        if unit.key in used_hours:
            cost += float(unit.hour_cost @ used_hours[unit.key])
    for source in problem.rental_options:
        if source.key in rented_hours:
            cost += float(source.hour_cost @ rented_hours[source.key])
    return cost


def _read_only(values: _Array) -> _Array:
    values.setflags(write=False)
    return values


def count_units_in_service(
    unit: CommitmentOption, units_started: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[T] units of a source usable in each month, of those started and those there already."""
    months = units_started.size
    change = np.zeros(months + 1, np.int64)
    start_months = np.flatnonzero(units_started)
    first = np.minimum(start_months + unit.lead_months, months)
    last = np.minimum(first + unit.duration_months, months)
    np.add.at(change, first, units_started[start_months])
    np.subtract.at(change, last, units_started[start_months])
    in_service = change.cumsum()[:-1]
    return in_service if unit.existing is None else in_service + unit.existing


def _fix_units(problem: PlanProblem, units_started: UnitsStarted) -> PlanProblem:
    """The problem in which what is started is there already, its cash part of the base."""
    months = problem.hours.size
    kept_units, cash = (
        [],
        np.zeros(months) if problem.base_cash is None else problem.base_cash.copy(),
    )
    payments = problem.base_payments
    for unit in problem.units:
        units = units_started.get(unit.key)
        if units is None:
            if unit.existing is not None:
                kept_units.append(unit)
            continue
        if problem.monthly_budget is not None:
            cash += units[units > 0] @ unit.cash_by_month[units > 0]
        if problem.total_budget is not None:
            payments += float(units[units > 0] @ unit.all_payments[units > 0])
        kept_units.append(replace(unit, existing=count_units_in_service(unit, units)))
    return replace(
        problem,
        units=tuple(kept_units),
        base_cash=cash,
        base_payments=payments,
        capex_budget=None,
        capex_by_period=(),
    )


def _unit_type_per_option(problem: PlanProblem, quotas: tuple[Quota, ...]) -> UnitTypes:
    """Every unit source as a kind of its own."""
    units, months = problem.units, problem.hours.size
    shape = (len(units), months)
    capacity = np.array([u.capacity for u in units])
    return UnitTypes(
        capacity=capacity,
        quota_size=np.array(
            [[u.size_in(q.group) for q in quotas] for u in units], np.float64
        ).reshape(len(units), len(quotas)),
        lead=np.zeros(len(units), np.int64),
        end=np.zeros(len(units), np.int64),
        hours_per_month=np.array([u.hours_per_month for u in units]),
        hour_cost=np.array([u.hour_cost for u in units]).reshape(shape) / capacity[:, None],
        hour_cash=np.array([u.hour_cash for u in units]).reshape(shape) / capacity[:, None],
        existing=np.array([u.existing for u in units], np.float64).reshape(shape),
        stands_alone=np.ones(len(units), bool),
        is_rented_node=np.zeros(len(units), bool),
        group=np.full(len(units), NO_GROUP),
    )


def _no_start_candidates() -> StartCandidates:
    no_units, no_hours = np.zeros(0, np.int64), np.zeros(0)
    return StartCandidates(
        no_units, no_units, no_units, no_units, no_units, no_hours, no_hours, no_hours, None
    )


def rented_hours(rows: Rows, columns: Continuous, width: Floats) -> dict[str, Floats]:
    """Key of each rental in use → [T] node-hours."""
    problem, rentals = rows.reduced.problem, rows.reduced.rentals
    hours: dict[str, Floats] = {}
    for column in np.flatnonzero(width[: columns.rentals] > 0):
        month = columns.month[column]
        source = problem.rental_options[rentals.source[columns.rental_type[column], month]]
        hours_by_month = hours.setdefault(source.key, np.zeros(rows.required_width.size))
        hours_by_month[month] += width[column] * rows.hours_at_peak[month] / source.capacity
    return hours


def used_hours(rows: Rows, columns: Continuous, width: Floats) -> Floats:
    """[K, T] node-hours of every kind: units of one running cost are filled in their order."""
    unit_types, months = rows.reduced.unit_types, rows.required_width.size
    rented_width = np.bincount(
        columns.month[: columns.rentals], width[: columns.rentals], minlength=months
    )
    run = np.zeros((len(rows.runs), months))
    run[columns.run, columns.month[columns.rentals :]] = width[columns.rentals :]
    required_width = np.maximum(rows.required_width - rented_width - run.sum(axis=0), 0.0)
    used_width = np.zeros(rows.busy_width.shape)
    for running_cost, target_width in [(ABSENT, required_width), *enumerate(run)]:
        of_cost = np.flatnonzero(rows.run_of_type == running_cost)
        available = rows.busy_width[of_cost] * unit_types.existing[of_cost]
        before = available.cumsum(axis=0) - available
        used_width[of_cost] = np.clip(target_width - before, 0.0, available)
    is_source = ~unit_types.is_rented_node & (unit_types.group == NO_GROUP)
    capacity = np.where(is_source, unit_types.capacity, 1.0)
    hours: Floats = (used_width * rows.hours_at_peak / capacity[:, None])[is_source]
    return hours
