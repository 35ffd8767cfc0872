"""When a page is asked for again, and after how long."""

from __future__ import annotations

import math
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import tenacity

MAX_CALLS = 5
"""Calls for one page, the first one counted."""
MAX_WAIT_S = 60.0
"""Longest wait between two calls by our own choice, s."""
LONGEST_RETRY_AFTER_S = 300.0
"""A server that asks for a longer wait, s, is taken as unavailable."""


class RetryableError(Exception):
    """A call that may succeed when repeated. `after_s`: what the server asked us to wait."""

    def __init__(self, what: str, after_s: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.after_s = after_s


def may_pass(error: BaseException) -> bool:
    """Whether asking again may help; a certificate gets no better by it."""
    return isinstance(error, RetryableError) and not refused_certificate(error)


def refused_certificate(error: BaseException) -> str:
    """Why the server's certificate was refused, if that is behind `error`; else empty.

    Each SDK wraps the error of `ssl` in its own; the chain of causes is what they share, but
    for Azure's, which keeps the cause in `inner_exception`.
    """
    seen: list[BaseException] = []
    behind: BaseException | None = error
    while behind is not None and behind not in seen:
        if isinstance(behind, ssl.SSLCertVerificationError):
            return behind.verify_message
        seen.append(behind)
        inner = getattr(behind, "inner_exception", None)
        behind = behind.__cause__ or inner or behind.__context__
    return ""


def retry_after_s(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for, a number or a date; None without one.

    >>> retry_after_s("7"), retry_after_s("soon")
    (7.0, None)
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        return _until(header, now or datetime.now(UTC))
    return None if math.isnan(seconds) else max(0.0, seconds)


def _until(date: str, now: datetime) -> float | None:
    """Seconds to a date, which is in UTC where it names no zone or the zone "-0000"."""
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


_BACK_OFF = tenacity.wait_random_exponential(multiplier=0.5, max=MAX_WAIT_S)


def wait_s(state: tenacity.RetryCallState) -> float:
    """Seconds until the next call: what the server asked for, else random exponential."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, RetryableError) and error.after_s is not None:
        return error.after_s
    return _BACK_OFF(state)
