"""The id that a request carries into logs, and into the jobs and deliveries that it starts."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_LENGTH = 64
_ACCEPTED = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_LENGTH}}}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of what is being done, "" outside of requests, jobs and deliveries."""
    return _current.get()


def accept_request_id(text: str) -> str:
    """The caller's id where it can stand in a log line as it is, else a new one.

    >>> accept_request_id("7f3a-1")
    '7f3a-1'
    >>> len(accept_request_id("two lines\\n")), len(accept_request_id(""))
    (32, 32)
    """
    return text if _ACCEPTED.fullmatch(text) else uuid.uuid4().hex


@contextmanager
def use_request_id(request_id: str) -> Iterator[None]:
    """What is done inside is done for the request of this id; "" leaves it as it is."""
    token = _current.set(request_id or _current.get())
    try:
        yield
    finally:
        _current.reset(token)
