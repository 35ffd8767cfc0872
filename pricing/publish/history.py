"""Dated prices from before the first revision, from published histories."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from django.db import transaction

from pricing.common.amounts import to_scaled
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.market.offer_rows import OFFER_COLUMNS, format_value, from_row, read_csv
from pricing.market.offers import Offer
from pricing.models import OPEN, Listing, PastPrice, Price, Revision
from pricing.storage import bulk, store
from pricing.storage.store import LISTING_FIELDS

_COLUMNS = ("listing", "date", "price_per_hour", "upfront", "sold_now")


def load(path: Path) -> dict[str, int]:
    """Record the history in a CSV file (`OFFER_COLUMNS`, plain or .zst).

    Gives the number of prices by provider. All of the file or nothing is recorded.
    """
    by_provider = group((offer.provider, offer) for offer in read_csv(path))
    with transaction.atomic():
        return {
            name: replace_past_prices(name, offers) for name, offers in sorted(by_provider.items())
        }


def replace_past_prices(provider: str, offers: Iterable[Offer]) -> int:
    """Put these dated prices in the place of the provider's; gives how many there are.

    `Offer.as_of` is the day from which a price held; of two on one day the last given counts.
    """
    offers_by_day = {(offer.id, offer.as_of): offer for offer in store.to_stored_precision(offers)}
    rows = list(offers_by_day.values())
    offer_without_date = next((offer.id for offer in rows if offer.as_of is None), None)
    if offer_without_date:
        raise InvalidInput(
            "as_of", f"{offer_without_date} has no date; every price of a history needs one"
        )
    with transaction.atomic():
        bulk.lock_publishing()
        PastPrice.objects.filter(listing__provider=provider).delete()
        listing_values = [store.get_listing_values(offer) for offer in rows]
        distinct = list(dict.fromkeys(listing_values))
        ids = store.find_or_insert_listings(distinct, [0] * len(distinct))
        listings = dict(zip(distinct, ids.tolist(), strict=True))
        prices = [
            (
                listings[key],
                offer.as_of.isoformat() if offer.as_of else None,
                to_scaled(offer.price_per_hour),
                to_scaled(offer.upfront),
                offer.sold_now,
            )
            for key, offer in zip(listing_values, rows, strict=True)
        ]
        bulk.insert(PastPrice, _COLUMNS, prices)
    return len(rows)


_NEEDS_PYARROW = "Parquet needs pyarrow: install the extra parquet (pip install '.[parquet]')"
BATCH_ROWS = 20_000
"""Rows held in memory at once."""
Row = dict[str, Any]
_NOT_WRITTEN = ("count_numerator", "count_denominator")


def write_prices(path: Path, providers: Sequence[str] = (), on: dt.date | None = None) -> int:
    """Write the prices of `providers` (all without any) to `path`, those in force on a day alone
    where `on` names it; gives the number of rows. Raises `InvalidInput` without pyarrow and, before
    a file is made, where there is no such price."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise InvalidInput("file", _NEEDS_PYARROW) from None
    text, number, day = pyarrow.string(), pyarrow.float64(), pyarrow.date32()
    amount = pyarrow.decimal128(28, 10)
    kinds = {
        "term_months": pyarrow.int32(),
        "vcpus": number,
        "memory_gib": number,
        "network_gbps": number,
    }
    schema = pyarrow.schema(
        [
            *((n, kinds.get(n, text)) for n in LISTING_FIELDS if n not in _NOT_WRITTEN),
            ("accelerator_count", text),
            ("price_per_hour", amount),
            ("upfront", amount),
            ("sold_now", pyarrow.bool_()),
            ("as_of", day),
            ("revision", pyarrow.int32()),
            ("from_day", day),
            ("to_day", day),
        ]
    )
    count = 0
    rows = (
        row
        for row in _iterate_rows(providers, on)
        if on is None or (row["from_day"] <= on and (row["to_day"] is None or on < row["to_day"]))
    )
    batch = list(islice(rows, BATCH_ROWS))
    if not batch:
        of = f" of {' or '.join(providers)}" if providers else ""
        held = "is known" if on is None else f"was in force on {on}"
        raise InvalidInput("", f"no price{of} {held}; no file was written")
    with ParquetWriter(path, schema, compression="zstd") as writer:
        while batch:
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
            batch = list(islice(rows, BATCH_ROWS))
    return count


def read_prices(path: Path) -> list[Offer]:
    """The offers of a Parquet file that `write_prices` wrote for one day; `InvalidInput` for any
    other file."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InvalidInput("source", _NEEDS_PYARROW) from None
    try:
        rows: list[Row] = parquet.read_table(path).to_pylist()
    except (OSError, ArrowException):
        raise InvalidInput("source", f"{path} is not a Parquet file") from None
    offers = [
        from_row({name: format_value(row.get(name)) for name in OFFER_COLUMNS}, f"row {number}")
        for number, row in enumerate(rows, start=1)
    ]
    if len({offer.id for offer in offers}) < len(offers):
        raise InvalidInput("source", f"{path} holds a history; export the prices of one day")
    return offers


def _iterate_rows(providers: Sequence[str], on: dt.date | None) -> Iterator[Row]:
    """Every price, the days on which those in force on a day were read with it."""
    revisions = Revision.objects.order_by("provider", "number")
    listed = Listing.objects.order_by().values_list("provider", flat=True).distinct()
    known = set(listed) | set(revisions.values_list("provider", flat=True))
    unknown = sorted(set(providers) - known)
    if unknown:
        raise InvalidInput("provider", f"{unknown[0]!r} has no prices; known: {sorted(known)}")
    for provider in sorted(set(providers) or known):
        days = dict(revisions.filter(provider=provider).values_list("number", "as_of"))
        # Each recorded price until the next of its offer, the last until the provider's first
        # revision, whose list is whole: what is not in it was not sold then.
        first_day = min(days.values(), default=None)
        past = PastPrice.objects.filter(listing__provider=provider).select_related("listing")
        ordered = past.order_by("listing__offer_id", "date").iterator(BATCH_ROWS)
        for _, of_offer in groupby(ordered, lambda row: row.listing.offer_id):
            rows = [row for row in of_offer if first_day is None or row.date < first_day]
            for row, following in zip(rows, [*rows[1:], None], strict=True):
                to_day = following.date if following else first_day
                yield _build_row(
                    row, as_of=row.date, revision=None, from_day=row.date, to_day=to_day
                )
        in_force = revisions.filter(provider=provider, as_of__lte=on or dt.date.min).last()
        read_on = {o.id: o.as_of for o in store.read_offers(in_force)} if in_force else {}
        prices = Price.objects.filter(listing__provider=provider).select_related("listing")
        for price in prices.order_by("listing_id", "first_revision").iterator(BATCH_ROWS):
            ended = price.last_revision != OPEN
            yield _build_row(
                price,
                as_of=read_on.get(price.listing.offer_id, days[price.first_revision]),
                revision=price.first_revision,
                from_day=days[price.first_revision],
                to_day=days.get(price.last_revision + 1) if ended else None,
            )


def _build_row(price: Price | PastPrice, **days: Any) -> Row:
    listing = price.listing
    values = {n: getattr(listing, n) for n in LISTING_FIELDS if n not in _NOT_WRITTEN}
    numerator, denominator = listing.count_numerator, listing.count_denominator
    return {
        **values,
        "accelerator_count": str(numerator) if denominator == 1 else f"{numerator}/{denominator}",
        "price_per_hour": price.price_per_hour,
        "upfront": price.upfront,
        "sold_now": price.sold_now,
        **days,
    }
