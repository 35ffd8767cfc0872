"""New connections go to the worker that has the fewest of them."""

from __future__ import annotations

import http.client
import re
import runpy
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gunicorn.config import Config
from gunicorn.http import RequestParser
from gunicorn.http.errors import NoMoreData
from gunicorn.workers import gthread

from planner import web_server as balanced_worker
from planner import web_server as slow_clients
from planner.web_server import COUNTS, BalancedWorker

ROOT = Path(__file__).parents[3]
APPLICATION = """
import os, time
from planner import web_server as balanced_worker

balanced_worker.PATIENCE_SECONDS = 5.0  # a busy machine wakes nobody in time

def application(environ, start_response):
    until = time.monotonic() + 0.02
    while time.monotonic() < until:
        pass
    start_response("200 OK", [("Content-Length", "8")])
    return [b"%08d" % os.getpid()]
"""
CLIENTS, REQUESTS = 8, 5


@pytest.fixture(autouse=True)
def nobody_else() -> Iterator[None]:
    """No worker is counted before or after a test."""
    yield
    for slot in range(balanced_worker.SLOTS):
        COUNTS[slot] = 0


def worker(age: int, connections: int) -> BalancedWorker:
    """A worker that never serves."""
    one = BalancedWorker.__new__(BalancedWorker)
    one.age, one.nr_conns = age, connections
    one.count()
    return one


def test_it_waits_for_those_that_have_fewer_and_for_nobody_else() -> None:
    busy, idle = worker(1, 3), worker(2, 2)
    assert busy.has_more_than_another()
    assert not idle.has_more_than_another()
    idle.nr_conns = 3
    idle.count()
    assert not busy.has_more_than_another()


def test_nothing_is_left_to_one_that_has_ended() -> None:
    busy, ended = worker(1, 3), worker(2, 0)
    ended.leave()
    assert not busy.has_more_than_another()


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Two workers that compute for each request."""
    (tmp_path / "computing.py").write_text(APPLICATION)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
    server = subprocess.Popen(
        [
            *(str(Path(sys.executable).with_name("gunicorn")), "computing:application"),
            *("--config", "/dev/null"),
            *("--worker-class", "planner.web_server.BalancedWorker", "--threads", "4"),
            *("--bind", f"127.0.0.1:{number}", "--workers", "2", "--log-level", "error"),
            *("--pythonpath", f"{tmp_path},{ROOT}", "--no-control-socket"),
        ]
    )
    try:
        until = time.monotonic() + 30
        while len({_ask(number, 1)[0] for _ in range(4)}) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        yield number
    finally:
        server.terminate()
        server.wait(30)


def _ask(port: int, times: int) -> list[bytes]:
    """The workers that answered requests on one connection; none before the server is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    answers = []
    try:
        for _ in range(times):
            connection.request("GET", "/")
            answers.append(connection.getresponse().read())
    except OSError:
        return [b""]
    finally:
        connection.close()
    return answers


@pytest.mark.sweep
def test_eight_clients_are_four_to_a_worker(port: int) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(lambda _: _ask(port, REQUESTS), range(CLIENTS)))
    assert Counter(one for answer in answers for one in set(answer)).most_common(1)[0][1] == 4


def test_no_visitor_says_where_the_site_lies() -> None:
    """Of a proxy that passes such a header on, gunicorn would believe it."""
    config = Config()
    settings_of_ours = runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    config.set("forwarder_headers", settings_of_ours["forwarder_headers"])
    sent = b"GET /plan/ HTTP/1.1\r\nHost: a\r\nSCRIPT_NAME: /x\r\nPATH_INFO: /admin/\r\n\r\n"
    request = next(RequestParser(config, iter([sent]), ("127.0.0.1", 1)))
    assert [name for name, _ in request.headers] == ["HOST"]


def test_no_log_holds_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path may hold the secret of an invitation, the query a plan."""
    monkeypatch.setenv("LOG_FORMAT", "json")
    loggers = runpy.run_path(str(ROOT / "gunicorn.conf.py"))["logconfig_dict"]["loggers"]
    assert loggers["gunicorn.access"] == {"handlers": [], "propagate": False}
    proxy = (ROOT / "deploy/nginx.conf").read_text()
    (form,) = re.findall(r"log_format planner '(.*)';", proxy)
    assert not re.search(r"\$(request|request_uri|uri|args|document_uri|http_referer)\b", form)
    assert proxy.count("access_log /var/log/nginx/access.log planner;") == proxy.count("server {")


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nHost: a", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_a_client_that_goes_silent_in_its_request_counts_as_gone(
    monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    """Eight of them kept all threads of a worker for as long as they liked."""
    monkeypatch.setattr(slow_clients, "SILENCE_SECONDS", 0.02)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(begun)
        connection = gthread.TConn(Config(), ours, ("127.0.0.1", 1), ("127.0.0.1", 2))
        connection.init()
        if begun.startswith(b"GET"):
            with pytest.raises((NoMoreData, StopIteration)):
                next(connection.parser)
        else:
            assert next(connection.parser).body.read() == b"{"
        assert connection.sock.gettimeout() is None
        connection.close()
