"""A refusal reaches whoever still sends: the rest of the body is read, for a while."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.conf import settings

from planner import unread_bodies, wsgi
from planner.unread_bodies import read_to_end


def refuse(_environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    start_response("413 Content Too Large", [])
    return [b"too large"]


def ask(environ: dict[str, Any], most_bytes: int = 1_000_000) -> bytes:
    return b"".join(read_to_end(refuse, most_bytes)(environ, lambda *_: None))


@pytest.mark.parametrize(("most_bytes", "left"), [(200_000, 0), (199_999, 200_000)])
def test_a_body_that_nobody_read_is_read_up_to_the_limit(most_bytes: int, left: int) -> None:
    body = io.BytesIO(b"x" * 200_000)
    environ = {"CONTENT_LENGTH": "200000", "wsgi.input": body}
    assert ask(environ, most_bytes) == b"too large"
    assert len(body.read()) == left


@pytest.mark.parametrize("length", ["", "0", "-5", "٣", "many"])
def test_without_a_usable_length_nothing_is_read(length: str) -> None:
    body = io.BytesIO(b"x")
    assert ask({"CONTENT_LENGTH": length, "wsgi.input": body}) == b"too large"
    assert body.read() == b"x"


def test_a_slow_sender_holds_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread_bodies, "PATIENCE_SECONDS", 0.2)
    ours, theirs = socket.socketpair()
    is_over = threading.Event()

    def send_slowly() -> None:
        while not is_over.wait(0.05):
            theirs.send(b"x")

    sender = threading.Thread(target=send_slowly)
    sender.start()
    began = time.monotonic()
    with ours.makefile("rb", buffering=0) as stream:
        environ = {"CONTENT_LENGTH": "500000", "wsgi.input": stream, "gunicorn.socket": ours}
        assert ask(environ) == b"too large"
    is_over.set()
    sender.join()
    assert 0.15 < time.monotonic() - began < 5
    assert ours.gettimeout() is None
    ours.close()
    theirs.close()


@pytest.mark.django_db
def test_the_site_reads_what_it_refuses() -> None:
    size = settings.API_MAX_BODY_BYTES + 1
    body = io.BytesIO(b"x" * size)
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/api/v1/comparisons/",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(size),
        "wsgi.url_scheme": "http",
        "wsgi.input": body,
        "REMOTE_ADDR": "192.0.2.77",
    }
    statuses: list[str] = []
    answer = wsgi.application(environ, lambda status, *_: statuses.append(status))
    list(answer)
    assert statuses[0].startswith("413")
    assert not body.read()
