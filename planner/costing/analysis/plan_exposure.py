"""What a plan is exposed to: its cost split by what a change of circumstances moves. PURE.

What is begun stays as planned; hours of use follow the circumstances. Both the many futures of
`risk` and the single changes of `sensitivity` cost a plan this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import Category
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import ON_DEMAND, OPTIONS, SPOT, Project

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Exposure:
    """A scenario as the futures see it; costs are net present, per reference hour."""

    fixed: float
    """What no future changes: servers bought, their keep, commitments begun at the start."""
    residual: float
    """Residual value, negative."""
    later_commitments: Floats
    """[T] commitments by the month in which they begin."""
    hours: Floats
    """[T] reference hours that units can deliver."""
    width: Floats
    """[T] reference accelerators of the units up."""
    rent: Floats
    """[T] rent of an hour that moves with prices, spot left out."""
    spot: Floats
    """[T] the same of the share rented spot."""
    data: Floats
    """[T] storage and egress of an hour rented."""
    use: Floats
    """[T] cost of an hour used of units."""
    max_spot_share: float = 1.0
    """Most of the hours asked in a month that may be spot."""
    spot_share: Floats = field(default_factory=lambda: np.zeros(0))
    """[T] share of the hours rented that is spot, as long as that is within the most."""
    on_demand_rent: Floats = field(default_factory=lambda: np.zeros(0))
    """[T] rent of an hour that may not be spot."""


def measure_exposure(scenario: Scenario, project: Project) -> Exposure:
    """A scenario's plan as the futures see it."""
    months = project.calendar.months
    fixed, residual = _fixed(project)
    later_commitments, hours, width, use, in_turn = (np.zeros(months) for _ in range(5))
    used = np.zeros(months)
    for key, source in project.by_key.items():
        units_started = np.asarray(
            scenario.units_started.get(key, np.zeros(months)), dtype=np.float64
        )
        if source.term is None or (not units_started.any() and source.existing is None):
            continue
        up = source.up(units_started)
        hours += up * source.hours_per_month * source.capacity
        width += up * source.capacity
        mine = scenario.used_hours.get(key, np.zeros(months))
        used += mine * source.capacity
        use += mine * project.units[key].hour_cost
        in_turn += up * project.units[key].hour_cost
        cost, kept = _start_costs(source, units_started, project)
        residual += kept
        fixed += float(cost[0]) if not source.is_owned else float(cost.sum())
        if not source.is_owned:
            later_commitments[1:] += cost[1:]
    rents = _rents(scenario, project)
    np.divide(in_turn, width, out=in_turn, where=width > 0)
    use = np.where(used > 0, use / np.maximum(used, 1e-12), in_turn)
    return Exposure(
        fixed,
        residual,
        later_commitments,
        hours,
        width,
        rents.rent,
        rents.spot,
        rents.data,
        use,
        project.max_spot_share,
        rents.spot_share,
        rents.on_demand_rent,
    )


def _fixed(project: Project) -> tuple[float, float]:
    """Keep of the servers already in place, and their residual value."""
    calendar = project.calendar
    kept = resold = 0.0
    for source in project.sources:
        for stream in source.fixed:
            is_taxed = stream.category is not Category.RESIDUAL or source.taxes_capital
            due = stream.quantity * stream.unit_price * (1.0 - calendar.tax_rate * is_taxed)
            if stream.category is Category.RESIDUAL:
                resold += float(due @ calendar.discount)
            else:
                kept += float(due @ calendar.discount)
    return kept, resold


def _start_costs(
    source: CapacitySource, units_started: Floats, project: Project
) -> tuple[Floats, float]:
    """[T] present cost of units by their start without the residual value, and that value."""
    calendar = project.calendar
    assert source.term is not None
    keep = 1.0 - calendar.tax_rate * source.taxes_capital
    residual = sum(
        (c.amounts(source.term) for c in source.unit_charges if c.category is Category.RESIDUAL),
        np.zeros((calendar.months, calendar.length)),
    )
    resold = units_started * (residual @ calendar.discount) * keep
    start = project.units[source.key].start_cost
    whole = np.where(
        units_started > 0, units_started * np.where(np.isfinite(start), start, 0.0), 0.0
    )
    return whole - resold, float(resold.sum())


