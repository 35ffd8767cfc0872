"""Data that goes where the work is done: what keeping it and carrying it out costs. PURE."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.charges import HourCharge
from planner.costing.cost_model.terms import Calendar
from pricing.market import storage_prices
from pricing.market.exchange_rates import ExchangeRates

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DataPrices:
    """Average prices in one place at the request's volumes, in its currency."""

    storage_per_gib_month: float
    egress_per_gib: float


@dataclass(frozen=True)
class CloudData:
    """Data kept in the cloud and carried out of it, with prices by place.

    A place without a known price takes the default of the assumptions.
    """

    assumptions: Assumptions
    storage_gib: float = 0.0
    egress_gib_per_month: float = 0.0
    checkpoint_gib: float | None = None
    units_per_usd: float = 1.0
    exchange_rates: ExchangeRates = field(default_factory=ExchangeRates)

    @property
    def has_data(self) -> bool:
        """Whether anything is stored or carried out."""
        return bool(self.storage_gib or self.egress_gib_per_month)

    @cached_property
    def _cache(self) -> dict[tuple[str, str], DataPrices]:
        return {}

    def prices_at(self, provider: str, region: str) -> DataPrices:
        """Prices of a place: what the whole volume costs there, by the GiB."""
        place = (provider, region)
        if place not in self._cache:
            self._cache[place] = DataPrices(
                self._price(place, "object", self.storage_gib, "storage_per_gib_month"),
                self._price(place, "egress", self.egress_gib_per_month, "egress_per_gib"),
            )
        return self._cache[place]

    def monthly_cost_at(self, provider: str, region: str) -> float:
        """Cost of a month's data if all the work were done in one place."""
        prices = self.prices_at(provider, region)
        storage = self.storage_gib * prices.storage_per_gib_month
        return storage + self.egress_gib_per_month * prices.egress_per_gib

    def _price(self, place: tuple[str, str], kind: str, gib: float, default: str) -> float:
        rates = storage_prices.find_rates(*place, kind) if gib else ()
        if not rates:
            return self.assumptions[default]
        rate = float(self.exchange_rates.find(rates[0].currency).units_per_usd)
        return storage_prices.tiered_cost(rates, gib) / gib / rate * self.units_per_usd

    def build_charges(
        self, provider: str, region: str, capacity: float, calendar: Calendar, hours: Floats
    ) -> tuple[HourCharge, ...]:
        """Storage and egress of a month per useful node-hour: GiB · capacity / H."""
        if not self.has_data:
            return ()
        share = np.zeros(calendar.length)
        np.divide(capacity, hours, out=share[: calendar.months], where=hours > 0)
        prices = self.prices_at(provider, region)
        storage, carried = prices.storage_per_gib_month, prices.egress_per_gib
        parts = (
            (Category.STORAGE, "Storage", "GiB-months", self.storage_gib, storage),
            (Category.EGRESS, "Egress", "GiB", self.egress_gib_per_month, carried),
        )
        return tuple(
            HourCharge(category, label, unit, gib * share, np.full(calendar.length, price))
            for category, label, unit, gib, price in parts
            if gib
        )
