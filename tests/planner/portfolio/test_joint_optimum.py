"""The joint plan against an independent model, and against what every joint plan must be."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.model import Effort
from planner.costing.optimizer.plan_model import units_in_service
from planner.costing.optimizer.problem import Quota
from planner.costing.optimizer.solve import solve
from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.joint_model import GroupBounds, JointProblem, solve_joint
from tests.planner.portfolio.joint_instances import GROUP, joint
from tests.planner.portfolio.plain_joint_milp import proven_joint_optimum

FEW = range(12 if os.environ.get("FUZZ") else 6)
MANY = range(100, 600)
CLOSE = 1e-6


def assert_is_a_plan(problem, plan):
    """Every demand is met from machines that are there, and no limit is broken."""
    taken = {key: np.zeros(problem.months) for key in problem.units}
    used = {key: np.zeros(problem.months) for key in problem.units}
    for project, use in zip(problem.projects, plan.uses, strict=True):
        _assert_meets(project, use)
        for key, row in use.shares.items():
            taken[key] += row
            if key in project.whole_nodes and project.movable is None:
                assert np.allclose(row, np.round(row), atol=1e-5)
        for key, row in use.used_hours.items():
            used[key] += row
    for key, unit in problem.units.items():
        there = units_in_service(
            unit, plan.units_started.get(key, np.zeros(problem.months, np.int64))
        )
        assert (taken[key] <= there + 1e-5).all(), key
        assert (used[key] <= there * unit.hours_per_month + 1e-3).all(), key
        if unit.max_units is not None:
            assert plan.units_started.get(key, np.zeros(1)).sum() <= unit.max_units
    limits = problem.limits
    if limits.capex_budget is not None:
        capital = sum(
            float(problem.units[key].capex @ row) for key, row in plan.units_started.items()
        )
        assert capital <= limits.capex_budget * (1 + 1e-9) + 1e-6


def _assert_meets(project, use):
    problem, movable = project.problem, project.movable
    offers = {s.key: s for s in problem.rental_options}
    inside = np.zeros(problem.hours.size, bool)
    if movable is not None:
        inside = movable.indicator(problem.hours.size)
    hours, width = np.zeros(problem.hours.size), np.zeros(problem.hours.size)
    busy = (problem.hours > 0) & (problem.peak > 0)
    d = np.divide(problem.hours, problem.peak, out=np.full(problem.hours.size, 730.0), where=busy)
    run = np.zeros(problem.hours.size)
    for key, row in use.used_hours.items():
        run += row * project.units[key].capacity
    for key, row in use.shares.items():
        width += row * project.units[key].capacity
    for key, row in use.rented_hours.items():
        capacity = np.full(row.size, offers[key].capacity)
        if problem.whole_nodes and movable is not None:
            capacity = np.where(inside, np.minimum(capacity, movable.at_once), capacity)
        hours += row * capacity
        width += row * capacity / d
    left = problem.hours - hours
    assert (run[~inside] <= np.maximum(left[~inside], 0.0) + 1e-2).all()
    assert run[inside].sum() <= max(left[inside].sum(), 0.0) + 1e-2
    hours += run
    assert (hours[~inside] >= problem.hours[~inside] - 1e-2).all()
    assert (width[~inside & busy] >= problem.peak[~inside & busy] - 1e-4).all()
    assert hours[inside].sum() >= problem.hours[inside].sum() - 1e-2


def check(seed, limited):
    problem = joint(seed, limited)
    proven = proven_joint_optimum(problem)
    assert proven is not None
    exact, quick = solve_joint(problem, gap=0.0), solve_joint(problem)

    assert np.isfinite(exact.cost) == np.isfinite(quick.cost) == np.isfinite(proven[0])
    if np.isfinite(exact.cost):
        assert exact.cost == pytest.approx(proven[0], rel=CLOSE, abs=1e-3)
        assert quick.cost <= proven[0] * 1.005 + 1e-3
        assert quick.bound <= proven[0] * (1 + CLOSE) + 1e-3
        for plan in (exact, quick):
            assert_is_a_plan(problem, plan)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", FEW)
def test_equals_the_optimum_of_an_independent_model(seed):
    check(seed, limited=seed % 3 == 2)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", MANY if os.environ.get("FUZZ") else range(100, 101))
def test_random_sets_equal_the_optimum_of_an_independent_model(seed):
    check(seed, limited=seed % 3 == 2)


@pytest.mark.parametrize("seed", FEW)
def test_one_project_without_a_window_is_the_plan_of_its_own(seed):
    project = joint(seed).projects[0]
    project = replace(project, movable=None, whole_nodes=frozenset(), kinds={})
    alone = solve(project.problem, effort=Effort(gap=0.0))

    plan = solve_joint(JointProblem((project,)), gap=0.0)
    assert plan.cost == pytest.approx(alone.cost, rel=CLOSE, abs=1e-3)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", FEW)
def test_together_costs_no_more_than_apart(seed):
    problem = joint(seed)
    if any(unit.existing is not None for unit in problem.units.values()):
        problem = JointProblem(tuple(_without_held(project) for project in problem.projects))
    if any(unit.max_units is not None for unit in problem.units.values()):
        return
    apart = sum(solve_joint(JointProblem((p,)), gap=0.0).cost for p in problem.projects)

    assert solve_joint(problem, gap=0.0).cost <= apart * (1 + CLOSE)


def _without_held(project):
    units = tuple(unit for unit in project.problem.units if unit.existing is None)
    return replace(project, problem=replace(project.problem, units=units))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", FEW)
def test_the_order_of_projects_changes_no_cost(seed):
    problem = joint(seed)
    turned = JointProblem(problem.projects[::-1])

    one, other = solve_joint(problem, gap=0.0), solve_joint(turned, gap=0.0)
    assert one.cost == pytest.approx(other.cost, rel=CLOSE, abs=1e-3)


@pytest.mark.parametrize("seed", FEW[:6])
def test_the_bound_of_a_group_is_below_its_plan_and_does_not_depend_on_the_way_there(seed):
    problem = joint(seed)
    names = [project.name for project in problem.projects]
    bounds = GroupBounds(problem, WorkMeter())
    group = frozenset(names[:2])
    first = bounds.least_cost(group)
    bounds.least_cost(frozenset(names))
    bounds.least_cost(frozenset(names[-1:]))
    members = JointProblem(tuple(p for p in problem.projects if p.name in group))

    assert bounds.least_cost(group) == pytest.approx(first, rel=1e-9, abs=1e-6)
    assert first <= solve_joint(members, gap=0.0).cost * (1 + CLOSE) + 1e-3


@pytest.mark.parametrize("most", [4.0, 12.0])
@pytest.mark.parametrize("seed", range(4))
def test_quotas_of_all_hold_whole_machines(seed, most):
    drawn = joint(seed)
    quota = Quota(GROUP, most, in_machines=True)
    projects = []
    for project in drawn.projects[:3]:
        offers = tuple(replace(s, limit_groups=(GROUP,)) for s in project.problem.rental_options)
        problem = replace(project.problem, rental_options=offers, quotas=(quota,))
        projects.append(replace(project, problem=problem))
    problem = JointProblem(tuple(projects))

    proven = proven_joint_optimum(problem)
    plan = solve_joint(problem, gap=0.0)

    assert proven is not None
    assert np.isfinite(plan.cost) == np.isfinite(proven[0])
    if np.isfinite(plan.cost):
        assert plan.cost == pytest.approx(proven[0], rel=CLOSE, abs=1e-3)
