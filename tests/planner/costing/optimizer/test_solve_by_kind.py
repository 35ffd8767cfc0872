"""One group of sources for a whole plan: the cheapest one, and what may be left unsearched."""

from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.model import Effort
from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.solve import NOT_CHEAPER, restrict_sources, solve
from planner.costing.optimizer.work import WorkMeter
from planner.costing.run_machines import RunGroup
from planner.costing.solve_by_kind import CostFloors, solve_by_kind
from tests.planner.costing.optimizer.plan_instances import commitment, rental, server, small
from tests.properties import one_in

SEEDS = one_in(3, range(60))


def least_cost(problem: PlanProblem) -> float:
    return CostFloors(problem).of(problem)


def groups_of(problem: PlanProblem, seed: int, count: int = 3) -> list[list[str]]:
    random = np.random.Generator(np.random.PCG64(seed))
    keys = sorted(s.key for s in (*problem.rental_options, *problem.units))
    place = random.integers(count, size=len(keys))
    return [[key for key, at in zip(keys, place, strict=True) if at == k] for k in range(count)]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_cheapest_group_is_found_although_others_are_left_unsearched(seed):
    problem = small(seed)
    groups = groups_of(problem, seed)

    plan = solve_by_kind(problem, [RunGroup(frozenset(keys)) for keys in groups])

    alone = [solve(problem, group, effort=Effort(gap=0.0)) for group in groups]
    least = min(one.cost for one in alone)
    assert plan.feasible == bool(np.isfinite(least))
    if plan.feasible:
        assert plan.bound <= least * (1 + 1e-9)
        assert least * (1 - 1e-9) <= plan.cost <= least * 1.01


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_plan_costs_less_than_the_floor(seed):
    problem = small(seed)
    for group in [None, *groups_of(problem, seed)]:
        part = restrict_sources(problem, group)
        cost = solve(part, effort=Effort(gap=0.0)).cost
        assert least_cost(part) <= cost + 1e-6 * abs(cost) if np.isfinite(cost) else True


def test_starts_that_earn_money_have_no_floor():
    """Each of two servers sells for 1,000 more than it costs; one alone would do the work."""
    months = 3
    box = replace(
        server("box", months, lead=0),
        start_cost=np.full(months, -1000.0),
        hour_cost=np.zeros(months),
    )
    problem = PlanProblem(np.full(months, 1460.0), np.full(months, 8.0), (), (box,))
    assert solve(problem, effort=Effort(gap=0.0)).cost < -1000.0
    assert least_cost(problem) == -np.inf


def test_the_floor_counts_the_hours_that_a_unit_can_deliver():
    """Of 24 months with work in the last two, a server of 100,000 pays for 1,460 hours."""
    busy = np.where(np.arange(24) >= 22, 1.0, 0.0)
    one = server("dgx", 24, price=100_000.0, ceiling=1.0)
    problem = PlanProblem(8 * 730 * busy, 8 * busy, (), (one,))

    floor, cost = least_cost(problem), solve(problem).cost

    assert 0.9 * cost <= floor <= cost


def test_the_floor_rounds_no_node_up_of_which_a_part_may_be_rented():
    """Nine of 16 accelerators' worth of hours: of whole nodes of eight it takes two."""
    rent = rental("rent", 2, 20.0)
    hours, peak = np.full(2, 9 * 730.0), np.full(2, 9.0)
    whole = PlanProblem(hours, peak, (rent,), (), whole_nodes=True)
    in_parts = replace(whole, rental_options=(replace(rent, in_parts=True),))

    assert least_cost(whole) == pytest.approx(2 * 2 * 730 * 20)
    assert least_cost(in_parts) <= solve(in_parts).cost < least_cost(whole)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(20))
def test_a_search_that_can_not_be_cheap_enough_ends_and_one_that_can_goes_on(seed):
    problem = small(seed)
    free = solve(problem)
    if not free.feasible or free.bound <= 0:
        return
    searched, ended = WorkMeter(), WorkMeter()

    solve(problem, work=searched)
    none = solve(problem, ceiling=free.bound * 0.9, work=ended)
    same = solve(problem, ceiling=free.cost * 1.1)

    assert not none.feasible or none.cost < free.bound * 0.9
    if NOT_CHEAPER in none.why_not:
        assert free.bound * 0.9 < none.bound <= free.cost * (1 + 1e-9)
        # A bound on the objective makes branching take another path, seldom a longer one.
        assert ended.done <= 1.5 * searched.done
    assert same.cost == free.cost


def test_a_ceiling_is_said_to_be_why_there_is_no_plan():
    sources = (rental("rent", 24, 20.0),)
    units = (commitment("year", 24, monthly=9000.0),)
    problem = PlanProblem(np.full(24, 5840.0), np.full(24, 8.0), sources, units)
    cost = solve(problem).cost

    groups = [RunGroup(frozenset({"rent"})), RunGroup(frozenset({"year"}))]
    for plan in (
        solve(problem, ceiling=cost / 2),
        solve_by_kind(problem, groups, ceiling=cost / 2),
    ):
        assert plan.why_not == (NOT_CHEAPER,)
        assert cost / 2 < plan.bound <= cost * (1 + 1e-9)
