"""What can be part of a cheapest plan stays, what cannot is left out."""

import numpy as np
import pytest

from planner.costing.optimizer.constraints import build_rows
from planner.costing.optimizer.master_lp import Master
from planner.costing.optimizer.presolve import prune
from planner.costing.optimizer.problem import PlanProblem, Quota
from planner.costing.optimizer.work import WorkMeter
from tests.planner.costing.optimizer.plan_instances import commitment, market, rental, server

MONTHS = 24


def kept(rental_options=(), units=(), **limits):
    """Keys of the sources that pruning leaves."""
    flat = np.full(MONTHS, 64.0)
    problem = PlanProblem(flat * 730, flat, tuple(rental_options), tuple(units), **limits)
    found = prune(problem)
    rented = found.rentals.source[found.rentals.offered]
    return {problem.rental_options[j].key for j in rented} | {
        problem.units[i].key for i in found.start_candidates.source
    }


def year(key, monthly, **more):
    return commitment(key, MONTHS, monthly=monthly, **more)


def rent(key, price, **more):
    return rental(key, MONTHS, price, **more)


def test_the_cheaper_of_two_rentals_stays():
    assert kept([rent("dear", 30.0), rent("cheap", 20.0)]) == {"cheap"}


def test_a_rental_outside_a_quota_stands_in_for_one_inside():
    inside = rent("inside", 30.0, groups=("east",))

    assert kept([inside, rent("free", 20.0)], quotas=(Quota("east", 8.0),)) == {"free"}
    assert kept([rent("inside", 10.0, groups=("east",)), rent("free", 20.0)],
                quotas=(Quota("east", 8.0),)) == {"inside", "free"}  # fmt: skip


def test_a_group_without_a_quota_limits_nothing():
    assert kept([rent("inside", 10.0, groups=("east",)), rent("free", 20.0)]) == {"inside"}


def test_spot_stays_beside_on_demand_only_where_its_share_is_limited():
    both = [rent("spot", 8.0, is_spot=True), rent("demand", 20.0)]

    assert kept(both) == {"spot"}
    assert kept(both, max_spot_share=0.5) == {"spot", "demand"}


def test_the_dearer_of_two_commitments_is_left_out():
    assert kept(units=[year("dear", 9500.0), year("cheap", 9000.0)]) == {"cheap"}


def test_small_nodes_stand_in_for_a_dearer_large_one():
    small = year("small", 1000.0, capacity=1.0)

    assert kept(units=[small, year("large", 8100.0)]) == {"small"}
    assert kept(units=[small, year("large", 7900.0)]) == {"small", "large"}


def test_a_longer_commitment_at_the_same_price_stands_in_for_a_shorter_one():
    short = commitment("short", MONTHS, term=6, monthly=9000.0)
    long = commitment("long", MONTHS, term=12, monthly=4000.0)

    assert "short" not in kept(units=[short, long])


def test_what_needs_less_cash_stays_where_the_month_has_a_budget():
    pair = [year("monthly", 9000.0), year("up front", 0.0, upfront=100_000.0)]

    assert kept(units=pair) == {"up front"}
    assert kept(units=pair, monthly_budget=90_000.0) == {"monthly", "up front"}


def test_a_source_with_units_of_its_own_replaces_no_other():
    few = server("few", MONTHS, price=100_000.0, max_units=2)

    assert kept(units=[few, server("many", MONTHS, price=120_000.0)]) == {"few", "many"}


def test_nothing_is_begun_that_would_arrive_after_the_horizon():
    flat = np.full(MONTHS, 64.0)
    late = server("late", MONTHS, lead=20)
    found = prune(PlanProblem(flat * 730, flat, (rent("rent", 20.0),), (late,)))

    assert found.start_candidates.month.max() == MONTHS - 20 - 1


@pytest.mark.parametrize("seed", range(6))
def test_with_one_node_size_the_relaxed_plan_is_whole(seed):
    problem = market(seed, 24, 200, mixed=False)
    committed = tuple(u for u in problem.units if not u.is_owned)
    master = Master(
        build_rows(
            prune(
                PlanProblem(
                    problem.hours,
                    problem.peak,
                    problem.rental_options,
                    committed,
                    max_spot_share=0.3,
                )
            )
        ),
        work=WorkMeter(),
    )

    assert master.solve()
    assert master.cuts
    assert np.abs(master.units_started() - np.round(master.units_started())).max() < 1e-7


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_the_cost_of_the_relaxed_plan(seed):
    master = Master(build_rows(prune(market(seed, 18, 150, mixed=True))), work=WorkMeter())
    master.solve()

    assert master.bound()[0] == pytest.approx(master.program.objective, rel=1e-9)
