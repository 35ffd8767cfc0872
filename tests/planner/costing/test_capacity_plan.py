"""The cheapest plan: what it is, that every limit is kept, that it is the cheapest."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.capacity_plan import solve
from planner.costing.plan_problem import PlanProblem
from tests.planner.costing.brute_force import cheapest_cost
from tests.planner.costing.plan_checks import assert_keeps_every_limit
from tests.planner.costing.plan_instances import commitment, rental, server, small

SMALL = 2000 if os.environ.get("FUZZ") else 60


def steady(months=24, accelerators=16.0, sources=(), units=(), **limits):
    hours = np.full(months, accelerators * 730.0)
    return PlanProblem(hours, np.full(months, accelerators), tuple(sources), tuple(units), **limits)


def test_rents_what_is_needed_and_no_more():
    plan = solve(steady(2, 12.0, [rental("rent", 2, 20.0)]))

    assert plan.rented_hours["rent"] == pytest.approx([1095.0, 1095.0])
    assert plan.cost == pytest.approx(2 * 1095 * 20)


def test_commits_to_steady_demand():
    problem = steady(24, 16.0, [rental("rent", 24, 20.0)], [commitment("year", 24, monthly=9000.0)])

    plan = solve(problem)

    assert plan.begun["year"].sum() == 4
    assert plan.cost == pytest.approx(2 * 24 * 9000)
    assert plan.gap == 0


def test_waits_for_a_server_by_renting():
    problem = steady(
        36, 8.0, [rental("rent", 36, 20.0)], [server("dgx", 36, price=150_000.0, lead=3)]
    )

    plan = solve(problem)

    assert plan.begun["dgx"][0] == 1
    assert plan.rented_hours["rent"][:3] == pytest.approx([730.0] * 3)


def test_a_server_never_runs_above_its_ceiling():
    problem = steady(
        36, 8.0, [rental("rent", 36, 20.0)], [server("dgx", 36, price=150_000.0, lead=0)]
    )

    plan = solve(problem)

    assert plan.used_hours["dgx"].max() <= 657.0 * (1 + 1e-9)


def test_months_without_demand_cost_nothing():
    problem = replace(
        steady(2, 8.0, [rental("rent", 2, 20.0)]), hours=np.zeros(2), peak=np.zeros(2)
    )

    assert solve(problem).cost == 0


def test_only_the_allowed_sources_are_used():
    problem = steady(2, 8.0, [rental("cheap", 2, 10.0), rental("dear", 2, 20.0)])

    assert solve(problem, {"dear"}).cost == pytest.approx(2 * 730 * 20)


def test_what_is_there_already_is_used_first():
    units = [server("dgx", 2, existing=[1, 1], running=2.0, ceiling=1.0)]
    plan = solve(replace(steady(2, 8.0, [rental("rent", 2, 20.0)], units), base_cost=5.0))

    assert plan.begun["dgx"].sum() == 0
    assert plan.cost == pytest.approx(5.0 + 2 * 730 * 2.0)


def test_nothing_on_sale_is_infeasible():
    plan = solve(steady(2, 8.0))

    assert not plan.feasible
    assert plan.why_not


@pytest.mark.parametrize("seed", range(SMALL))
def test_equals_trying_every_plan(seed):
    problem = small(seed)

    plan, least = solve(problem, gap=0.0), cheapest_cost(problem)

    assert plan.feasible == np.isfinite(least)
    if plan.feasible:
        assert plan.cost == pytest.approx(least, rel=1e-7, abs=1e-6)
        assert plan.bound <= plan.cost
        assert_keeps_every_limit(problem, plan)