@dataclass(frozen=True)
class _Rents:
    """[T] What an hour rented costs, as a plan mixes them in each month."""

    rent: Floats
    spot: Floats
    data: Floats
    spot_share: Floats
    on_demand_rent: Floats


def _rents(scenario: Scenario, project: Project) -> _Rents:
    """What an hour rented costs in each month.

    A month in which the plan rents nothing takes what its scenario may rent: spot where that is
    cheaper, else on demand, so that a future beyond the plan's capacity is paid for.
    """
    months = project.calendar.months
    rent, spot, data, hours, spot_hours = (np.zeros(months) for _ in range(5))
    for key, used in scenario.used_hours.items():
        source = project.by_key[key]
        if source.term is not None:
            continue
        price, carried = _split(source, project)
        into = spot if source.is_spot else rent
        into += used * price
        data += used * carried
        hours += used * source.capacity
        spot_hours += used * source.capacity * source.is_spot
    dear, carried = _on_demand(scenario, project)
    cheap, carried_spot = _spot(scenario, project)
    is_spot = cheap + carried_spot < dear + carried
    for of_plan, otherwise in (
        (rent, np.where(is_spot, 0.0, dear)),
        (spot, np.where(is_spot, cheap, 0.0)),
        (data, np.where(is_spot, carried_spot, carried)),
        (spot_hours, is_spot),
    ):
        np.divide(of_plan, hours, out=of_plan, where=hours > 0)
        of_plan[hours <= 0] = otherwise[hours <= 0]
    return _Rents(rent, spot, data, spot_hours, dear)


def _split(source: CapacitySource, project: Project) -> tuple[Floats, Floats]:
    """[T] net present rent, and data, of one useful node-hour."""
    calendar = project.calendar
    months = calendar.months
    after_tax = (1.0 - calendar.tax_rate) * calendar.discount[:months]
    price, data = np.zeros(months), np.zeros(months)
    for charge in source.hour_charges:
        is_data = charge.category in (Category.STORAGE, Category.EGRESS)
        into = data if is_data else price
        into += charge.per_hour[:months] * after_tax
    return price, data


def _on_demand(scenario: Scenario, project: Project) -> tuple[Floats, Floats]:
    """[T] rent and data of an hour on demand; without offers, the scenario's own average cost."""
    hourly = [s for s in project.sources if s.term is None and s.capacity]
    wanted = [s for s in hourly if s.purchase_option in ON_DEMAND] or hourly
    months = project.calendar.months
    if not wanted:
        served = float(scenario.served_hours.sum())
        average = scenario.cost / served if served else 0.0
        return np.full(months, average), np.zeros(months)
    return _cheapest(wanted, project)


def _spot(scenario: Scenario, project: Project) -> tuple[Floats, Floats]:
    """[T] rent and data of an hour of spot; ∞ where the scenario may not rent any."""
    wanted = [
        s
        for s in project.sources
        if s.is_spot
        and s.capacity
        and s.available is None
        and s.purchase_option in OPTIONS[scenario.key] & SPOT
    ]
    if not wanted or not project.max_spot_share:
        return np.full(project.calendar.months, np.inf), np.zeros(project.calendar.months)
    return _cheapest(wanted, project)


def _cheapest(sources: Sequence[CapacitySource], project: Project) -> tuple[Floats, Floats]:
    """[T] rent and data of a reference hour of the source that is cheapest in the first month."""
    first = min(sources, key=lambda s: (float(_split(s, project)[0][0]) / s.capacity, s.key))
    price, data = _split(first, project)
    return price / first.capacity, data / first.capacity
