"""What a plan pays, split by what moves it: the plan as samples with fitted prices see it. PURE.

Money has two columns: net present, and nominal. Hours are hours of the reference accelerator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.in_samples.planned_units import (
    Cohort,
    PlannedUnits,
    UnitCosts,
    hold_planned,
    list_cohorts,
)
from planner.costing.analysis.plan_exposure import list_on_demand, list_spot, measure_in_place
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
from planner.costing.cost_model.spend_pools import BILLED, SpendPool
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_of

Floats = NDArray[np.float64]
IN_EACH_SAMPLE = 2
"""Edition of the risk in which samples settle credits and minimum spends; 1 leaves what the plan
pays out of them."""


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
    fixed, residual = _existing(scenario, inputs)
    existing = [source for source in inputs.sources if source.existing is not None]
    cohorts = list_cohorts(scenario.units_started, inputs.by_key, units)
    unsure = inputs.servers.unsure
    months = inputs.calendar.months
    held = hold_planned(cohorts, existing, fixed, residual, unsure, months)
    return measure_beside(scenario, inputs, units, held, held.all_width)


def measure_beside(
    scenario: Scenario,
    inputs: ModelInputs,
    units: Mapping[str, UnitCosts],
    held: PlannedUnits,
    in_service: Floats,
) -> PlanCosts:
    """A plan as samples see it, beside units that it holds; `in_service`: [T] reference
    accelerators of all units that `scenario` starts, of which an hour costs their mean where the
    plan uses none."""
    own_peak = peak_of(scenario, inputs)
    at_peak = hours_at_peak(inputs.hours, inputs.peak if own_peak is None else own_peak)
    most = np.minimum(held.all_hours, held.all_width * at_peak)
    reserved, by_hour = list_reservations(scenario, inputs), without_reservations(scenario, inputs)
    rent = planned_rent(by_hour, inputs)
    hours_left = inputs.hours - _work_reserved(reserved, inputs)
    usable = _usable_share(hours_left, most, rent, at_peak)
    return PlanCosts(
        fixed=held.fixed,
        residual=held.residual,
        width=held.width,
        hours=held.hours,
        later=held.later,
        usable=usable,
        lacking=_lacking(hours_left, usable * most, at_peak),
        peak=own_peak,
        in_use=_in_use(scenario, inputs, units, in_service),
        rent=rent,
        more=rent_beyond(by_hour, inputs, rent),
        on_demand=constant_mix(
            cheapest(list_on_demand(inputs), inputs.calendar.months), scenario, inputs
        ),
        pools=_pools(scenario, inputs),
        unsure=held.unsure,
        reserved=reserved,
    )


def _work_reserved(reserved: Sequence[Reservation], inputs: ModelInputs) -> Floats:
    """[T] reference hours of the work that are planned on what is reserved by date."""
    held = sum((one.held for one in reserved), np.zeros(inputs.calendar.months))
    return np.minimum(held, inputs.hours)


def list_priced_sources(plans: Sequence[Scenario], inputs: ModelInputs) -> set[str]:
    """Keys of the sources whose prices these plans pay, or would beyond what they plan."""
    keys = {s.key for s in inputs.sources if s.existing is not None}
    months = inputs.calendar.months
    fallbacks = [inputs.fallback, cheapest(list_on_demand(inputs), months)]
    for plan in plans:
        keys |= {*plan.units_started, *plan.used_hours}
        fallbacks.append(cheapest(list_spot(plan, inputs), months))
    return keys | {source.key for source in fallbacks if source is not None}


def _existing(scenario: Scenario, inputs: ModelInputs) -> tuple[Floats, list[tuple[str, Floats]]]:
    """[2] what is due whatever the plan, and the residual values of servers in place by source."""
    fixed, residual = measure_in_place(inputs.fixed_sources(scenario.key), inputs.calendar)
    if not _settles_pools(inputs):
        nominal = replace(inputs.calendar, discount_rate_per_year=0.0)
        fixed += [scenario.pool_cost(one) for one in (inputs.calendar, nominal)]
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
