"""Budgets of capital by fiscal year: kept, as cheap as the oracles find, named when in the way."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.marginal_values import marginal_values
from planner.costing.optimizer.problem import CapitalBudget
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.brute_force import cheapest_cost
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_checks import (
    assert_keeps_every_limit,
    assert_priced_by_itself,
)
from tests.planner.costing.optimizer.plan_instances import medium, rental, server, small

LONG = os.environ.get("FUZZ") == "1"


def with_years(problem, seed, scale):
    """The problem with a budget for the first part of its months, and often for the rest."""
    random, months = np.random.default_rng(seed + 1000), problem.hours.size
    middle = int(random.integers(1, months + 1))
    most = max((float(u.capex.max()) for u in problem.units), default=0.0)
    parts = [CapitalBudget("year 1", most * float(random.integers(0, 4)) * scale, 0, middle)]
    if middle < months and random.random() < 0.7:
        amount = most * float(random.integers(0, 3)) * scale
        parts.append(CapitalBudget("year 2", amount, middle, months))
    return replace(problem, capex_by_period=tuple(parts))


@pytest.mark.one_in(4)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(60 if LONG else 8))
def test_every_plan_of_a_small_problem_tried(seed):
    problem = with_years(small(seed), seed, 1.0)
    plan, least = solve(problem, gap=0.0), cheapest_cost(problem)
    assert plan.feasible == np.isfinite(least)
    if plan.feasible:
        assert plan.cost == pytest.approx(least, rel=1e-7, abs=1e-6)
        assert_keeps_every_limit(problem, plan)
        assert_priced_by_itself(problem, plan)


@pytest.mark.one_in(3)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(12) if LONG else (4, 6, 9))
def test_as_cheap_as_the_whole_model(seed):
    problem = with_years(medium(seed), seed, 2.0)
    optimum = proven_optimum(problem, time_limit_s=20.0, gap=1e-6)
    if optimum is None:
        pytest.skip("HiGHS does not prove it in time")
    plan = solve(problem)
    assert plan.feasible == np.isfinite(optimum[0])
    if plan.feasible:
        assert_keeps_every_limit(problem, plan)
        assert plan.bound <= optimum[0] * (1 + 1e-6) + 1e-6
        assert plan.cost <= optimum[0] * 1.0101 + 1e-6


def one_server(months=4):
    """Servers alone serve it, from the first month on."""
    problem = small(0)
    unit = server("server", months, price=100.0, life=12, lead=0, monthly=0.0, ceiling=1.0)
    return replace(
        problem, hours=np.full(months, 730.0), peak=np.full(months, 8.0), rental_options=(),
        units=(unit,), quotas=(), capex_budget=None, monthly_budget=None, base_cash=None,
        max_spot_share=1.0,
    )  # fmt: skip


def test_the_year_in_the_way_is_named_with_what_would_do():
    years = (CapitalBudget("year 1", 40.0, 0, 2), CapitalBudget("year 2", 0.0, 2, 4))
    plan = solve(replace(one_server(), capex_by_period=years))
    assert not plan.feasible
    (conflict,) = plan.conflicts
    assert (conflict.limit, conflict.current_value) == ("year 1", 40.0)
    assert conflict.required_value == pytest.approx(100.0)


def test_what_more_of_a_year_would_save():
    problem = one_server()
    rent = rental("rent", 4, 10.0)
    years = (CapitalBudget("year 1", 99.0, 0, 4),)
    limited = replace(problem, rental_options=(rent,), capex_by_period=years)
    plan = solve(limited)
    (value,) = [v for v in marginal_values(limited, plan) if v.limit == "year 1"]
    free = solve(replace(limited, capex_by_period=()))
    assert value.saving == pytest.approx(plan.cost - free.cost)
    assert value.saving > 0
