"""Budgets are kept to the cent: what a solver overlooks is neither bought nor rented."""

from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.problem import CapitalBudget, PlanProblem
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.plan_instances import rental, server

MONTHS = 6


def market(machines, prices, **limits):
    """So many machines of eight asked for; servers at these prices, one of each but the last."""
    units = [
        replace(
            server(f"server {i}", MONTHS, price=price, life=12, lead=0, monthly=0.0, ceiling=1.0),
            max_units=1 if i + 1 < len(prices) else None,
            limit_groups=(),
        )
        for i, price in enumerate(prices)
    ]
    hours = np.full(MONTHS, machines * 8 * 730.0)
    peak = np.full(MONTHS, machines * 8.0)
    rent = replace(rental("rent", MONTHS, 300.0), limit_groups=())
    return PlanProblem(hours, peak, (rent,), tuple(units), **limits)


def capital_of(problem, plan):
    return sum(float(u.capex @ plan.units_started[u.key]) for u in problem.units)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("missing", [0.01, 0.1, 0.3, 1.0])
@pytest.mark.parametrize(
    ("machines", "prices", "budget"),
    [
        (1, [300_000.0], 300_000.0),
        (3, [300_000.0], 600_000.0),
        (2, [299_000.0, 300_000.0], 599_000.0),
        (2, [290_000.01, 300_000.0], 590_000.01),
        (40, [300_000.0], 9_000_000.0),
    ],
)
def test_a_few_cents_less_than_what_servers_cost_buys_one_less(machines, prices, budget, missing):
    problem = market(machines, prices, capex_budget=budget)
    enough = solve(problem, gap=0.0)
    assert capital_of(problem, enough) == pytest.approx(budget, abs=1e-6)
    short = replace(problem, capex_budget=budget - missing)
    plan = solve(short, gap=0.0)
    assert capital_of(problem, plan) <= short.capex_budget + 0.005
    by_year = replace(
        problem,
        capex_budget=None,
        capex_by_period=(CapitalBudget("year", short.capex_budget, 0, MONTHS),),
    )
    assert solve(by_year, gap=0.0).cost == pytest.approx(plan.cost)


def test_the_next_server_that_the_budget_pays_for_is_bought():
    problem = market(1, [300_000.0, 299_999.7], capex_budget=299_999.8)
    plan = solve(problem, gap=0.0)
    assert capital_of(problem, plan) == 299_999.7
    assert plan.gap == 0


def test_a_budget_between_two_prices_leaves_no_gap():
    plan = solve(market(3, [300_000.0], capex_budget=599_999.7), gap=0.0)
    assert plan.gap < 1e-9


def test_what_would_do_is_said_of_the_budget_that_was_given():
    problem = replace(market(1, [300_000.0], capex_budget=299_999.7), rental_options=())
    (conflict,) = solve(problem).conflicts
    assert conflict.current_value == 299_999.7
    assert conflict.required_value == pytest.approx(300_000.0, abs=1e-3)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("missing", [0.02, 0.5, 5.0])
@pytest.mark.parametrize("limit", ["monthly_budget", "total_budget"])
def test_cash_to_the_cent(limit, missing):
    machines = 3_000
    month = machines * 730 * 300.0
    amount = month if limit == "monthly_budget" else month * MONTHS
    problem = replace(market(machines, []), units=())
    assert solve(replace(problem, **{limit: amount})).feasible
    assert not solve(replace(problem, **{limit: amount - missing})).feasible
