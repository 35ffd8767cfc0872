"""A plan explained: what starts when, what a wider limit saves."""

from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.marginal_values import (
    list_unit_starts,
    marginal_values,
)
from planner.costing.optimizer.problem import CapitalBudget, LeastGroups, PlanProblem, Quota
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.plan_instances import commitment, medium, rental, server


def steady(months, accelerators, sources=(), units=(), **limits):
    hours = np.full(months, accelerators * 730.0)
    return PlanProblem(hours, np.full(months, accelerators), tuple(sources), tuple(units), **limits)


def values(problem):
    return {value.limit: value for value in marginal_values(problem, solve(problem, gap=0.0).cost)}


def test_purchases_follow_the_months():
    growing = steady(24, 8.0, [rental("rent", 24, 20.0)], [commitment("year", 24, monthly=9000.0)])
    growing = replace(
        growing, peak=np.repeat([8.0, 16.0], 12), hours=np.repeat([5840.0, 11680.0], 12)
    )

    found = list_unit_starts(growing, solve(growing).units_started)

    assert [(p.month, p.units, p.first, p.last) for p in found] == [(0, 1, 0, 11), (12, 2, 12, 23)]


def supplied(name, price):
    """Eight accelerators of a supplier, which its group counts by their capacity."""
    return replace(rental(name, 2, price), limit_groups=(name,), limit_sizes={name: 8.0})


def suppliers(share=1.0, least=None):
    """Eight accelerators for two months: one supplier at 10 an hour, another at 14."""
    quotas = tuple(Quota(name, share, is_share=True) for name in ("cheap", "dear"))
    offers = [supplied("cheap", 10.0), supplied("dear", 14.0)]
    return steady(2, 8, offers, quotas=quotas, least_groups=least)


def boxes(count=2, **limits):
    """Servers of 1,000 for work that costs 7,300 a month rented, of 2,000 and none for sale."""
    fields = {"lead": 0, "monthly": 0.0, "running": 0.0, "ceiling": 1.0, "residual": 0.0}
    units = [
        server("box", 2, price=1_000.0, max_units=limits.pop("most", None), **fields),
        server("dear", 2, price=2_000.0, **fields),
        server("none", 2, price=10.0, max_units=0, **fields),
    ]
    return steady(2, 8.0 * count, [rental("rent", 2, 10.0)], units, **limits)


YEAR = commitment("year", 12, monthly=9000.0, groups=("hall",))
SMALL = replace(commitment("small", 12, capacity=4.0, monthly=8000.0, groups=("hall",)))
SPOT = [rental("rent", 2, 20.0), rental("spot", 2, 8.0, is_spot=True)]
UPFRONT = commitment("up front", 2, term=2, monthly=0, upfront=2e4)
PERIOD = CapitalBudget("year 1", 1_000.0, 0, 2)


@pytest.mark.parametrize(
    ("problem", "limit", "current", "step", "saving"),
    [
        (
            steady(12, 24, [rental("rent", 12, 20.0)], [YEAR], quotas=(Quota("hall", 16.0),)),
            "quota hall", 16, 8, 12 * (730 * 20 - 9000),
        ),
        (
            steady(12, 24, [rental("rent", 12, 20.0)], [YEAR], quotas=(Quota("hall", 64.0),)),
            "quota hall", 64, 8, 0,
        ),
        (
            steady(12, 24, [rental("rent", 12, 20.0)], [YEAR, SMALL],
                   quotas=(Quota("hall", 16.0),)),
            "quota hall", 16, 4, 0,
        ),
        (boxes(capex_budget=1_000.0), "capex_budget", 1_000, 1_000, 14_600 - 1_000),
        (boxes(capex_by_period=(PERIOD,)), "year 1", 1_000, 1_000, 14_600 - 1_000),
        (boxes(most=1), "max_units box", 1, 1, 1_000),
        (boxes(most=1), "max_units none", 0, 1, 1_990),
        (steady(2, 8, SPOT, max_spot_share=0.5), "max_spot_share", 0.5, 0.01, 2 * 7.3 * 12),
        (steady(2, 8, SPOT, max_spot_share=0.995), "max_spot_share", 0.995, 0.005, 2 * 3.65 * 12),
        (
            steady(2, 8, SPOT[:1], [UPFRONT], monthly_budget=19_900.0),
            "monthly_budget", 19_900, 199, 14_600 + 10_000 - 20_000,
        ),
        (
            steady(2, 8, [replace(rental("late", 2, 10.0), hour_cash=np.full(2, 11.0)),
                          rental("now", 2, 10.5)], total_budget=15_600.0),
            "total_budget", 15_600, 156, 156,
        ),
        (suppliers(share=0.5), "max_provider_share", 0.5, 0.01, 2 * 730 * 0.01 * 8 * 0.5),
        (
            suppliers(least=LeastGroups(("cheap", "dear"), 2, 0.1)),
            "min_providers", 2, 1, 2 * 730 * 0.4,
        ),
    ],
)  # fmt: skip
def test_what_a_wider_limit_saves(problem, limit, current, step, saving):
    value = values(problem)[limit]
    assert value.current_value == pytest.approx(current)
    assert value.step == pytest.approx(step)
    assert value.saving == pytest.approx(saving, abs=1e-6)


@pytest.mark.parametrize(
    "problem",
    [
        steady(2, 8, [rental("rent", 2, 20.0)], quotas=(Quota("nobody", 16.0),)),
        steady(2, 8, [rental("rent", 2, 20.0)], capex_budget=1_000.0, capex_by_period=(PERIOD,)),
        steady(2, 8, [rental("rent", 2, 20.0)], max_spot_share=0.5),
        steady(2, 8, SPOT, max_spot_share=1.0),
        suppliers(),
        suppliers(least=LeastGroups(("cheap", "dear"), 1, 0.1)),
    ],
)
def test_what_limits_nothing_is_not_widened(problem):
    assert values(problem) == {}


@pytest.mark.parametrize("seed", range(1, 3))
def test_no_wider_limit_costs_more(seed):
    problem = medium(seed)
    plan = solve(problem, gap=0.0)
    if plan.feasible:
        assert all(value.saving >= 0 for value in marginal_values(problem, plan.cost))
