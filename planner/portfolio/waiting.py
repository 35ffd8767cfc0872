"""How long jobs wait for accelerators that projects take turns on, and how few will do. PURE.

Jobs arrive at random (Poisson), last a random time about a mean (exponential) and start in the
order in which they come, as soon as as many accelerators are free as they take. Where all jobs are
alike the waits are those of Erlang's delay formula (M/M/c); where they differ in size or length
they are simulated.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]
SHARE_IN_TIME = 0.9
"""Share of jobs that must not wait longer than is allowed."""
SIMULATED_JOBS = 60_000
"""Jobs of a simulation: the 90th percentile of a wait is then known to a few per cent."""
_WARM_UP = 0.1
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


def simulate_waits(
    arrivals: Sequence[float], hours: Sequence[float], sizes: Sequence[int], accelerators: int
) -> Floats:
    """[N] hours that each job waits, in the order in which they arrive; infinite for a job that
    takes more than there are.

    >>> simulate_waits([0, 0, 1], [4, 2, 1], [1, 1, 2], 2).tolist()
    [0.0, 0.0, 3.0]
    """
    free = [0.0] * accelerators
    waits = np.full(len(arrivals), np.inf)
    for i, (arrival, length, size) in enumerate(zip(arrivals, hours, sizes, strict=True)):
        if size > accelerators:
            continue
        taken = [heapq.heappop(free) for _ in range(size - 1)]
        start = max(arrival, free[0])
        heapq.heapreplace(free, start + length)
        for _ in taken:
            heapq.heappush(free, start + length)
        waits[i] = start - arrival
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
    first = max(math.ceil(least), math.floor(busy) + 1)
    waits = _Waits(jobs)
    low, high, simulated = first, math.ceil(most), 0
    while low < high:
        simulated += 0 if waits.are_alike else SIMULATED_JOBS
        middle = (low + high) // 2
        if waits.is_kept_on(middle):
            high = middle
        else:
            low = middle + 1
    if low >= most:
        return Pool(most, Waits(0.0, 0.0), simulated)  # as many as all take at once
    return Pool(low, waits.of_all(low), simulated)


class _Waits:
    """Waits of some jobs by the size of the pool."""

    def __init__(self, jobs: Sequence[Jobs]) -> None:
        self.jobs = [one for one in jobs if one.hours > 0]
        self.are_alike = len({one.kind for one in self.jobs}) < 2

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

    def _simulated(self, accelerators: int) -> tuple[Floats, NDArray[np.int64]]:
        rates = np.array([one.per_hour for one in self.jobs])
        draw = np.random.default_rng(_SEED)
        arrivals = np.cumsum(draw.exponential(1 / rates.sum(), SIMULATED_JOBS))
        of = draw.choice(len(rates), SIMULATED_JOBS, p=rates / rates.sum())
        lengths = draw.exponential(np.array([one.job_hours for one in self.jobs])[of])
        sizes = [math.ceil(one.accelerators) for one in self.jobs]
        step = math.gcd(*sizes)
        taken = np.array([size // step for size in sizes])[of]
        waits = simulate_waits(
            arrivals.tolist(), lengths.tolist(), taken.tolist(), accelerators // step
        )
        after = int(SIMULATED_JOBS * _WARM_UP)
        return waits[after:], of[after:]
