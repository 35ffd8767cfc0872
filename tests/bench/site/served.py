"""The site as it is run, two workers over the bundled catalog, and clients that load it."""

import http.client
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.attack.server import ROOT, free_port, wait_for

CLIENTS = 8


@dataclass(frozen=True)
class Call:
    """One request; a body is sent as JSON."""

    path: str
    body: str = ""


@dataclass(frozen=True)
class Load:
    """What a number of clients saw."""

    per_second: float
    p99_ms: float


def unlimited(folder: str) -> dict[str, str]:
    """Settings of a site of its own in a folder, which limits nobody by the minute."""
    return os.environ | {
        "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
        "DEBUG": "1",
        "LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "tests.served_settings",
    }


_FILL = """
import django; django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_catalog", verbosity=0)
from planner.models import Scope, access_of
from planner.services.teams import teams
access = access_of(User.objects.create_user("bench"))
team = teams.create_team(access, "Bench")
access = access_of(User.objects.get())
print(teams.create_token(access, team, name="b", scopes=[Scope.READ], days=1)[1])
"""


def fill(environment: dict[str, str]) -> str:
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
def serve(environment: dict[str, str], workers: int = 2) -> Iterator[tuple[int, int]]:
    """Port and process of the server."""
    port = free_port()
    command = [
        str(Path(sys.executable).with_name("gunicorn")),
        "planner.wsgi",
        *("--bind", f"127.0.0.1:{port}", "--workers", str(workers)),
        *("--threads", "4", "--log-level", "error"),
    ]
    server = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        wait_for(server, port)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(30)


def load(
    port: int, token: str, call_of: Callable[[int], Call], seconds: float, most: int | None = None
) -> Load:
    """Clients that ask one request after another, the n-th being `call_of(n)`, for some seconds or
    until `most` are answered. Raises `RuntimeError` on an answer that is none."""
    taken: list[float] = []
    began, numbers = time.monotonic(), iter(range(sys.maxsize if most is None else most))
    turn = threading.Lock()

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while time.monotonic() < began + seconds:
            with turn:
                number = next(numbers, None)
            if number is None:
                break
            taken.append(_ask(connection, token, call_of(number)))

    clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return Load(len(taken) / (time.monotonic() - began), statistics.quantiles(taken, n=100)[98])


def _ask(connection: http.client.HTTPConnection, token: str, call: Call) -> float:
    """Milliseconds that an answer took."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    began = time.perf_counter()
    verb = "POST" if call.body else "GET"
    connection.request(verb, call.path, call.body or None, headers)
    response = connection.getresponse()
    text = response.read()
    if response.status != 200:
        raise RuntimeError(f"{call.path} answered {response.status}: {text[:200]!r}")
    return (time.perf_counter() - began) * 1e3
