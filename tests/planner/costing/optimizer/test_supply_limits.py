"""Power, largest share and least number of groups: kept, as cheap as an independent model finds."""

import os
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.marginal_values import marginal_values
from planner.costing.optimizer.problem import LeastGroups, PlanProblem, Quota
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_checks import (
    assert_keeps_every_limit,
    assert_priced_by_itself,
)
from tests.planner.costing.optimizer.plan_instances import medium, rental, server, small

LONG = os.environ.get("FUZZ") == "1"
NAMES = ("ours", "theirs", "others")


def with_supply(problem, seed):
    """The problem with sources of three suppliers, power, and limits on them, drawn at random."""
    random = np.random.default_rng(seed + 7000)
    kind = int(random.integers(0, 4))
    share = float(random.choice([0.4, 0.5, 0.7, 0.9, 1.0])) if kind != 2 else np.inf
    count = int(random.integers(1, 4))
    least = LeastGroups(NAMES, count, float(random.choice([0.1, 0.25, 1 / 3])))

    def supplied(source):
        name = NAMES[int(random.integers(0, len(NAMES)))]
        return replace(
            source,
            limit_groups=(*source.limit_groups, name),
            limit_sizes={name: source.capacity},
        )

    def powered(unit):
        if not unit.is_owned:
            return supplied(unit)
        power = float(random.choice([0.5, 3.0, 10.2]))
        return replace(unit, limit_groups=(*unit.limit_groups, "hall"), limit_sizes={"hall": power})

    hall = Quota("hall", float(random.choice([4.0, 11.0, 30.0, 100.0])))
    units = tuple(powered(u) for u in problem.units)
    options = tuple(supplied(s) for s in problem.rental_options)
    return replace(
        problem,
        units=units,
        rental_options=options,
        quotas=(*problem.quotas, hall, *(Quota(name, share, is_share=True) for name in NAMES)),
        least_groups=least if kind >= 2 else None,
        whole_nodes=bool(seed % 3 == 0),
    )


@pytest.mark.one_in(4)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(400 if LONG else 15))
def test_small_problems_are_solved_to_the_optimum(seed):
    problem = with_supply(small(seed), seed)
    cost, _ = proven_optimum(problem)
    plan = solve(problem, gap=0.0)

    assert plan.feasible == np.isfinite(cost)
    if plan.feasible:
        assert plan.cost == pytest.approx(cost, rel=2e-6, abs=1e-6)
        assert_priced_by_itself(problem, plan)
        assert_keeps_every_limit(problem, plan)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(24) if LONG else (1, 5))
def test_larger_problems_are_within_the_gap_they_state(seed):
    problem = with_supply(medium(seed), seed)
    optimum = proven_optimum(problem, time_limit_s=20.0, gap=1e-4)
    if optimum is None:
        pytest.skip("HiGHS does not prove it in time")
    plan = solve(problem)

    assert plan.feasible == np.isfinite(optimum[0])
    if plan.feasible:
        assert_keeps_every_limit(problem, plan)
        assert plan.bound <= optimum[0] * (1 + 1e-6) + 1e-6
        assert optimum[1] <= plan.cost * (1 + 1e-6) + 1e-6


def two_suppliers(least=None, **limits):
    """Eight accelerators for two months: one supplier at 10 an hour, another at 14."""
    cheap, dear = (
        replace(rental(name, 2, price), limit_groups=(name,), limit_sizes={name: 8.0})
        for name, price in (("cheap", 10.0), ("dear", 14.0))
    )
    share = limits.pop("share", 1.0)
    quotas = tuple(Quota(name, share, is_share=True) for name in ("cheap", "dear"))
    return PlanProblem(
        np.full(2, 5840.0), np.full(2, 8.0), (cheap, dear), (), quotas, least_groups=least, **limits
    )


def test_a_largest_share_leaves_the_rest_to_the_next_supplier():
    assert solve(two_suppliers()).cost == pytest.approx(2 * 730 * 10)
    assert solve(two_suppliers(share=0.75)).cost == pytest.approx(2 * 730 * (7.5 + 3.5))


def test_a_second_supplier_runs_no_more_than_it_must():
    least = LeastGroups(("cheap", "dear"), 2, 0.1)
    assert solve(two_suppliers(least)).cost == pytest.approx(2 * 730 * (9 + 1.4))


def test_the_share_that_would_do_is_named():
    plan = solve(two_suppliers(share=0.4))
    assert list(plan.why_not) == ["max_provider_share: 0.4 → at least 0.5"]


def test_the_number_that_would_do_is_named():
    least = LeastGroups(("cheap", "dear", "nobody"), 3, 0.1)
    plan = solve(two_suppliers(least))
    assert list(plan.why_not) == ["min_providers: 3 → at most 2"]


def test_the_power_that_would_do_is_named():
    owned = replace(server("dgx", 2, lead=0), limit_groups=("hall",), limit_sizes={"hall": 10.2})
    problem = PlanProblem(
        np.full(2, 2 * 5840.0), np.full(2, 16.0), (), (owned,), (Quota("hall", 12.0),)
    )
    assert "quota hall: 12 → at least 31" in solve(problem).why_not


def savings(problem):
    return {v.limit: v.saving for v in marginal_values(problem, solve(problem, gap=0.0))}


def test_what_wider_limits_would_save():
    least = LeastGroups(("cheap", "dear"), 2, 0.1)
    assert savings(two_suppliers(least))["min_providers"] == pytest.approx(2 * 730 * 0.4)
    saving = savings(two_suppliers(share=0.5))["max_provider_share"]
    assert saving == pytest.approx(2 * 730 * 0.01 * 8 * 0.5)
