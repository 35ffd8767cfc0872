"""The exact search over units in service: the same optimum as the plain model of starts."""

import numpy as np
import pytest

from planner.costing.optimizer.constraints import build_rows
from planner.costing.optimizer.exact_milp import Incumbent, solve_milp
from planner.costing.optimizer.presolve import prune
from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.variables import StartColumns, continuous_columns
from planner.costing.optimizer.work import WorkMeter
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_instances import commitment, medium, rental


def optimum(problem, warm_start=None, start_indices=None):
    """The cheapest plan in the problem's money, and what was found."""
    rows = build_rows(prune(problem))
    start_columns = StartColumns(rows)
    every = np.arange(start_columns.cost.size) if start_indices is None else start_indices
    proof = solve_milp(
        rows,
        continuous_columns(rows),
        start_columns,
        every,
        gap=0.0,
        node_limit=None,
        work=WorkMeter(),
        warm_start=warm_start,
    )
    if proof.incumbent is None:
        return None, proof
    assert proof.bound <= proof.incumbent.cost * (1 + 1e-9)
    return proof.incumbent.cost * rows.cost_scale + problem.base_cost, proof


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [5, 12, 21, 30, 35])
def test_equals_the_optimum_of_the_plain_model(seed):
    problem = medium(seed)

    cost, proof = optimum(problem)

    assert cost == pytest.approx(proven_optimum(problem)[0], rel=1e-7)
    again, _ = optimum(problem, warm_start=proof.incumbent)
    assert again == pytest.approx(cost, rel=1e-9)


def test_a_poor_plan_to_begin_with_costs_nothing():
    problem = medium(5)
    cost, proof = optimum(problem)
    nothing = Incumbent(np.zeros(proof.incumbent.units_started.size), np.inf)

    assert optimum(problem, warm_start=nothing)[0] == pytest.approx(cost, rel=1e-7)


def test_says_that_no_plan_keeps_the_limits():
    hours, peak = np.full(3, 7300.0), np.full(3, 10.0)
    problem = PlanProblem(hours, peak, (rental("rent", 3, 20.0, is_spot=True),), ())

    cost, proof = optimum(PlanProblem(hours, peak, problem.rental_options, (), max_spot_share=0.5))

    assert cost is None
    assert proof.bound == np.inf


def test_begins_nothing_that_serves_no_month_with_demand():
    """Of a commitment's starts, those that are up only while nothing is asked for stay out."""
    hours = np.array([5840.0, 0.0, 0.0, 0.0, 5840.0, 5840.0])
    problem = PlanProblem(
        hours,
        hours / 730,
        (rental("rent", 6, 20.0),),
        (commitment("quarter", 6, term=3, monthly=6000.0),),
    )
    start_indices = np.arange(StartColumns(build_rows(prune(problem))).cost.size)

    cost, proof = optimum(problem, start_indices=start_indices)

    assert cost == pytest.approx(730 * 20 + 2 * 6000)
    assert proof.incumbent.units_started.sum() == 1


def test_begins_nothing_but_what_may_be_begun():
    hours = np.full(4, 5840.0)
    problem = PlanProblem(
        hours,
        hours / 730,
        (rental("rent", 4, 20.0),),
        (commitment("all", 4, term=4, monthly=4000.0),),
    )

    assert optimum(problem)[0] == pytest.approx(16_000)
    assert optimum(problem, start_indices=np.zeros(0, np.int64))[0] == pytest.approx(4 * 730 * 20)
