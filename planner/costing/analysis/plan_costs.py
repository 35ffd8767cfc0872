"""What a plan pays, split by what moves it: the plan as samples with fitted prices see it. PURE.

Money has two columns: net present, and nominal. Hours are hours of the reference accelerator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.labels import traits
from planner.costing.analysis.plan_exposure import (
    list_on_demand,
    list_spot,
    measure_in_place,
    run_in_place,
)
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import FINANCING
from planner.costing.cost_model.ownership import sale_value
from planner.costing.cost_model.rental import is_list_price_by_date, reserved_hours
from planner.costing.cost_model.spend_pools import BILLED, SpendPool, bills_of, in_advance
from planner.costing.cost_model.terms import Calendar, PaidWhen
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of, peak_of
from planner.costing.scenarios import scenario_options
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PoolBills:
    """Credits and minimum spends with the bills that use them up, before tax."""

    pools: tuple[SpendPool, ...]
    bills: Mapping[str, Floats]
    """Provider → [L, 2] what it bills in every outcome: what is there or signed at once."""
    later: Mapping[str, Floats]
    """Key of what starts later → [T, L, 2] of a unit by the month of its start."""
    in_use: Mapping[str, Floats]
    """Provider → [T, 2] of an hour of units."""
    worth: tuple[Floats, ...]
    """[L, 2] of a line of each pool, after tax."""


@dataclass(frozen=True)
class Resale:
    """What servers of one source fetch in the end."""

    key: str
    """Source whose price at the horizon's end it follows."""
    value: Floats
    """[2], negative."""
    most: float
    """Factor at which they fetch the price that the plan pays for them."""


@dataclass(frozen=True)
class PlanCosts:
    """A plan as samples see it."""

    fixed: Floats
    """[2] servers in place, and the starts of the first month, residual values left out."""
    residual: tuple[Resale, ...]
    """Of the servers bought in the first month."""
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
    bought: tuple[Cohort, ...] = ()
    """Servers bought in the first month."""
    pools: PoolBills | None = None
    peak: Floats | None = None
    """[T] reference accelerators at once; None: those of the demand."""
    reserved: tuple[Reservation, ...] = ()
    """What is reserved by date, and in no mix of what is rented."""
    running: Floats | None = None
    """[T, 2] cost of running the servers in place, part of `fixed`; None without any."""


def measure_plan(
    scenario: Scenario, inputs: ModelInputs, units: Mapping[str, UnitCosts]
) -> PlanCosts:
    """A plan as samples see it; `units` has the costs of every source that may be started."""
    fixed, residual = measure_in_place(inputs.fixed_sources(scenario.key), inputs.calendar)
    existing = [source for source in inputs.sources if source.existing is not None]
    cohorts = list_cohorts(scenario.units_started, inputs.by_key, units)
    held = hold_planned(cohorts, existing, fixed, residual, inputs.calendar.months)
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
    held_by_date = sum((one.held for one in reserved), np.zeros(inputs.calendar.months))
    hours_left = inputs.hours - np.minimum(held_by_date, inputs.hours)
    spare = rent.width - _lacking(hours_left, most, at_peak)
    is_idle = spare > np.maximum(rent.node * (1.0 - ROUNDING), ROUNDING * (1.0 + rent.width))
    paid = rent.width * at_peak
    used = np.maximum(hours_left - paid, 0.0)
    share = np.divide(used, most, out=np.ones_like(most), where=most > 0)
    usable = np.where(is_idle, np.minimum(share, 1.0), 1.0)
    return PlanCosts(
        fixed=held.fixed,
        residual=held.residual,
        width=held.width,
        hours=held.hours,
        later=held.later,
        usable=usable,
        lacking=_lacking(hours_left, usable * most, at_peak),
        peak=own_peak,
        in_use=_in_use(scenario, inputs, {k: one.hour for k, one in units.items()}, in_service),
        rent=rent,
        more=rent_beyond(by_hour, inputs, rent),
        on_demand=constant_mix(cheapest(list_on_demand(inputs)), scenario, inputs),
        pools=_pools(scenario, inputs, held.later, in_service),
        bought=held.bought,
        reserved=reserved,
        running=run_in_place(inputs.fixed_sources(scenario.key), inputs.calendar),
    )


