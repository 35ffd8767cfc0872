"""Log lines as JSON, one object a line, for a collector to read."""

from __future__ import annotations

import datetime as dt
import json
import logging
from typing import Any

from planner.services.observability.request_id import current_request_id
from planner.services.observability.routes import hide_secrets, name_route

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LEFT_OUT = frozenset({"request", "response", "sock", "exc_info", "data"})
"""Extras of other programs that are no figures: objects, and what a task was called with."""


def _request_id(record: logging.LogRecord) -> str:
    """The id that a line was given, of what is being done, or of the request that it names."""
    named = getattr(getattr(record, "request", None), "request_id", "")
    return str(getattr(record, "request_id", "") or current_request_id() or named)


class JsonFormatter(logging.Formatter):
    """Time, level, logger, message, request id, and whatever a line was given by `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := _request_id(record):
            line["request_id"] = request_id
        line |= {
            name: value
            for name, value in vars(record).items()
            if name not in _STANDARD and name not in _LEFT_OUT and name not in line
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class PlainFormatter(logging.Formatter):
    """A line to read, with the request id where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        request_id = _request_id(record)
        return f"{text} [{request_id}]" if request_id else text


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


def _severity(level: str) -> int:
    return logging.getLevelNamesMapping()[level]


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
                "()": f"{__name__}.PlainFormatter",
                "format": "{asctime} {levelname} {name}: {message}",
                "style": "{",
            },
            "json": {"()": f"{__name__}.JsonFormatter"},
        },
        "filters": {
            "route": {"()": f"{__name__}.RouteForPath"},
            "not_served": {"()": f"{__name__}.NotServed"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["route"],
            }
        },
        "root": {"handlers": ["console"], "level": level},
        # Its own handlers, with DEBUG, would say each line again, with the whole path.
        "loggers": {
            "django": {"handlers": []},
            "django.security.DisallowedHost": {"filters": ["not_served"]},
            # They name whole addresses, of which the path or the query may be a secret.
            **{name: {"level": max(level, "WARNING", key=_severity)} for name in _TELL_ADDRESSES},
        },
    }
