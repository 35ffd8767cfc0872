"""Stored revisions: writing one in bulk, reading any of them back exactly."""

from __future__ import annotations

import datetime as dt
import hashlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import count, islice, repeat
from operator import add, attrgetter
from typing import Any

import numpy as np
from django.db.models import BigIntegerField, ExpressionWrapper, F, Max

from pricing.common.amounts import from_scaled, is_exact, quantize, to_scaled
from pricing.market.offers import Offer, PurchaseOption
from pricing.models import OPEN, Listing, Price, Revision
from pricing.storage import bulk
from pricing.storage.bulk import WholeNumbers

LISTING_FIELDS = (
    *("offer_id", "provider", "region", "zone", "instance_type", "accelerator"),
    *("count_numerator", "count_denominator", "purchase_option", "term_months"),
    *("payment_option", "currency", "vcpus", "memory_gib", "network_gbps", "sku", "source"),
)
"""What a listing says, in the order in which `build_offer` takes it."""
get_listing_values = attrgetter(
    *("id", "provider", "region", "zone", "instance_type", "accelerator"),
    *("accelerator_count.numerator", "accelerator_count.denominator"),
    *("purchase_option._value_", "term_months", "payment_option", "currency"),
    *("vcpus", "memory_gib", "network_gbps", "sku", "source"),
)
"""`LISTING_FIELDS` of an offer; the others are its price and its date."""

_OFFERS_PER_QUERY = 500
"""Offers that one query names; a statement of every SQLite may have 999 values."""
_PRICE_COLUMNS = (
    *("listing", "first_revision", "last_revision"),
    *("price_per_hour", "upfront", "sold_now"),
)

_OPTIONS = {option.value: option for option in PurchaseOption}
_fraction = lru_cache(maxsize=4096)(Fraction)
_amount = lru_cache(maxsize=65_536)(from_scaled)
_scaled = lru_cache(maxsize=65_536)(to_scaled)


_ListingValues = tuple[Any, ...]
"""`LISTING_FIELDS` of one listing."""
_PriceValues = tuple[int, int, bool]
"""Price and upfront as stored, whether it is sold now."""


@dataclass(frozen=True, slots=True)
class StoredOffer:
    offer: Offer
    listing_id: int
    listing_values: _ListingValues
    price_values: _PriceValues


# Reading ----------------------------------------------------------------------------------


def latest(provider: str) -> Revision | None:
    """The revision in force, None before the first."""
    return Revision.objects.filter(provider=provider).order_by("-number").first()


def read_stored_offers(revision: Revision) -> list[StoredOffer]:
    """Every offer of a revision, with its rows, in the order of the listings."""
    every = (
        Price.objects.filter(
            listing__provider=revision.provider,
            first_revision__lte=revision.number,
            last_revision__gte=revision.number,
        )
        .annotate(price_units=_as_integer("price_per_hour"), upfront_units=_as_integer("upfront"))
        .order_by("listing_id")
        .values_list(
            *("listing_id", "price_units", "upfront_units", "sold_now"),
            *(f"listing__{name}" for name in LISTING_FIELDS),
        )
    )
    rows = bulk.read_all(every)
    days = decode(bytes(revision.dates), len(rows), revision.as_of)
    absent = {key: day for key, (day, _) in read_absences(revision).items()}
    return [
        StoredOffer(
            build_offer(row[4:], _amount(row[1]), _amount(row[2]), row[3], day, absent.get(row[4])),
            listing_id=row[0],
            listing_values=row[4:],
            price_values=row[1:4],
        )
        for row, day in zip(rows, days, strict=True)
    ]


def read_absences(revision: Revision) -> dict[str, tuple[dt.date, int]]:
    """Offer id → (day of the first list without it, complete lists without it since)."""
    absences = revision.absences.items()
    return {key: (dt.date.fromisoformat(day), reads) for key, (day, reads) in absences}


def _as_integer(column: str) -> ExpressionWrapper[Any]:
    return ExpressionWrapper(F(column), output_field=BigIntegerField())


def read_offers(revision: Revision) -> list[Offer]:
    with bulk.pause_garbage_collection():
        return [stored.offer for stored in read_stored_offers(revision)]


