"""Machines rented by the hour rent whole: the cheapest plan, against an independent model."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_instances import commitment, medium, rental, small

LONG = os.environ.get("FUZZ") == "1"
SMALL = 500 if LONG else 15
MEDIUM = 40
HUNG = frozenset({73})
"""Instances on which the independent model itself does not end."""


def steady(accelerators, *rentals, months=2, units=(), **limits):
    hours = np.full(months, accelerators * 730.0)
    peak = np.full(months, float(accelerators))
    return PlanProblem(hours, peak, rentals, tuple(units), whole_nodes=True, **limits)


def test_one_accelerator_costs_the_machine_that_holds_it():
    plan = solve(steady(1, rental("p5en", 2, 60.0)))

    assert plan.rented_hours["p5en"] == pytest.approx([730.0, 730.0])
    assert plan.cost == pytest.approx(2 * 730 * 60)


def test_part_of_a_month_rents_whole_machines_for_that_part():
    problem = replace(steady(12, rental("node", 2, 20.0)), hours=np.full(2, 12 * 100.0))

    assert solve(problem).rented_hours["node"] == pytest.approx([200.0, 200.0])


def test_small_machines_fill_what_a_large_one_leaves():
    large, single = rental("eight", 2, 16.0), rental("one", 2, 3.0, capacity=1.0)

    plan = solve(steady(9, large, single))

    assert plan.rented_hours["eight"] == pytest.approx([730.0, 730.0])
    assert plan.rented_hours["one"] == pytest.approx([730.0, 730.0])


def test_commitments_and_whole_machines_share_the_peak():
    year = commitment("year", 12, monthly=9_000.0)

    plan = solve(steady(12, rental("rent", 12, 20.0), months=12, units=[year]))

    assert plan.units_started["year"].sum() == 2
    assert plan.rented_hours["rent"].sum() == 0


def test_two_offers_of_one_size_share_a_machine_month():
    spot, firm = rental("spot", 1, 5.0, is_spot=True), rental("firm", 1, 20.0)

    plan = solve(steady(8, spot, firm, months=1, max_spot_share=0.25))

    assert plan.rented_hours["spot"] == pytest.approx([0.25 * 730])
    assert plan.rented_hours["firm"] == pytest.approx([0.75 * 730])


@pytest.mark.parametrize("seed", [s for s in range(SMALL) if s not in HUNG])
def test_small_problems_are_solved_to_the_optimum(seed):
    problem = replace(small(seed), whole_nodes=True)
    cost, _ = proven_optimum(problem)

    plan = solve(problem, gap=0.0)

    assert plan.feasible == np.isfinite(cost)
    if plan.feasible:
        assert plan.cost == pytest.approx(cost, rel=1e-6, abs=1e-6)
        assert plan.bound <= cost * (1 + 1e-6) + 1e-6


@pytest.mark.parametrize("seed", [s for s in range(SMALL) if s not in HUNG])
def test_so_are_those_whose_smallest_machines_may_be_rented_in_parts(seed):
    problem = small(seed)
    least = min((s.capacity for s in problem.rental_options), default=0.0)
    rentals = [replace(s, in_parts=s.capacity == least) for s in problem.rental_options]
    problem = replace(problem, whole_nodes=True, rental_options=tuple(rentals))
    cost, _ = proven_optimum(problem)

    plan = solve(problem, gap=0.0)

    assert plan.feasible == np.isfinite(cost)
    if plan.feasible:
        assert plan.cost == pytest.approx(cost, rel=1e-6, abs=1e-6)
        assert plan.bound <= cost * (1 + 1e-6) + 1e-6


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(MEDIUM) if LONG else (1,))
def test_larger_problems_keep_to_the_gap_that_they_state(seed):
    problem = replace(medium(seed), whole_nodes=True)
    optimum = proven_optimum(problem, time_limit_s=20.0, gap=1e-3)

    plan = solve(problem)

    if optimum is not None and plan.feasible:
        cost, bound = optimum
        assert plan.bound <= cost * (1 + 1e-6)
        assert plan.cost * (1 - plan.gap) <= cost * (1 + 1e-6)
        assert plan.cost >= bound * (1 - 1e-6)
