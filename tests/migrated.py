"""A migrated SQLite database, kept between runs: what tests and other processes begin with.

To migrate takes seconds in every process that needs a database. The first run keeps the outcome
under a name made from the migrations' text; `migrate` still runs on the copy, and finds all done.
"""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings


def kept_database(folder: Path) -> Path:
    """Where the database of today's migrations is kept in `folder`, whether it is there or not."""
    digest = hashlib.sha256(django.__version__.encode())
    digest.update(repr(settings.INSTALLED_APPS).encode())
    for app in apps.get_app_configs():
        for migration in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label} {migration.name}".encode() + migration.read_bytes())
    return folder / f"{digest.hexdigest()[:20]}.sqlite3"


def copy_to(kept: Path, name: str) -> sqlite3.Connection | None:
    """Fills the SQLite database `name` from what is kept. The connection holds a database that is
    in memory until another one is made; None where nothing is kept."""
    if not kept.exists():
        return None
    target = sqlite3.connect(name, uri=True)
    with closing(sqlite3.connect(kept)) as source:
        source.backup(target)
    return target


def keep(database: sqlite3.Connection, kept: Path) -> None:
    """Keeps a database that was migrated just now; of two processes that do, the later one wins."""
    own = kept.with_suffix(f".{os.getpid()}")
    with closing(sqlite3.connect(own)) as target:
        database.backup(target)
    own.replace(kept)
