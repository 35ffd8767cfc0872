"""How long jobs wait for accelerators that projects take turns on, and how few will do. PURE.

Jobs arrive at random (Poisson), last a random time about a mean (exponential) and start in the
order in which they come, as soon as as many accelerators are free as they take. Where all jobs are
alike the waits are those of Erlang's delay formula (M/M/c); where they differ in size or length
they are simulated. Where other work takes more accelerators by day than by night, jobs have what it
leaves in each hour: the first to come that fit are at work, who has to make room goes on later, and
all hours without work until a job is done count as its wait.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.contract.copies import cached_property
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SHARE_IN_TIME = 0.9
"""Share of jobs that must not wait longer than is allowed."""
SIMULATED_JOBS = 160_000
"""Jobs of a simulation: the 90th percentile of a wait is then known to a few per cent."""
_QUEUES = 128
"""Queues that are simulated side by side, each its own."""
_FEWEST_QUEUES, _LONGEST_JOBS, _RELAXATIONS, _HIGHEST_LOAD = 16, 25, 10, 0.99
"""Fewer and longer queues where else the jobs of the longest mean length follow each other fewer
times than that, or a queue of that load has fewer times as many jobs as it takes to forget how it
began: load / (1 − √load)² (Abate and Whitt, Transient behavior of the M/M/1 queue, 1987)."""
_WARM_UP = 0.3
"""Share of the jobs that come before the fleet is as busy as it stays; their waits are not
counted."""
_QUEUES_BY_HOUR, _COUNTED_WEEKS, HOURS_PER_WEEK = (4, 32), (2, 3), 168
"""Queues, and weeks of each whose jobs count, where the free accelerators change by the hour: the
fewer the more jobs come, so that not many more than `SIMULATED_JOBS` are simulated."""
_SETTLES, _LONGEST_SETTLING_WEEKS = 3, 26
"""Mean lengths of the longest jobs that pass before those that count, and after them."""
_STEPS_A_JOB, _MOST_STEPS_AN_HOUR = 4, 12
"""Steps of that simulation in the mean length of the shortest jobs."""
MOST_SIMULATED, _MOST_BY_HOUR = 8, 4
"""Months of unlike jobs that are simulated, and of those in which other work changes by the hour;
of more those that differ most."""
_NOISE = 1e-9
_SEED = 1909
"""Erlang's first paper on waiting; any other would do."""
_CLOSE, _RUNS = 0.03, (4, 8)
"""Part of the mean wait at which the half-width of its 95 % interval ends its simulation, and the
fewest and most simulations; 2026."""
_BOTH_SIDES_95 = 1.96


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
    queues = arrivals.shape[1]
    free = np.zeros((queues, accelerators))  # when each is free again, ascending
    fits, place = sizes <= accelerators, np.arange(min(int(sizes.max()), accelerators))
    taken = (place < sizes[..., None]) & fits[..., None]
    last = np.arange(queues) * accelerators + np.minimum(sizes, accelerators) - 1
    starts, first = np.empty(arrivals.shape), free[:, : place.size]
    for job in range(len(arrivals)):
        start = np.maximum(arrivals[job], free.take(last[job]), out=starts[job])
        np.copyto(first, (start + hours[job])[:, None], where=taken[job])
        free.sort(axis=1)
    return np.where(fits, starts - arrivals, np.inf)


def simulate_making_room(
    arrivals: Ints, lasts: Ints, sizes: Ints, free: Ints, steps: int, most_open: float = math.inf
) -> Ints:
    """[R, N] steps that each job is not at work until it is done, in R queues of N jobs by arrival,
    where `free` accelerators are there in each step of a week; `steps` or more for each that is
    left where more than `most_open` wait and work, which are then more and more.

    >>> arrivals, lasts, sizes = np.array([[0, 0, 1]]), np.array([[3, 1, 1]]), np.array([[1, 1, 2]])
    >>> simulate_making_room(arrivals, lasts, sizes, np.array([2, 1, 2, 2, 2]), 5).tolist()
    [[0, 0, 2]]
    """
    (queues, end), each = lasts.shape, np.arange(len(lasts))[:, None]
    left, sizes = (np.pad(row, ((0, 0), (0, 1))) for row in (lasts, sizes))
    until = np.full(left.shape, steps)  # for who is not done
    come = np.array([np.searchsorted(row, np.arange(steps), side="right") for row in arrivals])
    first = np.zeros(queues, np.int64)
    for step in range(steps):
        count = (come[:, step] - first)[:, None]
        place = np.arange(count.max() + 1)
        at = each * (end + 1) + np.minimum(first[:, None] + place, end)
        own, has_come = left.take(at), place < count
        is_open = has_come & (own > 0)
        if place.size > most_open and is_open.sum(axis=1).max() > most_open:
            until[left > 0] = 2 * steps
            break
        taken = np.cumsum(sizes.take(at) * is_open, axis=1)
        own -= is_open & (taken <= free[step % free.size])
        left.put(at, own)
        is_done = has_come & (own == 0)
        until.put(at[is_done & is_open], step + 1)
        first += is_done.argmin(axis=1)
    return (until[:, :end] - arrivals) - (lasts - left[:, :end])


