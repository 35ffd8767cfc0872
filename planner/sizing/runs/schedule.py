"""Runs laid over the months of the horizon: hours and peak of each month. PURE."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import count_months, format_month, shift_month
from planner.contract.request.workload import Run
from planner.sizing.performance.confidence import LARGEST_CLUSTER
from planner.sizing.runs.counts import round_counts
from planner.sizing.runs.run_size import RunSize, RunTask
from pricing.common.invalid_input import InvalidInput
from pricing.common.pluralize import pluralize
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


SizeAt = Callable[[int | None], RunSize]
"""Size of one run on n accelerators, or on the usual number for None."""


@dataclass(frozen=True)
class Window:
    """Months first … last (both in) in which a run has to be done."""

    first: int
    last: int
    count: int
    has_deadline: bool
    field: str

    @property
    def months(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class Schedule:
    """Every run laid out, in accelerators of one kind."""

    hours: Floats
    peak: Floats
    largest: RunSize
    """Of the run that needs the most accelerators at once."""
    sizes: tuple[RunSize, ...]
    """Of each window, in their order."""
    runs: Floats
    """[T] runs at once."""


def schedule_windows(
    runs: Sequence[Run] | None, start: dt.date, horizon: int
) -> tuple[Window, ...]:
    """Each run's window; one run from the first month where none is given.

    Refuses a run that starts outside the horizon or has to be done after it.
    """
    if not runs:
        return (Window(0, horizon - 1, 1, False, "runs"),)
    begin = format_month(start)
    allowed = f"allowed are {begin} to {shift_month(begin, horizon - 1)}"
    windows = []
    for i, run in enumerate(runs):
        first, last, field = count_months(start, run.start), horizon - 1, f"runs.{i}"
        if not 0 <= first < horizon:
            month = f"{run.start:%Y-%m}"
            raise InvalidInput(f"{field}.start", f"{month} is outside the horizon; {allowed}")
        if run.deadline is not None:
            last, field = count_months(start, run.deadline), f"{field}.deadline"
            if last >= horizon:
                month = f"{run.deadline:%Y-%m}"
                raise InvalidInput(field, f"{month} is after the horizon; {allowed}")
        windows.append(Window(first, last, run.count, run.deadline is not None, field))
    return tuple(windows)


def lay_out(
    windows: Sequence[Window],
    horizon: int,
    task: RunTask,
    experiments_factor: float = 1.0,
    is_whole: bool = False,
) -> Schedule:
    """Hours and peak of each month; `is_whole` on machines as they are rented.

    A run with a deadline gets the fewest accelerators that finish it in time, one without gets
    the usual number and as many months as it then takes. Its hours are spread evenly over its
    months; runs of the same month add up, peaks too.
    """
    hours, peak, runs = np.zeros((3, horizon))
    sized = []
    for window in windows:
        one = _fit(window, task, experiments_factor, is_whole)
        total = one.hours * experiments_factor
        months = window.months
        if not window.has_deadline:
            months = min(months, max(1, math.ceil(total / (one.accelerators * HOURS_PER_MONTH))))
        span = slice(window.first, window.first + months)
        hours[span] += total * window.count / months
        peak[span] += one.accelerators * window.count
        runs[span] += window.count
        sized.append(one)
    largest = max(sized, key=lambda size: size.accelerators)
    return Schedule(hours, peak, largest, tuple(sized), runs)


def _fit(window: Window, task: RunTask, experiments_factor: float, is_whole: bool) -> RunSize:
    """The run on the fewest accelerators that finish it in its months (fixed point of
    n = ⌈H(n) / (730 · months)⌉, from the least n upwards; of numbers passed over, the even ones).

    Where the fewest hours are known as a function of n, each step allows for their growth.
    """
    size_at = task.on_whole_machines if is_whole else task.at_least
    per_hour = experiments_factor / (window.months * HOURS_PER_MONTH)
    least = task.min_accelerators
    for _ in range(2):
        least = max(least, math.ceil(task.fewest_hours(least) * per_hour))
    first = one = size_at(least if window.has_deadline else None)
    while True:
        need = math.ceil(one.hours * per_hour)
        if need <= one.accelerators:
            return _without_idle(size_at, _fewer_in_time(size_at, first, one, per_hour), per_hour)
        if need > LARGEST_CLUSTER:
            raise InvalidInput(window.field, _too_late(first, one, window, experiments_factor))
        growth = task.fewest_hours(need) / max(task.fewest_hours(one.accelerators), 1e-9)
        need = max(need, math.ceil(need * growth))
        one = size_at(need)


def _fewer_in_time(size_at: SizeAt, first: RunSize, settled: RunSize, per_hour: float) -> RunSize:
    """The run on a number between `first` and `settled` that is in time too with no more hours:
    hours fall again where a split is even."""
    for count in round_counts(first.accelerators, settled.accelerators - 1):
        try:
            one = size_at(count)
        except InvalidInput:
            continue
        in_time = math.ceil(one.hours * per_hour) <= one.accelerators
        if in_time and one.accelerators < settled.accelerators and one.hours <= settled.hours:
            return one
    return settled


def _without_idle(size_at: SizeAt, settled: RunSize, per_hour: float) -> RunSize:
    """The run without the accelerators that its split leaves idle, where that is in time too, or on
    as many more as the split has a use for; as it is where neither takes fewer
    hours. A deadline asks for any number, and layers are split over multiples of some."""
    at_work = settled.accelerators - settled.unused
    for count in (at_work, at_work + settled.at_once) if settled.unused else ():
        try:
            one = size_at(count)
        except InvalidInput:
            continue
        if one.hours < settled.hours and math.ceil(one.hours * per_hour) <= one.accelerators:
            return one
    return settled


def _too_late(first: RunSize, one: RunSize, window: Window, experiments_factor: float) -> str:
    if one is first:
        return (
            f"{one.hours * experiments_factor:,.0f} accelerator-hours in "
            f"{pluralize(window.months, 'month')} would need more than {LARGEST_CLUSTER:,} "
            "accelerators at once; allowed is a later deadline, a longer horizon or less work"
        )
    return (
        f"{first.hours * experiments_factor:,.0f} accelerator-hours on {first.accelerators:,} "
        f"accelerators do not fit into {pluralize(window.months, 'month')}, and with more of them, "
        f"up to {LARGEST_CLUSTER:,}, the hours grow faster than their number; allowed is a later "
        "deadline, a longer horizon or less work"
    )
