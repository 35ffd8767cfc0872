"""A queue for accelerators, event by event: for tests to hold the planner's waits against."""

import heapq
from collections import deque
from itertools import accumulate

import numpy as np

from planner.portfolio.waiting import Jobs
from pricing.market.offers import HOURS_PER_MONTH


def draw_jobs(kinds: list[Jobs], count: int, seed: int):
    """(arrival, hours, accelerators, kind) of about so many jobs, in the order of arrival: each
    project sends its own at random."""
    draw, rows = np.random.default_rng(seed), []
    rates = [one.hours / HOURS_PER_MONTH / (one.accelerators * one.job_hours) for one in kinds]
    until = count / sum(rates)
    for place, (one, rate) in enumerate(zip(kinds, rates, strict=True)):
        arrivals = np.sort(draw.uniform(0, until, draw.poisson(rate * until)))
        lengths = draw.exponential(one.job_hours, arrivals.size)
        rows += [
            (at, hours, int(one.accelerators), place)
            for at, hours in zip(arrivals.tolist(), lengths.tolist(), strict=True)
        ]
    return sorted(rows)


def queue(jobs, accelerators: int):
    """[N] hours that each job waits: the first in the queue starts once as many are free as it
    takes, and nobody passes it."""
    free, running, waiting = accelerators, [], deque()
    waits = np.zeros(len(jobs))
    at = 0
    while at < len(jobs) or waiting:
        next_end = running[0][0] if running else np.inf
        next_arrival = jobs[at][0] if at < len(jobs) else np.inf
        now = min(next_end, next_arrival)
        if next_end <= next_arrival:
            free += heapq.heappop(running)[1]
        else:
            waiting.append(at)
            at += 1
        while waiting and jobs[waiting[0]][2] <= free:
            job = waiting.popleft()
            arrival, hours, size, _ = jobs[job]
            waits[job] = now - arrival
            free -= size
            heapq.heappush(running, (now + hours, size))
    return waits


def queue_by_hour(jobs, accelerators: int, at_once):
    """[N] hours that each job is not at work until it is done, where other work takes `at_once`
    accelerators in each hour: the first to come that fit are at work, and the others pause."""
    left, waits = [job[1] for job in jobs], np.zeros(len(jobs))
    now, at, unfinished = 0.0, 0, []
    while at < len(jobs) or unfinished:
        free = accelerators - at_once[int(now + 1e-9) % len(at_once)]
        needed = accumulate(jobs[job][2] for job in unfinished)
        works = [job for job, taken in zip(unfinished, needed, strict=True) if taken <= free]
        events = [np.floor(now + 1e-9) + 1, *(now + left[job] for job in works)]
        until = min(events + [job[0] for job in jobs[at : at + 1]])
        for job in unfinished[len(works) :]:
            waits[job] += until - now
        for job in works:
            left[job] -= until - now
        unfinished = [job for job in unfinished if left[job] > 1e-9]
        now = until
        while at < len(jobs) and jobs[at][0] <= now:
            unfinished.append(at)
            at += 1
    return waits
