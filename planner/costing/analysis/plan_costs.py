"""What a plan pays, split by what moves it: the plan as samples with fitted prices see it. PURE.

Money has two columns: net present, and nominal. Hours are hours of the reference accelerator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.costing.analysis.plan_exposure import list_on_demand, list_spot, measure_fixed_costs
from planner.costing.analysis.rent_mix import (
    ROUNDING,
    RentMix,
    Reservation,
    cheapest,
    constant_mix,
    hours_at_peak,
    list_reservations,
    planned_rent,
    rent_beyond,
    without_reservations,
)
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import FINANCING
from planner.costing.cost_model.spend_pools import BILLED, SpendPool
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_of

Floats = NDArray[np.float64]
IN_EACH_SAMPLE = 2
"""Edition of the risk in which samples settle credits and minimum spends; 1 leaves what the plan
pays out of them."""


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
class PoolBills:
    """Credits and minimum spends with the bills of the plan that use them up."""

    pools: tuple[SpendPool, ...]
    bills: Mapping[str, Floats]
    """Provider → [L] what it bills by the plan, before tax."""
    worth: tuple[Floats, ...]
    """[L, 2] of a line of each pool, after tax."""


@dataclass(frozen=True)
class PlanCosts:
    """A plan as samples see it."""

    fixed: Floats
    """[2] servers in place, and the starts of the first month, residual values left out."""
    residual: tuple[tuple[str, Floats], ...]
    """Source and [2] residual value of the servers in place and bought in the first month."""
    width: Floats
    """[T] reference accelerators of servers in place and of starts in the first month."""
    hours: Floats
    """[T] reference hours that they can deliver."""
    later: tuple[Cohort, ...]
    """Starts after the first month, in their order."""
    usable: Floats
    """[T] share of the hours of units that the plan uses where it rents although some idle."""
    lacking: Floats
    """[T] reference accelerators at the peak that the plan's units lack."""
    in_use: Floats
    """[T, 2] cost of an hour of units."""
    rent: RentMix
    more: RentMix
    """What is rented beyond the plan."""
    on_demand: RentMix
    """What takes the place of spot beyond its greatest share."""
    unsure: tuple[Cohort, ...] = ()
    """Servers bought in the first month whose price or delivery may be another."""
    pools: PoolBills | None = None
    """None: none, or what they pay is in `fixed`."""
    peak: Floats | None = None
    """[T] reference accelerators at once; None: those of the demand."""
    reserved: tuple[Reservation, ...] = ()
    """What is reserved by date, and in no mix of what is rented."""


def measure_plan(
    scenario: Scenario, inputs: ModelInputs, units: Mapping[str, UnitCosts]
) -> PlanCosts:
    """A plan as samples see it; `units` has the costs of every source that may be started."""
    months = inputs.calendar.months
    cohorts = sorted(_cohorts(scenario, inputs, units), key=lambda c: c.month)
    first = [cohort for cohort in cohorts if cohort.month == 0]
    later = tuple(cohort for cohort in cohorts if cohort.month > 0)
    fixed, residual = _existing(scenario, inputs)
    width, hours, all_hours = np.zeros(months), np.zeros(months), np.zeros(months)
    for source in inputs.sources:
        if source.existing is not None:
            width += source.existing * source.capacity
            hours += source.existing * source.capacity * source.hours_per_month
    for cohort in first:
        fixed = fixed + cohort.units * (cohort.costs.operating[0] + cohort.costs.priced[0])
        residual.append((cohort.source.key, cohort.units * cohort.costs.residual[0]))
        width += cohort.units * cohort.source.capacity * cohort.service(0)
        hours += cohort.units * _unit_hours(cohort.source) * cohort.service(0)
    all_hours += hours
    all_width = width.copy()
    for cohort in later:
        all_hours += cohort.units * _unit_hours(cohort.source) * cohort.service(cohort.month)
        all_width += cohort.units * cohort.source.capacity * cohort.service(cohort.month)
    own_peak = peak_of(scenario, inputs)
    at_peak = hours_at_peak(inputs.hours, inputs.peak if own_peak is None else own_peak)
    most = np.minimum(all_hours, all_width * at_peak)
    reserved, by_hour = list_reservations(scenario, inputs), without_reservations(scenario, inputs)
    rent = planned_rent(by_hour, inputs)
    hours_left = inputs.hours - _work_reserved(reserved, inputs)
    usable = _usable_share(hours_left, most, rent, at_peak)
    return PlanCosts(
        fixed=fixed,
        residual=tuple((key, value) for key, value in residual if value.any()),
        width=width,
        hours=hours,
        later=later,
        usable=usable,
        lacking=_lacking(hours_left, usable * most, at_peak),
        peak=own_peak,
        in_use=_in_use(scenario, inputs, units, all_width),
        rent=rent,
        more=rent_beyond(by_hour, inputs, rent),
        on_demand=constant_mix(cheapest(list_on_demand(inputs)), scenario, inputs),
        pools=_pools(scenario, inputs),
        unsure=tuple(cohort for cohort in first if cohort.source.key in inputs.servers.unsure),
        reserved=reserved,
    )


