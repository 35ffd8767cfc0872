"""Every price that was ever published or recorded, with the days on which it held, as Parquet.

A row is one offer at one price: the columns of an offer, then `from_day` and `to_day`. It was in
force on every day d with from_day <= d < to_day; `to_day` is empty while it still is. Days are
those on which the provider was read. Prices from before the first revision have no `revision`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.models import OPEN, Listing, PastPrice, Price, Revision
from pricing.storage.store import LISTING_FIELDS

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
        raise InvalidInput(
            "file", "Parquet needs pyarrow: install the extra parquet (pip install '.[parquet]')"
        ) from None
    schema = _schema(pyarrow)
    count = 0
    rows = (row for row in _iterate_rows(providers) if on is None or _holds(row, on))
    batch = list(islice(rows, BATCH_ROWS))
    if not batch:
        raise InvalidInput("", _describe_nothing(providers, on))
    with ParquetWriter(path, schema, compression="zstd") as writer:
        while batch:
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
            batch = list(islice(rows, BATCH_ROWS))
    return count


def _describe_nothing(providers: Sequence[str], on: dt.date | None) -> str:
    """What was asked for that there is no price of.

    >>> _describe_nothing(["aws", "nimbus"], dt.date(2023, 1, 1))
    'no price of aws or nimbus was in force on 2023-01-01; no file was written'
    >>> _describe_nothing([], None)
    'no price is known; no file was written'
    """
    of = f" of {' or '.join(providers)}" if providers else ""
    held = "is known" if on is None else f"was in force on {on}"
    return f"no price{of} {held}; no file was written"


def _schema(pyarrow: Any) -> Any:
    text, number, day = pyarrow.string(), pyarrow.float64(), pyarrow.date32()
    amount = pyarrow.decimal128(28, 10)
    kinds = {
        "term_months": pyarrow.int32(),
        "vcpus": number,
        "memory_gib": number,
        "network_gbps": number,
    }
    return pyarrow.schema(
        [
            *((n, kinds.get(n, text)) for n in LISTING_FIELDS if n not in _NOT_WRITTEN),
            ("accelerator_count", text),
            ("price_per_hour", amount),
            ("upfront", amount),
            ("sold_now", pyarrow.bool_()),
            ("revision", pyarrow.int32()),
            ("from_day", day),
            ("to_day", day),
        ]
    )


def _holds(row: Row, day: dt.date) -> bool:
    return row["from_day"] <= day and (row["to_day"] is None or day < row["to_day"])


def _iterate_rows(providers: Sequence[str]) -> Iterator[Row]:
    """The recorded prices of each provider, then the published ones."""
    revisions = Revision.objects.order_by("provider", "number")
    listed = Listing.objects.order_by().values_list("provider", flat=True).distinct()
    known = set(listed) | set(revisions.values_list("provider", flat=True))
    unknown = sorted(set(providers) - known)
    if unknown:
        raise InvalidInput("provider", f"{unknown[0]!r} has no prices; known: {sorted(known)}")
    for provider in sorted(set(providers) or known):
        days = dict(revisions.filter(provider=provider).values_list("number", "as_of"))
        yield from _iterate_past(provider, min(days.values(), default=None))
        yield from _iterate_published(provider, days)


def _iterate_published(provider: str, days: dict[int, dt.date]) -> Iterator[Row]:
    prices = Price.objects.filter(listing__provider=provider).select_related("listing")
    for price in prices.order_by("listing_id", "first_revision").iterator(BATCH_ROWS):
        ended = price.last_revision != OPEN
        yield _build_row(
            price,
            revision=price.first_revision,
            from_day=days[price.first_revision],
            to_day=days.get(price.last_revision + 1) if ended else None,
        )


def _iterate_past(provider: str, first_day: dt.date | None) -> Iterator[Row]:
    """Each recorded price until the next of its offer, the last until the provider's first
    revision, whose list is whole: what is not in it was not sold then."""
    past = PastPrice.objects.filter(listing__provider=provider).select_related("listing")
    ordered = past.order_by("listing__offer_id", "date").iterator(BATCH_ROWS)
    for _, group in groupby(ordered, lambda row: row.listing.offer_id):
        rows = [row for row in group if first_day is None or row.date < first_day]
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            to_day = following.date if following else first_day
            yield _build_row(row, revision=None, from_day=row.date, to_day=to_day)


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
