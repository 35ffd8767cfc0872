"""A gunicorn worker that leaves a new connection to a worker with fewer of them.

The kernel wakes every worker for a new connection, and whichever comes first keeps it, all its
requests included. Where two workers compute, one easily ends up with six of eight clients, each of
which then waits half as long again as it need. So a worker that has more connections than another
waits a moment before it takes one more.

Nor does a client keep a thread that begins a request and goes silent, sends it a byte at a time, or
does not read its answer: after a while it counts as one that has left.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from functools import partial
from socket import socket
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from gunicorn.errors import AppImportError
from gunicorn.workers import gthread
from gunicorn.workers.gthread import TConn, ThreadWorker

from planner import slow_clients
from planner.slow_clients import Patience, PatientSocket

SLOTS = 64
"""Workers whose connections are counted; a later one takes the place of an earlier one."""
PATIENCE_SECONDS = 0.01
"""How long a connection is left to others: a worker that computes takes its turn within that."""
STEP_SECONDS = 0.0005
_shared = mmap.mmap(-1, SLOTS * 4)
COUNTS = memoryview(_shared).cast("i")
"""Connections of each worker plus one, 0 where there is none; shared by all that are forked."""


class BoundedConnection(TConn):  # type: ignore[misc]
    """A connection whose client may neither stop nor dawdle in its request or its answer."""

    def __init__(self, cfg: Any, sock: socket, client: Any, server: Any) -> None:
        super().__init__(cfg, PatientSocket.instead_of(sock), client, server)
        self.patience = Patience()

    def init(self) -> None:
        """Called as each of its requests begins."""
        is_new = not self.initialized
        super().init()
        self.patience = Patience()
        if isinstance(self.sock, PatientSocket):  # Not where gunicorn itself speaks TLS.
            self.sock.patience = self.patience
        if is_new and (unreader := getattr(self.parser, "unreader", None)):
            unreader.chunk = partial(self.receive, unreader.chunk)

    def receive(self, receive: Callable[..., bytes], *sizes: int | None) -> bytes:
        """What comes next; nothing, as of a client that has left, where it takes too long."""
        try:
            with self.patience.wait(self.sock, slow_clients.SILENCE_SECONDS):
                data = receive(*sizes)
        except TimeoutError:
            return b""
        self.patience.count(len(data))
        return data


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
