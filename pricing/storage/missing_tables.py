"""What a command says where the database has no tables yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from django.db import DatabaseError

_MISSING = ("no such table", "does not exist", "no such column")


@contextmanager
def explain_missing_tables() -> Iterator[None]:
    """Turns a query on a table that is missing into a message with its remedy."""
    try:
        yield
    except DatabaseError as error:
        if not any(words in str(error) for words in _MISSING):
            raise
        raise CommandError(
            "The database has no tables yet, or is of an older version. Run `manage.py migrate`, "
            "then `manage.py load_catalog` for the bundled prices, and try again."
        ) from None
