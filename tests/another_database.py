"""A database file of its own in the place of the tests' one, in this very process.

For tests marked `django_db`, which let themselves be connected.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import DatabaseWrapper


@contextmanager
def sqlite_at(file: Path) -> Iterator[None]:
    """`connection` is that of the file inside, made where it is not there."""
    ours = connections[DEFAULT_DB_ALIAS]
    values = deepcopy(ours.settings_dict) | {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "OPTIONS": {},
    }
    theirs = DatabaseWrapper(values, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = theirs
    try:
        yield
    finally:
        theirs.close()
        connections[DEFAULT_DB_ALIAS] = ours
