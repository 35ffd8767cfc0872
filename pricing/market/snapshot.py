"""What was known of the market at one moment: the only thing that costing sees of it. PURE.

A `Catalog` is immutable and needs no database: `Catalog.of(offers)` builds one from a list.
"""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offer_table import UNDATED, DatasheetLookup, OfferTable, lookup_datasheet
from pricing.market.offers import Offer, PurchaseOption


@dataclass(frozen=True)
class Region:
    """Where a provider's region is and how clean its electricity is."""

    geography: str
    """Part of the world, for constraints: "europe", "north-america", …"""
    country: str = ""
    """ISO 3166-1 alpha-2."""
    city: str = ""
    latitude: float | None = None
    longitude: float | None = None
    g_co2e_per_kwh: float | None = None
    """Grid carbon intensity, g CO2e/kWh; None where not known."""
    carbon_source: str = ""
    name: str = ""


@dataclass(frozen=True)
class RevisionInfo:
    provider: str
    revision: int
    published_at: dt.datetime | None = None
    as_of: dt.date | None = None
    """Day on which the provider was last read."""
    oldest_price_as_of: dt.date | None = None
    """Day of the oldest price among those sold now."""
    undated_prices: int = 0
    """Prices sold now whose source carries no date."""
    offer_count: int = 0
    origin: str = ""
    """Where it came from: live, bundled."""

    @classmethod
    def summarize(cls, provider: str, offers: Iterable[Offer], revision: int = 1) -> RevisionInfo:
        """What can be said of a provider from its offers alone."""
        rows = list(offers)
        dates = [o.as_of for o in rows if o.as_of is not None]
        sold = [o.as_of for o in rows if o.sold_now]
        return cls(
            provider=provider,
            revision=revision,
            as_of=max(dates, default=None),
            oldest_price_as_of=min((d for d in sold if d is not None), default=None),
            undated_prices=sold.count(None),
            offer_count=len(rows),
        )

    def age_days(self, today: dt.date) -> int | None:
        """Age of the oldest price sold now, days; None where no price carries a date."""
        oldest_date = self.oldest_price_as_of or self.as_of
        return None if oldest_date is None else max(0, (today - oldest_date).days)


@dataclass(frozen=True)
class Catalog:
    """Offers of all providers with the revisions, regions and exchange rates they belong to.

    >>> from decimal import Decimal
    >>> from fractions import Fraction
    >>> offer = Offer("aws", "us-east-1", "p5.48xlarge", "nvidia-h100-80gb-sxm", Fraction(8),
    ...               PurchaseOption.ON_DEMAND, Decimal("55.04"))
    >>> catalog = Catalog.of([offer])
    >>> rows = catalog.offers.select(accelerators=["nvidia-h100-80gb-sxm"])
    >>> catalog.offers.usd_per_accelerator_hour[rows].tolist()
    [6.88]
    """

    offers: OfferTable
    revisions: tuple[RevisionInfo, ...] = ()
    regions: Mapping[tuple[str, str], Region] = field(default_factory=dict)
    """(provider, region) → where it is."""
    exchange_rates: ExchangeRates = field(default_factory=ExchangeRates)

    @classmethod
    def of(
        cls,
        offers: Iterable[Offer],
        *,
        revisions: Iterable[RevisionInfo] | None = None,
        regions: Mapping[tuple[str, str], Region] | None = None,
        exchange_rates: ExchangeRates | None = None,
        datasheet: DatasheetLookup = lookup_datasheet,
    ) -> Catalog:
        """A catalog of `offers`; what is not given about revisions is taken from the offers."""
        rows = tuple(offers)
        if revisions is None:
            by_provider = group((offer.provider, offer) for offer in rows)
            revisions = (RevisionInfo.summarize(*one) for one in sorted(by_provider.items()))
        region_by_key = regions or {}
        rates = exchange_rates or ExchangeRates()
        geographies = {key: region.geography for key, region in region_by_key.items()}
        return cls(
            offers=OfferTable.from_offers(rows, rates, geographies, datasheet),
            revisions=tuple(revisions),
            regions=region_by_key,
            exchange_rates=rates,
        )

    def region(self, provider: str, region: str) -> Region | None:
        return self.regions.get((provider, region))

    @cached_property
    def part_dates(self) -> Mapping[str, tuple[PartDates, ...]]:
        """Provider → when the prices of each of its parts were seen."""
        # Of those on sale, in the order of `PricePart`.
        table, codes = self.offers, self.offers.provider.codes
        return {
            name: tuple(_parts(table, name, np.flatnonzero(codes == code)))
            for code, name in enumerate(table.provider.names)
        }

    @cached_property
    def grids(self) -> frozenset[tuple[str, str]]:
        """(provider, region) of the places whose grid's carbon is known."""
        regions = self.regions.items()
        return frozenset(key for key, region in regions if region.g_co2e_per_kwh is not None)

    def check_names(
        self, kind: str, values: Collection[str], field: str, also: Collection[str] = ()
    ) -> None:
        """Raise `InvalidInput` on `field` for a name of a kind (`known_names`) that neither the
        catalog nor `also` has.

        >>> Catalog.of([]).check_names("providers", ["azur"], "provider")
        Traceback (most recent call last):
        pricing.common.invalid_input.InvalidInput: provider: 'azur' is not in the catalog; it
            holds none
        """
        if not values:
            return
        known = self.known_names(kind) | set(also)
        for value in values:
            if value not in known:
                raise InvalidInput(field, _unknown_name_message(value, known, bool(also)))

    def known_names(self, kind: str) -> frozenset[str]:
        """Every name that offers or regions carry of a kind: `providers`, `regions`, `geographies`,
        `purchase_options`, `instance_types`."""
        table = self.offers
        if kind == "purchase_options":
            return frozenset(option.value for option in PurchaseOption)
        if kind == "regions":
            return frozenset(table.region.names) | {region for _, region in self.regions}
        if kind == "geographies":
            return frozenset(place.geography for place in self.regions.values()) - {""}
        if kind == "providers":
            return frozenset(table.provider.names) | {provider for provider, _ in self.regions}
        return frozenset({"instance_types": table.instance_type}[kind].names)


