"""Times as Slurm writes them, by the cluster's own clock. PURE."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache

from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

_ELAPSED = re.compile(r"(?:(?:(\d{1,5})-)?(\d{1,3}):)?(\d{2}):(\d{2})(?:\.\d+)?", re.ASCII)
_EPOCH = dt.datetime(1970, 1, 1)
_EARLIEST, _LATEST = ((dt.datetime(year, 1, 1) - _EPOCH).total_seconds() for year in (1900, 2200))
"""Seconds since 1970 within which there is use: later ones are no dates, or slips."""


@lru_cache(maxsize=50_000)
def elapsed_seconds(text: str) -> float:
    """Seconds of `[[D-]HH:]MM:SS`.

    >>> elapsed_seconds("10-13:27:06"), elapsed_seconds("10:30")
    (912426.0, 630.0)
    """
    match = _ELAPSED.fullmatch(text.strip())
    if match is None:
        raise InvalidInput("Elapsed", f"{shorten(text, 40)} is no time like 1-02:30:00")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


@lru_cache(maxsize=20_000)
def _day(text: str) -> float:
    """Seconds since 1970 at the start of a day."""
    day = dt.date.fromisoformat(text)
    if not 1990 <= day.year <= 2200:
        raise ValueError
    return (day - _EPOCH.date()).days * 86_400.0


@lru_cache(maxsize=1_440)
def _minute(text: str) -> float:
    """Seconds since the start of the day at a minute like 08:30."""
    hours, minutes = int(text[:2]), int(text[3:5])
    if not (0 <= hours < 24 and 0 <= minutes < 60):
        raise ValueError
    return hours * 3_600.0 + minutes * 60.0


_SECONDS = {"": 0.0} | {f"{second:02d}": float(second) for second in range(61)}
_LENGTHS = frozenset((16, 19, 24, 25, 26))


def read_moment(text: str, column: str) -> float:
    """Seconds since 1970 by the cluster's own clock, whatever its zone."""
    try:
        if len(text) not in _LENGTHS or text[10] not in "T " or not text.isascii():
            raise ValueError
        return _day(text[:10]) + _minute(text[11:16]) + _SECONDS[text[17:19]]
    except (ValueError, KeyError):
        problem = f"{shorten(text, 40)} is not a moment like 2026-01-31T08:00:00"
        raise InvalidInput(column, problem) from None


@lru_cache(maxsize=20_000)
def _month_of_day(day: int) -> str:
    return f"{_EPOCH + dt.timedelta(days=day):%Y-%m}"


def split_by_month(start: float, end: float) -> list[tuple[str, float]]:
    """Months of an interval with their share of it; all of it in the first where it is empty.

    >>> split_by_month(-3600.0, 3 * 3600.0)
    [('1969-12', 0.25), ('1970-01', 0.75)]
    """
    if not _EARLIEST <= start <= max(start, end) < _LATEST:
        raise InvalidInput("time", "is not between the years 1900 and 2200")
    month = _month_of_day(int(start // 86_400))
    if end <= start or _month_of_day(int(end // 86_400)) == month:
        return [(month, 1.0)]
    first = _EPOCH + dt.timedelta(seconds=start)
    last = _EPOCH + dt.timedelta(seconds=end)
    shares: list[tuple[str, float]] = []
    while first < last:
        following = (first.replace(day=1) + dt.timedelta(days=32)).replace(
            day=1, hour=0, minute=0, second=0, microsecond=0
        )
        part = (min(following, last) - first).total_seconds()
        shares.append((f"{first:%Y-%m}", part / (end - start)))
        first = following
    return shares
