"""Revisions at rest: writing one in bulk, reading any of them back exactly."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from django.db.models import BigIntegerField, ExpressionWrapper, F, Max

from pricing import bulk, price_dates
from pricing.amounts import from_scaled, is_exact, quantized, to_scaled
from pricing.models import OPEN, Listing, Price, Revision
from pricing.offers import Offer, PurchaseOption

_IDENTITY = (
    *("provider", "region", "zone", "instance_type", "accelerator"),
    *("accelerator_count.numerator", "accelerator_count.denominator"),
    *("purchase_option._value_", "term_months", "payment_option", "currency"),
    *("vcpus", "memory_gib", "network_gbps", "sku", "source"),
)
"""Fields of an offer that make its listing; the others are its price and its date."""
listing_of = attrgetter(*_IDENTITY)
_price_of = attrgetter("price_per_hour", "upfront", "sold_now")

_LISTING_COLUMNS = (
    *("id", "offer_id", "provider", "region", "zone", "instance_type", "accelerator"),
    *("count_numerator", "count_denominator", "purchase_option", "term_months"),
    *("payment_option", "currency", "vcpus", "memory_gib", "network_gbps", "sku", "source"),
)
_PRICE_COLUMNS = (
    *("listing", "first_revision", "last_revision"),
    *("price_per_hour", "upfront", "sold_now"),
)
LISTING_FIELDS = _LISTING_COLUMNS[1:]
"""Columns of a listing in the order in which `offer_from` takes them."""

_OPTIONS = {option.value: option for option in PurchaseOption}
_fraction = lru_cache(maxsize=4096)(Fraction)
_amount = lru_cache(maxsize=65_536)(from_scaled)
_scaled = lru_cache(maxsize=65_536)(to_scaled)


@dataclass(frozen=True, slots=True)
class Stored:
    """An offer in force, with the listing that it is."""

    offer: Offer
    listing_id: int
    units: tuple[int, int]
    """Price and upfront as they are at rest."""


_InForce = tuple[int, tuple[int, int], Offer]
"""(listing, price and upfront at rest, offer)."""


@dataclass
class _Plan:
    """The rows by which a revision differs from the one before."""

    closed: list[int] = field(default_factory=list)
    """Listings whose price ends."""
    prices: list[tuple[Any, ...]] = field(default_factory=list)
    in_force: list[_InForce] = field(default_factory=list)
    """Every offer of the revision."""


# Reading ----------------------------------------------------------------------------------


def latest(provider: str) -> Revision | None:
    """The revision in force, None before the first."""
    return Revision.objects.filter(provider=provider).order_by("-number").first()


def read(revision: Revision) -> list[Stored]:
    """Every offer of a revision, with its rows, in the order of the listings."""
    rows = list(
        Price.objects.filter(
            listing__provider=revision.provider,
            first_revision__lte=revision.number,
            last_revision__gte=revision.number,
        )
        .annotate(price_units=_units("price_per_hour"), upfront_units=_units("upfront"))
        .order_by("listing_id")
        .values_list(
            *("listing_id", "price_units", "upfront_units", "sold_now"),
            *(f"listing__{name}" for name in LISTING_FIELDS),
        )
    )
    days = price_dates.decode(bytes(revision.dates), len(rows), revision.as_of)
    return [
        Stored(
            offer_from(row[4:], _amount(row[1]), _amount(row[2]), row[3], day),
            listing_id=row[0],
            units=row[1:3],
        )
        for row, day in zip(rows, days, strict=True)
    ]


def _units(column: str) -> ExpressionWrapper[Any]:
    """An amount as the whole number that it is at rest."""
    return ExpressionWrapper(F(column), output_field=BigIntegerField())


def read_offers(revision: Revision) -> list[Offer]:
    """Every offer of a revision, exactly as it was published."""
    with bulk.without_collector():
        return [stored.offer for stored in read(revision)]


def offer_from(
    listing: Sequence[Any], price: Decimal, upfront: Decimal, sold_now: bool, day: dt.date | None
) -> Offer:
    """The offer of a listing's columns (`LISTING_FIELDS`) at a price.

    Sets all at once what the initialiser of a frozen dataclass sets one by one; the id is known.
    """
    (
        offer_id, provider, region, zone, instance_type, accelerator, numerator, denominator,
        option, term_months, payment_option, currency, vcpus, memory_gib, network_gbps, sku, source,
    ) = listing  # fmt: skip
    offer = object.__new__(Offer)
    offer.__dict__.update(
        provider=provider,
        region=region,
        instance_type=instance_type,
        accelerator=accelerator,
        accelerator_count=_fraction(numerator, denominator),
        purchase_option=_OPTIONS[option],
        price_per_hour=price,
        upfront=upfront,
        currency=currency,
        zone=zone,
        term_months=term_months,
        payment_option=payment_option,
        vcpus=vcpus,
        memory_gib=memory_gib,
        network_gbps=network_gbps,
        sku=sku,
        source=source,
        as_of=day,
        sold_now=sold_now,
        id=offer_id,
    )
    return offer


def verify(revision: Revision) -> bool:
    """Whether the revision reads back as it was published, by its digest."""
    return revision.digest == _digest([(s.listing_id, s.units, s.offer) for s in read(revision)])


# Writing ----------------------------------------------------------------------------------


def at_rest(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """The offers with money as it can be kept, to ten decimal places."""
    return tuple(_at_rest(offer) for offer in offers)


def _at_rest(offer: Offer) -> Offer:
    if is_exact(offer.price_per_hour) and is_exact(offer.upfront):
        return offer
    price, upfront = quantized(offer.price_per_hour), quantized(offer.upfront)
    return replace(offer, price_per_hour=price, upfront=upfront)


def write(revision: Revision, offers: Sequence[Offer], previous: Sequence[Stored]) -> None:
    """Write `revision` as the one after `previous`: rows for what differs, none for the rest.

    Must run inside a transaction that is the only one to publish.
    """
    plan = _plan(revision, offers, previous)
    plan.in_force.sort(key=itemgetter(0))
    revision.dates = price_dates.encode([o.as_of for _, _, o in plan.in_force], revision.as_of)
    revision.digest = _digest(plan.in_force)
    bulk.close_prices(plan.closed, revision.number - 1)
    bulk.insert(Price, _PRICE_COLUMNS, plan.prices)
    revision.save(force_insert=True)


def _plan(revision: Revision, offers: Sequence[Offer], previous: Sequence[Stored]) -> _Plan:
    plan = _Plan()
    before = {stored.offer.id: stored for stored in previous}
    unlisted: list[Offer] = []
    for offer in offers:
        stored = before.pop(offer.id, None)
        if stored is None or listing_of(stored.offer) != listing_of(offer):
            unlisted.append(offer)
        elif _price_of(stored.offer) == _price_of(offer):
            plan.in_force.append((stored.listing_id, stored.units, offer))
            continue
        else:
            _price_row(plan, revision.number, stored.listing_id, offer)
        if stored is not None:
            plan.closed.append(stored.listing_id)
    plan.closed.extend(stored.listing_id for stored in before.values())
    is_first = revision.number == 1
    for listing_id, offer in zip(_listings(unlisted, is_first), unlisted, strict=True):
        _price_row(plan, revision.number, listing_id, offer)
    return plan


def _price_row(plan: _Plan, number: int, listing_id: int, offer: Offer) -> None:
    price, upfront = _scaled(offer.price_per_hour), _scaled(offer.upfront)
    plan.prices.append((listing_id, number, OPEN, price, upfront, offer.sold_now))
    plan.in_force.append((listing_id, (price, upfront), offer))


def _listings(offers: Sequence[Offer], is_first: bool = False) -> list[int]:
    """A listing for each offer: one written before where it is the same, else a new one."""
    known = {} if is_first else _known_listings(offers)
    free = (Listing.objects.aggregate(last=Max("id"))["last"] or 0) + 1
    ids: list[int] = []
    rows: list[tuple[Any, ...]] = []
    for offer in offers:
        said = listing_of(offer)
        listing_id = known.get(said)
        if listing_id is None:
            listing_id = free + len(rows)
            rows.append((listing_id, offer.id, *said))
        ids.append(listing_id)
    bulk.insert(Listing, _LISTING_COLUMNS, rows)
    return ids


def _known_listings(offers: Iterable[Offer], chunk: int = 500) -> dict[tuple[Any, ...], int]:
    """What a listing says → its id, of every listing that these offers ever had."""
    known: dict[tuple[Any, ...], int] = {}
    remaining = iter(sorted((offer.provider, offer.id) for offer in offers))
    while some := list(islice(remaining, chunk)):
        providers, ids = {provider for provider, _ in some}, [offer_id for _, offer_id in some]
        rows = Listing.objects.filter(provider__in=providers, offer_id__in=ids).values_list(
            "id", *LISTING_FIELDS
        )
        for listing_id, *columns in rows:
            offer = offer_from(columns, Decimal(0), Decimal(0), False, None)
            known[listing_of(offer)] = listing_id
    return known


def listings_for(offers: Sequence[Offer]) -> list[int]:
    """The listing of each offer, written where it is new. Inside a publishing transaction."""
    return _listings(offers)


def _digest(in_force: Sequence[_InForce]) -> str:
    """SHA-256 of listing, price, upfront, availability and day of each offer, by listing.

    A listing never changes, so its number stands for all it says.
    """
    listings, units, offers = zip(*in_force, strict=True) if in_force else ((), (), ())
    prices, upfronts = zip(*units, strict=True) if units else ((), ())
    days = [offer.as_of for offer in offers]
    number_of = {day: day.toordinal() if day else 0 for day in set(days)}
    columns = (
        listings,
        prices,
        upfronts,
        [offer.sold_now for offer in offers],
        [number_of[day] for day in days],
    )
    content = b"".join(np.array(column, dtype="<i8").tobytes() for column in columns)
    return hashlib.sha256(content).hexdigest()
