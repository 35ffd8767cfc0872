"""How long jobs wait for accelerators that projects take turns on, and how few will do. PURE.

Jobs arrive at random (Poisson), last a random time about a mean (exponential) and start in the
order in which they come, as soon as as many accelerators are free as they take. Where all jobs are
alike the waits are those of Erlang's delay formula (M/M/c); where they differ in size or length
they are simulated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SHARE_IN_TIME = 0.9
"""Share of jobs that must not wait longer than is allowed."""
SIMULATED_JOBS = 640_000
"""Jobs of a simulation: the 90th percentile of a wait is then known to a few per cent."""
_QUEUES = 128
"""Queues that are simulated side by side, each its own."""
_WARM_UP = 0.2
"""Share of the jobs that come before the fleet is as busy as it stays; their waits are not
counted."""
_SEED = 1909
"""Erlang's first paper on waiting; any other would do."""


class Jobs(NamedTuple):
    """The jobs of a project in a month."""

    hours: float
    """Accelerator-hours of all of them."""
    accelerators: float
    """That one job takes at once."""
    job_hours: float
    """Mean length of a job, h."""
    max_wait_hours: float
    """Longest wait of nine jobs in ten that the project allows."""

    @property
    def per_hour(self) -> float:
        """Jobs that arrive in an hour."""
        return self.hours / HOURS_PER_MONTH / (self.accelerators * self.job_hours)

    @property
    def kind(self) -> tuple[float, float]:
        return self.accelerators, self.job_hours


class Waits(NamedTuple):
    """Hours that jobs wait before they start."""

    mean: float
    p90: float


class Pool(NamedTuple):
    """Accelerators that projects take turns on, and the wait of their jobs."""

    accelerators: float
    waits: Waits
    simulated_jobs: int = 0
    """Jobs that were simulated to find it; none where the formula holds."""


def erlang_c(servers: int, load: float) -> float:
    """Share of jobs that wait where `load` servers are busy on average (A. K. Erlang, 1917).

    >>> round(erlang_c(16, 12.0), 4), erlang_c(2, 2.5)
    (0.2046, 1.0)
    """
    if load >= servers:
        return 1.0
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = load * blocked / (n + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))


def wait_of_like_jobs(servers: int, load: float, job_hours: float) -> Waits:
    """Waits where all jobs are alike: a share C waits, for an exponential time about
    job_hours / (servers − load).

    >>> round(wait_of_like_jobs(1, 0.5, 4.0).mean, 9)
    4.0
    """
    if load >= servers:
        return Waits(math.inf, math.inf)
    waiting, relief = erlang_c(servers, load), job_hours / (servers - load)
    p90 = max(0.0, relief * math.log(waiting / (1 - SHARE_IN_TIME))) if waiting > 0 else 0.0
    return Waits(waiting * relief, p90)


def simulate_waits(arrivals: Floats, hours: Floats, sizes: Ints, accelerators: int) -> Floats:
    """[N, R] hours that each job waits, in R queues of N jobs, in the order in which they arrive;
    infinite for a job that takes more than there are.

    >>> job = np.array([[0.0, 4.0, 1], [0.0, 2.0, 1], [1.0, 1.0, 2]])
    >>> simulate_waits(job[:, :1], job[:, 1:2], job[:, 2:].astype(int), 2).ravel().tolist()
    [0.0, 0.0, 3.0]
    """
    queues = np.arange(arrivals.shape[1])
    free, place = np.zeros((queues.size, accelerators)), np.arange(accelerators)
    waits = np.full(arrivals.shape, np.inf)
    for job, (arrival, size) in enumerate(zip(arrivals, sizes, strict=True)):
        fits = size <= accelerators
        start = np.maximum(arrival, free[queues, np.minimum(size, accelerators) - 1])
        taken = (place < size[:, None]) & fits[:, None]
        np.copyto(free, (start + hours[job])[:, None], where=taken)
        free.sort(axis=1)
        waits[job, fits] = (start - arrival)[fits]
    return waits


