"""A budget for all payments of a plan: kept, proven against an independent model, and explained."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.marginal_values import marginal_values
from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_instances import commitment, medium, rental, server, small

LONG = os.environ.get("FUZZ") == "1"
SMALL = 500 if LONG else 25
MEDIUM = 40 if LONG else 3
HUNG = frozenset({73})
"""Instances on which the independent model itself does not end with whole nodes."""


def steady(accelerators, *rentals, months=2, units=(), **limits):
    hours = np.full(months, accelerators * 730.0)
    return PlanProblem(hours, np.full(months, float(accelerators)), rentals, tuple(units), **limits)


def payments(problem, plan):
    """Everything that a plan pays, whatever month it falls in."""
    paid = problem.base_payments
    for unit in problem.units:
        started = plan.units_started[unit.key]
        paid += unit.all_payments[started > 0] @ started[started > 0]
        paid += unit.hour_cash @ plan.used_hours[unit.key]
    return paid + sum(s.hour_cash @ plan.rented_hours[s.key] for s in problem.rental_options)


def limited(problem, seed):
    """The problem with a budget about what its cheapest plan pays, and payments after the end."""
    random = np.random.default_rng(seed)
    units = [
        replace(u, payments=u.start_cash.sum(axis=1) + random.choice([0.0, 150.0, 400.0]))
        for u in problem.units
    ]
    changed = replace(
        problem, units=tuple(units), whole_nodes=bool(seed % 2), base_payments=10.0 * (seed % 3)
    )
    plan = solve(changed)
    if not plan.feasible:
        return replace(changed, total_budget=1000.0)
    paid = payments(changed, plan)
    return replace(changed, total_budget=float(paid * random.choice([0.7, 0.9, 0.97, 1.001, 1.2])))


@pytest.mark.one_in(5)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", [s for s in range(SMALL) if s not in HUNG])
def test_small_problems_are_solved_to_the_optimum(seed):
    problem = limited(small(seed), seed)
    cost, _ = proven_optimum(problem)
    plan = solve(problem, gap=0.0)

    assert plan.feasible == np.isfinite(cost)
    if plan.feasible:
        assert plan.cost == pytest.approx(cost, rel=1e-6, abs=1e-6)
        assert payments(problem, plan) <= problem.total_budget * (1 + 1e-6) + 1e-6


@pytest.mark.one_in(3)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(MEDIUM))
def test_larger_problems_are_within_the_gap_they_state(seed):
    problem = limited(medium(seed), seed)
    found = proven_optimum(problem, gap=1e-4)
    if found is None:
        pytest.skip("the independent model did not end")
    plan = solve(problem)

    assert plan.feasible == np.isfinite(found[0])
    if plan.feasible:
        assert found[1] <= plan.cost * (1 + 1e-6) + 1e-6
        assert plan.bound <= found[0] * (1 + 1e-6) + 1e-6
        assert payments(problem, plan) <= problem.total_budget * (1 + 1e-6) + 1e-6


def test_what_is_paid_after_the_horizon_counts():
    year = replace(commitment("year", 2, monthly=5_000.0), payments=np.full(2, 60_000.0))
    rent = rental("rent", 2, 20.0)
    free = steady(8, rent, units=[year])

    assert solve(free).units_started["year"].sum() == 1
    held = solve(replace(free, total_budget=30_000.0))
    assert held.units_started["year"].sum() == 0
    assert held.cost == pytest.approx(2 * 730 * 20)


def test_a_budget_too_small_names_the_budget_that_would_do():
    plan = solve(steady(8, rental("rent", 2, 20.0), total_budget=20_000.0))

    assert list(plan.why_not) == ["total_budget: 20,000 → at least 29,200"]


def test_a_wider_budget_saves_what_it_allows():
    owned = server("dgx", 36, price=300_000.0, lead=0, residual=0.8)
    problem = steady(8, rental("rent", 36, 14.0), months=36, units=[owned])
    paid = payments(problem, solve(problem, gap=0.0))
    tight = replace(problem, total_budget=paid * 0.995)
    values = {v.limit: v for v in marginal_values(tight, solve(tight, gap=0.0))}

    assert values["total_budget"].saving > 0
