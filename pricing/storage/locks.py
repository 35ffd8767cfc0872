"""One refresh of a provider at a time, on every machine that shares the database; and one
transaction at a time that counts rows against a limit.

The lock goes when its holder does, even by `kill -9`: on PostgreSQL it belongs to the session,
otherwise to an open file beside the database.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import DatabaseError, connection


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
    descriptor = _open_lock(provider)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(provider) from None
        yield
    finally:
        os.close(descriptor)


def _open_lock(provider: str) -> int:
    """Beside the database, where all who share it meet: a unit of systemd has a folder for
    temporary files of its own. There only where no file can be made, as on a full disk."""
    database = Path(str(connection.settings_dict["NAME"])).resolve()
    if database.is_file():
        with suppress(OSError):
            path = database.with_name(f"{database.name}-refresh-{provider}.lock")
            return os.open(path, os.O_CREAT | os.O_RDONLY, 0o644)
    return os.open(_temporary_lock(provider), os.O_CREAT | os.O_RDWR, 0o600)


def _temporary_lock(provider: str) -> Path:
    database = str(connection.settings_dict["NAME"])
    if "mode=memory" in database:  # a database of this process alone
        database = f"{database}\x1f{os.getpid()}"
    name = hashlib.sha256(f"{Path(database).absolute()}\x1f{provider}".encode()).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"gpu-cost-planner-{os.getuid()}-{name}.lock"