def build_offer(
    listing: Sequence[Any],
    price: Decimal,
    upfront: Decimal,
    sold_now: bool,
    day: dt.date | None,
    absent_since: dt.date | None = None,
) -> Offer:
    """The offer of a listing's columns (`LISTING_FIELDS`) at a price.

    Sets all at once what the initialiser of a frozen dataclass sets one by one; the id is known.
    """
    values = dict(zip(LISTING_FIELDS, listing, strict=True))
    count = _fraction(values.pop("count_numerator"), values.pop("count_denominator"))
    offer = object.__new__(Offer)
    offer.__dict__.update(
        values,
        id=values.pop("offer_id"),
        accelerator_count=count,
        purchase_option=_OPTIONS[values["purchase_option"]],
        price_per_hour=price,
        upfront=upfront,
        as_of=day,
        sold_now=sold_now,
        absent_since=absent_since,
    )
    return offer


def verify_revision(revision: Revision) -> bool:
    """Whether the revision reads back as it was published, by its digest."""
    try:
        stored = read_stored_offers(revision)
    except ValueError:  # the dates of the revision no longer fit its prices
        return False
    price_values = ([one.price_values[index] for one in stored] for index in range(3))
    days = to_day_numbers([one.offer.as_of for one in stored])
    return revision.digest == _digest(
        _sort_by_listing([s.listing_id for s in stored], *price_values, days)
    )


# Writing ----------------------------------------------------------------------------------


