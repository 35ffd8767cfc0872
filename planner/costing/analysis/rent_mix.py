"""What a plan rents by the hour, split by what moves its price. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.purchase_options import traits
from planner.costing.analysis.monte_carlo import shift_months
from planner.costing.analysis.plan_exposure import list_on_demand, list_spot
from planner.costing.cost_model.by_date import is_list_price_by_date, reserved_hours
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge
from planner.costing.cost_model.spend_pools import BILLED
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of, peak_of
from planner.costing.scenarios import scenario_options
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]

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


@dataclass(frozen=True)
class BillPart:
    """What a provider with a credit or minimum spend bills for an hour rented, before tax."""

    provider: str
    driver_key: str
    """Source whose price `moved` follows."""
    moved: Floats
    """[T]"""
    still: Floats
    """[T] what no price moves: data."""


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
    bills: tuple[BillPart, ...] = ()

    def follow(self, needed: Floats, planned: Floats, has_units: NDArray[np.bool_]) -> Floats:
        """Width rented where `needed` is lacking instead of the `planned` width: as much more or
        less than the plan rents, to the nearest whole node: what is over waits or fits in. Where
        the plan rents, or no unit serves (`has_units`), work that is there never rents nothing:
        less than half a node rents one for part of its time."""
        size = np.where(self.node > 0, self.node, 1.0)
        change = needed - planned
        whole = np.where(self.node > 0, np.rint(change / size) * size, change)
        is_rented = (self.node > 0) & ((self.width > 0) | ~has_units)
        least = np.where(is_rented, np.minimum(needed, size), 0.0)
        return np.where(needed > ROUNDING, np.maximum(self.width + whole, least), 0.0)


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
        return shift_months(amounts, slip, keep_total=False) if self._follows_work else amounts

    @property
    def _follows_work(self) -> bool:
        return is_list_price_by_date(self.source)


def list_reservations(scenario: Scenario, inputs: ModelInputs) -> tuple[Reservation, ...]:
    """What a plan reserves by date; none under rules that let it follow the hours."""
    if not inputs.limits_days:
        return ()
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
            hours * charge.per_hour[:months] * left, _worth(charge, calendar), charge.is_rent
        )
        for charge in source.hour_charges
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
    """With the fallback of the scenario in months that have no share: spot where that is cheaper,
    else on demand."""
    missing = 1.0 - sum((share for _, share in mixes), np.zeros(inputs.calendar.months))
    missing = np.where(missing > 0.5, 1.0, 0.0)
    known = inputs.calendar.months
    on_demand, spot = list_on_demand(inputs), list_spot(scenario, inputs)
    candidates = [cheapest(on_demand, known), cheapest(spot, known)]
    fallbacks = [source for source in candidates if source is not None]
    if not missing.any() or not fallbacks:
        return mixes
    known = _months_that_differ(fallbacks, known)
    return [*mixes, (min(fallbacks, key=lambda s: _mean_cost(s, known)), missing)]


def constant_mix(source: CapacitySource | None, scenario: Scenario, inputs: ModelInputs) -> RentMix:
    months = inputs.calendar.months
    mixes = [] if source is None else [(source, np.ones(months))]
    return _mix(mixes, np.zeros(months), scenario, inputs)


def _mix(mixes: _Mixes, width: Floats, scenario: Scenario, inputs: ModelInputs) -> RentMix:
    months = inputs.calendar.months
    data, spot_share, parts = np.zeros((months, 2)), np.zeros(months), []
    node = np.full(months, np.inf)
    for source, share in mixes:
        for part, of_data in _parts(source, share, inputs):
            data += of_data
            parts += [part] if part is not None else []
        spot_share += share * source.is_spot
        is_whole_node = inputs.rents_whole(source) and not scenario.is_level
        size = source.capacity if is_whole_node else 0.0
        node = np.where(share > 0, np.minimum(node, size), node)
    if not mixes:
        parts = [_own_average(scenario, inputs)]
    is_whole = np.isfinite(node)
    pooled = {pool.provider for pool in inputs.pools}
    bills = tuple(_bill(s, share, months) for s, share in mixes if pooled and s.provider in pooled)
    return RentMix(tuple(parts), data, spot_share, width, np.where(is_whole, node, 0.0), bills)


def _bill(source: CapacitySource, share: Floats, months: int) -> BillPart:
    moved, still = np.zeros(months), np.zeros(months)
    for charge in source.hour_charges:
        if charge.category in BILLED:
            target = moved if charge.is_rent else still
            target += charge.per_hour[:months] / source.capacity * share
    return BillPart(source.provider, source.key, moved, still)


def _parts(
    source: CapacitySource, share: Floats, inputs: ModelInputs
) -> Iterator[tuple[RentPart | None, Floats]]:
    """The prices of an hour rented, and what its data costs."""
    calendar, months = inputs.calendar, inputs.calendar.months
    weight = ((1.0 - calendar.tax_rate) / source.capacity * share)[:, None]
    nothing = np.zeros((months, 2))
    own, fallback = np.zeros((months, 2)), np.zeros((months, 2))
    for charge in source.hour_charges:
        per_hour = charge.per_hour[:months, None] * _worth(charge, calendar)
        if not charge.is_rent:
            yield None, per_hour * weight
        elif charge.is_fallback:
            fallback += per_hour
        else:
            own += per_hour
    yield RentPart(source, False, source.key, own * weight), nothing
    if fallback.any():
        key = inputs.fallback.key if inputs.fallback is not None else ""
        yield RentPart(source, True, key, fallback * weight), nothing


def _worth(charge: HourCharge, calendar: Calendar) -> Floats:
    """[T, 2] what 1 due in month t is worth today, and 1."""
    months = calendar.months
    return np.stack([calendar.discount_of(charge.paid)[:months], np.ones(months)], axis=1)


def _own_average(scenario: Scenario, inputs: ModelInputs) -> RentPart:
    """Without anything to rent: an hour at the average cost of the scenario's own."""
    served = float(scenario.served_hours.sum())
    cost = np.array([scenario.cost, float(scenario.total_cost)])
    average = cost / served if served else np.zeros(2)
    none = CapacitySource("", "", "", "", 0.0, 0.0)
    return RentPart(none, False, "", np.ones((inputs.calendar.months, 1)) * average)


def cheapest(sources: Sequence[CapacitySource], months: int = 1) -> CapacitySource | None:
    """The source that costs least in the first month; where discounts hold in some months only,
    over the `months` of the plan."""
    known = _months_that_differ(sources, months)
    return min(sources, key=lambda s: (_mean_cost(s, known), s.key), default=None)


def _mean_cost(source: CapacitySource, months: int) -> float:
    """Mean cost of a reference hour in the first months."""
    hour = sum(float(c.per_hour[:months].mean()) for c in source.hour_charges)
    return hour / source.capacity


def _months_that_differ(sources: Sequence[CapacitySource], months: int) -> int:
    return months if any(source.price_by_month is not None for source in sources) else 1