class Month(NamedTuple):
    """What projects ask of a pool in a month."""

    jobs: tuple[Jobs, ...]
    least: float
    """Highest peak among them."""
    most: float
    """Sum of their peaks."""
    at_once: tuple[int, ...] = ()
    """Accelerators that other work takes, by hour of the day or of the week."""

    def within(self, pool: Pool) -> Pool:
        """A pool as large as it may be, whose jobs wait for nobody where it is made larger."""
        count = min(max(pool.accelerators, self.least), self.most)
        return pool if count == pool.accelerators else Pool(count, Waits(0.0, 0.0))


def smallest_pools(months: Sequence[Month]) -> list[Pool]:
    """The smallest pool of each; of many months of unlike jobs those are simulated that differ
    most, and the others have as many times what the formula says as these, the nearest most."""
    every = list(dict.fromkeys(months))
    unlike = [one for one in every if not _waits_of(one.jobs, one.at_once).are_alike]
    most = _MOST_BY_HOUR if any(one.at_once for one in unlike) else MOST_SIMULATED
    if len(unlike) <= most:
        return [smallest_pool(one) for one in months]
    kinds = {job[1:]: place for place, job in enumerate(j for one in unlike for j in one.jobs)}
    work = np.zeros((len(unlike), max(kinds.values()) + 2))
    for row, one in zip(work, unlike, strict=True):
        row[-1] = HOURS_PER_MONTH * float(np.mean(one.at_once or 0.0))
        for job in one.jobs:
            row[kinds[job[1:]]] += job.hours
    few, apart = [int(work.sum(axis=1).argmax())], np.empty((0, len(unlike)))
    while len(few) <= most:
        apart = np.vstack([apart, ((work - work[few[-1]]) ** 2).sum(axis=1)])
        few.append(int(apart.min(axis=0).argmax()))
    sizes = np.array([_waits_of(one.jobs, one.at_once).guess() for one in unlike])
    pools: dict[Month, Pool] = {}
    times: list[float] = []
    for place in few[:-1]:
        free = unlike[place]._replace(least=0.0, most=4.0 * unlike[place].most)
        pool = smallest_pool(free, float(np.median(times)) if times else 1.0)
        times.append(pool.accelerators / sizes[place])
        pools[unlike[place]] = unlike[place].within(pool)
    nearness = 1.0 / np.maximum(apart, _NOISE) ** 2
    sizes = np.rint(sizes * (np.array(times) @ nearness) / nearness.sum(axis=0))
    for one, size in zip(unlike, sizes.tolist(), strict=True):
        pools.setdefault(one, one.within(Pool(size, Waits(0.0, 0.0))))
    return [pools[one] if one in pools else smallest_pool(one) for one in months]


@lru_cache(maxsize=4096)
def smallest_pool(month: Month, times: float = 1.0) -> Pool:
    """The fewest accelerators, from `least` to `most`, on which nine in ten jobs of each project
    start within the wait that it allows; `most` where fewer do not keep to it. Looked for from so
    many times what the formula says.

    >>> labs = tuple(Jobs(730.0, 1, 4.0, 8.0) for _ in range(12))
    >>> pool = smallest_pool(Month(labs, 8, 96))
    >>> pool.accelerators, round(pool.waits.p90, 1)
    (13, 7.8)
    """
    waits, most = _waits_of(month.jobs, month.at_once), month.most
    low, high, step = math.ceil(max(month.least, *month.at_once, 0)), math.ceil(most), 1
    if not waits.jobs:
        return Pool(min(low, most), Waits(0.0, 0.0))
    low = max(low, math.floor(waits.busy) + 1)
    middle = min(max(round(waits.guess() * times), low), high - 1)
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


