"""Many rows at once, by the fastest way each database has."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from itertools import groupby, islice
from operator import iadd
from pathlib import Path
from typing import Any

import numpy as np
from django.db import DatabaseError, connection, models, transaction
from django.db.backends.utils import CursorWrapper
from numpy.typing import NDArray

from pricing.models import OPEN, Price

_CACHE_KIB = 65_536
"""Pages that SQLite may keep while it publishes, KiB; 100,000 new prices need about half."""
_MAX_VALUES_PER_STATEMENT = 999
"""Values that a statement of every SQLite may have."""
_STATEMENTS_PER_CALL = 32
PUBLISH_LOCK = 0x6770_7075
"""Key of the advisory lock under which PostgreSQL publishes, one revision at a time."""


def insert(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Insert `rows`, values as they are stored, into the columns of the model's fields."""
    quote = connection.ops.quote_name
    column_by_field = {f.name: str(f.column) for f in model._meta.concrete_fields}
    names = ", ".join(quote(column_by_field[name]) for name in columns)
    target = f"{quote(model._meta.db_table)} ({names})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            copy_context = cursor.copy(f"COPY {target} FROM STDIN")
            with connection.wrap_database_errors, copy_context as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            _insert_in_chunks(cursor, target, len(columns), rows)


def _insert_in_chunks(
    cursor: CursorWrapper, target: str, width: int, rows: Iterable[Sequence[Any]]
) -> None:
    """Insert by statements of many rows each: SQLite needs half the time for a row of them.

    Django keeps all that a call is given until it ends, so it is given a few batches at a time.
    """
    remaining, rows_per_statement = iter(rows), _MAX_VALUES_PER_STATEMENT // width
    statements = iter(lambda: reduce(iadd, islice(remaining, rows_per_statement), list[Any]()), [])
    row = f"({', '.join(['%s'] * width)})"
    while chunk := list(islice(statements, _STATEMENTS_PER_CALL)):
        for values, same_size in groupby(chunk, key=len):
            marks = ", ".join([row] * (values // width))
            cursor.executemany(f"INSERT INTO {target} VALUES {marks}", list(same_size))  # noqa: S608


def read_all(query: models.QuerySet[Any, Any]) -> list[tuple[Any, ...]]:
    """All rows of a query of whole tables, equal values shared as they come: whole, their texts
    take 15 MB more.

    PostgreSQL plans a cursor for its first tenth unless told that all of it is read, and joins row
    by row what its statistics call empty, as after the cleaning of a table that was filled again:
    ten thousand offers took minutes. Neither is of use here.
    """
    if connection.vendor != "postgresql":
        return _share_equal_values(query.iterator())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL cursor_tuple_fraction TO 1; SET LOCAL enable_nestloop TO off")
        rows = _share_equal_values(query.iterator())
        cursor.execute("SET LOCAL enable_nestloop TO DEFAULT")
        return rows


def _share_equal_values(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The same rows with one object for equal texts and numbers: a database gives each row its
    own, which is half of what ten thousand offers take."""
    shared: dict[tuple[type, Any], Any] = {}
    return [
        tuple([shared.setdefault((type(value), value), value) for value in row]) for row in rows
    ]


def close_prices(listings: WholeNumbers, last_revision: int) -> None:
    """Set the last revision of the prices of these listings, in ascending order, in force.

    By runs only on SQLite: PostgreSQL takes any run for half a percent of the table.
    """
    table = connection.ops.quote_name(Price._meta.db_table)
    update = (
        f"UPDATE {table} SET last_revision = %s "  # noqa: S608
        f"WHERE last_revision = {OPEN} AND listing_id "
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(update + "= ANY(%s)", [last_revision, listings.tolist()])
        else:
            updates = [(last_revision, *run) for run in _find_consecutive_runs(listings)]
            cursor.executemany(update + "BETWEEN %s AND %s", updates)


def _find_consecutive_runs(numbers: WholeNumbers) -> Iterable[tuple[int, int]]:
    """The first and the last of each run of numbers without a gap.

    >>> list(_find_consecutive_runs(np.array([3, 4, 5, 8])))
    [(3, 5), (8, 8)]
    """
    if not len(numbers):
        return ()
    gaps = np.diff(numbers) != 1
    firsts, lasts = numbers[np.append(True, gaps)], numbers[np.append(gaps, True)]
    return zip(firsts.tolist(), lasts.tolist(), strict=True)


def lock_publishing() -> None:
    """Wait, within a transaction, until no other transaction publishes.

    SQLite has one writer anyway; it gets a cache large enough for a revision.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [PUBLISH_LOCK])
        else:
            cursor.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector: it would scan a hundred thousand offers, all of them
    alive, again and again.

    What was made meanwhile counts as old afterwards (frozen and thawed), or it would be scanned
    at the first allocation that follows.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()
        if was_enabled:
            gc.enable()


class AlreadyRunning(Exception):  # noqa: N818 - an expected state, not an error
    """Another process refreshes this provider."""

    def __init__(self, provider: str) -> None:
        super().__init__(f"another refresh of {provider} is running; this one stops here")
        self.provider = provider


@contextmanager
def provider_lock(provider: str) -> Iterator[None]:
    """Hold the lock of a provider, or raise `AlreadyRunning` at once."""
    acquire = _session_lock if connection.vendor == "postgresql" else _file_lock
    with acquire(provider):
        yield


def wait_in_line(what: str) -> None:
    """Lets one transaction at a time count and add rows of a kind, until it ends, so that no two
    of them take the last place. SQLite has but one that writes; outside of any nothing is held."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_key(f"rows of {what}")])


def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


@contextmanager
def _session_lock(provider: str) -> Iterator[None]:
    key = _key(provider)
    # A connection of its own: the work inside may close or lose the other one.
    lock_connection = connection.copy()
    try:
        with lock_connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
            if not cursor.fetchone()[0]:
                raise AlreadyRunning(provider)
            try:
                yield
            finally:
                # At once: the server notices a closed session only a little later.
                with suppress(DatabaseError):
                    cursor.execute("SELECT pg_advisory_unlock(%s)", [key])
    finally:
        lock_connection.close()


@contextmanager
def _file_lock(provider: str) -> Iterator[None]:
    descriptor, passing = _open_lock(provider)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(provider) from None
        try:
            yield
        finally:
            if passing:
                passing.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _open_lock(provider: str) -> tuple[int, Path | None]:
    """Beside the database, where all who share it meet: a unit of systemd has a folder for
    temporary files of its own. There, and removed afterwards, only where no file can be made."""
    database = Path(str(connection.settings_dict["NAME"])).resolve()
    if database.is_file():
        with suppress(OSError):
            path = database.with_name(f"{database.name}-refresh-{provider}.lock")
            return os.open(path, os.O_CREAT | os.O_RDONLY, 0o644), None
    place = str(connection.settings_dict["NAME"])
    if "mode=memory" in place:  # a database of this process alone
        place = f"{place}\x1f{os.getpid()}"
    name = hashlib.sha256(f"{Path(place).absolute()}\x1f{provider}".encode()).hexdigest()[:24]
    path = Path(tempfile.gettempdir()) / f"gpu-cost-planner-{os.getuid()}-{name}.lock"
    return os.open(path, os.O_CREAT | os.O_RDWR, 0o600), path


WholeNumbers = NDArray[np.int64]
