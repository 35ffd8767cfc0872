"""Everything a plan is made from, and the same at other prices, terms and demand. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.copies import cached_property, replace
from planner.contract.request.finance import OtherCost
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model import spend_pools as other_costs
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import ServerToBuy
from planner.costing.cost_model.rental import (
    cheapest_on_demand,
    fall_back,
    is_list_price_by_date,
    limit_by_date,
    price_rental,
    reserved_days,
)
from planner.costing.cost_model.spend_pools import SpendPool
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.existing import NO_LIMITS, ExistingContracts, SupplyLimits
from planner.costing.inputs.servers import ServerSelection
from planner.costing.optimizer.problem import CapitalBudget, CommitmentOption, PlanProblem, Quota
from planner.costing.run_peaks import RunPeaks, fill_nodes
from pricing.market.coverage import CoverageRow

Floats = NDArray[np.float64]


WORTH_ALONE = frozenset({"discount_rate_per_year"})
"""Figures that say what money is worth and are in no charge."""
OWNING_ALONE = frozenset({"electricity_per_kwh", "colocation_per_kw_month"})
"""Figures that are in the charges of servers alone."""


@dataclass(frozen=True)
class ModelInputs:
    """Offers and servers that matter, assumptions, demand and limits: all that makes a plan."""

    rentals: tuple[CapacitySource, ...]
    """Offers before their charges: those follow from assumptions, demand and data."""
    servers: ServerSelection
    throughput: Mapping[str, float]
    assumptions: Assumptions
    calendar: Calendar
    hours: Floats
    """[T] reference accelerator-hours."""
    peak: Floats
    """[T] reference accelerators at once."""
    data: CloudData
    term_end: str = "full"
    quotas: tuple[Quota, ...] = ()
    supply: SupplyLimits = NO_LIMITS
    max_spot_share: float = 1.0
    capex_budget: float | None = None
    capex_by_period: tuple[CapitalBudget, ...] = ()
    monthly_budget: float | None = None
    total_budget: float | None = None
    whole_nodes: bool = False
    """Whether machines rented by the hour rent whole."""
    is_level: bool = False
    """Whether the peak is the mean of work that goes on all month."""
    replica: int = 0
    """Reference accelerators of one replica of a service; 0: other work."""
    job_sizes: Mapping[str, int] = field(default_factory=dict)
    """Accelerators of each kind that one job takes; 1 where not named."""
    packed_sizes: Mapping[str, int] = field(default_factory=dict)
    """Accelerators in whose multiples the work fills machines; 1 where not named."""
    coverage: tuple[CoverageRow, ...] = ()
    """What is known of the prices that the request asks for."""
    interruptible: bool = True
    """Whether scenarios other than spot may use what can be taken back."""
    one_accelerator: bool = False
    """Whether a plan keeps to one kind of accelerator."""
    one_machine: bool = False
    """Whether a plan rents one kind of machine."""
    least_peaks: Mapping[str, tuple[float, ...]] | None = None
    """[T] reference accelerators that runs take at least on a kind; None: no least."""
    beyond_peak: Mapping[str, int] = field(default_factory=dict)
    """Accelerators of each kind at the busiest of a day beyond those around the clock."""
    fills_machines: bool = False
    """Whether runs take every accelerator of the machines that they rent."""
    spare_hours: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """[T] hours planned for to keep a deadline, over the median, on a kind; 1 where not named."""
    existing: ExistingContracts = field(default_factory=ExistingContracts)
    """What is signed already."""
    pools: tuple[SpendPool, ...] = ()
    """Credits and minimum spends."""
    other_costs: tuple[OtherCost, ...] = ()
    """Costs beside machines."""
    windows: tuple[slice, ...] = (slice(None),)
    """Months in each of which work has to be done."""
    scenario: ScenarioKey | None = None
    """Scenario whose own other costs count; None: those that all have."""

    @cached_property
    def sources(self) -> tuple[CapacitySource, ...]:
        """Every source of accelerator-hours with its charges."""
        known = self.throughput, self.assumptions, self.calendar, self.packed_sizes
        built = self.existing.build_sources(*known, self.data, self.hours)
        return (
            *self.priced_rentals,
            *self.server_sources,
            *map(self._with_data, built),
            *self._idle_storage(),
            *self._other_costs(self.scenario),
        )

    @cached_property
    def priced_rentals(self) -> tuple[CapacitySource, ...]:
        """The offers with their charges."""
        return tuple(self._price_rentals())

    @cached_property
    def server_sources(self) -> tuple[CapacitySource, ...]:
        """The servers, to buy and in place, with their charges."""
        known = self.throughput, self.assumptions, self.calendar, self.packed_sizes
        built = self.servers.build_sources(*known)
        return tuple(map(self._with_data, built))

    def _with_data(self, source: CapacitySource) -> CapacitySource:
        return self.data.charge_own(source, self.calendar, self.hours)

    @cached_property
    def by_key(self) -> dict[str, CapacitySource]:
        """Sources by key."""
        return {source.key: source for source in self.sources}

    @cached_property
    def units(self) -> dict[str, CommitmentOption]:
        """What is started in whole units, as the optimiser sees it, by key."""
        units_started = (source for source in self.sources if source.term is not None)
        keeps_cash = self.monthly_budget is not None
        return {s.key: s.commitment_option(self.calendar, keeps_cash) for s in units_started}

    @cached_property
    def runs(self) -> RunPeaks:
        """What runs keep at work at once."""
        return RunPeaks(self.hours, self.peak, self.least_peaks, self.fills_machines)

    @cached_property
    def problem(self) -> PlanProblem:
        """The optimiser's view: every source, every limit."""
        calendar, months = self.calendar, self.calendar.months
        fixed_cash = sum((s.fixed_cash(calendar) for s in self.sources), np.zeros(calendar.length))
        due = [
            source.stream_cash(stream, self.calendar)
            for source in self.sources
            for stream in source.fixed_streams
            if stream.category is not Category.RESIDUAL
        ]
        problem = PlanProblem(
            hours=self.hours,
            peak=self.peak,
            rental_options=tuple(
                replace(s.rental_option(calendar), in_parts=not self.rents_whole(s))
                for s in self.sources
                if s.term is None and s.capacity and not s.stands_for
            ),
            units=tuple(self.units.values()),
            quotas=self.quotas,
            max_spot_share=self.max_spot_share,
            capex_budget=self.capex_budget,
            capex_by_period=self.capex_by_period,
            monthly_budget=self.monthly_budget,
            total_budget=self.total_budget,
            whole_nodes=self.whole_nodes,
            base_cost=float(fixed_cash @ calendar.discount)
            + sum(s.fixed_shift(calendar) for s in self.sources),
            base_cash=fixed_cash[:months],
            base_payments=float(np.sum(due)),
        )
        return self.supply.apply(problem, self.by_key, self.servers.by_key)

    @property
    def parts_nodes(self) -> bool:
        """Whether limits may part machines among offers."""
        return self.supply.tells_providers_apart or 0.0 < self.max_spot_share < 1.0

    def keys(self, options: Collection[str]) -> frozenset[str]:
        """Keys of the sources of some purchase options; what is owned already is always there."""
        return frozenset(
            s.key for s in self.sources if s.purchase_option in options or s.existing is not None
        )

    def rents_whole(self, source: CapacitySource) -> bool:
        """Whether its machines rent whole while work lasts; of level work the last single not."""
        return self.whole_nodes and not (self.is_level and source.accelerators <= 1)

    def with_units(self, units: Mapping[str, int]) -> ModelInputs:
        """The same with just so many units of some sources started."""
        copy = replace(self)
        vars(copy)["problem"] = replace(
            self.problem,
            units=tuple(
                replace(unit, min_units=units[unit.key], max_units=units[unit.key])
                if unit.key in units
                else unit
                for unit in self.problem.units
            ),
        )
        return copy

    def for_scenario(self, key: ScenarioKey) -> ModelInputs:
        """The same with the other costs of one scenario."""
        has_own = any(cost.scenarios is not None for cost in self.other_costs)
        return replace(self, scenario=key) if has_own and key is not self.scenario else self

    def fixed_sources(self, key: ScenarioKey) -> tuple[CapacitySource, ...]:
        """What costs something whatever one scenario buys: servers in place, data at rest, and
        its other costs."""
        fixed = [s for s in self.sources if s.fixed_streams and s.key != other_costs.KEY]
        return (*fixed, *self._other_costs(key))

    def _other_costs(self, key: ScenarioKey | None) -> tuple[CapacitySource, ...]:
        source = other_costs.build_other_cost_source(
            self.other_costs, key, self.calendar, self.hours
        )
        return () if source is None else (source,)

    def _price_rentals(self) -> Iterator[CapacitySource]:
        for rental in self.rentals:
            hours = self.hours
            peak, at_peak = self.runs.of(rental), self.runs.hours_of(rental)
            if self.rents_whole(rental) and not rental.is_committed:
                filled = fill_nodes(peak, rental.capacity) * at_peak
                hours = np.where(peak > 0, filled, self.hours)
            is_limited = is_list_price_by_date(rental)
            if is_limited:
                days = reserved_days(at_peak, self.calendar.start)
                rental = limit_by_date(rental, self.hours, peak, days)
            yield price_rental(
                rental,
                self.assumptions,
                self.calendar,
                hours,
                self.data,
                self.term_end,
                fall_back(rental, self.fallback),
                at_peak if is_limited else None,
            )

    @cached_property
    def fallback(self) -> CapacitySource | None:
        """What spot that is not there falls back to; None without an offer on demand."""
        return cheapest_on_demand(self.rentals)

    def find_fallbacks(self, used: Collection[str]) -> set[str]:
        """Key of the offer at whose price sources in use are paid while spot is not there."""
        in_use = [self.by_key[key] for key in used if key in self.by_key]
        return {self.fallback.key for one in in_use if self.fallback and one.availability}

    def _idle_storage(self) -> Iterator[CapacitySource]:
        stream = self.data.stored_all_the_time(self.calendar, self.hours)
        if stream is None:
            return
        yield CapacitySource("data", "Data at rest", "", "", 0.0, 0.0, fixed_streams=(stream,))

    def with_assumption(self, field: str, value: float) -> ModelInputs:
        """The same with another value of one assumption."""
        assumptions = replace(self.assumptions, values={**self.assumptions.values, field: value})
        calendar = replace(
            self.calendar,
            discount_rate_per_year=assumptions["discount_rate_per_year"],
            tax_rate=assumptions["tax_rate"],
            upfront_deduction_spread=assumptions["upfront_deduction_spread"],
        )
        changed = replace(
            self,
            assumptions=assumptions,
            calendar=calendar,
            data=replace(self.data, assumptions=assumptions),
        )
        rents_as_before = field in WORTH_ALONE | OWNING_ALONE
        return self._share_with(changed, rents_as_before, field in WORTH_ALONE)

    def _share_with(self, changed: ModelInputs, rentals: bool, servers: bool) -> ModelInputs:
        if rentals:
            vars(changed)["priced_rentals"] = self.priced_rentals
        if servers:
            vars(changed)["server_sources"] = self.server_sources
        return changed

    def in_other_months(self, hours: Floats, peak: Floats) -> ModelInputs:
        """The same with its work in other months, for the same charges."""
        return self._share_with(replace(self, hours=hours, peak=peak), rentals=True, servers=True)

    def with_servers(self, to_buy: tuple[ServerToBuy, ...]) -> ModelInputs:
        """The same with other ranges of what servers cost and of when they come."""
        changed = replace(self, servers=replace(self.servers, to_buy=to_buy))
        return self._share_with(changed, rentals=True, servers=True)
