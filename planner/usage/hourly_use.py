"""Accelerators in use by hour, from intervals of any length. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from itertools import accumulate, pairwise

HOUR_S = 3600.0
MAX_HOURS = 2_000_000
"""Most hours, over all accelerators, that are told apart; beyond, peaks are not counted."""


class HourlyUse:
    """Mean number of accelerators in use in each hour, by accelerator.

    An interval adds its accelerators to the hours that it covers: to the first and the last in
    proportion, to those between by a step up and a step down, so that a long job costs no more
    than a short one.

    >>> use = HourlyUse()
    >>> use.add("h100", 0.0, 5400.0, 8.0)  # eight from 0:00 to 1:30 of 1 January 1970
    >>> use.peaks()
    {('1970-01', 'h100'): 8.0}
    """

    def __init__(self) -> None:
        self._partial: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._steps: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._size = 0
        self.first_s, self.last_s = float("inf"), float("-inf")
        self.longest_s = 0.0
        """Longest interval; beyond an hour a peak is a mean over the interval, a lower bound."""

    def add(self, accelerator: str, start_s: float, end_s: float, count: float) -> None:
        """`count` accelerators from `start_s` to `end_s`, seconds since 1970."""
        if end_s <= start_s or self._size > MAX_HOURS:
            return
        if start_s < self.first_s:
            self.first_s = start_s
        if end_s > self.last_s:
            self.last_s = end_s
        if end_s - start_s > self.longest_s:
            self.longest_s = end_s - start_s
        first, last = int(start_s // HOUR_S), int(end_s // HOUR_S)
        partial = self._partial[accelerator]
        before = len(partial)
        if first == last:
            partial[first] += count * (end_s - start_s) / HOUR_S
        else:
            partial[first] += count * ((first + 1) * HOUR_S - start_s) / HOUR_S
            if tail_s := end_s - last * HOUR_S:
                partial[last] += count * tail_s / HOUR_S
            if last > first + 1:
                steps = self._steps[accelerator]
                steps[first + 1] += count
                steps[last] -= count
        self._size += len(partial) - before

    def peaks(self) -> dict[tuple[str, str], float]:
        """The highest hourly mean of each month and accelerator."""
        highest: dict[tuple[str, str], float] = {}
        for accelerator in self._partial.keys() | self._steps.keys():
            for hour, count in self._counts(accelerator):
                key = (_month_of_hour(hour), accelerator)
                if count > highest.get(key, 0.0):
                    highest[key] = count
        return {key: round(highest[key], 6) for key in sorted(highest)}

    def total_peaks(self) -> dict[str, float]:
        """The highest hourly mean of each month over all accelerators."""
        merged = HourlyUse()
        for accelerator, hours in self._partial.items():
            for hour, count in hours.items():
                merged._partial[""][hour] += count
            for hour, step in self._steps[accelerator].items():
                merged._steps[""][hour] += step
        return {month: count for (month, _), count in merged.peaks().items()}

    def _counts(self, accelerator: str) -> list[tuple[int, float]]:
        """The count in each hour at which it may be highest."""
        partial, steps = self._partial[accelerator], self._steps[accelerator]
        changes = sorted(steps.keys() | partial.keys() | {hour + 1 for hour in partial})
        levels = accumulate(steps.get(hour, 0.0) for hour in changes)
        counts = [
            (hour, level + partial.get(hour, 0.0))
            for hour, level in zip(changes, levels, strict=True)
        ]
        return self._with_month_starts(counts)

    @staticmethod
    def _with_month_starts(counts: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """A level that lasts into later months is the level of their first hours too."""
        extra: list[tuple[int, float]] = []
        for (hour, level), (following, _) in pairwise(counts):
            month_start = _next_month_start(hour)
            while level > 0 and month_start < following:
                extra.append((month_start, level))
                month_start = _next_month_start(month_start)
        return counts + extra


_EPOCH = dt.datetime(1970, 1, 1)


def _month_of_hour(hour: int) -> str:
    return f"{_EPOCH + dt.timedelta(hours=hour):%Y-%m}"


def _next_month_start(hour: int) -> int:
    moment = _EPOCH + dt.timedelta(hours=hour)
    first = moment.replace(day=1, hour=0)
    following = (first + dt.timedelta(days=32)).replace(day=1)
    return int((following - _EPOCH).total_seconds() // HOUR_S)