def list_priced_sources(plans: Sequence[Scenario], inputs: ModelInputs) -> set[str]:
    """Keys of the sources whose prices these plans pay, or would beyond what they plan."""
    keys = {s.key for s in inputs.sources if s.existing is not None}
    fallbacks = [inputs.fallback, cheapest(list_on_demand(inputs))]
    for plan in plans:
        keys |= {*plan.units_started, *plan.used_hours}
        fallbacks.append(cheapest(list_spot(plan, inputs)))
    return keys | {source.key for source in fallbacks if source is not None}


def _pools(
    scenario: Scenario, inputs: ModelInputs, later: Iterable[Cohort], width: Floats
) -> PoolBills | None:
    if not inputs.pools:
        return None
    calendar, left = inputs.calendar, 1.0 - inputs.calendar.tax_rate
    bills = {pool.provider: np.zeros((calendar.length, 2)) for pool in inputs.pools}
    for line in scenario.lines:
        if line.provider in bills and line.category in BILLED:
            bills[line.provider][line.month, in_advance(line.category)] += float(line.amount)
    own = {key: one for key, one in inputs.by_key.items() if one.provider in bills}
    billed = {key: bills_of(one, calendar) for key, one in own.items()}
    for key in scenario.used_hours.keys() & own.keys():  # outcomes rent and use hours of their own
        used = scenario.used_hours[key][:, None] * billed[key].hour[: calendar.months]
        bills[own[key].provider][: calendar.months] -= used
    cohorts = [cohort for cohort in later if cohort.source.key in own]
    for cohort in cohorts:
        unit = billed[cohort.source.key].unit[cohort.month]
        bills[cohort.source.provider] -= cohort.units * unit
    in_use = {
        provider: _in_use(
            scenario,
            inputs,
            {key: one.hour for key, one in billed.items() if own[key].provider == provider},
            width,
        )
        for provider in bills
    }
    starts = {cohort.source.key: billed[cohort.source.key].unit for cohort in cohorts}
    worth = tuple(calendar.worth[pool.paid] * left for pool in inputs.pools)
    return PoolBills(inputs.pools, bills, starts, in_use, worth)


def _lacking(hours: Floats, served: Floats, at_peak: Floats) -> Floats:
    lacking = np.maximum(hours - served, 0.0)
    return np.divide(lacking, at_peak, out=np.zeros_like(lacking), where=at_peak > 0)


def _in_use(
    scenario: Scenario, inputs: ModelInputs, rates: Mapping[str, Floats], width: Floats
) -> Floats:
    months = inputs.calendar.months
    used, of_service = np.zeros(months), np.zeros((months, 2))
    of_use = np.zeros((months, 2))
    for key, source in inputs.by_key.items():
        started = scenario.units_started.get(key)
        if source.term is None or (started is None and source.existing is None):
            continue
        rate = rates[key][:months] if key in rates else np.zeros((months, 2))
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


ROUNDING = 1e-9
"""Share of a node below which a rest counts as none."""


@dataclass(frozen=True)
class RentPart:
    """One price of what is rented by the hour."""

    source: CapacitySource
    is_fallback: bool
    """Whether it is on demand for hours in which spot is not there."""
    driver_key: str
    """Source whose price it follows; "" for none."""
    rate: Floats
    """[T, 2] of an hour rented, as the plan mixes them."""
    billed: Floats | float = 0.0
    """[T] what its provider bills of it, before tax."""


