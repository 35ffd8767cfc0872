"""Random joint problems of every kind of project and limit, from a seed."""

from dataclasses import replace

import numpy as np

from planner.costing.optimizer.problem import CapitalBudget, PlanProblem, Quota
from planner.portfolio.joint_model import JointProblem, MovableWork, ProjectProblem
from tests.planner.costing.optimizer.plan_instances import commitment, rental, server

GROUP = "east"


def joint(seed, limited=False):
    """2 to 8 projects over 3 to 8 months: bursts, small and large nodes, windows, one kind of
    accelerator, machines in place; with `limited` quotas and budgets too."""
    random = np.random.default_rng(seed)
    months = int(random.integers(3, 9))
    count = int(random.integers(2, 9))
    market = _market(random, months)
    limits = _limits(random) if limited else {}
    projects = tuple(_project(random, i, months, market, limits) for i in range(count))
    return JointProblem(projects)


def _market(random, months):
    rentals = [rental("large", months, 40.0 * random.uniform(0.8, 1.3), capacity=8.0)]
    if random.random() < 0.7:
        rentals.append(rental("small", months, 5.5, capacity=1.0, groups=(GROUP,)))
    if random.random() < 0.4:
        rentals.append(rental("spot", months, 15.0, capacity=8.0, is_spot=True))
    units = [
        server(
            "server", months, price=60_000.0 * random.uniform(0.6, 1.5), lead=1, residual=0.5,
            running=random.choice([0.0, 3.0]), ceiling=random.choice([0.6, 0.9, 1.0]),
            max_units=3 if random.random() < 0.2 else None,
        )
    ]  # fmt: skip
    if random.random() < 0.7:
        units.append(commitment("year", months, term=4, monthly=12_000.0, groups=(GROUP,)))
    if random.random() < 0.5:
        units.append(commitment("one", months, capacity=1.0, term=3, monthly=1_700.0))
    if random.random() < 0.3:
        held = server("held", months, running=2.0, existing=[1] * months)
        units.append(replace(held, start_cost=np.full(months, np.inf)))
    return tuple(rentals), tuple(units)


def _limits(random):
    limits = {}
    if random.random() < 0.5:
        limits["capex_budget"] = float(random.choice([0.0, 100_000.0, 200_000.0]))
    if random.random() < 0.5:
        limits["monthly_budget"] = float(random.choice([60_000.0, 150_000.0, 400_000.0]))
    if random.random() < 0.3:
        limits["total_budget"] = float(random.choice([150_000.0, 300_000.0, 900_000.0]))
        limits["base_payments"] = 10_000.0
    if random.random() < 0.2:
        limits["capex_by_period"] = (CapitalBudget("year", 100_000.0, 0, 2),)
    if random.random() < 0.5:
        limits["quotas"] = (Quota(GROUP, float(random.choice([4.0, 16.0]))),)
    return limits


def _project(random, number, months, market, limits):
    rentals, units = market
    peak = np.zeros(months)
    for _ in range(int(random.integers(1, 3))):
        first = int(random.integers(0, months))
        peak[first : first + int(random.integers(1, 4))] = random.choice([1.0, 3.0, 8.0, 12.0])
    hours = peak * random.choice([90.0, 400.0, 730.0])
    speed = float(random.choice([1.0, 1.0, 0.5]))
    problem = PlanProblem(
        hours=hours,
        peak=peak,
        rental_options=tuple(replace(s, capacity=s.capacity * speed) for s in rentals),
        units=tuple(
            replace(u, capacity=u.capacity * speed)
            for u in units
            if random.random() < 0.85 or u.existing is not None
        ),
        max_spot_share=float(random.choice([1.0, 0.4])),
        whole_nodes=bool(random.random() < 0.7),
        **limits,
    )
    movable = None
    if random.random() < 0.3 and hours.any():
        first = int(random.integers(0, months))
        last = int(random.integers(first + 1, months + 1))
        highest = float(peak[first:last].max())
        movable = MovableWork(first, last, highest) if highest else None
    whole = frozenset({"server", "year"}) if random.random() < 0.2 else frozenset()
    kinds = {}
    if random.random() < 0.15:
        kinds = {s.key: "b" if s.key in ("small", "one") else "a" for s in (*rentals, *units)}
    return ProjectProblem(f"project {number}", problem, movable, whole, kinds)
