"""The offers endpoint against the floor view of `offers_server`: requests per second and p99.

Both are served by the same two workers over the bundled catalog, asked by the same clients with
the same token, in turns.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.row import SHORT, Row

ROOT = Path(__file__).parents[2]
SECONDS = 2.0 if SHORT else 6.0
ROUNDS = 1 if SHORT else 3
CLIENTS = 8
OFFERS = (
    "/api/v1/offers/?accelerator=nvidia-a100-80gb-sxm&min_accelerators=8&page_size=20"
    "&ordering=usd_per_accelerator_hour"
)
FLOOR = "/floor/"
HOLD_RATE, HOLD_P99 = 0.6, 2.0

Measured = tuple[float, float]
"""Requests per second, p99 in ms."""


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
            "API_REQUESTS_PER_MINUTE": "0",
            "PAGES_PER_MINUTE": "0",
            "PAGES_ANONYMOUS_PER_MINUTE": "0",
            "DEBUG": "1",
            "LOG_LEVEL": "ERROR",
        }
        token = _filled(environment)
        with _server(environment) as port:
            ours, floor = _measured(port, token)
    return [
        Row(
            "offers endpoint, requests per second",
            ours[0],
            floor[0],
            f">= {HOLD_RATE}",
            ours[0] >= HOLD_RATE * floor[0],
            "1/s",
        ),
        Row(
            "offers endpoint, p99",
            ours[1],
            floor[1],
            f"<= {HOLD_P99}",
            ours[1] <= HOLD_P99 * floor[1],
        ),
    ]


_FILL = """
import django; django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_catalog", verbosity=0)
from planner.models import Scope, access_of
from planner.services.teams import teams, tokens
access = access_of(User.objects.create_user("bench"))
team = teams.create_team(access, "Bench")
access = access_of(User.objects.get())
print(tokens.create_token(access, team, name="b", scopes=[Scope.READ], days=1)[1])
"""


def _filled(environment: dict[str, str]) -> str:
    """The bundled catalog in a fresh database; gives a token that may read it."""
    done = subprocess.run(
        [sys.executable, "-c", _FILL],
        cwd=ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "planner.settings"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()[-1]


@contextmanager
def _server(environment: dict[str, str]) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [
        str(Path(sys.executable).with_name("gunicorn")),
        "tests.bench.offers_server:application",
        *("--bind", f"127.0.0.1:{port}", "--workers", "2"),
        *("--worker-class", "gthread", "--threads", "4", "--log-level", "error"),
    ]
    server = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        _wait_for(server, port)
        yield port
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/api/v1/servers/")
            connection.getresponse().read()
            return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError("The server did not start.")


def _measured(port: int, token: str) -> tuple[Measured, Measured]:
    """Medians over rounds in which both take turns."""
    found: dict[str, list[Measured]] = {OFFERS: [], FLOOR: []}
    for path in found:
        _load(port, token, path, 1.0)
    for _ in range(ROUNDS):
        for path, results in found.items():
            results.append(_load(port, token, path, SECONDS))
    ours, floor = (
        (statistics.median(r[0] for r in rs), statistics.median(r[1] for r in rs))
        for rs in found.values()
    )
    return ours, floor


def _load(port: int, token: str, path: str, seconds: float) -> Measured:
    """CLIENTS threads asking for `path` one request after another."""
    taken: list[float] = []
    until = time.monotonic() + seconds

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        own = []
        while time.monotonic() < until:
            began = time.perf_counter()
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise RuntimeError(f"{path} answered {response.status}")
            own.append((time.perf_counter() - began) * 1e3)
        taken.extend(own)

    clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return len(taken) / seconds, statistics.quantiles(taken, n=100)[98]
