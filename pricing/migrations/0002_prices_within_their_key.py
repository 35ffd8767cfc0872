"""Keeps a price in the index of its key instead of beside it, where the database is SQLite.

One tree is then written for each price instead of two. The models do not know the difference.
"""

from typing import Any

from django.db import migrations

TABLE = "pricing_price"
WITHIN = " WITHOUT ROWID"


def keep_within(apps: Any, schema_editor: Any) -> None:
    remake(schema_editor.connection, WITHIN)


def keep_beside(apps: Any, schema_editor: Any) -> None:
    remake(schema_editor.connection, "")


def remake(connection: Any, form: str) -> None:
    """The same table with the same rows, in the order of its key."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [TABLE])
        made = cursor.fetchone()[0].removesuffix(WITHIN)
        cursor.execute(f"ALTER TABLE {TABLE} RENAME TO {TABLE}_before")
        cursor.execute(made + form)
        cursor.execute(
            f"INSERT INTO {TABLE} SELECT * FROM {TABLE}_before "
            "ORDER BY listing_id, first_revision"
        )
        cursor.execute(f"DROP TABLE {TABLE}_before")


class Migration(migrations.Migration):
    dependencies = [("pricing", "0001_initial")]
    operations = [migrations.RunPython(keep_within, keep_beside)]
