"""Many rows at once, by the fastest way each database has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models

from pricing.models import Price

PUBLISH_LOCK = 0x6770_7075
"""Key of the advisory lock under which PostgreSQL publishes, one revision at a time."""


def insert(
    model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert `rows`, values as they are at rest, into the columns of the model's fields."""
    if not rows:
        return
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    of_field = {f.name: str(f.column) for f in model._meta.concrete_fields}
    names = ", ".join(quote(of_field[name]) for name in columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copying = cursor.copy(f"COPY {table} ({names}) FROM STDIN")
            with connection.wrap_database_errors, copying as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            insertion = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
            cursor.executemany(insertion, rows)


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