@dataclass(frozen=True)
class RentMix:
    """What an hour rented costs in each month."""

    parts: tuple[RentPart, ...]
    data: Floats
    """[T, 2] storage and egress."""
    spot_share: Floats
    """[T] share of the hours that is spot."""
    width: Floats
    """[T] reference accelerators rented at the peak."""
    node: Floats
    """[T] reference accelerators of the node by which more or less is rented; 0: parts of nodes."""
    billed: Mapping[str, Floats] = field(default_factory=dict)
    """Provider → [T] what it bills for data, before tax."""

    def follow(
        self,
        needed: Floats,
        planned: Floats,
        has_units: NDArray[np.bool_] | np.bool_,
        all_month: bool = False,
    ) -> Floats:
        """Width rented where `needed` is lacking instead of the `planned` width: as much more or
        less than the plan rents, to the nearest whole node: what is over waits or fits in. Where
        the plan rents, or no unit serves (`has_units`), work that is there never rents nothing:
        less than half a node rents one for part of its time, or a whole one where it goes on
        `all_month`."""
        change = needed - planned
        if not self.node.any():
            return _at_least(self.width + change, 0.0, needed)
        size = np.where(self.node > 0, self.node, 1.0)
        whole = np.where(self.node > 0, np.rint(change / size) * size, change)
        is_rented = (self.node > 0) & ((self.width > 0) | ~has_units)
        least = np.where(is_rented, size if all_month else np.minimum(needed, size), 0.0)
        return _at_least(self.width + whole, least, needed)


def _at_least(width: Floats, least: Floats | float, needed: Floats) -> Floats:
    """No less than `least`, and nothing where nothing is needed; written in place."""
    np.maximum(width, least, out=width)
    width *= needed > ROUNDING
    return width


def hours_at_peak(hours: Floats, peak: Floats) -> Floats:
    """[T] hours that the peak lasts, H / P; a whole month where no peak is asked for."""
    at_peak = np.where(hours > 0, float(HOURS_PER_MONTH), 0.0)
    return np.divide(hours, peak, out=at_peak, where=peak > 0)


@dataclass(frozen=True)
class ReservedBill:
    """One charge of what is reserved by date, as planned."""

    amounts: Floats
    """[T] after tax."""
    worth: Floats
    """[T, 2] of an amount due in a month."""
    is_rent: bool
    """Whether it follows the price of the source."""
    billed: float = 0.0
    """Share of it that counts as its provider's bill: before tax."""