def _unknown_name_message(value: str, known: Collection[str], has_own: bool) -> str:
    where = "is in neither the catalog nor custom_offers" if has_own else "is not in the catalog"
    close = difflib.get_close_matches(value, known, n=3)
    if close:
        return f"{value!r} {where}; did you mean {', '.join(close)}?"
    examples = ", ".join(sorted(known)[:12]) or "none"
    return f"{value!r} {where}; {'they hold' if has_own else 'it holds'} {examples}"


@dataclass(frozen=True)
class DatedPrice:
    date: dt.date
    revision: int | None
    """None before the first revision: from a published history."""
    offer: Offer | None
    """None from the day on which the offer was gone."""


_MOST_LISTED = 5


class PricePart(StrEnum):
    """A part of a provider's prices that is read and ages on its own."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    COMMITMENTS = "commitments"


@dataclass(frozen=True)
class AgeLimits:
    """Ages from which prices are amber and red, days."""

    amber: float
    red: float

    def grade(self, age_days: int | None) -> str:
        """green, amber or red; no known age is red.

        >>> [AgeLimits(7, 30).grade(age) for age in (6, 7, 30, None)]
        ['green', 'amber', 'red', 'red']
        """
        if age_days is None or age_days >= self.red:
            return "red"
        return "amber" if age_days >= self.amber else "green"


@dataclass(frozen=True)
class PartDates:
    """When the prices of one part of one provider were seen; those that are sold now."""

    provider: str
    part: PricePart
    count: int
    undated: int
    """Prices whose source carries no date; they count for no age."""
    oldest: dt.date | None
    median: dt.date | None
    """Half of the dated prices are of this day or newer."""
    newest: dt.date | None
    """When a price of this part was last confirmed."""
    oldest_offers: tuple[tuple[str, dt.date], ...]
    """(offer id, day) of the oldest prices, the oldest first."""

    def median_age_days(self, today: dt.date) -> int | None:
        """Age of the median price, days; None where no price is dated."""
        return _age(self.median, today)

    def oldest_age_days(self, today: dt.date) -> int | None:
        """Age of the oldest price, days; None where no price is dated."""
        return _age(self.oldest, today)


def part_of(option: PurchaseOption) -> PricePart:
    """The part that a purchase option belongs to.

    >>> part_of(PurchaseOption.SAVINGS_PLAN).value, part_of(PurchaseOption.CAPACITY_BLOCK).value
    ('commitments', 'on_demand')
    """
    if option.is_commitment:
        return PricePart.COMMITMENTS
    return PricePart.SPOT if option.is_interruptible else PricePart.ON_DEMAND


def _parts(table: OfferTable, provider: str, rows: NDArray[np.intp]) -> Iterator[PartDates]:
    rows = rows[table.sold_now[rows]]
    parts = [part_of(PurchaseOption(name)) for name in table.purchase_option.names]
    for part in PricePart:
        is_part = np.array([one is part for one in parts], dtype=bool)
        selected = rows[is_part[table.purchase_option.codes[rows]]]
        if not len(selected):
            continue
        dated = selected[table.as_of_day[selected] != UNDATED]
        dated = dated[np.argsort(table.as_of_day[dated], kind="stable")]
        days = [dt.date.fromordinal(day) for day in table.as_of_day[dated].tolist()]
        yield PartDates(
            provider=provider,
            part=part,
            count=len(selected),
            undated=len(selected) - len(dated),
            oldest=days[0] if days else None,
            median=days[len(days) // 2] if days else None,
            newest=days[-1] if days else None,
            oldest_offers=tuple(
                (table.offer(int(row)).id, day)
                for row, day in zip(dated[:_MOST_LISTED], days, strict=False)
            ),
        )


def _age(day: dt.date | None, today: dt.date) -> int | None:
    return None if day is None else max(0, (today - day).days)