@lru_cache(maxsize=4096)
def smallest_pool(jobs: tuple[Jobs, ...], least: float, most: float) -> Pool:
    """The fewest accelerators, from `least` to `most`, on which nine in ten jobs of each project
    start within the wait that it allows; `most` where fewer do not keep to it.

    >>> labs = tuple(Jobs(730.0, 1, 4.0, 8.0) for _ in range(12))
    >>> pool = smallest_pool(labs, 8, 96)
    >>> pool.accelerators, round(pool.waits.p90, 1)
    (13, 7.8)
    """
    busy = sum(one.hours for one in jobs) / HOURS_PER_MONTH
    low, high = max(math.ceil(least), math.floor(busy) + 1), math.ceil(most)
    waits, step = _Waits(jobs), 1
    middle = min(max(waits.guess(), low), high - 1)
    while low < high:  # from a guess in growing steps, each no longer than half of what is left
        if waits.is_kept_on(middle):
            high = middle
            middle = max((low + high) // 2, high - step)
        else:
            low = middle + 1
            middle = min((low + high) // 2, low + step - 1)
        step *= 2
    if low >= most:
        return Pool(most, Waits(0.0, 0.0), waits.simulated_jobs)  # as many as all take at once
    return Pool(low, waits.of_all(low), waits.simulated_jobs)


class _Waits:
    """Waits of some jobs by the size of the pool."""

    def __init__(self, jobs: Sequence[Jobs]) -> None:
        self.jobs = [one for one in jobs if one.hours > 0]
        self.are_alike = len({one.kind for one in self.jobs}) < 2
        self.simulated_jobs = 0
        self._known: dict[int, tuple[Floats, Ints]] = {}

    def guess(self) -> int:
        """Accelerators that would do if all jobs were of one kind, the mean by what they use."""
        hours = np.array([one.hours for one in self.jobs])
        means = np.array([one.kind for one in self.jobs]).T @ hours / hours.sum()
        size, length = float(means[0]), float(means[1])
        load = float(hours.sum()) / HOURS_PER_MONTH / size
        most, count = min(one.max_wait_hours for one in self.jobs), math.floor(load) + 1
        while wait_of_like_jobs(count, load, length).p90 > most:
            count += 1
        return math.ceil(count * size)

    def is_kept_on(self, accelerators: int) -> bool:
        if self.are_alike:
            most = min(one.max_wait_hours for one in self.jobs)
            return self.of_all(accelerators).p90 <= most
        waits, of = self._simulated(accelerators)
        return all(
            np.quantile(waits[of == i], SHARE_IN_TIME) <= one.max_wait_hours
            for i, one in enumerate(self.jobs)
            if (of == i).any()
        )

    def of_all(self, accelerators: int) -> Waits:
        if self.are_alike:
            size, job_hours = self.jobs[0].kind
            load = sum(one.hours for one in self.jobs) / HOURS_PER_MONTH / size
            return wait_of_like_jobs(int(accelerators // size), load, job_hours)
        waits, _ = self._simulated(accelerators)
        return Waits(float(waits.mean()), float(np.quantile(waits, SHARE_IN_TIME)))

    def _simulated(self, accelerators: int) -> tuple[Floats, Ints]:
        if accelerators not in self._known:
            arrivals, lengths, taken, step, of = self._drawn
            waits = simulate_waits(arrivals, lengths, taken, accelerators // step)
            self.simulated_jobs += waits.size
            after = int(len(waits) * _WARM_UP)
            self._known[accelerators] = waits[after:].ravel(), of[after:].ravel()
        return self._known[accelerators]

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats, Ints, int, Ints]:
        rates = np.array([one.per_hour for one in self.jobs])
        shape, draw = ((SIMULATED_JOBS // _QUEUES, _QUEUES), np.random.default_rng(_SEED))
        arrivals = np.cumsum(draw.exponential(1 / rates.sum(), shape), axis=0)
        of = draw.choice(len(rates), shape, p=rates / rates.sum())
        lengths = draw.exponential(np.array([one.job_hours for one in self.jobs])[of])
        sizes = [math.ceil(one.accelerators) for one in self.jobs]
        step = math.gcd(*sizes)
        return arrivals, lengths, np.array([size // step for size in sizes])[of], step, of
