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
"""Longest time that one page is waited for by our own choice, over all its calls, s."""
LONGEST_RETRY_AFTER_S = 300.0
"""A server that asks for a longer wait, s, is taken as unavailable."""


class RetryableError(Exception):
    """A call that may succeed when repeated. `retry_after_s`: what the server asked us to wait."""

    def __init__(self, what: str, retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.retry_after_s = retry_after_s


def is_retryable(error: BaseException) -> bool:
    """Whether asking again may help; a certificate gets no better by it."""
    return isinstance(error, RetryableError) and not certificate_error(error)


def certificate_error(error: BaseException) -> str:
    """Why the server's certificate was refused, if that is behind `error`; else empty.

    Each SDK wraps the error of `ssl` in its own; the chain of causes is what they share, but
    for Azure's, which keeps the cause in `inner_exception`.
    """
    visited: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in visited:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        visited.append(cause)
        wrapped = getattr(cause, "inner_exception", None)
        cause = cause.__cause__ or wrapped or cause.__context__
    return ""


def parse_retry_after_s(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for, a number or a date; None without one.

    >>> parse_retry_after_s("7"), parse_retry_after_s("soon")
    (7.0, None)
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        return _seconds_until(header, now or datetime.now(UTC))
    return None if math.isnan(seconds) else max(0.0, seconds)


def _seconds_until(date: str, now: datetime) -> float | None:
    """Seconds to a date, which is in UTC where it names no zone or the zone "-0000"."""
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    moment_utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment_utc - now).total_seconds())


_BACK_OFF = tenacity.wait_random_exponential(multiplier=MAX_WAIT_S / (2 ** (MAX_CALLS - 1) - 1))
"""At random up to 4, 8, 16 and 32 s: `MAX_WAIT_S` in all."""


def wait_s(state: tenacity.RetryCallState) -> float:
    """Seconds until the next call: what the server asked for, else random exponential."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, RetryableError) and error.retry_after_s is not None:
        return error.retry_after_s
    return _BACK_OFF(state)
