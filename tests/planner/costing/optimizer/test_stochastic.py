"""A plan for many samples: the best on average, or with a weight on the worst tenth."""

import os
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.solve import solve
from planner.costing.optimizer.stochastic import (
    Sample,
    conditional_value_at_risk,
    solve_over_samples,
)
from tests.planner.costing.optimizer import brute_force
from tests.planner.costing.optimizer.plan_checks import assert_keeps_every_limit
from tests.planner.costing.optimizer.plan_instances import commitment, market, rental, small

SEEDS = 100 if os.environ.get("FUZZ") == "1" else 8


def flat(months, accelerators):
    return {"hours": np.full(months, accelerators * 730.0), "peak": np.full(months, accelerators)}


def committed(months=12):
    year = commitment("year", months, monthly=9000.0)
    return PlanProblem(
        **flat(months, 8.0), rental_options=(rental("rent", months, 20.0),), units=(year,)
    )


def drawn(problem, count, seed):
    """Samples around a problem: demand and rents up or down."""
    random = np.random.default_rng(seed)
    return [
        Sample(problem.hours * f, problem.peak * f, float(random.choice([0.8, 1.0, 1.5])), float(p))
        for f, p in zip(
            random.choice([0.5, 1.0, 1.6], count), random.choice([1.0, 2.0], count), strict=True
        )
    ]


def least_objective(problem, futures, cvar_weight):
    """The least objective over every way to start units, each priced in every sample."""
    odds = np.array([future.probability for future in futures])
    odds /= odds.sum()
    own = [
        replace(
            problem,
            hours=future.hours,
            peak=future.peak,
            rental_options=tuple(
                replace(
                    s,
                    hour_cost=s.hour_cost * future.rent_factor,
                    hour_cash=s.hour_cash * future.rent_factor,
                )
                for s in problem.rental_options
            ),
        )
        for future in futures
    ]
    widest = replace(
        problem,
        hours=np.max([f.hours for f in futures], axis=0),
        peak=np.max([f.peak for f in futures], axis=0),
    )
    best = np.inf
    for units_started in brute_force.all_begun(widest):
        if not brute_force.within_totals(problem, units_started):
            continue
        costs = np.array([brute_force.cost_of(one, units_started) for one in own])
        if np.isfinite(costs).all():
            best = min(
                best, float(odds @ costs) + cvar_weight * conditional_value_at_risk(costs, odds)
            )
    return best


def test_one_future_is_the_plan_itself():
    problem = market(2, 8, 30, mixed=True)
    alone = solve_over_samples(problem, [Sample(problem.hours, problem.peak)], gap=0.0)

    assert alone.objective == pytest.approx(solve(problem, gap=0.0).cost)


def test_commits_to_what_is_likely_enough():
    problem = committed()
    likely = [Sample(**flat(12, 8.0), probability=0.7), Sample(**flat(12, 16.0), probability=0.3)]

    plan = solve_over_samples(problem, likely, gap=0.0)

    assert plan.units_started["year"].sum() == 1
    assert plan.expected == pytest.approx(12 * 9000 + 0.3 * 12 * 14_600)


def test_a_weight_on_the_worst_tenth_buys_more_certainty():
    problem = committed()
    futures = [Sample(**flat(12, 8.0), probability=0.7), Sample(**flat(12, 16.0), probability=0.3)]

    careful = solve_over_samples(problem, futures, cvar_weight=1.0, gap=0.0)
    average = solve_over_samples(problem, futures, gap=0.0)

    assert careful.units_started["year"].sum() == 2
    assert careful.cvar_90 < average.cvar_90
    assert careful.expected > average.expected


def test_limits_hold_in_every_future():
    problem = market(3, 10, 40, mixed=True)
    ever = rental("always", 10, 12.0, capacity=1.0)
    problem = replace(problem, rental_options=(*problem.rental_options, ever), monthly_budget=None)
    futures = drawn(problem, 4, seed=1)

    plan = solve_over_samples(problem, futures, cvar_weight=0.5)

    for future, own in zip(futures, plan.plans, strict=True):
        assert_keeps_every_limit(replace(problem, hours=future.hours, peak=future.peak), own)
    assert plan.bound <= plan.objective


def test_no_future_may_be_without_a_plan():
    problem = committed()
    scarce = replace(problem, rental_options=(), units=(replace(problem.units[0], max_units=1),))
    futures = [Sample(**flat(12, 8.0)), Sample(**flat(12, 16.0))]

    assert not solve_over_samples(scarce, futures).feasible


def test_the_order_of_the_futures_changes_nothing():
    problem = market(4, 8, 30, mixed=False)
    futures = drawn(problem, 5, seed=2)

    there = solve_over_samples(problem, futures, gap=0.0)
    back = solve_over_samples(problem, futures[::-1], gap=0.0)

    assert there.objective == pytest.approx(back.objective, rel=1e-12)


@pytest.mark.one_in(5)
@pytest.mark.fuzz
@pytest.mark.parametrize(("seed", "cvar_weight"), list(product(range(SEEDS), [0.0, 0.7])))
def test_equals_trying_every_plan_in_every_future(seed, cvar_weight):
    problem = small(seed)
    futures = drawn(problem, 3, seed)

    plan = solve_over_samples(problem, futures, cvar_weight=cvar_weight, gap=0.0)
    min_multiplier = least_objective(problem, futures, cvar_weight)

    assert plan.feasible == np.isfinite(min_multiplier)
    if plan.feasible:
        assert plan.objective == pytest.approx(min_multiplier, rel=1e-7, abs=1e-6)
        assert plan.bound <= plan.objective
