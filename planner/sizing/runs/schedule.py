"""Runs laid over the months of the horizon: hours and peak of each month. PURE."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import count_months, format_month, shift_month
from planner.contract.request.workload import Run
from planner.sizing.footprint.memory import ONE_NODE
from planner.sizing.layout.step_time import is_tpu
from planner.sizing.performance.confidence import LARGEST_CLUSTER
from planner.sizing.runs.run_size import RunSize, RunTask, hours_kept_in
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.accelerators import Accelerator
from pricing.market.machine_types import tpu_slices
from pricing.market.offers import HOURS_PER_MONTH

COUNT_STEPS = 32
"""A number of accelerators is rounded up by at most this part of it; a planning choice, 2026."""
NEAR_THE_FEWEST = 1.1
"""Hours over the fewest up to which a smaller number of accelerators is taken: less than estimates
tell apart; a planning choice, 2026."""
TRIED = 8
"""Steps in which numbers up to twice the least are looked at; a planning choice, 2026."""
STARVED, FURTHER, MUCH_FEWER = 0.5, 4, 1.5
"""Share of its rate that a split leaves an accelerator, below which numbers up to four times as
many and down to a fourth are looked at too, and hours over others from which one of those is taken;
planning choices, 2026."""


S = TypeVar("S", bound=RunSize)


@lru_cache(maxsize=4096)
def whole_count(least: int) -> int:
    """A number of accelerators as clusters come in: whole nodes beyond one, in steps of a 32nd.

    >>> whole_count(5), whole_count(9), whole_count(401), whole_count(1265)
    (5, 16, 408, 1280)
    """
    if least <= COUNT_STEPS:
        return least if least <= ONE_NODE else math.ceil(least / ONE_NODE) * ONE_NODE
    step = max(ONE_NODE, 1 << int(math.log2(least / COUNT_STEPS)))
    return math.ceil(least / step) * step


def whole_within(most: int) -> int:
    """The largest number of accelerators as clusters come in up to `most`."""
    if most <= ONE_NODE:
        return most
    step = max(ONE_NODE, 1 << int(math.log2(max(1.0, most / COUNT_STEPS))))
    return most // step * step


@lru_cache(maxsize=1024)
def counts_between(first: int, most: int) -> tuple[int, ...]:
    """Numbers of accelerators from `first` to `most`, as clusters come in."""
    step = max(1.0, first / TRIED)
    counts = {whole_count(math.ceil(first + step * i)) for i in range(TRIED + 1)}
    return (first, *sorted(count for count in counts if first < count <= most))


def within_job(count: int, least: int, job: int | None) -> int:
    """A number of accelerators that nobody asked for: no more than a job is said to take, where
    those hold it."""
    return count if job is None else min(count, max(job, least))


def choose_count(
    size_on: Callable[[int], S], first: int, most: int, fewest_hours: float
) -> tuple[S, S | None]:
    """The run on the smallest number from `first` to `most` whose hours are at most 1.1 of the
    fewest among them, of which there are at least `fewest_hours`, and that on `first` where it is
    another."""
    start = size_on(first)
    if start.hours <= NEAR_THE_FEWEST * fewest_hours:
        return start, None
    sizes = [start]
    for count in counts_between(first, most)[1:]:
        try:
            sizes.append(size_on(count))
        except InvalidInput:
            continue
    fewest = min(size.hours for size in sizes)
    chosen = next(size for size in sizes if size.hours <= NEAR_THE_FEWEST * fewest)
    return chosen, None if chosen is start else start


@lru_cache(maxsize=1024)
def round_counts(beyond: int, most: int) -> tuple[int, ...]:
    """Numbers of accelerators beyond `beyond` up to `most` over which splits in powers of two are
    even: 2^k and 3 2^k."""
    sizes = {whole_count(size << k) for k in range(most.bit_length()) for size in (1, 3)}
    return tuple(sorted(size for size in sizes if beyond < size <= most))


def choose_at_work(
    size_on: Callable[[int], S],
    first: int,
    held: int,
    least: int,
    job: int | None,
    fewest_hours: float,
) -> tuple[S, S | None]:
    """The same of numbers up to twice the `held` that hold a run and no more than a `job` is said
    to take, without accelerators that a split leaves idle, where `least` or more are left and the
    hours are no more; where each works at less than half of its rate, on the nearest number up to
    four times as many, or down to a fourth, that takes two thirds of the hours or fewer, if one
    does."""

    def sized(count: int) -> S:
        size = size_on(count)
        used = whole_within(count - size.unused)
        if not least <= used < count:
            return size
        try:
            smaller = size_on(used)
        except InvalidInput:
            return size
        return smaller if smaller.hours <= size.hours else size

    most = 2 * whole_count(held)
    if job is not None:
        most = min(most, max(first, job))
    size, start = choose_count(sized, first, most, fewest_hours)
    if start is None and size.accelerators < first:
        usual = size_on(first)
        start = usual if usual.hours >= MUCH_FEWER * size.hours else None
    if size.share_of_level >= STARVED:
        return size, start
    count = size.accelerators
    furthest = FURTHER * count if job is None else min(FURTHER * count, max(count, job))
    # Even numbers beyond those that were tried, and a half and a fourth as far as they may be.
    up = set(round_counts(max(count, most), furthest))
    down = {n for n in (whole_count(count // 2), whole_count(count // 4)) if least <= n < count}
    other = _further_away(sized, size, sorted(up | down))
    return (size, start) if other is size else (other, start or size)


def _further_away(size_on: Callable[[int], S], size: S, counts: list[int]) -> S:
    """The run on the nearest of `counts` whose hours are near the fewest among them, or `size`
    where they are not much fewer."""
    sizes = [size]
    for count in counts:
        try:
            sizes.append(size_on(count))
        except InvalidInput:
            continue
    fewest = min(one.hours for one in sizes)
    if size.hours < MUCH_FEWER * fewest:
        return size
    near = [one for one in sizes if one.hours <= NEAR_THE_FEWEST * fewest]
    return min(near, key=lambda one: abs(math.log(one.accelerators / size.accelerators)))


CUBE = 64
"""Chips of a cube (Google Cloud TPU system architecture, 2026)."""
OF_CUBES = frozenset({"google-tpu-v4", "google-tpu-v5p", "google-tpu-v7"})
"""TPUs whose larger slices are cubes."""


def chips_rented(one: Accelerator, chips: int) -> int:
    """Chips of the smallest slice with so many, or of as many of the largest; of what is no TPU as
    they are.

    >>> from pricing.market.accelerators import get
    >>> [chips_rented(get("google-tpu-v6e"), chips) for chips in (1, 3, 6, 40, 600)]
    [1, 4, 8, 64, 768]
    >>> [chips_rented(get("google-tpu-v5p"), chips) for chips in (1, 7, 24, 136, 9000)]
    [4, 8, 32, 192, 9024]
    >>> chips_rented(get("nvidia-h100-80gb-sxm"), 7)
    7
    """
    sizes = _sizes(one.slug) if is_tpu(one) else ()
    if not sizes:
        return chips
    step = CUBE if one.slug in OF_CUBES else sizes[-1]
    if chips > step:
        larger = next((size for size in sizes if size >= chips), 0)
        cubes = -(-chips // step) * step
        return cubes if one.slug in OF_CUBES else larger or cubes
    return next(size for size in sizes if size >= chips)


def of_slices(one: Accelerator, chips: int, needed: int) -> str:
    """Why more chips are counted on than a training needs."""
    return f"{chips:,} chips are used, because {one.name} cannot be rented in slices of {needed:,}"


@cache
def _sizes(slug: str) -> tuple[int, ...]:
    return tuple(sorted({piece.chips for piece in tpu_slices() if piece.accelerator == slug}))


Floats = NDArray[np.float64]

CERTAINTY = 0.9
"""Share of outcomes in which a deadline is kept unless `choice.certainty` says otherwise; an
assumption of this project, 2026."""

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
    certainty: float | None = CERTAINTY
    """Share of outcomes in which its deadline is kept; None: on average."""

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
    runs: Sequence[Run] | None, start: dt.date, horizon: int, certainty: float | None = CERTAINTY
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
        windows.append(Window(first, last, run.count, run.deadline is not None, field, certainty))
    return tuple(windows)


def lay_out_months(size: RunSize, horizon: int) -> Schedule:
    """Work that takes the same hours and accelerators in every month, and no runs."""
    every = np.ones(horizon)
    peak = every * size.accelerators
    return Schedule(every * size.hours, peak, size, (size,), np.zeros(horizon))


def lay_out(
    windows: Sequence[Window],
    horizon: int,
    task: RunTask,
    experiments_factor: float = 1.0,
    is_whole: bool = False,
) -> Schedule:
    """Hours and peak of each month; `is_whole` on machines as they are rented.

    A run with a deadline gets the fewest accelerators that finish it in time with the certainty
    asked for, or on average where there are not so many; one without gets the usual number and as
    many months as it then takes. Its hours are spread evenly over its months; runs of the same
    month add up, peaks too.
    """
    hours, peak, runs = np.zeros((3, horizon))
    sized = []
    for window in windows:
        one = _fit_certain(window, task, experiments_factor, is_whole)
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


def _fit_certain(
    window: Window, task: RunTask, experiments_factor: float, is_whole: bool
) -> RunSize:
    if window.has_deadline and window.certainty is not None:
        with suppress(InvalidInput):
            return _fit(window, task, experiments_factor, is_whole)
    return _fit(replace(window, certainty=None), task, experiments_factor, is_whole)


def _fit(window: Window, task: RunTask, experiments_factor: float, is_whole: bool) -> RunSize:
    """The run on the fewest accelerators that finish it in its months (fixed point of
    n = ⌈f · H(n) / (730 · months)⌉ with f the factor on the hours that is kept with the certainty
    asked for, from the least n upwards; of numbers passed over, the even ones).

    Where the fewest hours are known as a function of n, each step allows for their growth.
    """
    size_at = task.on_whole_machines if is_whole else task.at_least

    def needed(one: RunSize) -> int:
        share = window.certainty if window.has_deadline else None
        spare = 1.0 if share is None else hours_kept_in(one.range_p10_p90, share)
        return math.ceil(one.hours * per_hour * spare)

    per_hour = experiments_factor / (window.months * HOURS_PER_MONTH)
    least = task.min_accelerators
    for _ in range(2):
        least = max(least, math.ceil(task.fewest_hours(least) * per_hour))
    first = one = size_at(least if window.has_deadline else None)
    while True:
        need = needed(one)
        if need <= one.accelerators:
            return _without_idle(size_at, _fewer_in_time(size_at, first, one, needed), needed)
        if need > LARGEST_CLUSTER:
            raise InvalidInput(window.field, _too_late(first, one, window, experiments_factor))
        growth = task.fewest_hours(need) / max(task.fewest_hours(one.accelerators), 1e-9)
        need = max(need, math.ceil(need * growth))
        one = size_at(need)


def _fewer_in_time(
    size_at: SizeAt, first: RunSize, settled: RunSize, needed: Callable[[RunSize], int]
) -> RunSize:
    """The run on a number between `first` and `settled` that is in time too with no more hours:
    hours fall again where a split is even."""
    for count in round_counts(first.accelerators, settled.accelerators - 1):
        try:
            one = size_at(count)
        except InvalidInput:
            continue
        in_time = needed(one) <= one.accelerators
        if in_time and one.accelerators < settled.accelerators and one.hours <= settled.hours:
            return one
    return settled


def _without_idle(size_at: SizeAt, settled: RunSize, needed: Callable[[RunSize], int]) -> RunSize:
    """The run without the accelerators that its split leaves idle, where that is in time too, or on
    as many more as the split has a use for; as it is where neither takes fewer
    hours. A deadline asks for any number, and layers are split over multiples of some."""
    at_work = settled.accelerators - settled.unused
    for count in (at_work, at_work + settled.at_once) if settled.unused else ():
        try:
            one = size_at(count)
        except InvalidInput:
            continue
        if one.hours < settled.hours and needed(one) <= one.accelerators:
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
