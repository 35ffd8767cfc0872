"""How long a client may keep a thread by sending or reading slowly.

A thread reads a request and writes its answer in one go, so whoever sends a byte now and then, or
reads one, has it for as long as that takes. A proxy that takes requests and answers in whole
stands between; where there is none, this does.
"""

from __future__ import annotations

import errno
import mmap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from socket import socket
from typing import Any, BinaryIO, Self

from django.core.exceptions import ImproperlyConfigured
from gunicorn.errors import AppImportError
from gunicorn.workers import gthread
from gunicorn.workers.gthread import TConn, ThreadWorker

SILENCE_SECONDS = 10.0
"""How long a client may send nothing in the middle of its request."""
UNREAD_SECONDS = 60.0
"""How long it may read nothing of its answer, such as while a browser asks where to put a file."""
START_SECONDS = 20.0
"""For how long a request may keep a thread waiting in all, besides the time for its bytes."""
LEAST_BYTES_PER_SECOND = 4096
"""What the slowest mobile networks (GPRS) gave; 64 MiB, the largest file, may take 4.5 hours."""
PIECE_BYTES = 32_768
"""An answer is written in such pieces, each of which counts."""


class Patience:
    """What is left of it for one request and its answer: only waiting for the client counts."""

    def __init__(self) -> None:
        self._waited = 0.0
        self._bytes = 0

    @contextmanager
    def wait(self, connection: socket, silence: float) -> Iterator[None]:
        """Ends with `TimeoutError` what a client does too slowly.

        Only meanwhile has the connection a time limit: with one, a look whether the client is
        still there (`work_budget`) would wait as well.
        """
        before = connection.gettimeout()
        left = START_SECONDS + self._bytes / LEAST_BYTES_PER_SECOND - self._waited
        limits = [silence, left] if before is None else [silence, left, before]
        began = time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            connection.settimeout(min(limits))
            yield
        finally:
            self._waited += time.monotonic() - began
            with suppress(OSError):
                connection.settimeout(before)

    def count(self, number: int) -> None:
        """Bytes that the client has sent or taken."""
        self._bytes += number


class PatientSocket(socket):
    """A connection whose client has to read its answer."""

    patience: Patience

    @classmethod
    def instead_of(cls, accepted: socket) -> Self:
        """The same connection; what was handed over can no longer be used."""
        kind, timeout = accepted.type, accepted.gettimeout()
        ours = cls(accepted.family, kind, accepted.proto, fileno=accepted.detach())
        ours.settimeout(timeout)
        ours.patience = Patience()
        return ours

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        """Raises `ConnectionResetError`, as of a client that has left, where it takes too long."""
        view = memoryview(data).cast("B")
        for begin in range(0, len(view), PIECE_BYTES):
            piece = view[begin : begin + PIECE_BYTES]
            try:
                with self.patience.wait(self, UNREAD_SECONDS):
                    super().sendall(piece, flags)
            except TimeoutError:
                raise ConnectionResetError(
                    errno.ECONNRESET, "the client reads its answer too slowly"
                ) from None
            self.patience.count(len(piece))

    def sendfile(self, file: BinaryIO, offset: int = 0, count: int | None = None) -> int:  # type: ignore[override]
        """In pieces that count: the system's own way would wait for each without end."""
        file.seek(offset)
        done = 0
        while piece := file.read(PIECE_BYTES if count is None else min(PIECE_BYTES, count - done)):
            self.sendall(piece)
            done += len(piece)
        return done


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
            with self.patience.wait(self.sock, SILENCE_SECONDS):
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
