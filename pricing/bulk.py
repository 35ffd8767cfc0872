"""Many rows at once, by the fastest way each database has."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from django.db import connection, models

from pricing.models import Price

_VALUES_A_STATEMENT = 900
"""Less than the 999 that every SQLite takes."""

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
            _insert_many(cursor, into, columns, rows)


def _insert_many(
    cursor: Any, into: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """`executemany`; of statements of many rows each where the database gives the keys, because
    SQLite notes the last one given after each statement."""
    width = len(columns)
    size = 1 if "id" in columns else _VALUES_A_STATEMENT // width
    whole = len(rows) - len(rows) % size
    one = f"({', '.join(['%s'] * width)})"
    together = [list(chain.from_iterable(rows[n : n + size])) for n in range(0, whole, size)]
    insertion = f"INSERT INTO {into} VALUES "  # noqa: S608
    cursor.executemany(insertion + ", ".join([one] * size), together)
    cursor.executemany(insertion + one, rows[whole:])


def close_prices(ids: Iterable[int], last_revision: int) -> None:
    """Set the last revision of the prices of these primary keys."""
    keys = list(ids)
    if not keys:
        return
    table = connection.ops.quote_name(Price._meta.db_table)
    update = f"UPDATE {table} SET last_revision = %s WHERE id "  # noqa: S608
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(update + "= ANY(%s)", [last_revision, keys])
        else:
            within = "IN (SELECT value FROM json_each(%s))"
            cursor.execute(update + within, [last_revision, json.dumps(keys)])


def one_publisher_at_a_time() -> None:
    """Wait, within a transaction, until no other transaction publishes.

    SQLite has one writer anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [PUBLISH_LOCK])


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
