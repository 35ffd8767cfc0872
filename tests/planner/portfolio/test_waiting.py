"""Waits for accelerators that projects take turns on, against a queue run event by event."""

import math

import numpy as np
import pytest

from planner.portfolio.waiting import (
    MOST_SIMULATED,
    SIMULATED_JOBS,
    Jobs,
    Month,
    erlang_c,
    refine_waits,
    simulate_waits,
    smallest_pool,
    smallest_pools,
    wait_of_like_jobs,
)
from tests.planner.portfolio.plain_queue import draw_jobs, queue, queue_by_hour

LABS = tuple(Jobs(730.0, 1.0, 4.0, 8.0) for _ in range(12))


def waits_of(jobs, accelerators):
    rows = np.array(jobs)
    arrivals, hours, sizes = rows[:, :1], rows[:, 1:2], rows[:, 2:3].astype(int)
    return simulate_waits(arrivals, hours, sizes, accelerators).ravel()


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (3, 2.2), (12, 9.0), (40, 36.5)])
def test_the_share_that_waits_is_the_sum_over_all_states(servers, load):
    states = [load**n / math.factorial(n) for n in range(servers)]
    full = load**servers / math.factorial(servers) * servers / (servers - load)
    assert erlang_c(servers, load) == pytest.approx(full / (sum(states) + full), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_simulated_waits_are_those_of_a_queue_run_event_by_event(seed):
    kinds = [Jobs(700.0, 1, 4.0, 8.0), Jobs(900.0, 2, 10.0, 8.0), Jobs(500.0, 8, 1.0, 8.0)]
    jobs = draw_jobs(kinds, 3_000, seed)
    expected = queue(jobs, 9 + seed)
    assert waits_of(jobs, 9 + seed) == pytest.approx(expected, abs=1e-6)
    assert (expected > 0).any()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("servers", "load"), [(4, 3.0), (13, 12.0), (20, 16.0)])
def test_waits_of_like_jobs_are_those_of_many_simulated_ones(servers, load):
    jobs = draw_jobs([Jobs(load * 730, 1, 4.0, 8.0)], 200_000, 1)
    waits = queue(jobs, servers)
    known = wait_of_like_jobs(servers, load, 4.0)
    assert known.mean == pytest.approx(waits.mean(), rel=0.1)
    assert known.p90 == pytest.approx(np.quantile(waits, 0.9), rel=0.1)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("servers", "load"), [(4, 3.0), (13, 12.0), (20, 16.0)])
def test_simulated_waits_that_are_shown_are_those_of_the_formula(servers, load):
    """Of two kinds of jobs that are nearly alike."""
    kinds = tuple(Jobs(load * 365, 1, hours, 8.0) for hours in (3.999, 4.001))
    shown = refine_waits(Month(kinds, 1, 100), servers)
    known = wait_of_like_jobs(servers, load, 4.0)
    assert shown.mean == pytest.approx(known.mean, rel=0.06)
    assert shown.p90 == pytest.approx(known.p90, rel=0.06, abs=0.05)


def test_a_job_that_takes_more_than_there_is_never_starts():
    assert waits_of([(0.0, 1.0, 3, 0), (1.0, 1.0, 1, 0)], 2).tolist() == [math.inf, 0.0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "kinds",
    [
        (Jobs(2200.0, 1, 4.0, 8.0), Jobs(1500.0, 2, 12.0, 4.0)),
        (Jobs(1500.0, 8, 6.0, 12.0), Jobs(2500.0, 1, 2.0, 2.0), Jobs(800.0, 4, 6.0, 12.0)),
    ],
)
def test_a_pool_of_unlike_jobs_keeps_each_wait_and_a_smaller_one_does_not(kinds):
    traces = [draw_jobs(list(kinds), 60_000, seed) for seed in range(4)]
    of = np.array([job[3] for jobs in traces for job in jobs])

    def most_late(accelerators):
        waits = np.concatenate([queue(jobs, accelerators) for jobs in traces])
        return max((waits[of == i] > one.max_wait_hours).mean() for i, one in enumerate(kinds))

    pool = smallest_pool(Month(kinds, 8, 60))
    assert most_late(int(pool.accelerators)) <= 0.11
    assert most_late(int(pool.accelerators) - 1) > 0.085


