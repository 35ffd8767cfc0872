"""Clients that ask again until they are answered, and a receiver of webhooks that counts."""

from __future__ import annotations

import http.client
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.attack.cases import REQUEST

RETRY_SECONDS, PATIENCE_SECONDS = 0.5, 120.0
ITEMS = 6
"""Comparisons of a job, which take about a second together."""


class Client:
    """Calls the API with a token, again and again with the same key until it has an answer."""

    def __init__(self, port: int, token: str, team: str) -> None:
        self._port, self._token, self._team = port, token, team

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """None where nobody answered, or not as was asked."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        plain = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1/{path}", data, plain | headers)
            response = connection.getresponse()
            text = response.read()
            return json.loads(text) if response.status < 300 else None
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def start_job(self) -> str | None:
        """The id of a job that the server says it has taken, with one key however often it asks;
        None where it took none in two minutes."""
        items = [{"key": str(n), "request": REQUEST} for n in range(ITEMS)]
        headers = {"Idempotency-Key": str(uuid.uuid4()), "Prefer": "respond-async"}
        path = f"comparisons/batch/?team={self._team}"
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            if job := self.call("POST", path, {"items": items}, **headers):
                return str(job["id"])
            time.sleep(RETRY_SECONDS)
        return None

    def is_open(self, job: str) -> bool:
        """Whether a job waits or runs, or nobody says."""
        row = self.call("GET", f"jobs/{job}/")
        return row is None or row["state"] in ("queued", "running")

    def send_test(self, webhook: str) -> str | None:
        """The id of a delivery that the server says it will make."""
        path = f"teams/{self._team}/webhooks/{webhook}/test/"
        delivery = self.call("POST", path, {})
        return None if delivery is None else str(delivery["id"])


@contextmanager
def receiver() -> Iterator[tuple[str, Counter[str]]]:
    """An address for webhooks, and how often each delivery reached it."""
    seen: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen[self.headers["Webhook-Id"]] += 1
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", seen
    finally:
        server.shutdown()
