"""A mail server and a web server of a test, on the loopback, that keep what they are sent."""

from __future__ import annotations

import http.server
import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Mail(socketserver.StreamRequestHandler):
    """As much of SMTP as a client needs to hand over a letter."""

    def handle(self) -> None:
        self._say("220 ready")
        while line := self.rfile.readline().decode().strip():
            word = line.split()[0].upper()
            if word == "DATA":
                self._say("354 go on")
                self.server.received.append(self._letter())  # type: ignore[attr-defined]
            self._say("221 bye" if word == "QUIT" else "250 ok")
            if word == "QUIT":
                return

    def _letter(self) -> str:
        lines = []
        while (line := self.rfile.readline().decode()) not in (".\r\n", ""):
            lines.append(line)
        return "".join(lines)

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class _Web(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(json.loads(body))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        return


@contextmanager
def _serving(server: Any) -> Iterator[Any]:
    server.received = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def mail_server() -> Any:
    """Serves while the context is open; `received` holds the letters."""
    return _serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mail))


def web_server(status: int = 204) -> Any:
    """Serves while the context is open; `received` holds the bodies, all answered alike."""
    server: Any = http.server.HTTPServer(("127.0.0.1", 0), _Web)
    server.status = status
    return _serving(server)