def refine_waits(month: Month, accelerators: int) -> Waits:
    """Waits on a pool, simulated until the mean is known to within 3 %."""
    rows, totals, counts = [], np.zeros(0), np.zeros(0)
    for run in range(_RUNS[1]):
        one = (
            _Waits(month.jobs, month.at_once, _SEED + run)
            if run
            else _waits_of(month.jobs, month.at_once)
        )
        if one.are_alike or not one.jobs:
            return one.of_all(accelerators)
        waits, of = one.simulated(accelerators)
        is_counted = of >= 0
        rows.append(waits[is_counted])
        totals = np.append(totals, np.where(is_counted, waits, 0.0).sum(axis=0))
        counts = np.append(counts, is_counted.sum(axis=0))
        mean = float(totals.sum() / counts.sum())
        error = math.sqrt(float(((totals - mean * counts) ** 2).sum())) / float(counts.sum())
        if run + 1 >= _RUNS[0] and _BOTH_SIDES_95 * error <= _CLOSE * mean:
            break
    return Waits(mean, float(np.quantile(np.concatenate(rows), SHARE_IN_TIME)))


@lru_cache(maxsize=1)
def _waits_of(jobs: tuple[Jobs, ...], at_once: tuple[int, ...]) -> _Waits:
    return _Waits(jobs, at_once)


