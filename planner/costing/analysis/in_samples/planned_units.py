"""The units of a plan, with what each costs and what moves that. PURE.

Money has two columns: net present, and nominal. Hours are hours of the reference accelerator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import FINANCING
from planner.costing.cost_model.terms import Calendar

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class UnitCosts:
    """What one unit of a source costs by the month of its start, after tax; [T, 2] each."""

    operating: Floats
    """What no price moves."""
    priced: Floats
    """Commitments, and the purchase of servers: moves with the price in the month of the start."""
    residual: Floats
    """Negative; moves with the price at the horizon's end."""
    hour: Floats
    """[T, 2] of one node-hour of use."""
    can_start: NDArray[np.bool_]
    """[T]"""
    monthly: Floats | None = None
    """[T, T, 2] of servers: what of `operating` falls due in each month; saved while they are
    late."""


@dataclass(frozen=True)
class Cohort:
    """Units of one source that a plan starts in one month."""

    source: CapacitySource
    costs: UnitCosts
    month: int
    units: int

    def service(self, start: int) -> Floats:
        """[T] 1 in the months in which a unit started in month `start` serves."""
        assert self.source.term is not None
        return self.source.term.active[start, : self.source.term.months]


@dataclass(frozen=True)
class PlannedUnits:
    """What a plan owns and commits to; the fields are those of `PlanCosts`."""

    fixed: Floats
    residual: tuple[tuple[str, Floats], ...]
    width: Floats
    hours: Floats
    later: tuple[Cohort, ...]
    unsure: tuple[Cohort, ...]
    all_width: Floats
    """[T] with the later starts."""
    all_hours: Floats


def list_cohorts(
    units_started: Mapping[str, NDArray[np.int64]],
    sources: Mapping[str, CapacitySource],
    units: Mapping[str, UnitCosts],
) -> list[Cohort]:
    """What a plan starts, by source and month; `units_started`: [T] by the source's key."""
    return [
        Cohort(sources[key], units[key], month, int(started[month]))
        for key, started in sorted(units_started.items())
        for month in np.flatnonzero(started).tolist()
    ]


def hold_planned(
    cohorts: Iterable[Cohort],
    existing: Iterable[CapacitySource],
    fixed: Floats,
    residual: Sequence[tuple[str, Floats]],
    unsure: Collection[str],
    months: int,
) -> PlannedUnits:
    """Units `existing` and started; `fixed` and `residual`: what is due for the former, and fetched
    by them; `unsure`: keys of servers whose price or delivery may be another."""
    ordered = sorted(cohorts, key=lambda c: c.month)
    first = [cohort for cohort in ordered if cohort.month == 0]
    later = tuple(cohort for cohort in ordered if cohort.month > 0)
    sold = list(residual)
    width, hours, all_hours = np.zeros(months), np.zeros(months), np.zeros(months)
    for source in existing:
        assert source.existing is not None
        width += source.existing * source.capacity
        hours += source.existing * source.capacity * source.hours_per_month
    for cohort in first:
        fixed = fixed + cohort.units * (cohort.costs.operating[0] + cohort.costs.priced[0])
        sold.append((cohort.source.key, cohort.units * cohort.costs.residual[0]))
        width += cohort.units * cohort.source.capacity * cohort.service(0)
        hours += cohort.units * _unit_hours(cohort.source) * cohort.service(0)
    all_hours += hours
    all_width = width.copy()
    for cohort in later:
        all_hours += cohort.units * _unit_hours(cohort.source) * cohort.service(cohort.month)
        all_width += cohort.units * cohort.source.capacity * cohort.service(cohort.month)
    return PlannedUnits(
        fixed=fixed,
        residual=tuple((key, value) for key, value in sold if value.any()),
        width=width,
        hours=hours,
        later=later,
        unsure=tuple(cohort for cohort in first if cohort.source.key in unsure),
        all_width=all_width,
        all_hours=all_hours,
    )


def measure_units(source: CapacitySource, calendar: Calendar) -> UnitCosts:
    """What one unit of a source costs."""
    assert source.term is not None
    months, tax = calendar.months, calendar.tax_rate
    worth = np.stack([calendar.discount, np.ones(calendar.length)], axis=1)
    amounts = source.unit_amounts()
    paid, capital = amounts.paid, amounts.capital
    residual = sum(
        (c.amounts(source.term) for c in source.unit_charges if c.category is Category.RESIDUAL),
        np.zeros_like(paid),
    )
    taxed = float(source.taxes_capital)
    if source.is_owned:
        basis = capital.sum(axis=1, keepdims=True) * taxed
        priced = capital - tax * basis * source.term.write_off
        if source.is_financed:
            priced = priced + amounts.debt + amounts.financing * (1.0 - tax)
        operating = (paid - residual) * (1.0 - tax)
    else:
        priced, operating = paid - source.tax_relief(amounts, calendar), np.zeros_like(paid)
    option = source.commitment_option(calendar, keeps_cash=False)
    hour = option.hour_cash[:, None] * worth[:months]
    hour[:, 0] = option.hour_cost
    return UnitCosts(
        operating=_present(operating @ worth, source, calendar, is_priced=False),
        monthly=_by_month(operating[:, :months], calendar) if source.is_owned else None,
        priced=_present(priced @ worth, source, calendar, is_priced=True),
        residual=residual * (1.0 - tax * taxed) @ worth,
        hour=hour,
        can_start=np.isfinite(option.start_cost),
    )


def _by_month(operating: Floats, calendar: Calendar) -> Floats:
    """[T, T, 2] bills of each month, as they are paid."""
    months = calendar.months
    worth = np.stack([calendar.running_discount[:months], np.ones(months)], axis=1)
    return np.asarray(operating[:, :, None] * worth)


def _present(
    amounts: Floats, source: CapacitySource, calendar: Calendar, *, is_priced: bool
) -> Floats:
    """[T, 2] with what is paid later than at the start of its month worth less today."""
    amounts[:, 0] += source.payment_shift(
        calendar,
        lambda charge: is_priced is (not source.is_owned or charge.category in FINANCING),
    )
    return amounts


def _unit_hours(source: CapacitySource) -> float:
    return source.capacity * source.hours_per_month
