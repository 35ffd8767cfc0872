"""A question whose client has left stops: a real server, a real connection, one thread.

That a request stops at all is in `tests/planner/services/test_work_budget.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.planner.worst_requests import Shape, build_request

pytestmark = pytest.mark.sweep
LONG = Shape(
    horizon=120, profile="random", hours=50_000.0, peak_factor=1.7, offers=40,
    committed_share=1.0, servers=20, max_units=True, quotas=15, tightness=0.9,
    monthly_budget=True, spot_share=True, use_catalog=False,
)  # fmt: skip
FREE_WITHIN_SECONDS = 4.0
"""A twentieth of one on a free machine."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, kept_database: Path) -> Iterator[int]:
    """The port of a server with one thread and a budget that lasts for minutes."""
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "tests.served_settings",
        "TEST_WORK_ANONYMOUS": "1000000000",
        "LOG_LEVEL": "ERROR",
    }
    if kept_database.exists():
        shutil.copy(kept_database, folder / "db.sqlite3")
    else:
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, cwd=settings.BASE_DIR, env=environment, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    process = subprocess.Popen(
        [
            *(str(Path(sys.executable).with_name("gunicorn")), "planner.wsgi"),
            *("--bind", f"127.0.0.1:{port}", "--threads", "1"),
            *("--timeout", "300", "--log-level", "error"),
        ],
        cwd=settings.BASE_DIR,
        env=environment,
    )
    try:
        _wait_until_served(port)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_served(port: int) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            _seconds_of_a_small_page(port)
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.1)
        else:
            return


def _seconds_of_a_small_page(port: int) -> float:
    began = time.monotonic()
    address = f"http://127.0.0.1:{port}/api/v1/freshness/"
    with urllib.request.urlopen(address, timeout=60) as answer:
        assert answer.status == 200
    return time.monotonic() - began


def _post(port: int, address: str) -> socket.socket:
    """A connection on which the long question was asked."""
    body = json.dumps(build_request(LONG)).encode()
    connection = socket.create_connection(("127.0.0.1", port))
    head = (
        f"POST {address} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def test_the_worker_is_free_soon_after_a_client_has_left(server: int) -> None:
    with _post(server, "/api/v1/comparisons/") as connection:
        connection.settimeout(2)
        with pytest.raises(TimeoutError):  # it is at work, and would be for long
            connection.recv(1)

    assert _seconds_of_a_small_page(server) < FREE_WITHIN_SECONDS


def test_as_long_as_the_client_waits_its_question_is_worked_on(server: int) -> None:
    """For as long as it may take to see that a client has left, and longer."""
    with _post(server, "/api/v1/comparisons/") as connection:
        connection.settimeout(FREE_WITHIN_SECONDS + 1)
        with pytest.raises(TimeoutError):
            connection.recv(1)
