"""Data that goes where the work is done, or has a home: what keeping and moving it costs. PURE.

Without a home the data of a month is kept where the work of the month is done, by its share. With
one it is kept there all the time; work done elsewhere takes `transfer_gib` there each month, by its
share of the work: it pays for the way out of the home, into the place, and for keeping it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.request.finance import Data, DataHome, DataItem, DataPrice
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge, Stream
from planner.costing.cost_model.terms import Calendar
from pricing.common.copies import replace
from pricing.market import storage_prices
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]
ON_PREMISES = ("", "")
"""Provider and region of servers that the team owns."""
GIB_PER_TIB = 1024.0
GIGABITS_PER_GIB = 8.589934592
"""8 · 2³⁰ / 10⁹."""
MOVED = "Data moved to the work"
"""Label of what is paid for the way from the home."""
_LISTED: dict[DataItem, tuple[str, str]] = {
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
    own_prices: tuple[DataPrice, ...] = ()
    """Of the request, in its currency."""
    home: DataHome | None = None
    transfer_gib: float = 0.0
    """Data that work away from the home takes there in a month."""
    transfer_gbit_per_s: float | None = None

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
            data.prices,
            data.home,
            data.moved_gib_per_month,
            data.transfer_gbit_per_s,
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

    def waiting_hours(self, provider: str, region: str) -> float:
        """Hours of a month in which machines wait for data: GiB · Gbit per GiB / rate / 3600."""
        if self.transfer_gbit_per_s is None or not self.is_away(provider, region):
            return 0.0
        return self.transfer_gib * GIGABITS_PER_GIB / self.transfer_gbit_per_s / 3600.0

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
            out = self._own(home, "transfer", self.transfer_gib)
            if out is None:
                out = 0.0 if home == ON_PREMISES else self._price(home, "egress", self.transfer_gib)
            price = out + (self._own(place, "ingest", self.transfer_gib) or 0.0)
            yield _Part(Category.EGRESS, MOVED, "GiB", self.transfer_gib, price)

    def _storage(self, place: tuple[str, str], gib: float) -> float:
        if place == ON_PREMISES:
            return self.assumptions["on_prem_storage_per_tib_month"] / GIB_PER_TIB
        return self._price(place, "storage", gib)

    def _price(self, place: tuple[str, str], item: DataItem, gib: float) -> float:
        own = self._own(place, item, gib)
        if own is not None:
            return own
        kind, name = _LISTED[item]
        is_stated = self.assumptions.is_from_request(name)
        rates = storage_prices.find_rates(*place, kind) if gib and not is_stated else ()
        if not rates:
            return self.assumptions[name]
        rate = float(self.exchange_rates.find(rates[0].currency).units_per_usd)
        return storage_prices.tiered_cost(rates, gib) / gib / rate * self.units_per_usd

    def _own(self, place: tuple[str, str], item: DataItem, gib: float) -> float | None:
        for named in ((place[0], place[1]), (place[0], None), (None, None)):
            tiers = [p for p in self.own_prices if (p.item, p.provider, p.region) == (item, *named)]
            if tiers:
                return _average_price(tiers, gib)
        return None

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

    def let_wait(self, source: CapacitySource, peak_hours: Floats) -> CapacitySource:
        """A source whose machines wait for data that comes from elsewhere.

        Rented by the hour they are paid for W hours of each month more, W / d for each useful hour
        with d hours at the peak; for a term or owned they deliver W hours of each month less.
        Where the data takes a month or longer nothing is done there.
        """
        waiting = self.waiting_hours(source.provider, source.region)
        if not waiting or not source.capacity:
            return source
        if waiting >= HOURS_PER_MONTH:
            never = np.zeros(peak_hours.size, dtype=bool)
            return replace(source, available=never, hours_per_month=0.0)
        if source.term is not None:
            share = 1.0 - waiting / HOURS_PER_MONTH
            return replace(source, hours_per_month=source.hours_per_month * share)
        rents = [
            c for c in source.hour_charges if c.category in (Category.COMPUTE, Category.UPFRONT)
        ]
        rent = rents[0]
        more = np.zeros(len(rent.unit_price))
        np.divide(waiting, peak_hours, out=more[: peak_hours.size], where=peak_hours > 0)
        label = f"{source.label}: hours that machines wait for data"
        charges = [replace(rent, label=label, quantity=more)]
        rate = self.assumptions["cloud_support_rate"]
        if rate:
            plan = np.full(len(rent.unit_price), rate)
            support = f"Support plan: {source.label}"
            per_hour = more * rent.unit_price
            charges.append(HourCharge(Category.SUPPORT, support, "of the bill", per_hour, plan))
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


def _average_price(tiers: list[DataPrice], gib: float) -> float:
    """Each GiB at the price of its tier, over all of them.

    >>> first = DataPrice(item="egress", price_per_gib=4)
    >>> tiers = [first, DataPrice(item="egress", above_gib=10, price_per_gib=1)]
    >>> _average_price(tiers, 40)
    1.75
    """
    ordered = sorted(tiers, key=lambda tier: tier.above_gib)
    ends = [*(tier.above_gib for tier in ordered[1:]), float("inf")]
    paid = sum(
        float(tier.price_per_gib) * max(0.0, min(gib, end) - tier.above_gib)
        for tier, end in zip(ordered, ends, strict=True)
    )
    return paid / gib if gib else float(ordered[0].price_per_gib)
