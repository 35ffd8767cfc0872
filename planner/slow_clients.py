"""How long a client may keep a thread by sending or reading slowly.

A thread reads a request and writes its answer in one go, so whoever sends a byte now and then, or
reads one, has it for as long as that takes. A proxy that takes requests and answers in whole
stands between; where there is none, this does.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import socket
from typing import Any, BinaryIO, Self

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