class _Waits:
    def __init__(self, jobs: tuple[Jobs, ...], at_once: tuple[int, ...], seed: int = _SEED) -> None:
        self.jobs, self._seed = [one for one in jobs if one.hours > 0], seed
        self.at_once = np.array(at_once, np.int64)
        is_by_hour = bool(at_once and self.jobs)
        self.are_alike = not is_by_hour and len({one.kind for one in self.jobs}) < 2
        self.simulated_jobs = 0
        self._known: dict[int, tuple[Floats, Ints]] = {}

    @property
    def busy(self) -> float:
        """Accelerators at work in the mean."""
        other = float(self.at_once.mean()) if self.at_once.size else 0.0
        return sum(one.hours for one in self.jobs) / HOURS_PER_MONTH + other

    def guess(self) -> int:
        """Accelerators that would do if all jobs were of one kind, the mean by what they use, and
        other work took as many in every hour."""
        hours = np.array([one.hours for one in self.jobs])
        means = np.array([one.kind for one in self.jobs]).T @ hours / hours.sum()
        size, length = float(means[0]), float(means[1])
        load = float(hours.sum()) / HOURS_PER_MONTH / size
        most, count = min(one.max_wait_hours for one in self.jobs), math.floor(load) + 1
        while wait_of_like_jobs(count, load, length).p90 > most:
            count += 1
        return math.ceil(count * size + self.busy - load * size)

    def is_kept_on(self, accelerators: int) -> bool:
        if self.are_alike:
            most = min(one.max_wait_hours for one in self.jobs)
            return self.of_all(accelerators).p90 <= most
        waits, of = self.simulated(accelerators)
        longest = np.array([*(one.max_wait_hours for one in self.jobs), math.inf])
        in_all, late = (
            np.bincount(some, minlength=len(self.jobs))
            for some in (of[of >= 0], of[waits > longest[of]])
        )
        return bool((late <= (1 - SHARE_IN_TIME) * in_all).all())

    def of_all(self, accelerators: int) -> Waits:
        if self.are_alike:
            size, job_hours = self.jobs[0].kind
            load = sum(one.hours for one in self.jobs) / HOURS_PER_MONTH / size
            return wait_of_like_jobs(int(accelerators // size), load, job_hours)
        waits, of = self.simulated(accelerators)
        known = waits[of >= 0]
        return Waits(float(known.mean()), float(np.quantile(known, SHARE_IN_TIME)))

    def simulated(self, accelerators: int) -> tuple[Floats, Ints]:
        """Hours that each job waits, and of which project it is; -1 of those that do not count."""
        if accelerators not in self._known:
            run = self._make_room if self.at_once.size else self._queue
            self._known[accelerators] = run(accelerators)
        return self._known[accelerators]

    def _queue(self, accelerators: int) -> tuple[Floats, Ints]:
        arrivals, lengths, taken, step, of = self._drawn
        waits = simulate_waits(arrivals, lengths, taken, accelerators // step)
        self.simulated_jobs += waits.size
        is_warm = np.arange(len(arrivals)) >= len(arrivals) * _WARM_UP
        return waits, np.where(is_warm[:, None], of, -1)

    @cached_property
    def _rates(self) -> Floats:
        return np.array([one.per_hour for one in self.jobs])

    def _make_room(self, accelerators: int) -> tuple[Floats, Ints]:
        an_hour, settling, counted, rates = self._clock
        week, draw = HOURS_PER_WEEK * an_hour, np.random.default_rng(self._seed)
        steps = (2 * settling + 1 + counted) * week
        count = int(rates.sum() * steps / an_hour) + 1
        shape = int(np.clip(SIMULATED_JOBS / count, *_QUEUES_BY_HOUR)), count
        mean = np.array([max(one.job_hours * an_hour, 1.0) for one in self.jobs])
        # As many are at work at first as would be on any number of accelerators.
        loads = rates * mean / an_hour
        at_first = shape[0], round(float(loads.sum()))
        arrivals = np.hstack((np.zeros(at_first, int), np.sort(draw.integers(0, steps, shape))))
        kinds = [(size, p / p.sum()) for size, p in ((at_first, loads), (shape, rates))]
        of = np.hstack([draw.choice(len(rates), size, p=share) for size, share in kinds])
        sizes = np.array([math.ceil(one.accelerators) for one in self.jobs])
        free = np.repeat(accelerators - self.at_once, an_hour)
        lasts = draw.geometric(1.0 / mean[of])
        patience = max(one.max_wait_hours for one in self.jobs)
        most_open = 4.0 * float(rates.sum()) * patience + 10.0 * float(free.max())
        waits = simulate_making_room(arrivals, lasts, sizes[of], free, steps, most_open)
        self.simulated_jobs += waits.size
        first, last = (settling + 1) * week, steps - settling * week
        is_counted = (arrivals >= first) & (arrivals < last)
        return (waits / an_hour).T, np.where(is_counted, of, -1).T

    @cached_property
    def _clock(self) -> tuple[int, int, int, Floats]:
        """Steps of an hour, weeks that pass before and after those that count, these, and jobs that
        come in an hour: those shorter than a step are as many fewer as they are made longer."""
        lengths = np.array([one.job_hours for one in self.jobs])
        settling = math.ceil(_SETTLES * float(lengths.max()) / HOURS_PER_WEEK)
        settling = min(settling, _LONGEST_SETTLING_WEEKS)
        around, (fewest, most) = 2 * settling + 1, _COUNTED_WEEKS
        finest = min(max(math.ceil(_STEPS_A_JOB / float(lengths.min())), 1), _MOST_STEPS_AN_HOUR)
        for an_hour in range(finest, 0, -1):
            rates = self._rates * np.minimum(lengths * an_hour, 1.0)
            weeks = SIMULATED_JOBS / _QUEUES_BY_HOUR[0] / HOURS_PER_WEEK / float(rates.sum())
            if weeks >= around + fewest:
                break
        return an_hour, settling, int(np.clip(weeks - around, fewest, max(most, settling))), rates

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats, Ints, int, Ints]:
        rates, draw = self._rates, np.random.default_rng(self._seed)
        longest = max(one.job_hours for one in self.jobs) * float(rates.sum())
        load = min(self.busy / self.guess(), _HIGHEST_LOAD)
        length = max(_LONGEST_JOBS * longest, _RELAXATIONS * load / (1 - math.sqrt(load)) ** 2)
        queues = int(max(min(SIMULATED_JOBS / length, _QUEUES), _FEWEST_QUEUES))
        shape = SIMULATED_JOBS // queues, queues
        arrivals = np.cumsum(draw.exponential(1 / rates.sum(), shape), axis=0)
        of = draw.choice(len(rates), shape, p=rates / rates.sum())
        means = np.array([one.job_hours for one in self.jobs])
        lengths = draw.exponential(means[of])
        # No more work is drawn than there is: near a full fleet waits hang on a part in a thousand.
        arrivals *= len(arrivals) / rates.sum() / arrivals[-1].mean()
        worked = np.bincount(of.ravel(), lengths.ravel(), means.size)
        lengths *= (rates / rates.sum() * of.size * means / np.maximum(worked, 1e-9))[of]
        sizes = [math.ceil(one.accelerators) for one in self.jobs]
        step = math.gcd(*sizes)
        return arrivals, lengths, np.array([size // step for size in sizes])[of], step, of
