"""Numbers of accelerators as clusters come in, and which of them a run takes. PURE."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TypeVar

from planner.sizing.evidence.training_runs import ONE_NODE
from planner.sizing.layout.step_time import is_tpu
from planner.sizing.runs.run_size import RunSize
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator
from pricing.market.machine_types import tpu_slices

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
