"""Reads what a refused request still sends, so that the refusal arrives.

Whoever is answered before the body was read (too large, too many requests, not signed in) goes on
sending. Where the server closes the connection meanwhile, the sender sees it broken instead of the
answer, and a proxy in front says 502.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from planner.services.work_budget import SOCKET
from pricing.common.bounded import read_length

CHUNK_BYTES = 65_536
PATIENCE_SECONDS = 2.0
"""How long a body that nobody reads may take, so that no slow sender holds a thread."""

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def read_to_end(site: Application, most_bytes: int) -> Application:
    """The site, which reads the rest of a body of at most so many bytes and forgets it."""

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = site(environ, start_response)
        if 0 < read_length(environ.get("CONTENT_LENGTH") or "") <= most_bytes:
            with suppress(OSError):
                _discard(environ)
        return answer

    return application


def _discard(environ: dict[str, Any]) -> None:
    connection = environ.get(SOCKET)
    if not isinstance(connection, socket.socket):
        connection = None
    before = connection.gettimeout() if connection is not None else None
    until = time.monotonic() + PATIENCE_SECONDS
    try:
        while (left := until - time.monotonic()) > 0:
            if connection is not None:
                connection.settimeout(left)
            if not environ["wsgi.input"].read(CHUNK_BYTES):
                return
    finally:
        if connection is not None:
            connection.settimeout(before)
