"""Data that goes where the work is done, or has a home: what keeping and moving it costs. PURE.

Without a home the data of a month is kept where the work of the month is done, by its share. With
one it is kept there all the time; work done elsewhere takes `transfer_gib` there each month, by its
share of the work: it pays for the way out of the home and for keeping it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.copies import cached_property, replace
from planner.contract.request.finance import Data, DataHome
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model import storage_prices
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge, Stream
from planner.costing.cost_model.terms import Calendar
from pricing.market.exchange_rates import ExchangeRates

Floats = NDArray[np.float64]
ON_PREMISES = ("", "")
"""Provider and region of servers that the team owns."""
GIB_PER_TIB = 1024.0
MOVED = "Data moved to the work"
"""Label of what is paid for the way from the home."""
_LISTED: dict[str, tuple[str, str]] = {
    "storage": ("object", "storage_per_gib_month"),
    "egress": ("egress", "egress_per_gib"),
}
"""Kind in the price lists, and the figure that stands in where they say nothing."""


@dataclass(frozen=True)
class CloudData:
    """Data kept and carried, with prices by place.

    A place without a known price takes the default of the assumptions.
    """

    assumptions: Assumptions
    storage_gib: float = 0.0
    egress_gib_per_month: float = 0.0
    checkpoint_gib: float | None = None
    units_per_usd: float = 1.0
    exchange_rates: ExchangeRates = field(default_factory=ExchangeRates)
    home: DataHome | None = None
    transfer_gib: float = 0.0
    """Data that work away from the home takes there in a month."""

    @classmethod
    def read(
        cls, data: Data, assumptions: Assumptions, units_per_usd: float, rates: ExchangeRates
    ) -> CloudData:
        """That of a request."""
        return cls(
            assumptions,
            data.storage_gib or 0.0,
            data.egress_gib_per_month or 0.0,
            data.checkpoint_gib,
            units_per_usd,
            rates,
            data.home,
            data.moved_gib_per_month,
        )

    @property
    def has_data(self) -> bool:
        """Whether anything is stored or carried out."""
        return bool(self.storage_gib or self.egress_gib_per_month)

    @cached_property
    def _cache(self) -> dict[tuple[str, str], tuple[_Part, ...]]:
        return {}

    def monthly_cost_at(self, provider: str, region: str) -> float:
        """Cost of a month's data if all the work were done in one place."""
        return sum(part.gib * part.price for part in self._parts((provider, region)))

    def is_away(self, provider: str, region: str) -> bool:
        """Whether a place is not where the data lives."""
        if self.home is None:
            return False
        return (provider, region) != self.home.place

    def _parts(self, place: tuple[str, str]) -> tuple[_Part, ...]:
        if place not in self._cache:
            parts = (part for part in self._list_parts(place) if part.gib)
            self._cache[place] = tuple(parts)
        return self._cache[place]

    def _list_parts(self, place: tuple[str, str]) -> Iterator[_Part]:
        away = self.is_away(*place)
        if self.home is None or away:
            gib = self.transfer_gib if away else self.storage_gib
            yield _Part(Category.STORAGE, "Storage", "GiB-months", gib, self._storage(place, gib))
        if place != ON_PREMISES and self.egress_gib_per_month:
            gib = self.egress_gib_per_month
            yield _Part(Category.EGRESS, "Egress", "GiB", gib, self._price(place, "egress", gib))
        if away:
            assert self.home is not None
            home = self.home.place
            price = 0.0 if home == ON_PREMISES else self._price(home, "egress", self.transfer_gib)
            yield _Part(Category.EGRESS, MOVED, "GiB", self.transfer_gib, price)

    def _storage(self, place: tuple[str, str], gib: float) -> float:
        if place == ON_PREMISES:
            return self.assumptions["on_prem_storage_per_tib_month"] / GIB_PER_TIB
        return self._price(place, "storage", gib)

    def _price(self, place: tuple[str, str], item: str, gib: float) -> float:
        kind, name = _LISTED[item]
        is_stated = self.assumptions.is_from_request(name)
        rates = storage_prices.find_rates(*place, kind) if gib and not is_stated else ()
        if not rates:
            return self.assumptions[name]
        rate = float(self.exchange_rates.find(rates[0].currency).units_per_usd)
        return storage_prices.tiered_cost(rates, gib) / gib / rate * self.units_per_usd

    def build_charges(
        self, provider: str, region: str, capacity: float, calendar: Calendar, hours: Floats
    ) -> tuple[HourCharge, ...]:
        """Data of a month per useful node-hour: GiB · capacity / H."""
        if not self.has_data:
            return ()
        share = np.zeros(calendar.length)
        np.divide(capacity, hours, out=share[: calendar.months], where=hours > 0)
        return tuple(
            HourCharge(
                part.category,
                part.label,
                part.unit,
                part.gib * share,
                np.full(calendar.length, part.price),
            )
            for part in self._parts((provider, region))
            if part.price or provider
        )

    def charge_own(
        self, source: CapacitySource, calendar: Calendar, hours: Floats
    ) -> CapacitySource:
        """A server of the team's own with the data of the work done on it."""
        if not self.has_data or not source.is_owned or not source.capacity:
            return source
        charges = self.build_charges(*ON_PREMISES, source.capacity, calendar, hours)
        return replace(source, hour_charges=(*source.hour_charges, *charges))

    def stored_all_the_time(self, calendar: Calendar, hours: Floats) -> Stream | None:
        """Data kept at its home; without one, in the months without work, which no source of hours
        carries."""
        idle = np.ones(calendar.months) if self.home is not None else (hours <= 0) * 1.0
        if not self.storage_gib or not idle.any():
            return None
        price, label = self.assumptions["storage_per_gib_month"], "Storage in months without work"
        if self.home is not None:
            price = self._storage(self.home.place, self.storage_gib)
            label = "Storage where the data lives"
        quantity = np.zeros(calendar.length)
        quantity[: calendar.months] = self.storage_gib * idle
        prices = np.full(calendar.length, price)
        return Stream(Category.STORAGE, label, "GiB-months", quantity, prices)


@dataclass(frozen=True)
class _Part:
    category: Category
    label: str
    unit: str
    gib: float
    price: float
    """Of a GiB, at these volumes."""
