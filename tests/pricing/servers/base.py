"""A provider on loopback that tests can hurt.

`FakeServer` answers through `answer(request)`; `server.faults` holds what goes wrong: each
`Fault` meets the requests that it matches, as often as `times` says, after letting `after`
of them pass. What was asked is in `server.requests`.

    with MyServer(truth) as server:
        server.faults.append(Fault.burst(3, retry_after="0"))
        fetch(server.url)
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, Any, Self
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Fault:
    """What goes wrong with the requests that `matches`."""

    times: int | None = None
    """How many requests it meets; None for all."""
    after: int = 0
    """How many requests it lets pass first."""
    matches: Callable[[Request], bool] = lambda _request: True
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    error_body: bytes = b'{"message": "injected fault"}'
    delay_s: float = 0.0
    keep: float = 1.0
    """Part of the body that is sent, under its own honest length: a truncated document."""
    hang_up_at: float | None = None
    """Part of the body after which the connection is closed: a page lost half-way."""
    rewrite: Callable[[bytes], bytes] | None = None
    drip_s: float = 0.0
    """Pause before each of 40 parts of the body."""
    seen: int = 0

    @classmethod
    def burst(cls, times: int | None = 3, retry_after: str = "0", **changes: Any) -> Fault:
        """429 Too Many Requests."""
        return cls(times=times, status=429, headers={"Retry-After": retry_after}, **changes)

    @classmethod
    def error(cls, times: int | None = 3, status: int = 500, **changes: Any) -> Fault:
        return cls(times=times, status=status, **changes)

    @classmethod
    def time_out(cls, delay_s: float, times: int | None = 1, **changes: Any) -> Fault:
        return cls(times=times, delay_s=delay_s, **changes)

    @classmethod
    def truncated(cls, times: int | None = None, keep: float = 0.6, **changes: Any) -> Fault:
        return cls(times=times, keep=keep, **changes)

    @classmethod
    def lost(cls, times: int | None = None, at: float = 0.5, **changes: Any) -> Fault:
        return cls(times=times, hang_up_at=at, **changes)

    def strikes(self, request: Request) -> bool:
        if not self.matches(request):
            return False
        self.seen += 1
        number = self.seen - self.after
        return number > 0 and (self.times is None or number <= self.times)

    def spoil(self, reply: Reply) -> Reply:
        if self.status is not None:
            return Reply(self.error_body, self.status, dict(self.headers))
        body = self.rewrite(reply.body) if self.rewrite else reply.body
        headers = {**reply.headers, **self.headers}
        return Reply(body[: int(len(body) * self.keep)], reply.status, headers)


class _QuickServer(ThreadingHTTPServer):
    """Ends at once, where `serve_forever` would look only now and then whether it should."""

    daemon_threads = True
    is_over = False

    def start(self) -> None:
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self.is_over:
            self.handle_request()

    def end(self) -> None:
        """Any connection ends the wait for the next one."""
        self.is_over = True
        socket.create_connection(("127.0.0.1", self.server_port)).close()
        self._thread.join()
        self.server_close()


class FakeServer:
    """Serves on a free port of 127.0.0.1 while its `with` block runs."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._http = _QuickServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, request: Request) -> Reply:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._http.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.end()

    def meet(self, request: Request) -> Fault | None:
        """Notes the request and gives the fault that strikes it, if one does."""
        with self._lock:
            self.requests.append(request)
            return next((fault for fault in self.faults if fault.strikes(request)), None)


def _write(file: IO[bytes], body: bytes, drip_s: float) -> None:
    size = len(body) // 40 + 1 if drip_s else len(body) or 1
    for start in range(0, len(body), size):
        time.sleep(drip_s)
        file.write(body[start : start + size])
        file.flush()


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True  # else each body waits 40 ms for its headers' receipt

        def _serve(self) -> None:
            request = self._request()
            fault = server.meet(request)
            if fault:
                time.sleep(fault.delay_s)
            reply = server.answer(request)
            if fault:
                reply = fault.spoil(reply)
            self._send(reply, fault or Fault())

        do_GET = do_POST = _serve  # noqa: N815 - names that http.server looks for
        do_PUT = do_DELETE = do_HEAD = _serve  # noqa: N815

        def _request(self) -> Request:
            parts = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            return Request(
                self.command,
                parts.path,
                parse_qs(parts.query),
                {name.lower(): value for name, value in self.headers.items()},
                self.rfile.read(length),
            )

        def _send(self, reply: Reply, fault: Fault) -> None:
            hang_up_at = fault.hang_up_at
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                end = len(reply.body) if hang_up_at is None else int(len(reply.body) * hang_up_at)
                if self.command != "HEAD":
                    _write(self.wfile, reply.body[:end], fault.drip_s)
                self.close_connection = self.close_connection or hang_up_at is not None
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """The tests say what they need."""

    return Handler
