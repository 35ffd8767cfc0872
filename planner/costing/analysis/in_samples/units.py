"""What a plan owns and commits to in some samples: what it costs, and what is in service. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.in_samples.planned_units import Cohort
from planner.costing.analysis.in_samples.samples import Samples
from planner.costing.analysis.plan_costs import PlanCosts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HeldUnits:
    """What a plan owns and commits to in some samples."""

    cost: Floats
    """[n, 2] without what hours of use cost."""
    width: Floats
    """[n, T] reference accelerators in service."""
    hours: Floats
    """[T] or [n, T] reference hours that they can deliver."""
    started: Floats
    """[n, cohort] units started after the first month."""


def hold_units(plan: PlanCosts, some: Samples) -> HeldUnits:
    """The units of a plan: those of its first month, and as many later as samples need."""
    started, cost = _start_later(plan, some)
    cost += plan.fixed
    for key, value in plan.residual:
        cost += _at_end(some, key) * value
    width, hours = np.broadcast_to(plan.width, some.demand.shape), plan.hours
    if plan.later:
        width = width + started @ _service(plan, some, of_hours=False)
        hours = hours + started @ _service(plan, some, of_hours=True)
    for cohort in plan.unsure:
        price = some.quoted_price(cohort.source.key)
        if price is not None:
            cost += np.multiply.outer(cohort.units * (price - 1.0), cohort.costs.priced[0])
    for cohort, month, units in _ordered(plan, some, started):
        missing = some.missing(cohort, month)
        if missing is not None:
            assert cohort.costs.monthly is not None
            missing *= units[:, None]
            width = width - missing * cohort.source.capacity
            hours = hours - missing * (cohort.source.capacity * cohort.source.hours_per_month)
            cost -= missing @ cohort.costs.monthly[month]
    return HeldUnits(cost, width, hours, started)


def add_units(
    plan: PlanCosts, some: Samples, started: Floats, first: Mapping[str, Floats]
) -> dict[str, Floats]:
    """source key → [n, T] units in service: those of the `first` month and in place, [T] each, with
    those `started` later, less what comes late."""
    shape = some.demand.shape
    nodes = {key: np.broadcast_to(row, shape).copy() for key, row in first.items()}
    service = _service(plan, some, of_hours=False)
    for i, cohort in enumerate(plan.later):
        row = nodes.setdefault(cohort.source.key, np.zeros(shape))
        row += np.multiply.outer(started[:, i], service[i] / cohort.source.capacity)
    for cohort, month, units in _ordered(plan, some, started):
        missing = some.missing(cohort, month)
        if missing is not None:
            nodes[cohort.source.key] -= missing * units[:, None]
    return nodes


def _start_later(plan: PlanCosts, some: Samples) -> tuple[Floats, Floats]:
    """[n, cohort] units started later, and [n, 2] what they cost."""
    n, months = some.demand.shape
    started, cost = np.zeros((n, len(plan.later))), np.zeros((n, 2))
    planned = plan.width.copy()
    service = _service(plan, some, of_hours=False)
    for i, cohort in enumerate(plan.later):
        capacity = cohort.source.capacity
        planned = planned + cohort.units * capacity * cohort.service(cohort.month)
        month = cohort.month + some.slip
        if month >= months or not cohort.costs.can_start[month]:
            continue
        assert cohort.source.term is not None
        lead = cohort.source.term.lead_months
        wanted = some.outcomes.demand_at(month)[some.rows] * planned[cohort.month + lead]
        in_service = plan.width[month + lead] + started[:, :i] @ service[:i, month + lead]
        units = np.clip(np.rint((wanted - in_service) / capacity), 0.0, cohort.units)
        started[:, i] = units
        price, quoted = some.price(cohort.source.key), some.quoted_price(cohort.source.key)
        factor = units if price is None else units * price[:, month]
        factor = factor if quoted is None else factor * quoted
        cost += np.multiply.outer(units, cohort.costs.operating[month])
        cost += np.multiply.outer(factor, cohort.costs.priced[month])
        if cohort.costs.residual[month].any():
            value = units[:, None] * _at_end(some, cohort.source.key)
            cost += value * cohort.costs.residual[month]
    return started, cost


def _ordered(
    plan: PlanCosts, some: Samples, started: Floats
) -> Iterator[tuple[Cohort, int, Floats]]:
    """Cohorts that may come late, with the month of their order and [n] their units."""
    n, months = some.demand.shape
    for cohort in plan.unsure:
        yield cohort, 0, np.full(n, float(cohort.units))
    for i, cohort in enumerate(plan.later):
        month = cohort.month + some.slip
        if month < months:
            yield cohort, month, started[:, i]


def _service(plan: PlanCosts, some: Samples, of_hours: bool) -> Floats:
    """[cohort, T] width, or hours, that a unit of each later cohort gives in the samples."""
    months = some.demand.shape[1]
    rows = np.zeros((len(plan.later), months))
    for i, cohort in enumerate(plan.later):
        month = cohort.month + some.slip
        if month < months:
            per_unit = cohort.source.capacity
            per_unit *= cohort.source.hours_per_month if of_hours else 1.0
            rows[i] = per_unit * cohort.service(month)
    return rows


def _at_end(some: Samples, key: str) -> Floats:
    """[n, 1] factor on a residual value."""
    price = some.price(key)
    return np.ones((some.demand.shape[0], 1)) if price is None else price[:, -1:]