def to_stored_precision(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """The offers with money as it can be kept, to ten decimal places."""
    return tuple(
        offer
        if is_exact(offer.price_per_hour) and is_exact(offer.upfront)
        else replace(
            offer, price_per_hour=quantize(offer.price_per_hour), upfront=quantize(offer.upfront)
        )
        for offer in offers
    )


def write_revision(
    revision: Revision, offers: Sequence[Offer], previous: Sequence[StoredOffer]
) -> None:
    """Write `revision` as the one after `previous`: rows for what differs, none for the rest.

    Must run inside a transaction that is the only one to publish.
    """
    listing_values = list(map(get_listing_values, offers))
    price_values = (
        [_scaled(offer.price_per_hour) for offer in offers],
        [_scaled(offer.upfront) for offer in offers],
        [offer.sold_now for offer in offers],
    )
    listing_ids, is_unchanged = _match_previous(
        listing_values, zip(*price_values, strict=True), previous
    )
    listings = find_or_insert_listings(listing_values, listing_ids, is_first=revision.number == 1)
    days = to_day_numbers([offer.as_of for offer in offers])
    *columns, unchanged_column = _sort_by_listing(listings, *price_values, days, is_unchanged)
    revision.dates = encode(columns[-1], revision.as_of)
    revision.digest = _digest(columns)
    unchanged = unchanged_column.astype(bool)
    previous_listings = np.array([stored.listing_id for stored in previous], dtype="<i8")
    bulk.close_prices(np.setdiff1d(previous_listings, columns[0][unchanged]), revision.number - 1)
    new_listings, prices, upfronts, sold = (column[~unchanged] for column in columns[:4])
    price_columns = (
        *(new_listings.tolist(), repeat(revision.number), repeat(OPEN)),
        *(prices.tolist(), upfronts.tolist(), sold.astype(bool).tolist()),
    )
    bulk.insert(Price, _PRICE_COLUMNS, zip(*price_columns, strict=False))
    revision.save(force_insert=True)


def _match_previous(
    listing_values: Sequence[_ListingValues],
    price_values: Iterable[_PriceValues],
    previous: Sequence[StoredOffer],
) -> tuple[list[int], list[bool]]:
    if not previous:
        return [0] * len(listing_values), [False] * len(listing_values)
    stored_by_id = {stored.listing_values[0]: stored for stored in previous}
    listings, is_unchanged = [], []
    for values, new_price_values in zip(listing_values, price_values, strict=True):
        stored = stored_by_id.get(values[0])
        if stored is not None and stored.listing_values == values:
            listings.append(stored.listing_id)
            is_unchanged.append(stored.price_values == new_price_values)
        else:
            listings.append(0)
            is_unchanged.append(False)
    return listings, is_unchanged


def _sort_by_listing(*columns: Sequence[int] | WholeNumbers) -> list[WholeNumbers]:
    numbers = [np.array(column, dtype="<i8") for column in columns]
    order = np.argsort(numbers[0], kind="stable")
    return [column[order] for column in numbers]


def find_or_insert_listings(
    listing_values: Sequence[_ListingValues], listing_ids: Sequence[int], is_first: bool = False
) -> WholeNumbers:
    """The listing of each offer: its `listing_ids`; where that is 0, a known or else a new one.

    New ones are inserted in the order of their index, which therefore grows at its end.
    """
    listings = np.array(listing_ids, dtype="<i8")
    if not is_first:
        missing = np.flatnonzero(listings == 0).tolist()
        ids_by_values = _find_listings([listing_values[index] for index in missing])
        listings[missing] = [ids_by_values.get(listing_values[index], 0) for index in missing]
    new_rows = np.flatnonzero(listings == 0).tolist()
    new_rows.sort(key=[values[0] for values in listing_values].__getitem__)
    first_free_id = (Listing.objects.aggregate(last=Max("id"))["last"] or 0) + 1
    listings[new_rows] = np.arange(first_free_id, first_free_id + len(new_rows))
    rows = map(
        add, zip(count(first_free_id), strict=False), (listing_values[index] for index in new_rows)
    )
    bulk.insert(Listing, ("id", *LISTING_FIELDS), rows)
    return listings


def _find_listings(listing_values: Iterable[_ListingValues]) -> dict[_ListingValues, int]:
    ids_by_values: dict[_ListingValues, int] = {}
    remaining = iter(sorted((provider, offer_id) for offer_id, provider, *_ in listing_values))
    while chunk_keys := list(islice(remaining, _OFFERS_PER_QUERY)):
        providers, ids = (
            {provider for provider, _ in chunk_keys},
            [offer_id for _, offer_id in chunk_keys],
        )
        rows = Listing.objects.filter(provider__in=providers, offer_id__in=ids).values_list(
            "id", *LISTING_FIELDS
        )
        ids_by_values.update((tuple(values), listing_id) for listing_id, *values in rows)
    return ids_by_values


def _digest(columns: Iterable[WholeNumbers]) -> str:
    """SHA-256 of listing, price, upfront, availability and day of each offer, by listing.

    A listing never changes, so its number identifies all it says.
    """
    return hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()


_NO_DATE = -(2**31)


def to_day_numbers(days: Sequence[dt.date | None]) -> list[int]:
    """Each day as a number, 0 for none.

    >>> to_day_numbers([None, dt.date(1, 1, 1), dt.date(1, 1, 2)])
    [0, 1, 2]
    """
    number_by_day = {day: day.toordinal() if day else 0 for day in set(days)}
    return [number_by_day[day] for day in days]


def encode(days: WholeNumbers, as_of: dt.date) -> bytes:
    """Bytes for days given as `to_day_numbers`; empty when every day is `as_of`.

    >>> day = dt.date(2026, 9, 1)
    >>> both, one = np.array(to_day_numbers([day, day])), np.array(to_day_numbers([None, day]))
    >>> encode(both, day), decode(encode(one, day), 2, day)
    (b'', [None, datetime.date(2026, 9, 1)])
    """
    if (days == as_of.toordinal()).all():
        return b""
    return zlib.compress(np.where(days == 0, _NO_DATE, days).astype("<i4").tobytes())


def decode(stored: bytes, count: int, as_of: dt.date) -> list[dt.date | None]:
    """The `count` days that `encode` stored; `ValueError` when they are not that many."""
    if not stored:
        return [as_of] * count
    try:
        stored_numbers = np.frombuffer(zlib.decompress(stored), dtype="<i4").tolist()
    except zlib.error as error:
        raise ValueError(f"the stored dates cannot be read ({error})") from None
    if len(stored_numbers) != count:
        raise ValueError(f"{len(stored_numbers)} dates are kept for {count} prices")
    days = {n: None if n == _NO_DATE else dt.date.fromordinal(n) for n in set(stored_numbers)}
    return [days[n] for n in stored_numbers]