@dataclass(frozen=True)
class Reservation:
    """Machines of one source that a plan reserves by date: paid for whether they work or not."""

    source: CapacitySource
    held: Floats
    """[T] reference hours that it can work."""
    bills: tuple[ReservedBill, ...]

    def move(self, amounts: Floats, slip: int) -> Floats:
        """[T] where the work comes `slip` months later: it is reserved when that begins, but for a
        block with dates of its own."""
        return (
            shift_months(amounts, slip, keep_total=False)
            if is_list_price_by_date(self.source)
            else amounts
        )

    def is_booked(self, slip: int, ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """[n, T] whether a project that `ends` has reserved it by then: each stretch of work from
        a list is reserved when it begins, a block with dates of its own at the start."""
        held = self.move(self.held, slip) > 0
        begins = held & ~np.append(False, held[:-1])
        first = np.maximum.accumulate(np.where(begins, np.arange(held.size), 0))
        return (first < ends[:, None]) | (not is_list_price_by_date(self.source))


def list_reservations(scenario: Scenario, inputs: ModelInputs) -> tuple[Reservation, ...]:
    """What a plan reserves by date."""
    used = ((inputs.by_key[key], hours) for key, hours in sorted(scenario.used_hours.items()))
    return tuple(
        _reserve(source, hours, scenario, inputs)
        for source, hours in used
        if source.term is None and traits(source.purchase_option).is_paid_ahead
    )


def _reserve(
    source: CapacitySource, hours: Floats, scenario: Scenario, inputs: ModelInputs
) -> Reservation:
    calendar, months = inputs.calendar, inputs.calendar.months
    held, left = hours * source.capacity, 1.0 - calendar.tax_rate
    if is_list_price_by_date(source):  # alone it works on to the end of its last day
        days = reserved_hours(peak_hours_of(scenario, inputs, source))
        held = np.where(held >= inputs.hours * (1.0 - ROUNDING), held * days, held)
    bills = (
        ReservedBill(
            hours * one.per_hour[:months] * left,
            calendar.worth[one.paid][:months],
            one.is_rent,
            (one.category in BILLED) / left,
        )
        for one in source.hour_charges
    )
    return Reservation(source, held, tuple(bills))


def without_reservations(scenario: Scenario, inputs: ModelInputs) -> Scenario:
    """The plan without what it reserves by date."""
    reserved = {one.source.key for one in list_reservations(scenario, inputs)}
    if not reserved:
        return scenario
    used = {key: hours for key, hours in scenario.used_hours.items() if key not in reserved}
    return replace(scenario, used_hours=used)


def planned_rent(scenario: Scenario, inputs: ModelInputs) -> RentMix:
    """The plan's mix of each month; where it rents nothing, what its scenario would rent."""
    months = inputs.calendar.months
    hours = [
        (inputs.by_key[key], used)
        for key, used in sorted(scenario.used_hours.items())
        if inputs.by_key[key].term is None
    ]
    total = sum((used * s.capacity for s, used in hours), np.zeros(months))
    mixes = [
        (source, np.divide(used * source.capacity, total, out=np.zeros(months), where=total > 0))
        for source, used in hours
    ]
    own_peak = peak_of(scenario, inputs)
    at_peak = hours_at_peak(inputs.hours, inputs.peak if own_peak is None else own_peak)
    width = np.divide(total, at_peak, out=np.zeros(months), where=at_peak > 0)
    return _mix(_filled(mixes, scenario, inputs), width, scenario, inputs)


def rent_beyond(scenario: Scenario, inputs: ModelInputs, planned: RentMix) -> RentMix:
    """The plan's mix as well, but for what is reserved by date or sold in some months only."""
    bound = {
        s.key
        for s in (part.source for part in planned.parts)
        if s.offer is not None
        and (s.available is not None or traits(s.purchase_option).is_paid_ahead)
    }
    if not bound:
        return planned
    used = {key: hours for key, hours in scenario.used_hours.items() if key not in bound}
    return planned_rent(replace(scenario, used_hours=used), inputs)


def may_rent(scenario: Scenario, inputs: ModelInputs) -> bool:
    """Whether a scenario may rent anything by the hour, beside what it plans."""
    options = scenario_options(scenario.key, inputs.interruptible)
    hourly = (s for s in inputs.sources if s.term is None and s.capacity)
    return any(source.purchase_option in options for source in hourly)


_Mixes = list[tuple[CapacitySource, Floats]]
"""Sources with [T] the share of the hours that each serves."""


def _filled(mixes: _Mixes, scenario: Scenario, inputs: ModelInputs) -> _Mixes:
    missing = 1.0 - sum((share for _, share in mixes), np.zeros(inputs.calendar.months))
    missing = np.where(missing > 0.5, 1.0, 0.0)
    on_demand, spot = list_on_demand(inputs), list_spot(scenario, inputs)
    candidates = [cheapest(on_demand), cheapest(spot)]
    fallbacks = [source for source in candidates if source is not None]
    if not missing.any() or not fallbacks:
        return mixes
    return [*mixes, (min(fallbacks, key=_first_cost), missing)]


def constant_mix(source: CapacitySource | None, scenario: Scenario, inputs: ModelInputs) -> RentMix:
    months = inputs.calendar.months
    mixes = [] if source is None else [(source, np.ones(months))]
    return _mix(mixes, np.zeros(months), scenario, inputs)


def _mix(mixes: _Mixes, width: Floats, scenario: Scenario, inputs: ModelInputs) -> RentMix:
    months = inputs.calendar.months
    data, spot_share = np.zeros((months, 2)), np.zeros(months)
    parts: list[RentPart] = []
    billed = {pool.provider: np.zeros(months) for pool in inputs.pools}
    node = np.full(months, np.inf)
    for source, share in mixes:
        parts += _parts(source, share, inputs, data, billed.get(source.provider, np.zeros(months)))
        spot_share += share * source.is_spot
        is_whole_node = inputs.rents_whole(source) and not scenario.is_level
        size = source.capacity if is_whole_node else 0.0
        node = np.where(share > 0, np.minimum(node, size), node)
    if not mixes:
        served = float(scenario.served_hours.sum())
        cost = np.array([scenario.cost, float(scenario.total_cost)])
        average = cost / served if served else np.zeros(2)
        none = CapacitySource("", "", "", "", 0.0, 0.0)
        parts = [RentPart(none, False, "", np.ones((inputs.calendar.months, 1)) * average)]
    is_whole = np.isfinite(node)
    return RentMix(tuple(parts), data, spot_share, width, np.where(is_whole, node, 0.0), billed)


def _parts(
    source: CapacitySource, share: Floats, inputs: ModelInputs, data: Floats, billed: Floats
) -> Iterator[RentPart]:
    """The rents of a source; what it charges for data is added to `data`, and `billed` before
    tax."""
    calendar, months, of_hour = inputs.calendar, inputs.calendar.months, share / source.capacity
    weight = ((1.0 - calendar.tax_rate) / source.capacity * share)[:, None]
    rents = {False: np.zeros((months, 2)), True: np.zeros((months, 2))}
    bills = {False: np.zeros(months), True: np.zeros(months)}
    for charge in source.hour_charges:
        per_hour = charge.per_hour[:months, None] * calendar.worth[charge.paid][:months]
        bill = charge.per_hour[:months] * of_hour * (charge.category in BILLED)
        if charge.is_rent:
            rents[charge.is_fallback] += per_hour
            bills[charge.is_fallback] += bill
        else:
            data += per_hour * weight
            billed += bill
    yield RentPart(source, False, source.key, rents[False] * weight, bills[False])
    if rents[True].any():
        key = inputs.fallback.key if inputs.fallback is not None else ""
        yield RentPart(source, True, key, rents[True] * weight, bills[True])


def cheapest(sources: Sequence[CapacitySource]) -> CapacitySource | None:
    """The source that costs least in the first month."""
    return min(sources, key=lambda s: (_first_cost(s), s.key), default=None)


def _first_cost(source: CapacitySource) -> float:
    return sum(float(charge.per_hour[0]) for charge in source.hour_charges) / source.capacity


def shift_months(values: Floats, slip: int, keep_total: bool = True) -> Floats:
    """`values` moved `slip` months later; what leaves the horizon is piled on its last month."""
    months = len(values)
    slip = min(slip, months - 1)
    if not slip:
        return values
    moved = np.concatenate([np.zeros(slip), values[: months - slip]])
    if keep_total:
        moved[-1] += values[months - slip :].sum()
    return moved


@dataclass(frozen=True)
class UnitCosts:
    """What one unit of a source costs by the month of its start, after tax; [T, 2] each."""

    operating: Floats
    """What no price moves."""
    priced: Floats
    """Commitments, and the purchase of servers: moves with the price in the month of the start."""
    residual: Floats
    """Negative; moves with the price at the horizon's end."""
    most_resale: Floats
    """[T] factor on the residual value at which it reaches the price paid."""
    hour: Floats
    """[T, 2] of one node-hour of use."""
    can_start: NDArray[np.bool_]
    """[T]"""
    monthly: Floats | None = None
    """[T, T, 2] of servers: what of `operating` falls due in each month; saved while they are
    late, and once they are sold."""
    sales: Sales | None = None
    """Of servers that are owned."""


@dataclass(frozen=True)
class Sales:
    """What one server fetches if it is sold before its time; nominal."""

    value: Floats
    """[T, T + 1] by the month in which it is bought and that in which it is sold."""
    paid: Floats
    """[T] its price, which it does not fetch more than."""
    worth: Floats
    """[T + 1, 2] of an amount fetched in a month, after tax."""

    @classmethod
    def of(cls, source: CapacitySource, inputs: ModelInputs) -> Sales | None:
        """Of a server to buy; None for anything else."""
        server, calendar = inputs.servers.by_key.get(source.key), inputs.calendar
        if server is None or source.is_leased or source.existing is not None:
            return None
        assumptions = server.assumptions(inputs.assumptions)
        bought, sold = np.ogrid[: calendar.months, : calendar.months + 1]
        trend = 1.0 + assumptions["server_price_trend_per_year"]
        left = 1.0 - calendar.tax_rate * float(source.taxes_capital)
        return cls(
            value=sale_value(server.unit_price, np.maximum(sold - bought, 0), bought, assumptions),
            paid=server.unit_price * trend ** (bought[:, 0] / 12.0),
            worth=calendar.worth[PaidWhen.DATED][: calendar.months + 1] * left,
        )


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

    def running_costs(self, start: int) -> Floats:
        """[T, 2] what a server ordered in month `start` costs to run; before it should serve, as
        much as in the first month in which it does."""
        assert self.costs.monthly is not None
        assert self.source.term is not None
        costs, first = self.costs.monthly[start], start + self.source.term.lead_months
        if first >= len(costs):
            return np.zeros_like(costs)
        return np.concatenate([np.tile(costs[first], (first, 1)), costs[first:]])


@dataclass(frozen=True)
class PlannedUnits:
    """What a plan owns and commits to; the fields are those of `PlanCosts`."""

    fixed: Floats
    residual: tuple[Resale, ...]
    width: Floats
    hours: Floats
    later: tuple[Cohort, ...]
    bought: tuple[Cohort, ...]
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
    months: int,
) -> PlannedUnits:
    """Units `existing` and started; `fixed` and `residual`: what is due for the former, and fetched
    by them."""
    ordered = sorted(cohorts, key=lambda c: c.month)
    first = [cohort for cohort in ordered if cohort.month == 0]
    later = tuple(cohort for cohort in ordered if cohort.month > 0)
    sold = [Resale(key, value, math.inf) for key, value in residual]
    width, hours, all_hours = np.zeros(months), np.zeros(months), np.zeros(months)
    for source in existing:
        assert source.existing is not None
        width += source.existing * source.capacity
        hours += source.existing * source.capacity * source.hours_per_month
    for cohort in first:
        fixed = fixed + cohort.units * (cohort.costs.operating[0] + cohort.costs.priced[0])
        value = cohort.units * cohort.costs.residual[0]
        sold.append(Resale(cohort.source.key, value, float(cohort.costs.most_resale[0])))
        width += cohort.units * cohort.source.capacity * cohort.service(0)
        hours += cohort.units * _unit_hours(cohort.source) * cohort.service(0)
    all_hours += hours
    all_width = width.copy()
    for cohort in later:
        all_hours += cohort.units * _unit_hours(cohort.source) * cohort.service(cohort.month)
        all_width += cohort.units * cohort.source.capacity * cohort.service(cohort.month)
    return PlannedUnits(
        fixed=fixed,
        residual=tuple(one for one in sold if one.value.any()),
        width=width,
        hours=hours,
        later=later,
        bought=tuple(cohort for cohort in first if cohort.source.is_owned),
        all_width=all_width,
        all_hours=all_hours,
    )