def test_a_pool_is_never_below_its_highest_peak_nor_above_their_sum():
    assert smallest_pool(Month(LABS, 40, 96)).accelerators == 40
    assert smallest_pool(Month(LABS, 8, 12)).accelerators == 12
    assert smallest_pool(Month(LABS, 8, 12.5)).accelerators == 12.5


def test_large_jobs_need_a_pool_that_holds_several_of_them():
    kinds = (Jobs(6 * 730.0, 8, 4.0, 8.0), Jobs(6 * 730.0, 8, 4.0, 9.0))
    pool = smallest_pool(Month(kinds, 8, 96))
    jobs = int(pool.accelerators) // 8
    assert pool.accelerators == 8 * jobs
    assert wait_of_like_jobs(jobs, 1.5, 4.0).p90 <= 8 < wait_of_like_jobs(jobs - 1, 1.5, 4.0).p90


def test_a_month_without_hours_needs_no_more_than_its_highest_peak():
    idle = tuple(one._replace(hours=0.0) for one in LABS)
    assert smallest_pool(Month(idle, 8, 96)).accelerators == 8
    assert smallest_pool(Month((), 0, 96)).accelerators == 0
    by_hour = [Month((), 0, 96, (3, busy)) for busy in range(3, 3 + 2 * MOST_SIMULATED)]
    assert [pool.accelerators for pool in smallest_pools(by_hour)] == [
        max(m.at_once) for m in by_hour
    ]


NIGHT_AND_DAY = (2,) * 8 + (16,) * 12 + (2,) * 4


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("kinds", "at_once"),
    [
        ((Jobs(2500.0, 1, 3.0, 8.0), Jobs(2000.0, 2, 8.0, 12.0)), NIGHT_AND_DAY),
        ((Jobs(4000.0, 1, 4.0, 8.0),), NIGHT_AND_DAY),
    ],
)
def test_jobs_work_on_what_others_leave_by_night_as_in_a_queue_run_event_by_event(kinds, at_once):
    pool = smallest_pool(Month(kinds, 16.0, 200.0, at_once))

    def waits_on(accelerators):
        jobs = draw_jobs(list(kinds), 10_000, 3)
        waits = queue_by_hour(jobs, accelerators, at_once)[1_000:-1_000]
        return waits, np.array([job[3] for job in jobs])[1_000:-1_000]

    waits, of = waits_on(int(pool.accelerators))
    assert pool.waits.mean == pytest.approx(waits.mean(), rel=0.1)
    assert pool.waits.p90 == pytest.approx(np.quantile(waits, 0.9), rel=0.1)
    late = [(waits[of == i] > one.max_wait_hours).mean() for i, one in enumerate(kinds)]
    assert max(late) <= 0.11
    waits, of = waits_on(int(pool.accelerators) - 1)
    late = [(waits[of == i] > one.max_wait_hours).mean() for i, one in enumerate(kinds)]
    assert max(late) > 0.09
    assert pool.accelerators < 16 + smallest_pool(Month(kinds, 0.0, 200.0)).accelerators


def test_short_jobs_and_long_ones_are_simulated_in_bounds():
    short, longer = (
        smallest_pool(Month((Jobs(14_600.0, 1, hours, 8.0),), 8.0, 400.0, NIGHT_AND_DAY))
        for hours in (0.01, 0.2)
    )
    assert abs(short.accelerators - longer.accelerators) <= 1
    assert short.simulated_jobs < 8 * SIMULATED_JOBS
    months = Month((Jobs(14_600.0, 1, 720.0, 8.0),), 1.0, 80.0, (0,) * 23 + (1,))
    by_formula = smallest_pool(months._replace(at_once=())).accelerators
    assert smallest_pool(months).accelerators == pytest.approx(by_formula, abs=2)


def test_of_many_months_those_between_simulated_ones_are_a_node_away_at_most():
    kinds = ((1, 2.0), (2, 12.0), (4, 6.0))
    months = [
        Month(
            tuple(
                Jobs(1500.0 + 230.0 * month + 100.0 * (month + i) % 300, size, hours, 8.0)
                for i, (size, hours) in enumerate(kinds)
            ),
            8.0,
            200.0,
        )
        for month in range(2 * MOST_SIMULATED)
    ]
    pools = zip(months, smallest_pools(months), strict=True)
    between = [(month, pool) for month, pool in pools if not pool.simulated_jobs]
    assert len(between) == MOST_SIMULATED
    for month, pool in between[::4]:
        assert abs(pool.accelerators - smallest_pool(month).accelerators) <= 3
