"""Logs, with the id of the request that they are about, and no secret.

The id goes along into the jobs and deliveries that a request starts.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pythonjsonlogger.core import RESERVED_ATTRS

_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
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


class OfRequest(logging.Filter):
    """Gives each line the id of its request, and of a request its route in place of its path.

    A path may hold the secret of an invitation or of a new password. A host that is not served is
    asked for by whoever scans addresses: a line, and no traceback that wakes an operator.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        of_request = getattr(request, "request_id", "")
        request_id = getattr(record, "request_id", "") or current_request_id() or of_request
        if request_id:
            record.request_id = request_id
        record.of_request = f" [{request_id}]" if request_id else ""
        path = getattr(request, "path", "")
        if path and isinstance(record.args, tuple) and record.args:
            # The framework names the path last.
            record.args = (*record.args[:-1], name_route(path))
        if record.name == "django.security.DisallowedHost":
            record.exc_info = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


_QUIET = ("httpx", "httpcore")
"""They name whole addresses, of which the path or the query may be a secret."""
_LEFT_OUT = ("request", "response", "sock", "data", "taskName", "of_request")
"""Extras of other programs that are no figures: objects, and what a task was called with."""


def configure_logging(form: str, level: str) -> dict[str, Any]:
    """Everything to standard error, in the form `plain` or `json`, from `level` on."""
    quiet = "WARNING" if level in ("DEBUG", "INFO") else level
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": {
                "format": "{asctime} {levelname} {name}: {message}{of_request}",
                "style": "{",
            },
            "json": {
                "()": "pythonjsonlogger.json.JsonFormatter",
                "fmt": ["levelname", "name", "message"],
                "rename_fields": {"levelname": "level", "name": "logger", "exc_info": "exception"},
                "timestamp": "time",
                "reserved_attrs": [*RESERVED_ATTRS, *_LEFT_OUT],
                "json_ensure_ascii": False,
            },
        },
        "filters": {"of_request": {"()": f"{__name__}.OfRequest"}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["of_request"],
            }
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Its own handlers, with DEBUG, would say each line again, with the whole path.
            "django": {"handlers": []},
            "django.security.DisallowedHost": {"filters": ["of_request"]},
            # Addresses of alerts hold secrets: what became of a delivery is in its row.
            "apprise": {"level": "CRITICAL"},
            "urllib3": {"level": "ERROR"},
            **{name: {"level": quiet} for name in _QUIET},
        },
    }


def name_route(path: str) -> str:
    """The route that answers a path; what none answers may hold a secret all the same.

    >>> name_route("/join/inv_secret/"), name_route("/join/inv_secret/)")
    ('/join/<str:secret>/', '/…')
    """
    # The settings import this package, before there are addresses.
    from django.urls import Resolver404, resolve

    try:
        return "/" + resolve(path).route
    except Resolver404:
        return "/…"