def _work_reserved(reserved: Sequence[Reservation], inputs: ModelInputs) -> Floats:
    """[T] reference hours of the work that are planned on what is reserved by date."""
    held = sum((one.held for one in reserved), np.zeros(inputs.calendar.months))
    return np.minimum(held, inputs.hours)


def list_priced_sources(plans: Sequence[Scenario], inputs: ModelInputs) -> set[str]:
    """Keys of the sources whose prices these plans pay, or would beyond what they plan."""
    keys = {s.key for s in inputs.sources if s.existing is not None}
    fallbacks = [inputs.fallback, cheapest(list_on_demand(inputs))]
    for plan in plans:
        keys |= {*plan.units_started, *plan.used_hours}
        fallbacks.append(cheapest(list_spot(plan, inputs)))
    return keys | {source.key for source in fallbacks if source is not None}


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


def _cohorts(
    scenario: Scenario, inputs: ModelInputs, units: Mapping[str, UnitCosts]
) -> Iterator[Cohort]:
    for key, started in sorted(scenario.units_started.items()):
        for month in np.flatnonzero(started).tolist():
            yield Cohort(inputs.by_key[key], units[key], month, int(started[month]))


def _existing(scenario: Scenario, inputs: ModelInputs) -> tuple[Floats, list[tuple[str, Floats]]]:
    """[2] what is due whatever the plan, and the residual values of servers in place by source."""
    nominal = replace(inputs.calendar, discount_rate_per_year=0.0)
    fixed, residual = np.zeros(2), []
    if not _settles_pools(inputs):
        fixed += [scenario.pool_cost(one) for one in (inputs.calendar, nominal)]
    for source in inputs.fixed_sources(scenario.key):
        both = [measure_fixed_costs((source,), c) for c in (inputs.calendar, nominal)]
        fixed += np.array([operating for operating, _ in both])
        residual.append((source.key, np.array([value for _, value in both])))
    return fixed, residual


def _settles_pools(inputs: ModelInputs) -> bool:
    """Whether each sample uses up credits and minimum spends by its own bills."""
    return bool(inputs.pools) and inputs.assumptions["pool_edition"] >= IN_EACH_SAMPLE


def _pools(scenario: Scenario, inputs: ModelInputs) -> PoolBills | None:
    if not _settles_pools(inputs):
        return None
    calendar, left = inputs.calendar, 1.0 - inputs.calendar.tax_rate
    bills = {pool.provider: np.zeros(calendar.length) for pool in inputs.pools}
    for line in scenario.lines:
        if line.provider in bills and line.category in BILLED:
            bills[line.provider][line.month] += float(line.amount)
    worth = (
        np.stack([calendar.discount_of(pool.paid), np.ones(calendar.length)], axis=1) * left
        for pool in inputs.pools
    )
    return PoolBills(inputs.pools, bills, tuple(worth))


def _lacking(hours: Floats, served: Floats, at_peak: Floats) -> Floats:
    """[T] width at the peak that is lacking where units serve so many of the hours."""
    lacking = np.maximum(hours - served, 0.0)
    return np.divide(lacking, at_peak, out=np.zeros_like(lacking), where=at_peak > 0)


def _usable_share(hours: Floats, most: Floats, rent: RentMix, at_peak: Floats) -> Floats:
    """[T] 1, but where the plan rents although units idle the share of their hours that it uses."""
    spare = rent.width - _lacking(hours, most, at_peak)
    is_idle = spare > np.maximum(rent.node * (1.0 - ROUNDING), ROUNDING * (1.0 + rent.width))
    paid = rent.width * at_peak
    used = np.maximum(hours - paid, 0.0)
    share = np.divide(used, most, out=np.ones_like(most), where=most > 0)
    return np.where(is_idle, np.minimum(share, 1.0), 1.0)


def _in_use(
    scenario: Scenario, inputs: ModelInputs, units: Mapping[str, UnitCosts], width: Floats
) -> Floats:
    """[T, 2] cost of an hour of units: as the plan mixes them, else of all in service."""
    months = inputs.calendar.months
    used, of_service = np.zeros(months), np.zeros((months, 2))
    of_use = np.zeros((months, 2))
    for key, source in inputs.by_key.items():
        started = scenario.units_started.get(key)
        if source.term is None or (started is None and source.existing is None):
            continue
        rate = units[key].hour
        hours = scenario.used_hours.get(key)
        if hours is not None:
            used += hours * source.capacity
            of_use += hours[:, None] * rate
        in_service = source.units_in_service(
            np.zeros(months) if started is None else started.astype(np.float64)
        )
        of_service += in_service[:, None] * rate
    per_hour = np.divide(
        of_service, width[:, None], out=np.zeros_like(of_use), where=width[:, None] > 0
    )
    return np.divide(of_use, used[:, None], out=per_hour, where=used[:, None] > 0)
