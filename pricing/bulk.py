"""Many rows at once, by the fastest way each database has."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, models

from pricing.models import OPEN, Price

_CACHE_KIB = 65_536
"""Pages that SQLite may keep while it publishes, KiB; 100,000 new prices need about half."""
PUBLISH_LOCK = 0x6770_7075
"""Key of the advisory lock under which PostgreSQL publishes, one revision at a time."""


def insert(
    model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert `rows`, values as they are at rest, into the columns of the model's fields."""
    if not rows:
        return
    quote = connection.ops.quote_name
    of_field = {f.name: str(f.column) for f in model._meta.concrete_fields}
    names = ", ".join(quote(of_field[name]) for name in columns)
    into = f"{quote(model._meta.db_table)} ({names})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copying = cursor.copy(f"COPY {into} FROM STDIN")
            with connection.wrap_database_errors, copying as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {into} VALUES ({marks})", rows)  # noqa: S608


def close_prices(listings: Iterable[int], last_revision: int) -> None:
    """Set the last revision of the prices of these listings that are in force."""
    keys = list(listings)
    if not keys:
        return
    table = connection.ops.quote_name(Price._meta.db_table)
    update = (
        f"UPDATE {table} SET last_revision = %s "  # noqa: S608
        f"WHERE last_revision = {OPEN} AND listing_id "
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(update + "= ANY(%s)", [last_revision, keys])
        else:
            within = "IN (SELECT value FROM json_each(%s))"
            cursor.execute(update + within, [last_revision, json.dumps(keys)])


def one_publisher_at_a_time() -> None:
    """Wait, within a transaction, until no other transaction publishes.

    SQLite has one writer anyway; it is given room to hold a revision in memory.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [PUBLISH_LOCK])
        else:
            cursor.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


@contextmanager
def without_collector() -> Iterator[None]:
    """Lets the garbage collector rest: it would walk a hundred thousand offers, all of them
    alive, again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
