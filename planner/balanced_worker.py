"""A gunicorn worker that leaves a new connection to a worker with fewer of them.

The kernel wakes every worker for a new connection, and whichever comes first keeps it, all its
requests included. Where two workers compute, one easily ends up with six of eight clients, each of
which then waits half as long again as it need. So a worker that has more connections than another
waits a moment before it takes one more.

Nor does a client that begins a request and goes silent keep a thread: after a while it counts as
one that has left.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from functools import partial
from socket import socket

from django.core.exceptions import ImproperlyConfigured
from gunicorn.errors import AppImportError
from gunicorn.workers import gthread
from gunicorn.workers.gthread import TConn, ThreadWorker

SLOTS = 64
"""Workers whose connections are counted; a later one takes the place of an earlier one."""
PATIENCE_SECONDS = 0.01
"""How long a connection is left to others: a worker that computes takes its turn within that."""
STEP_SECONDS = 0.0005
SILENCE_SECONDS = 10.0
"""How long a client may send nothing in the middle of its request."""
_shared = mmap.mmap(-1, SLOTS * 4)
COUNTS = memoryview(_shared).cast("i")
"""Connections of each worker plus one, 0 where there is none; shared by all that are forked."""


class BoundedConnection(TConn):  # type: ignore[misc]
    """A connection whose client may not stop in the middle of its request."""

    def init(self) -> None:
        """Called as each of its requests begins."""
        is_new = not self.initialized
        super().init()
        if is_new and (unreader := getattr(self.parser, "unreader", None)):
            unreader.chunk = partial(_receive, self.sock, unreader.chunk)


def _receive(connection: socket, receive: Callable[..., bytes], *sizes: int | None) -> bytes:
    """What comes next; nothing, as of a client that has left, where it takes too long.

    Only while it is waited for has the connection a time limit: with one, a look whether the client
    is still there (`work_budget`) would wait as well.
    """
    before = connection.gettimeout()
    connection.settimeout(SILENCE_SECONDS if before is None else min(before, SILENCE_SECONDS))
    try:
        return receive(*sizes)
    except TimeoutError:
        return b""
    finally:
        connection.settimeout(before)


gthread.TConn = BoundedConnection  # The worker makes its connections by this name.


class BalancedWorker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's worker with threads, which takes turns by the number of connections."""

    def init_process(self) -> None:
        """Begins to count when it is about to serve."""
        self.count()
        super().init_process()

    def load_wsgi(self) -> None:
        """Ends the start in one line where a setting cannot be used."""
        try:
            super().load_wsgi()
        except ImproperlyConfigured as refusal:
            raise AppImportError(f"The settings cannot be used: {refusal}") from None

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """One turn of the worker's loop, at which connections may have ended."""
        self.count()
        super().wait_for_and_dispatch_events(timeout)

    def accept(self, listener: socket) -> None:
        """Takes a connection that no worker with fewer of them has taken meanwhile."""
        patient_until = time.monotonic() + PATIENCE_SECONDS
        while self.has_more_than_another() and time.monotonic() < patient_until:
            time.sleep(STEP_SECONDS)
        super().accept(listener)
        self.count()

    def count(self) -> None:
        """Tells the others how many connections this worker has."""
        COUNTS[self.age % SLOTS] = self.nr_conns + 1

    def has_more_than_another(self) -> bool:
        """Whether another worker has fewer connections than this one."""
        return any(0 < count <= self.nr_conns for count in COUNTS)

    def leave(self) -> None:
        """Called for a worker that has ended: nothing is left to it any more."""
        COUNTS[self.age % SLOTS] = 0
