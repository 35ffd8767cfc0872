"""Machines rented by the hour rent whole: the cheapest plan, against an independent model."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.problem import PlanProblem, Quota
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


def test_cheap_parts_leave_machines_for_spot_to_share():
    """Half of a machine's time may be spot: 365 h at 8 and 365 h at 40 are less than 8 · 730 h at
    4.90, though an hour of 8 accelerators in parts costs 39.20."""
    spot, firm = rental("spot", 1, 8.0, is_spot=True), rental("firm", 1, 40.0)
    parts = replace(rental("parts", 1, 4.9, capacity=1.0), in_parts=True)
    problem = steady(8, spot, firm, parts, months=1, max_spot_share=0.5)

    plan = solve(problem, gap=0.0)

    assert plan.cost == pytest.approx(365 * (8 + 40))
    assert plan.cost == pytest.approx(proven_optimum(problem)[0])
    assert solve(replace(problem, parts_replace_nodes=True)).cost == pytest.approx(5840 * 4.9)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [s for s in range(SMALL) if s not in HUNG])
def test_small_problems_are_solved_to_the_optimum(seed):
    problem = replace(small(seed), whole_nodes=True)
    cost, _ = proven_optimum(problem)

    plan = solve(problem, gap=0.0)

    assert plan.feasible == np.isfinite(cost)
    if plan.feasible:
        assert plan.cost == pytest.approx(cost, rel=1e-6, abs=1e-6)
        assert plan.bound <= cost * (1 + 1e-6) + 1e-6


@pytest.mark.one_in(4)
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


def of_one_node_size(seed):
    """A node by the hour beside accelerators rented in parts, dearer or limited, in many months."""
    random = np.random.default_rng(seed)
    months = int(random.integers(4, 13))
    peak = random.uniform(0.5, 60.0, months).round(1)
    hours = peak * random.choice([50.0, 400.0, 730.0], months)
    node = rental("node", months, 16.0, rate=0.08)
    parts = rental("parts", months, random.uniform(1.0, 9.0), capacity=1.0, groups=("parts",))
    spot = rental("spot", months, random.uniform(4.0, 15.0), is_spot=True)
    limits = {
        "quotas": (Quota("parts", float(random.integers(0, 9))),),
        "max_spot_share": float(random.choice([0.0, 0.2, 0.5])),
    }
    rentals = (node, replace(parts, in_parts=True), spot)
    return PlanProblem(hours, peak, rentals, (), whole_nodes=True, **limits)


def in_month(problem, month):
    at = slice(month, month + 1)
    rentals = tuple(
        replace(r, hour_cost=r.hour_cost[at], hour_cash=r.hour_cash[at])
        for r in problem.rental_options
    )
    return replace(problem, hours=problem.hours[at], peak=problem.peak[at], rental_options=rentals)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(500 if LONG else 12))
def test_months_solved_together_cost_what_each_costs_by_itself(seed):
    problem = of_one_node_size(seed)

    plan = solve(problem, gap=0.0)

    each = [solve(in_month(problem, month), gap=0.0) for month in range(problem.hours.size)]
    assert plan.feasible
    assert plan.cost == pytest.approx(sum(one.cost for one in each), rel=1e-9)


def test_a_month_is_settled_at_the_better_number_of_nodes_beside_its_part():
    """20 accelerators at 8 a node: two nodes and four parts at 3 USD, or three nodes where parts
    cost 5."""
    hours, peak = np.full(3, 20 * 100.0), np.full(3, 20.0)
    node = rental("node", 3, 16.0)
    part = replace(rental("part", 3, 3.0, capacity=1.0), in_parts=True)
    cheap_dear = np.array([3.0, 5.0, 5.0])
    part = replace(part, hour_cost=cheap_dear, hour_cash=cheap_dear)

    plan = solve(PlanProblem(hours, peak, (node, part), (), whole_nodes=True), gap=0.0)

    assert plan.rented_hours["node"] == pytest.approx([200.0, 300.0, 300.0])
    assert plan.rented_hours["part"] == pytest.approx([400.0, 0.0, 0.0])
