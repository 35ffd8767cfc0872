"""The id that a request carries into logs, and into the jobs and deliveries that it starts."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pythonjsonlogger.core import RESERVED_ATTRS

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


_LEFT_OUT = ("request", "response", "sock", "data", "taskName")
"""Extras of other programs that are no figures: objects, and what a task was called with."""


class RequestId(logging.Filter):
    """Gives each line the id of the request that it is about, or of what is being done."""

    def filter(self, record: logging.LogRecord) -> bool:
        named = getattr(getattr(record, "request", None), "request_id", "")
        request_id = getattr(record, "request_id", "") or current_request_id() or named
        if request_id:
            record.request_id = request_id
        record.of_request = f" [{request_id}]" if request_id else ""
        return True


JSON_LINES = {
    "()": "pythonjsonlogger.json.JsonFormatter",
    "fmt": ["levelname", "name", "message"],
    "rename_fields": {"levelname": "level", "name": "logger", "exc_info": "exception"},
    "timestamp": "time",
    "reserved_attrs": [*RESERVED_ATTRS, *_LEFT_OUT, "of_request"],
    "json_ensure_ascii": False,
}
"""Time, level, logger, message, request id, and whatever a line was given by `extra`."""


class RouteForPath(logging.Filter):
    """Names the route where the framework names the path of a request, which may hold the secret
    of an invitation or of a new password. A request that was refused before its route was looked
    up is looked up here; of a path that has none, words are kept."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        match, path = getattr(request, "resolver_match", None), getattr(request, "path", "")
        if path and isinstance(record.args, tuple):
            # The framework escapes what it logs.
            forms = (path, path.encode("unicode_escape").decode("ascii"))
            route = f"/{match.route}" if match else name_route(path) or hide_secrets(path)
            record.args = tuple(route if part in forms else part for part in record.args)
        return True


_TELL_ADDRESSES = ("httpx", "httpcore")


class NotServed(logging.Filter):
    """A host that is not served is asked for by whoever scans addresses: a line without a
    traceback, and no error that wakes an operator."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        return True


def configure_logging(form: str, level: str) -> dict[str, Any]:
    """Everything to standard error, in the form `plain` or `json`, from `level` on."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": {
                "format": "{asctime} {levelname} {name}: {message}{of_request}",
                "style": "{",
            },
            "json": JSON_LINES,
        },
        "filters": {
            "request_id": {"()": f"{__name__}.RequestId"},
            "route": {"()": f"{__name__}.RouteForPath"},
            "not_served": {"()": f"{__name__}.NotServed"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["request_id", "route"],
            }
        },
        "root": {"handlers": ["console"], "level": level},
        # Its own handlers, with DEBUG, would say each line again, with the whole path.
        "loggers": {
            "django": {"handlers": []},
            "django.security.DisallowedHost": {"filters": ["not_served"]},
            # They name whole addresses, of which the path or the query may be a secret.
            **{
                name: {
                    "level": max(level, "WARNING", key=logging.getLevelNamesMapping().__getitem__)
                }
                for name in _TELL_ADDRESSES
            },
        },
    }


def start_reports() -> None:
    """Called once by each process that serves requests or jobs."""
    if not settings.SENTRY_DSN:
        return
    if find_spec("sentry_sdk") is None:
        raise ImproperlyConfigured(
            "SENTRY_DSN is set, but sentry_sdk is not installed; install it with "
            "pip install 'gpu-cost-planner[telemetry]', or unset it."
        )
    start_sentry()


def start_sentry(**options: Any) -> None:
    """Errors, without who asked and without what was typed."""
    import sentry_sdk

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        include_local_variables=False,
        max_breadcrumbs=0,
        max_request_body_size="never",
        before_send=hide_typed_text,
        **options,
    )


def hide_typed_text(event: Any, _hint: object = None) -> Any:
    """The event with the route in place of its address, whose path may hold an invitation's
    secret and whose query a whole plan."""
    request = event.get("request")
    if request:
        parts = urlsplit(request.get("url", ""))
        request["url"] = urlunsplit((parts.scheme, parts.netloc, name_route(parts.path), "", ""))
        for name in ("query_string", "data", "cookies", "headers", "env"):
            request.pop(name, None)
    return event


HIDDEN = "…"
_WORD = re.compile(r"[a-z]{1,20}([-.][a-z]{1,20}){0,3}")
"""What addresses are made of; a secret of random characters is no such word."""


def name_route(path: str) -> str:
    """The route that answers a path, "" where none does.

    >>> name_route("/join/inv_secret/")
    '/join/<str:secret>/'
    """
    # The settings import this package, before there are addresses.
    from django.urls import Resolver404, resolve

    try:
        return "/" + resolve(path).route
    except Resolver404:
        return ""


def hide_secrets(path: str) -> str:
    """A path that no route answers, with its words alone.

    >>> hide_secrets("/join/inv_secret/)"), hide_secrets("/wp/login.php")
    ('/join/…/…', '/wp/login.php')
    """
    parts = path.split("/")
    return "/".join(part if not part or _WORD.fullmatch(part) else HIDDEN for part in parts)
