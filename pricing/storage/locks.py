"""One refresh of a provider at a time, on every machine that shares the database.

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


@contextmanager
def _session_lock(provider: str) -> Iterator[None]:
    key = int.from_bytes(hashlib.sha256(provider.encode()).digest()[:8], "big", signed=True)
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
    descriptor = os.open(_lock_file(provider), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(provider) from None
        yield
    finally:
        os.close(descriptor)


def _lock_file(provider: str) -> Path:
    """In the system's folder for temporary files, so that a full disk does not stop a refresh."""
    database = str(connection.settings_dict["NAME"])
    if "mode=memory" in database:  # a database of this process alone
        database = f"{database}\x1f{os.getpid()}"
    name = hashlib.sha256(f"{Path(database).absolute()}\x1f{provider}".encode()).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"gpu-cost-planner-{os.getuid()}-{name}.lock"
