"""The cheapest plan: what it is, that every limit is kept, that it is the cheapest."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.brute_force import cheapest_cost
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_checks import (
    assert_keeps_every_limit,
    assert_priced_by_itself,
)
from tests.planner.costing.optimizer.plan_instances import (
    commitment,
    market,
    medium,
    rental,
    server,
    small,
)

LONG = os.environ.get("FUZZ") == "1"
SMALL = 2000 if LONG else 40
MEDIUM = 200 if LONG else 8


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

    assert plan.units_started["year"].sum() == 4
    assert plan.cost == pytest.approx(2 * 24 * 9000)
    assert plan.gap == 0


def test_waits_for_a_server_by_renting():
    problem = steady(
        36, 8.0, [rental("rent", 36, 20.0)], [server("dgx", 36, price=150_000.0, lead=3)]
    )

    plan = solve(problem)

    assert plan.units_started["dgx"][0] == 1
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

    assert plan.units_started["dgx"].sum() == 0
    assert plan.cost == pytest.approx(5.0 + 2 * 730 * 2.0)


def test_nothing_on_sale_is_infeasible():
    plan = solve(steady(2, 8.0))

    assert not plan.feasible
    assert plan.why_not


def test_a_quarter_of_a_unit_is_never_begun():
    problem = steady(24, 10.0, [rental("rent", 24, 20.0)], [commitment("year", 24, monthly=9000.0)])

    plan = solve(problem)

    assert plan.units_started["year"].dtype == np.int64
    assert plan.rented_hours["rent"] * 8 == pytest.approx(2 * 730)


def test_hours_without_a_peak_ask_for_hours_alone():
    problem = replace(steady(1, 8.0, [rental("rent", 1, 20.0)]), peak=np.zeros(1))

    assert solve(problem).rented_hours["rent"] == pytest.approx([730.0])


def test_what_is_known_already_is_never_beaten_by_a_worse_plan():
    problem = medium(3)
    best = solve(problem, gap=0.0)

    assert solve(problem, gap=0.5, known_plans=(best,)).cost <= best.cost * (1 + 1e-12)


def test_a_known_plan_that_a_limit_forbids_is_not_taken():
    owned = server("dgx", 36, price=100_000.0, lead=0, ceiling=1.0)
    problem = steady(36, 16.0, [rental("rent", 36, 20.0)], [owned])
    poor = replace(problem, capex_budget=0.0)

    assert solve(poor, known_plans=(solve(problem),)).units_started["dgx"].sum() == 0


def test_two_sources_of_one_key_are_refused():
    twins = [rental("rent", 1, 20.0), rental("rent", 1, 30.0)]

    with pytest.raises(ValueError, match="rent"):
        solve(steady(1, 8.0, twins))


def test_a_price_that_is_not_a_number_is_refused_by_name():
    with pytest.raises(ValueError, match="dear"):
        solve(steady(1, 8.0, [rental("cheap", 1, 20.0), rental("dear", 1, np.nan)]))


def test_the_order_of_the_sources_changes_no_figure():
    problem = market(6, 14, 60, mixed=True)
    turned = replace(
        problem, rental_options=problem.rental_options[::-1], units=problem.units[::-1]
    )

    there, back = solve(problem), solve(turned)

    assert (there.cost, there.bound) == (back.cost, back.bound)
    for key, units in there.units_started.items():
        assert (units == back.units_started[key]).all()


@pytest.mark.parametrize("money", [1e-4, 1e5])
def test_the_currency_changes_nothing_but_the_figures(money):
    problem = medium(21)
    costly = replace(
        problem,
        units=tuple(
            replace(
                u,
                start_cost=u.start_cost * money,
                hour_cost=u.hour_cost * money,
                start_cash=u.start_cash * money,
                hour_cash=u.hour_cash * money,
                capex=u.capex * money,
            )
            for u in problem.units
        ),
        rental_options=tuple(
            replace(s, hour_cost=s.hour_cost * money, hour_cash=s.hour_cash * money)
            for s in problem.rental_options
        ),
        capex_budget=None if problem.capex_budget is None else problem.capex_budget * money,
        monthly_budget=None if problem.monthly_budget is None else problem.monthly_budget * money,
    )

    assert solve(costly, gap=0.0).cost == pytest.approx(solve(problem, gap=0.0).cost * money)


def relaxed(problem):
    """The problem with one limit after another a little wider, or gone."""
    for quota in problem.quotas:
        wider = replace(quota, most=quota.most + 3)
        yield replace(problem, quotas=tuple(wider if q is quota else q for q in problem.quotas))
    yield replace(problem, quotas=())
    yield replace(problem, max_spot_share=min(1.0, problem.max_spot_share + 0.2))
    if problem.capex_budget is not None:
        yield replace(problem, capex_budget=problem.capex_budget * 1.3 + 100)
        yield replace(problem, capex_budget=None)
    if problem.monthly_budget is not None:
        yield replace(problem, monthly_budget=problem.monthly_budget * 1.1)
        yield replace(problem, monthly_budget=None)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 1 + MEDIUM // 4))
def test_a_wider_limit_never_costs_more(seed):
    problem = medium(seed)
    cost = solve(problem, gap=0.0).cost

    for wider in relaxed(problem):
        assert solve(wider, gap=0.0).cost <= cost * (1 + 1e-9)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 1 + MEDIUM // 4))
def test_more_sources_never_cost_more(seed):
    problem = medium(seed)
    keys = [s.key for s in (*problem.rental_options, *problem.units)]
    fewer = [key for i, key in enumerate(keys) if i % 3 or key == "always"]

    assert solve(problem, gap=0.0).cost <= solve(problem, fewer, gap=0.0).cost * (1 + 1e-9)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 1 + MEDIUM // 4))
def test_more_demand_never_costs_less(seed):
    problem = medium(seed)
    more = replace(problem, hours=problem.hours * 1.1, peak=problem.peak * 1.1)

    assert solve(more, gap=0.0).cost >= solve(problem, gap=0.0).cost * (1 - 1e-9)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 1 + MEDIUM // 4))
def test_a_dearer_price_never_lowers_the_total(seed):
    problem = medium(seed)
    first, *rest = problem.units or (commitment("year", problem.hours.size),)
    dearer = (replace(first, start_cost=first.start_cost * 1.2), *rest)
    rents = tuple(replace(s, hour_cost=s.hour_cost * 1.05) for s in problem.rental_options)

    cost = solve(problem, gap=0.0).cost
    assert solve(replace(problem, units=dearer), gap=0.0).cost >= cost * (1 - 1e-9)
    assert solve(replace(problem, rental_options=rents), gap=0.0).cost >= cost * (1 - 1e-9)


@pytest.mark.one_in(4)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 1 + MEDIUM))
def test_equals_the_optimum_that_the_solver_proves(seed):
    problem = medium(seed)
    proven = proven_optimum(problem)
    assert proven is not None
    exact, quick = solve(problem, gap=0.0), solve(problem)

    assert exact.feasible == quick.feasible == np.isfinite(proven[0])
    if exact.feasible:
        assert exact.cost == pytest.approx(proven[0], rel=1e-7, abs=1e-6)
        assert quick.bound <= proven[0] * (1 + 1e-9) + 1e-6
        assert quick.cost <= proven[0] * 1.001 + 1e-6
        assert quick.gap <= 0.01
        for plan in (exact, quick):
            assert_keeps_every_limit(problem, plan)
            assert_priced_by_itself(problem, plan)


@pytest.mark.one_in(5)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(SMALL))
def test_equals_trying_every_plan(seed):
    problem = small(seed)

    plan, min_multiplier = solve(problem, gap=0.0), cheapest_cost(problem)

    assert plan.feasible == np.isfinite(min_multiplier)
    if plan.feasible:
        assert plan.cost == pytest.approx(min_multiplier, rel=1e-7, abs=1e-6)
        assert plan.bound <= plan.cost
        assert_keeps_every_limit(problem, plan)
