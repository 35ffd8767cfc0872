"""Who sends or reads slowly does not keep a thread."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from io import BytesIO
from types import SimpleNamespace

import pytest
from gunicorn.config import Config
from gunicorn.workers import gthread

from planner import web_server as balanced_worker
from planner import web_server as slow_clients

Sides = tuple[balanced_worker.BoundedConnection, socket.socket]


@pytest.fixture
def sides() -> Iterator[Sides]:
    ours, theirs = socket.socketpair()
    connection = gthread.TConn(Config(), ours, ("127.0.0.1", 1), ("127.0.0.1", 2))
    connection.init()
    yield connection, theirs
    connection.close()
    theirs.close()


def let_each_wait_take(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at the clock, of which there are two to a wait, lie so far apart."""
    moments = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(moments) * seconds)
    monkeypatch.setattr(slow_clients, "time", clock)


def test_a_byte_now_and_then_ends_after_twenty_seconds_of_waiting(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One every nine seconds kept a thread for as long as its sender liked."""
    connection, _ = sides
    let_each_wait_take(9.0, monkeypatch)
    assert [connection.receive(lambda: b"x") for _ in range(5)] == [b"x"] * 3 + [b""] * 2
    connection.init()
    assert connection.receive(lambda: b"x") == b"x", "each request begins anew"


def test_a_slow_line_that_keeps_sending_is_waited_for(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 KiB in nine seconds is more than what is asked for."""
    connection, _ = sides
    let_each_wait_take(9.0, monkeypatch)
    piece = b"x" * 65_536
    assert all(connection.receive(lambda: piece) for _ in range(1000))


def test_an_answer_that_nobody_reads_counts_as_one_whose_reader_has_left(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, _ = sides
    monkeypatch.setattr(slow_clients, "UNREAD_SECONDS", 0.01)
    for write in (
        connection.sock.sendall,
        lambda answer: connection.sock.sendfile(BytesIO(answer), count=len(answer)),
    ):
        with pytest.raises(ConnectionResetError):
            write(b"x" * 10_000_000)
    assert connection.sock.gettimeout() is None


def test_an_answer_read_a_little_at_a_time_ends_too(
    sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, theirs = sides
    let_each_wait_take(9.0, monkeypatch)
    for _ in range(3):
        connection.sock.sendall(b"x")
    with pytest.raises(ConnectionResetError):
        connection.sock.sendall(b"x")
    assert theirs.recv(10) == b"xxx"


def test_an_answer_arrives_whole(sides: Sides) -> None:
    connection, theirs = sides
    whole = bytes(range(256)) * 300
    connection.sock.sendall(whole[:100])
    assert connection.sock.sendfile(BytesIO(whole), 100, 50_000) == 50_000
    connection.sock.sendall(memoryview(whole)[50_100:])
    assert theirs.recv(len(whole), socket.MSG_WAITALL) == whole
