"""What a plan is exposed to: its cost split by what a change of circumstances moves. PURE.

What is started stays as planned; hours of use follow the circumstances: the single changes of
`sensitivity` cost a plan this way. Owned and committed units serve up to
B = min(hours they have, width they have · hours at peak) of the hours H of a month, the rest is
rented as the plan mixes it, but never more of it spot than `max_spot_share` of H.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.labels import ON_DEMAND, SPOT
from planner.costing.cost_model.capacity_source import CapacitySource, UnitValue
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_of
from planner.costing.scenarios import scenario_options

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Exposure:
    """A scenario in changed circumstances; costs are net present or nominal, per reference hour."""

    fixed: float
    """What nothing changes: servers bought, operating them, commitments started in month 0."""
    residual: float
    """Residual value, negative."""
    later_commitments: Floats
    """[T] commitments by the month in which they start."""
    hours: Floats
    """[T] reference hours that units can deliver."""
    width: Floats
    """[T] reference accelerators of the units in service."""
    rent: Floats
    """[T] rent of an hour that moves with prices, spot left out."""
    spot: Floats
    """[T] the same of the share rented spot."""
    data: Floats
    """[T] storage and egress of an hour rented."""
    in_use: Floats
    """[T] cost of an hour used of units."""
    max_spot_share: float
    """Most of the hours asked in a month that may be spot."""
    spot_share: Floats
    """[T] share of the hours rented that is spot, as long as that is within the most."""
    on_demand_rent: Floats
    """[T] rent of an hour that may not be spot."""
    peak: Floats | None = None
    """[T] reference accelerators at once; None: those of the demand."""


def measure_exposures(
    scenarios: Iterable[Scenario], inputs: ModelInputs, calendar: Calendar | None = None
) -> list[Exposure]:
    """Each plan in the same circumstances: net present, or in the money of `calendar`."""
    circumstances = _Circumstances(inputs, calendar or inputs.calendar)
    return [circumstances.expose(scenario) for scenario in scenarios]


def cost_as_planned(exposures: Sequence[Exposure], hours: Floats, peak: Floats) -> list[float]:
    """Cost of each exposure for [T] hours at a peak."""
    costs = []
    for exposure in exposures:
        widths = peak if exposure.peak is None else exposure.peak
        at_peak = np.divide(hours, widths, out=np.zeros(len(hours)), where=widths > 0)
        at_peak = np.maximum(at_peak, (hours > 0) * 1.0)
        rented = np.maximum(hours - np.minimum(exposure.hours, exposure.width * at_peak), 0.0)
        total = hours @ exposure.in_use + rented @ (exposure.data - exposure.in_use)
        total += exposure.later_commitments.sum()
        if exposure.max_spot_share < 1.0:
            share = exposure.spot_share
            excess = np.maximum(rented * share - hours * exposure.max_spot_share, 0.0)
            spot = np.divide(exposure.spot, share, out=np.zeros_like(share), where=share > 0)
            total += excess @ (exposure.on_demand_rent - spot)
        total += rented @ exposure.rent + rented @ exposure.spot
        costs.append(float(total + exposure.fixed + exposure.residual))
    return costs


@dataclass(frozen=True)
class _Circumstances:
    inputs: ModelInputs
    calendar: Calendar

    def expose(self, scenario: Scenario) -> Exposure:
        calendar, months = self.calendar, self.calendar.months
        fixed, residual = self._fixed_costs(scenario.key)
        fixed += scenario.pool_cost(calendar)
        later_commitments, hours, width, in_use, in_service_cost = np.zeros((5, months))
        used_hours = np.zeros(months)
        nothing = np.zeros(months)
        for source in (one for one in self.inputs.sources if one.term is not None):
            units_started = np.asarray(
                scenario.units_started.get(source.key, nothing), dtype=np.float64
            )
            if source.existing is None and not units_started.any():
                continue
            in_service = source.units_in_service(units_started)
            hours += in_service * source.hours_per_month * source.capacity
            width += in_service * source.capacity
            source_hours = scenario.used_hours.get(source.key, nothing)
            used_hours += source_hours * source.capacity
            unit = source.unit_value(calendar)
            in_use += source_hours * unit.hour_cost
            in_service_cost += in_service * unit.hour_cost
            cost, residual_value = _start_costs(unit, units_started)
            residual += residual_value
            fixed += float(cost[0]) if not source.is_owned else float(cost.sum())
            if not source.is_owned:
                later_commitments[1:] += cost[1:]
        rents = self._rents(scenario)
        np.divide(in_service_cost, width, out=in_service_cost, where=width > 0)
        in_use = np.divide(in_use, used_hours, out=in_service_cost, where=used_hours > 0)
        return Exposure(
            fixed,
            residual,
            later_commitments,
            hours,
            width,
            rents.rent,
            rents.spot,
            rents.data,
            in_use,
            self.inputs.max_spot_share,
            rents.spot_share,
            rents.on_demand_rent,
            peak_of(scenario, self.inputs),
        )

    def _fixed_costs(self, key: ScenarioKey) -> tuple[float, float]:
        if self.inputs.other_costs:
            return measure_fixed_costs(self.inputs.fixed_sources(key), self.calendar)
        if "common" not in self._fixed:
            sources = self.inputs.fixed_sources(key)
            self._fixed["common"] = measure_fixed_costs(sources, self.calendar)
        return self._fixed["common"]

    @cached_property
    def _fixed(self) -> dict[str, tuple[float, float]]:
        return {}

    def _rents(self, scenario: Scenario) -> _Rents:
        known = self.inputs.worked_out_from_rentals
        key = (id(scenario), self.calendar)
        if key not in known:  # with the scenario, so that its id stays its own
            known[key] = (scenario, self._average_rents(scenario))
        rents: _Rents = known[key][1]
        return rents

    def _average_rents(self, scenario: Scenario) -> _Rents:
        inputs, calendar, months = self.inputs, self.calendar, self.calendar.months
        rent, spot, data, hours, spot_hours = np.zeros((5, months))
        from_units = np.zeros(months)
        for key, used in scenario.used_hours.items():
            source = inputs.by_key[key]
            if source.term is not None:
                from_units += used * source.capacity
                continue
            price, data_cost = source.split_hour_cost(calendar)
            into = spot if source.is_spot else rent
            into += used * price
            data += used * data_cost
            hours += used * source.capacity
            spot_hours += used * source.capacity * source.is_spot
        if inputs.whole_nodes:  # what is rented beside the need is part of the price of the need
            needed = np.maximum(np.asarray(scenario.served_hours) - from_units, 0.0)
            spot_hours *= np.divide(needed, hours, out=np.ones(months), where=hours > needed)
            hours = np.minimum(hours, needed)
        on_demand, data_cost = self._on_demand or self._average_cost(scenario)
        spot_price, spot_data_cost = self._spot(scenario)
        is_spot = spot_price + spot_data_cost < on_demand + data_cost
        rents = hours > 0
        for rate, fallback in (
            (rent, np.where(is_spot, 0.0, on_demand)),
            (spot, np.where(is_spot, spot_price, 0.0)),
            (data, np.where(is_spot, spot_data_cost, data_cost)),
            (spot_hours, is_spot.astype(np.float64)),
        ):
            rate[:] = np.divide(rate, hours, out=fallback, where=rents)
        return _Rents(rent, spot, data, spot_hours, on_demand)

    @cached_property
    def _on_demand(self) -> tuple[Floats, Floats] | None:
        candidates = list_on_demand(self.inputs)
        return _cheapest(candidates, self.calendar) if candidates else None

    def _average_cost(self, scenario: Scenario) -> tuple[Floats, Floats]:
        months = self.calendar.months
        served = float(scenario.served_hours.sum())
        is_present = self.calendar is self.inputs.calendar
        cost = scenario.cost if is_present else float(scenario.total_cost)
        return np.full(months, cost / served if served else 0.0), np.zeros(months)

    def _spot(self, scenario: Scenario) -> tuple[Floats, Floats]:
        candidates = list_spot(scenario, self.inputs)
        keys = tuple(source.key for source in candidates)
        if keys not in self._spots:
            months = self.calendar.months
            self._spots[keys] = (
                _cheapest(candidates, self.calendar)
                if candidates
                else (np.full(months, np.inf), np.zeros(months))
            )
        return self._spots[keys]

    @cached_property
    def _spots(self) -> dict[tuple[str, ...], tuple[Floats, Floats]]:
        return {}


def measure_fixed_costs(
    sources: Sequence[CapacitySource], calendar: Calendar
) -> tuple[float, float]:
    """Operating cost of the servers already owned, and their residual value."""
    operating_cost = residual_value = 0.0
    for source in sources:
        for stream in source.fixed_streams:
            due = source.stream_cash(stream, calendar)
            worth = calendar.discount_of(stream.payment)
            if stream.category is Category.RESIDUAL:
                residual_value += float(due @ worth)
            else:
                operating_cost += float(due @ worth)
    return operating_cost, residual_value


def measure_in_place(
    sources: Iterable[CapacitySource], calendar: Calendar
) -> tuple[Floats, list[tuple[str, Floats]]]:
    """[2] operating cost of servers in place, net present and nominal, and what each fetches."""
    nominal = replace(calendar, discount_rate_per_year=0.0)
    fixed, residual = np.zeros(2), []
    for source in sources:
        both = [measure_fixed_costs((source,), one) for one in (calendar, nominal)]
        fixed += np.array([operating for operating, _ in both])
        residual.append((source.key, np.array([value for _, value in both])))
    return fixed, residual


def _start_costs(unit: UnitValue, units_started: Floats) -> tuple[Floats, float]:
    residual_value = units_started * unit.residual
    start = unit.start_cost
    start_cost = np.where(
        units_started > 0, units_started * np.where(np.isfinite(start), start, 0.0), 0.0
    )
    return start_cost - residual_value, float(residual_value.sum())


@dataclass(frozen=True)
class _Rents:
    rent: Floats
    spot: Floats
    data: Floats
    spot_share: Floats
    on_demand_rent: Floats


def list_on_demand(inputs: ModelInputs) -> list[CapacitySource]:
    """Offers on demand; where there is none, all that is rented by the hour."""
    hourly = [s for s in inputs.sources if s.term is None and s.capacity]
    return [s for s in hourly if s.purchase_option in ON_DEMAND] or hourly


def list_spot(scenario: Scenario, inputs: ModelInputs) -> list[CapacitySource]:
    """Spot offers that a scenario may rent in any month; none where spot is ruled out."""
    options = scenario_options(scenario.key, inputs.interruptible) & SPOT
    if not inputs.max_spot_share:
        return []
    return [
        s
        for s in inputs.sources
        if s.is_spot and s.capacity and s.available is None and s.purchase_option in options
    ]


def _cheapest(sources: Sequence[CapacitySource], calendar: Calendar) -> tuple[Floats, Floats]:
    months = calendar.months if any(s.price_by_month is not None for s in sources) else 1
    cheapest = min(
        sources,
        key=lambda s: (float(s.split_hour_cost(calendar)[0][:months].mean()) / s.capacity, s.key),
    )
    price, data = cheapest.split_hour_cost(calendar)
    return price / cheapest.capacity, data / cheapest.capacity