def measure_units(source: CapacitySource, calendar: Calendar) -> UnitCosts:
    """What one unit of a source costs."""
    assert source.term is not None
    months, tax = calendar.months, calendar.tax_rate
    worth = calendar.worth[PaidWhen.DATED]
    amounts = source.unit_amounts()
    paid, capital = amounts.paid, amounts.capital
    residual = sum(
        (c.amounts(source.term) for c in source.unit_charges if c.category is Category.RESIDUAL),
        np.zeros_like(paid),
    )
    taxed, fetched = float(source.taxes_capital), -residual.sum(axis=1)
    bought = (c for c in source.unit_charges if c.category is Category.CAPEX)
    price = sum((c.amounts(source.term).sum(axis=1) for c in bought), np.zeros_like(fetched))
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
        monthly=(
            operating[:, :months, None] * calendar.worth[PaidWhen.RUNNING][:months]
            if source.is_owned
            else None
        ),
        priced=_present(priced @ worth, source, calendar, is_priced=True),
        residual=residual * (1.0 - tax * taxed) @ worth,
        most_resale=np.divide(price, fetched, out=np.full_like(price, np.inf), where=fetched > 0),
        hour=hour,
        can_start=np.isfinite(option.start_cost),
    )


def _present(
    amounts: Floats, source: CapacitySource, calendar: Calendar, *, is_priced: bool
) -> Floats:
    amounts[:, 0] += source.payment_shift(
        calendar, lambda charge: is_priced is (not source.is_owned or charge.category in FINANCING)
    )
    return amounts


def _unit_hours(source: CapacitySource) -> float:
    return source.capacity * source.hours_per_month
