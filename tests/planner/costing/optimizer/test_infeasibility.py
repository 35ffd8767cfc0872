"""No plan: which limits clash, and how far each would have to give way."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.problem import LeastGroups, PlanProblem, Quota
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.brute_force import cheapest_cost
from tests.planner.costing.optimizer.plan_instances import market, rental, server, small

SEEDS = 2000 if os.environ.get("FUZZ") == "1" else 12


def steady(months, accelerators, sources=(), units=(), **limits):
    hours = np.full(months, accelerators * 730.0)
    return PlanProblem(hours, np.full(months, accelerators), tuple(sources), tuple(units), **limits)


def clash(plan, limit):
    return next(c for c in plan.conflicts if c.limit == limit)


def with_limit(problem, limit, value):
    """The problem with one limit, named as a conflict names it, at another value."""
    kind, _, name = limit.partition(" ")
    if kind == "quota":
        quotas = [replace(q, most=value) if q.group == name else q for q in problem.quotas]
        return replace(problem, quotas=tuple(quotas))
    if kind == "max_units":
        units = [replace(u, max_units=round(value)) if u.key == name else u for u in problem.units]
        return replace(problem, units=tuple(units))
    return replace(problem, **{limit: value})


def test_a_quota_too_small_names_the_quota_that_would_do():
    rent = rental("h100", 2, 20.0, groups=("gcp/us-central1 nvidia-h100",))
    problem = steady(2, 24.0, [rent], quotas=(Quota("gcp/us-central1 nvidia-h100", 16.0),))

    plan = solve(problem)

    assert not plan.feasible
    assert list(plan.why_not) == ["quota gcp/us-central1 nvidia-h100: 16 → at least 24"]


def test_a_capex_budget_too_small_names_the_budget_that_would_do():
    owned = server("dgx", 12, price=200_000.0, lead=0, ceiling=1.0)
    plan = solve(steady(12, 24.0, units=[owned], capex_budget=100_000.0))

    assert clash(plan, "capex_budget").required_value == pytest.approx(600_000)


def test_a_spot_share_too_small_names_the_share_that_would_do():
    plan = solve(steady(2, 8.0, [rental("spot", 2, 6.0, is_spot=True)], max_spot_share=0.25))

    assert clash(plan, "max_spot_share").required_value == pytest.approx(1.0)


def test_too_few_units_names_how_many_would_do():
    plan = solve(steady(4, 24.0, units=[server("dgx", 4, lead=0, ceiling=1.0, max_units=1)]))

    assert clash(plan, "max_units dgx").required_value == pytest.approx(3)


def test_nothing_on_sale_before_the_first_server_arrives():
    plan = solve(steady(12, 8.0, units=[server("dgx", 12, lead=3, ceiling=1.0)]))

    assert list(plan.why_not) == [
        "nothing that may be bought or rented is available in the first 3 months"
    ]


def test_a_share_of_nothing_that_may_be_had_is_explained():
    """Of two months one has neither anything in place nor on sale; a limit has no rows at all."""
    held = replace(server("dgx", 2, lead=0, existing=[1, 1]), start_cost=np.full(2, np.inf))
    problem = steady(2, 16.0, units=[held], quotas=(Quota("nobody", 0.5, is_share=True),))
    problem = replace(problem, max_spot_share=0.5, monthly_budget=1.0)
    assert list(solve(problem).why_not) == [
        "what is in place is not enough in any month, and nothing more may be bought or rented"
    ]
    least = LeastGroups(("nobody",), 1, 0.5)
    idle = replace(problem, hours=np.full(2, 100.0), peak=np.full(2, 8.0), least_groups=least)
    assert not solve(idle).feasible


def test_limits_that_must_give_way_together_are_named_together():
    east = rental("east", 2, 20.0, groups=("east",))
    plan = solve(
        steady(2, 24.0, [east], quotas=(Quota("east", 8.0),), monthly_budget=8 * 730 * 2.5)
    )

    assert {c.limit for c in plan.conflicts} == {"quota east", "monthly_budget"}
    assert not any(c.is_sufficient for c in plan.conflicts)
    assert clash(plan, "quota east").required_value == pytest.approx(24)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_limit_named_alone_is_enough_and_no_less_is(seed):
    problem = small(seed)
    for found in solve(problem).conflicts:
        if not found.is_sufficient or found.required_value is None:
            continue
        enough = found.required_value * (1 + 1e-7)
        assert np.isfinite(cheapest_cost(with_limit(problem, found.limit, enough)))
        less = found.required_value - 1e-3 * max(found.required_value, 1.0)
        less = less if not found.limit.startswith("max_units") else found.required_value - 1
        if less >= 0:
            assert not np.isfinite(cheapest_cost(with_limit(problem, found.limit, less)))


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(SEEDS))
def test_limits_named_together_are_enough_together(seed):
    problem = small(seed)
    plan = solve(problem)
    together = [c for c in plan.conflicts if not c.is_sufficient]
    for found in together:
        problem = with_limit(problem, found.limit, found.required_value * (1 + 1e-7))

    assert not together or np.isfinite(cheapest_cost(problem))


@pytest.mark.sweep
@pytest.mark.fuzz
def test_a_large_market_without_a_plan_is_explained():
    problem = replace(market(1, 12, 100, mixed=True), monthly_budget=1000.0)

    assert clash(solve(problem), "monthly_budget").required_value > 1000.0
