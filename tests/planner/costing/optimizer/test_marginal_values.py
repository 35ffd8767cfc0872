"""A plan explained: what starts when, what a wider limit saves, where the advice changes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from planner.costing.optimizer.marginal_values import (
    AdditionalUnit,
    demand_switch_points,
    list_unit_starts,
    marginal_values,
    scale_demand,
)
from planner.costing.optimizer.problem import PlanProblem, Quota
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.plan_instances import commitment, medium, rental, server


def steady(months, accelerators, sources=(), units=(), **limits):
    hours = np.full(months, accelerators * 730.0)
    return PlanProblem(hours, np.full(months, accelerators), tuple(sources), tuple(units), **limits)


def values(problem):
    return {value.limit: value for value in marginal_values(problem, solve(problem, gap=0.0))}


def test_purchases_follow_the_months():
    growing = steady(24, 8.0, [rental("rent", 24, 20.0)], [commitment("year", 24, monthly=9000.0)])
    growing = replace(
        growing, peak=np.repeat([8.0, 16.0], 12), hours=np.repeat([5840.0, 11680.0], 12)
    )

    found = list_unit_starts(growing, solve(growing))

    assert [(p.month, p.units, p.first, p.last) for p in found] == [(0, 1, 0, 11), (12, 2, 12, 23)]


def test_a_wider_quota_saves_what_one_more_node_saves():
    year = commitment("year", 12, monthly=9000.0, groups=("hall",))
    problem = steady(12, 24.0, [rental("rent", 12, 20.0)], [year], quotas=(Quota("hall", 16.0),))

    value = values(problem)["quota hall"]

    assert value.saving == pytest.approx(12 * (730 * 20 - 9000))


def test_a_quota_with_room_to_spare_is_worth_nothing():
    year = commitment("year", 12, monthly=9000.0, groups=("hall",))
    problem = steady(12, 24.0, [rental("rent", 12, 20.0)], [year], quotas=(Quota("hall", 64.0),))

    assert values(problem)["quota hall"].saving == 0


def test_one_more_server_in_place_saves_the_rent_it_replaces_less_its_keep():
    owned = server("dgx", 12, price=1e6, lead=0, ceiling=1.0, running=5.0)
    problem = steady(12, 8.0, [rental("rent", 12, 20.0)], [owned])
    one = AdditionalUnit(np.ones(12, np.int64), 12 * 2000.0, np.full(12, 2000.0))

    found = marginal_values(problem, solve(problem, gap=0.0), additional_units={"dgx": one})

    assert [v.limit for v in found] == ["one more dgx in place"]
    assert found[0].saving == pytest.approx(12 * (730 * 15 - 2000))


def test_capital_for_one_more_server_saves_what_it_saves():
    owned = server("dgx", 36, price=150_000.0, lead=0, ceiling=1.0)
    problem = steady(36, 16.0, [rental("rent", 36, 20.0)], [owned], capex_budget=150_000.0)
    both = solve(replace(problem, capex_budget=300_000.0), gap=0.0)

    value = values(problem)["capex_budget"]

    assert value.step == 150_000
    assert value.saving == pytest.approx(solve(problem, gap=0.0).cost - both.cost)


def test_more_spot_saves_its_discount():
    sources = [rental("rent", 2, 20.0), rental("spot", 2, 8.0, is_spot=True)]
    value = values(steady(2, 8.0, sources, max_spot_share=0.5))["max_spot_share"]

    assert value.saving / value.step == pytest.approx(2 * 730 * 12)


def test_a_wider_monthly_budget_saves_what_it_allows():
    sources = [rental("rent", 2, 20.0)], [commitment("up front", 2, term=2, monthly=0, upfront=2e4)]
    problem = steady(2, 8.0, *sources, monthly_budget=19_900.0)

    assert values(problem)["monthly_budget"].saving == pytest.approx(14_600 + 10_000 - 20_000)


@pytest.mark.parametrize("seed", range(1, 3))
def test_no_wider_limit_costs_more(seed):
    problem = medium(seed)
    plan = solve(problem, gap=0.0)
    if plan.feasible:
        assert all(value.saving >= 0 for value in marginal_values(problem, plan))


def test_the_advice_turns_where_a_node_is_busy_enough_to_commit():
    problem = steady(12, 24.0, [rental("rent", 12, 20.0)], [commitment("year", 12, monthly=9000.0)])

    [point] = demand_switch_points(problem, min_multiplier=0.05, tolerance=1e-3)

    assert point.multiplier == pytest.approx(9000 / 14_600 / 3, rel=1e-2)
    assert (point.below, point.above) == (frozenset(), frozenset({"year"}))


def test_several_turns_between_two_samples_are_all_found():
    sources = [
        commitment("small", 12, capacity=1.0, monthly=1500.0),
        commitment("year", 12, monthly=9000.0),
    ]
    problem = steady(12, 8.0, [rental("rent", 12, 3.0, capacity=1.0)], sources)

    points = demand_switch_points(
        problem, min_multiplier=0.05, max_multiplier=1.0, samples=2, tolerance=0.02
    )

    assert [sorted(p.above) for p in points][-1] == ["year"]
    assert all(a.above == b.below for a, b in pairwise(points))


def test_where_no_plan_is_left_that_is_told_with_the_limit_that_ends_it():
    rent = rental("rent", 12, 20.0, groups=("hall",))
    problem = steady(12, 8.0, [rent], quotas=(Quota("hall", 8.0),))

    [end] = demand_switch_points(problem)

    assert (end.below, end.above) == (frozenset(), None)
    assert 1 < end.multiplier < 1.02
    assert [clash.limit for clash in end.conflicts] == ["quota hall"]


def test_a_peak_is_scaled_to_whole_accelerators():
    """600 h of one accelerator stay within it up to 730 h; beyond, a request has a peak of two."""
    rent = rental("rent", 2, 20.0, capacity=1.0, groups=("hall",))
    problem = steady(2, 1.0, [rent], quotas=(Quota("hall", 1.0),))
    problem = replace(problem, hours=np.full(2, 600.0))

    [end] = demand_switch_points(problem)

    assert end.multiplier == pytest.approx(730 / 600, rel=0.01)


def test_a_peak_that_was_given_is_scaled_as_such():
    problem = replace(steady(2, 8.0), hours=np.full(2, 1000.0))

    assert scale_demand(problem, 1.2).peak.tolist() == [10.0, 10.0]
    assert scale_demand(problem, 1.0 + 1e-15).peak.tolist() == [8.0, 8.0]
