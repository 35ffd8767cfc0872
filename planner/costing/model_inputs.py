"""Everything a plan is made from, and the same at other prices, terms and demand. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import Calendar, Stream
from planner.costing.cost_model.rental import price_rental
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.inputs.servers import ServerSelection
from planner.costing.optimizer.problem import CommitmentOption, PlanProblem, Quota

Floats = NDArray[np.float64]
ROUNDING = 1e-12
"""Relative error below which a peak counts as a whole number of nodes."""


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
    term_end: str = "prorate"
    quotas: tuple[Quota, ...] = ()
    max_spot_share: float = 1.0
    capex_budget: float | None = None
    monthly_budget: float | None = None
    whole_nodes: bool = False
    """Whether machines rented by the hour rent whole."""
    job_sizes: Mapping[str, int] = field(default_factory=dict)
    """Accelerators of each kind that one job takes; 1 where not named."""
    interruptible: bool = True
    """Whether scenarios other than spot may use what can be taken back."""

    @cached_property
    def sources(self) -> tuple[CapacitySource, ...]:
        """Every source of accelerator-hours with its charges."""
        return tuple(self._sources())

    @cached_property
    def by_key(self) -> dict[str, CapacitySource]:
        """Sources by key."""
        return {source.key: source for source in self.sources}

    @cached_property
    def units(self) -> dict[str, CommitmentOption]:
        """What is started in whole units, as the optimiser sees it, by key."""
        units_started = (source for source in self.sources if source.term is not None)
        return {source.key: source.commitment_option(self.calendar) for source in units_started}

    @cached_property
    def peak_hours(self) -> Floats:
        """[T] hours at peak: H / P, 0 without work."""
        return np.divide(self.hours, self.peak, out=np.zeros_like(self.hours), where=self.peak > 0)

    @cached_property
    def problem(self) -> PlanProblem:
        """The optimiser's view: every source, every limit."""
        calendar, months = self.calendar, self.calendar.months
        fixed_cash = sum((s.fixed_cash(calendar) for s in self.sources), np.zeros(calendar.length))
        return PlanProblem(
            hours=self.hours,
            peak=self.peak,
            rental_options=tuple(
                s.rental_option(calendar) for s in self.sources if s.term is None and s.capacity
            ),
            units=tuple(self.units.values()),
            quotas=self.quotas,
            max_spot_share=self.max_spot_share,
            capex_budget=self.capex_budget,
            monthly_budget=self.monthly_budget,
            whole_nodes=self.whole_nodes,
            base_cost=float(fixed_cash @ calendar.discount),
            base_cash=fixed_cash[:months],
        )

    def keys(self, options: Collection[str]) -> frozenset[str]:
        """Keys of the sources of some purchase options; what is owned already is always there."""
        return frozenset(
            s.key for s in self.sources if s.purchase_option in options or s.existing is not None
        )

    def _sources(self) -> Iterator[CapacitySource]:
        for rental in self.rentals:
            hours = self.hours
            if self.whole_nodes and not rental.is_committed:
                hours = self._hours_of_whole_nodes(rental.capacity)
            yield price_rental(
                rental, self.assumptions, self.calendar, hours, self.data, self.term_end
            )
        yield from self.servers.build_sources(
            self.throughput, self.assumptions, self.calendar, self.job_sizes
        )
        yield from self._idle_storage()

    def _hours_of_whole_nodes(self, capacity: float) -> Floats:
        """[T] reference accelerator-hours of ⌈P / capacity⌉ whole nodes for H / P hours: what the
        data of a month is shared over where nodes of this size do all the work."""
        nodes = np.ceil(self.peak / capacity * (1 - ROUNDING))
        return np.where(self.peak > 0, nodes * capacity * self.peak_hours, self.hours)

    def _idle_storage(self) -> Iterator[CapacitySource]:
        """Storage in the months without work, which no source of hours carries."""
        gib, idle = self.data.storage_gib, self.hours <= 0
        if not gib or not idle.any():
            return
        quantity = np.zeros(self.calendar.length)
        quantity[: self.calendar.months] = gib * idle
        price = np.full(self.calendar.length, self.assumptions["storage_per_gib_month"])
        stream = Stream(
            Category.STORAGE, "Storage in months without work", "GiB-months", quantity, price
        )
        yield CapacitySource("data", "Data at rest", "", "", 0.0, 0.0, fixed_streams=(stream,))

    def select_sources(self, keys: Collection[str]) -> ModelInputs:
        """The same with the sources of these keys alone; what is owned already stays."""
        servers = tuple(s for s in self.servers.to_buy if f"server:{s.slug}" in keys)
        return replace(
            self,
            rentals=tuple(r for r in self.rentals if r.key in keys),
            servers=replace(self.servers, to_buy=servers),
        )

    def with_assumption(self, field: str, value: float) -> ModelInputs:
        """The same with another value of one assumption."""
        assumptions = replace(self.assumptions, values={**self.assumptions.values, field: value})
        calendar = replace(
            self.calendar,
            discount_rate_per_year=assumptions["discount_rate_per_year"],
            tax_rate=assumptions["tax_rate"],
        )
        return replace(
            self,
            assumptions=assumptions,
            calendar=calendar,
            data=replace(self.data, assumptions=assumptions),
        )

    def with_demand(self, factor: float) -> ModelInputs:
        """The same with `factor` times the hours and the peak."""
        return replace(self, hours=self.hours * factor, peak=self.peak * factor)

    def with_rental_prices(self, factor: float) -> ModelInputs:
        """The same with every rental price, upfront included, times `factor`."""
        rentals = tuple(
            replace(r, price_per_hour=r.price_per_hour * factor, upfront=r.upfront * factor)
            for r in self.rentals
        )
        return replace(self, rentals=rentals)

    def with_unit_prices(self, factor: float) -> ModelInputs:
        """The same with the price of every server to buy times `factor`."""
        servers = tuple(replace(s, unit_price=s.unit_price * factor) for s in self.servers.to_buy)
        return replace(self, servers=replace(self.servers, to_buy=servers))
