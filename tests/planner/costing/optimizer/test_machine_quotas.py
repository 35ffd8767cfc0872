"""Quotas that count machines: no more of them at once than fit, against an independent model."""

from dataclasses import replace

import numpy as np
import pytest

from planner.costing.optimizer.problem import PlanProblem, Quota
from planner.costing.optimizer.solve import solve
from tests.planner.costing.optimizer.plain_milp import proven_optimum
from tests.planner.costing.optimizer.plan_checks import assert_keeps_every_limit
from tests.planner.costing.optimizer.plan_instances import commitment, rental

RANDOM = 130
MOST_NODES = 20_000
"""Nodes of the independent model's search; on two instances in a hundred it may end undecided."""
MOST_UNDECIDED = RANDOM // 50
QUOTA = Quota("aws", 12.0, in_machines=True)


def steady(accelerators, *rentals, quotas=(QUOTA,), months=2, **limits):
    hours, peak = np.full(months, accelerators * 730.0), np.full(months, float(accelerators))
    return PlanProblem(hours, peak, rentals, (), quotas, whole_nodes=True, **limits)


def test_two_half_months_of_a_machine_are_a_machine_each():
    """Of accelerators on average, quotas of 4 hold one of 8 for half the month."""
    offers = [rental(name, 2, 20.0, groups=(name,)) for name in ("aws", "azure")]
    averages = tuple(Quota(name, 4.0) for name in ("aws", "azure"))
    machines = tuple(replace(quota, in_machines=True) for quota in averages)

    assert solve(steady(8, *offers, quotas=averages)).feasible
    plan = solve(steady(8, *offers, quotas=machines))

    assert not plan.feasible
    assert [(c.limit, c.current_value, c.least) for c in plan.conflicts] == [
        ("quota aws", 4.0, 8.0),
        ("quota azure", 4.0, 8.0),
    ]


def test_a_second_machine_does_not_fit_for_half_the_month():
    large, other = rental("large", 2, 16.0, groups=("aws",)), rental("other", 2, 40.0)

    plan = solve(steady(16, large, other))

    assert plan.rented_hours["large"] == pytest.approx([730.0, 730.0])
    assert plan.rented_hours["other"] == pytest.approx([730.0, 730.0])
    average = solve(steady(16, large, other, quotas=(Quota("aws", 12.0),)))
    assert average.rented_hours["large"] == pytest.approx([1095.0, 1095.0])


def test_machines_of_two_sizes_share_a_quota():
    large = rental("large", 2, 16.0, groups=("aws",))
    small = rental("small", 2, 3.0, capacity=1.0, groups=("aws",))
    dear = rental("dear", 2, 90.0, capacity=1.0)

    plan = solve(steady(14, large, small, dear))

    assert [plan.rented_hours[key][0] / 730 for key in ("large", "small", "dear")] == [1, 4, 2]


def test_commitments_and_machines_by_the_hour_count_together():
    year = commitment("year", 12, monthly=5_000.0, groups=("aws",))
    rent = rental("rent", 12, 20.0, groups=("aws",))
    other = rental("other", 12, 60.0)
    problem = replace(steady(16, rent, other, months=12), units=(year,))

    plan = solve(problem)

    assert plan.units_started["year"].sum() == 1
    assert plan.rented_hours["rent"].sum() == 0


def random_problem(seed):
    """Two providers, two regions of one, sizes of 1 to 8, spot, budgets, level work."""
    random = np.random.default_rng(seed)
    months = int(random.integers(1, 4))
    peak = random.choice([2.0, 6.0, 8.0, 12.0, 20.0, 27.0], size=months)
    hours = peak * random.choice([100.0, 365.0, 730.0], size=months)
    rentals = []
    for i in range(int(random.integers(3, 8))):
        size = float(random.choice([1.0, 2.0, 4.0, 8.0]))
        place = [("aws",), ("aws", "east"), ("azure",), ()][int(random.integers(0, 4))]
        one = rental(
            f"offer {i}", months, size * random.uniform(1.0, 9.0), capacity=size, groups=place,
            is_spot=bool(random.random() < 0.25),
        )  # fmt: skip
        rentals.append(replace(one, in_parts=bool(size == 1 and random.random() < 0.3)))
    limits = {"max_spot_share": 0.5} if random.random() < 0.3 else {}
    if random.random() < 0.2:
        limits["monthly_budget"] = float(random.uniform(20_000, 120_000))
    units = ()
    if random.random() < 0.4:
        units = (commitment("year", months, monthly=random.uniform(4e3, 3e4), groups=("aws",)),)
    quotas = [
        Quota(name, float(random.choice([0.0, 3.0, 4.0, 8.0, 12.0, 14.0, 20.0])), in_machines=True)
        for name in ("aws", "east", "azure")
    ]
    return PlanProblem(
        hours, peak, tuple(rentals), units, tuple(quotas), whole_nodes=True, **limits
    )


@pytest.fixture(scope="module")
def undecided():
    """Seeds on which the independent model ran out of work: few, whatever the order of tests."""
    seeds = set()
    yield seeds
    assert len(seeds) <= MOST_UNDECIDED, f"undecided on {sorted(seeds)}"


@pytest.mark.one_in(10)
@pytest.mark.parametrize("seed", range(RANDOM))
def test_plans_keep_to_quotas_and_are_the_cheapest(seed, undecided):
    problem = random_problem(seed)
    proven = proven_optimum(problem, time_limit_s=10.0, most_nodes=MOST_NODES)
    plan = solve(problem, gap=0.0)

    if proven is None:
        undecided.add(seed)
        if plan.feasible:
            assert_keeps_every_limit(problem, plan)
        return
    assert plan.feasible == np.isfinite(proven[0])
    if plan.feasible:
        assert plan.cost == pytest.approx(proven[0], rel=1e-6)
        assert_keeps_every_limit(problem, plan)
    elif len(plan.conflicts) == 1 or any(c.is_sufficient for c in plan.conflicts):
        named = {c.limit: c for c in plan.conflicts if c.is_sufficient}
        for limit, conflict in named.items():
            if limit.startswith("quota "):
                wider = tuple(
                    replace(q, most=conflict.least) if limit == f"quota {q.group}" else q
                    for q in problem.quotas
                )
                assert solve(replace(problem, quotas=wider)).feasible
