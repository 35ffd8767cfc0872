"""Random plan problems of every kind of constraint, from a seed."""

from dataclasses import replace

import numpy as np

from planner.costing.optimizer.problem import (
    CapitalBudget,
    CommitmentOption,
    LeastGroups,
    PlanProblem,
    Quota,
    RentalOption,
)
from planner.costing.optimizer.solve import solve

GROUPS = ("east", "west")
NAMES = ("ours", "theirs", "others")


def commitment(
    key,
    months,
    *,
    capacity=8.0,
    accelerators=None,
    term=12,
    monthly=1000.0,
    upfront=0.0,
    groups=(),
    hour_cost=0.0,
    rate=0.0,
    starts=None,
):
    """A commitment paid by the month, its months within the horizon alone charged."""
    discount = (1 + rate) ** (-np.arange(months) / 12)
    start_cash = np.zeros((months, months))
    for m in range(months):
        served = min(term, months - m)
        start_cash[m, m : m + served] = monthly
        start_cash[m, m] += upfront * served / term
    start_cost = start_cash @ discount
    if starts is not None:
        start_cost = np.where(starts, start_cost, np.inf)
    return CommitmentOption(
        key=key,
        is_owned=False,
        capacity=capacity,
        accelerators=capacity if accelerators is None else accelerators,
        lead_months=0,
        duration_months=term,
        start_cost=start_cost,
        hour_cost=np.full(months, hour_cost) * discount,
        hours_per_month=730.0,
        start_cash=start_cash,
        hour_cash=np.full(months, hour_cost),
        capex=np.zeros(months),
        limit_groups=groups,
    )


def server(
    key,
    months,
    *,
    capacity=8.0,
    price=300_000.0,
    lead=2,
    life=48,
    running=5.0,
    monthly=1500.0,
    ceiling=0.9,
    residual=0.3,
    max_units=None,
    existing=None,
    groups=(),
    rate=0.0,
):
    """An owned server: bought in a month, usable after `lead`, sold at the horizon."""
    discount = (1 + rate) ** (-np.arange(months) / 12)
    start_cash = np.zeros((months, months))
    start_cost = np.zeros(months)
    for m in range(months):
        start_cash[m, m] = price
        start_cash[m, m + lead : m + lead + life] += monthly
        age_years = (months - m) / 12
        back = price * residual**age_years * (months - m < life) * (1 + rate) ** (-months / 12)
        start_cost[m] = start_cash[m] @ discount - back
    return CommitmentOption(
        key=key,
        is_owned=True,
        capacity=capacity,
        accelerators=capacity,
        lead_months=lead,
        duration_months=life,
        start_cost=start_cost,
        hour_cost=np.full(months, running) * discount,
        hours_per_month=730.0 * ceiling,
        start_cash=start_cash,
        hour_cash=np.full(months, running),
        capex=np.full(months, price),
        max_units=max_units,
        existing=None if existing is None else np.asarray(existing, np.int64),
        limit_groups=groups,
    )


def rental(key, months, price, *, capacity=8.0, is_spot=False, groups=(), rate=0.0, available=None):
    """A node rented by the hour."""
    discount = (1 + rate) ** (-np.arange(months) / 12)
    return RentalOption(
        key=key,
        capacity=capacity,
        accelerators=capacity,
        hour_cost=np.full(months, price) * discount,
        hour_cash=np.full(months, price),
        is_spot=is_spot,
        limit_groups=groups,
        available=available,
    )


def small(seed):
    """At most 3 months, 2 unit sources and 2 hourly ones: few enough plans to try them all."""
    random = np.random.default_rng(seed)
    months = int(random.integers(1, 4))
    peak = random.choice([0.0, 1.0, 2.0, 3.0, 5.0, 7.5], months)
    hours = peak * random.choice([10.0, 100.0, 400.0, 730.0], months)
    rental_options = tuple(
        _small_rental(random, f"rent {i}", months) for i in range(random.integers(1, 3))
    )
    units = tuple(_small_unit(random, f"unit {i}", months) for i in range(random.integers(0, 3)))
    quotas = tuple(
        Quota(g, float(random.choice([2.0, 4.0, 6.0, 8.0])))
        for g in GROUPS
        if random.random() < 0.4
    )
    return PlanProblem(
        hours=hours,
        peak=peak,
        rental_options=rental_options,
        units=units,
        quotas=quotas,
        max_spot_share=float(random.choice([1.0, 1.0, 0.5, 0.0])),
        capex_budget=float(random.choice([0.0, 400.0, 1500.0])) if random.random() < 0.4 else None,
        monthly_budget=float(random.choice([300.0, 900.0, 3000.0]))
        if random.random() < 0.3
        else None,
        base_cost=float(random.choice([0.0, 17.5])),
        base_cash=np.full(months, 5.0) if random.random() < 0.3 else None,
    )


def _groups(random):
    return tuple(g for g in GROUPS if random.random() < 0.5)


def _small_rental(random, key, months):
    price = float(random.integers(1, 12)) / 4
    capacity = float(random.choice([1.0, 2.0, 1.6]))
    return RentalOption(
        key=key,
        capacity=capacity,
        accelerators=float(random.choice([1.0, 2.0])),
        hour_cost=price * random.choice([0.8, 1.0, 1.1], months),
        hour_cash=np.full(months, price),
        is_spot=bool(random.random() < 0.4),
        limit_groups=_groups(random),
        available=random.random(months) < 0.8 if random.random() < 0.3 else None,
    )


def _small_unit(random, key, months):
    start_cost = float(random.integers(50, 900)) * random.choice([0.8, 1.0, 1.3], months)
    start_cost[random.random(months) < 0.15] = np.inf
    owned = bool(random.random() < 0.5)
    start_cash = np.triu(random.choice([0.0, 100.0, 200.0], (months, months)))
    running = float(random.choice([0.0, 0.2, 0.7]))
    return CommitmentOption(
        key=key,
        is_owned=owned,
        capacity=float(random.choice([1.0, 2.0, 4.0, 2.4])),
        accelerators=float(random.choice([1.0, 2.0, 4.0])),
        lead_months=int(random.integers(0, 2)),
        duration_months=int(random.integers(1, 4)),
        start_cost=start_cost,
        hour_cost=np.full(months, running),
        hours_per_month=float(random.choice([730.0, 600.0, 365.0])),
        start_cash=start_cash,
        hour_cash=np.full(months, running),
        capex=np.full(months, 300.0) if owned else np.zeros(months),
        max_units=int(random.integers(0, 3)) if random.random() < 0.3 else None,
        existing=random.integers(0, 2, months) if random.random() < 0.2 else None,
        limit_groups=_groups(random),
    )


def market(seed, months, sources, *, mixed):
    """A market of `sources` offers; `mixed`: node sizes, quotas, budgets and spot share too.

    Demand ramps, waves and pauses like a project's; prices scatter around those of an
    accelerator that rents at 3 an hour. A third of the offers is on demand, a sixth spot, the
    rest commitments of 6 to 36 months, and one in a hundred is a server to own.
    """
    random = np.random.default_rng(seed)
    regions = [f"region {i}" for i in range(8)]
    level = np.cumsum(random.normal(1.0, 3.0, months)) + 64 * (1 + np.sin(np.arange(months) / 5))
    peak = np.ceil(np.maximum(level, 4.0))
    hours = peak * random.uniform(400, 730, months)
    if mixed:
        hours[random.random(months) < 0.05] = 0.0
        peak[hours == 0] = 0.0
    kinds = random.choice(4, sources, p=[0.33, 0.16, 0.5, 0.01])
    rental_options, units = [], []
    for i, kind in enumerate(kinds):
        size, speed = (
            (random.choice([1, 2, 4, 8]), random.choice([1.0, 0.45])) if mixed else (8, 1.0)
        )
        region = random.choice(regions)
        groups = (region,) if mixed and region in regions[:5] else ()
        price = 3.0 * size * speed * random.uniform(0.8, 1.6) * size**0.02
        where = {"capacity": float(size * speed), "groups": groups, "rate": 0.08}
        if kind == 0:
            rental_options.append(rental(f"demand {i}", months, price, **where))
        elif kind == 1:
            rental_options.append(rental(f"spot {i}", months, price * 0.4, is_spot=True, **where))
        elif kind == 2:
            term = int(random.choice([6, 12, 36]))
            monthly = 730 * price * {6: 0.8, 12: 0.65, 36: 0.45}[term]
            upfront = monthly * term * random.choice([0.0, 0.5]) * 0.9
            monthly -= upfront / term
            units.append(
                commitment(
                    f"commit {i}", months, term=term, monthly=monthly, upfront=upfront, **where
                )
            )
        else:
            units.append(
                server(
                    f"server {i}", months, price=25_000 * price / 3, running=0.05 * price, **where
                )
            )
    problem = PlanProblem(
        hours=hours, peak=peak, rental_options=tuple(rental_options), units=tuple(units)
    )
    return _limited(problem, random, regions) if mixed else replace(problem, max_spot_share=0.3)


def _limited(problem, random, regions):
    most = float(problem.peak.max())
    per_hour = 3.0 * float(problem.hours.max())
    return replace(
        problem,
        quotas=tuple(
            Quota(r, float(np.ceil(most * random.uniform(0.1, 0.5)))) for r in regions[:5]
        ),
        max_spot_share=0.3,
        capex_budget=25_000 * most * 0.5,
        monthly_budget=per_hour * 1.1,
    )


def medium(seed):
    """Up to 14 months and 20 offers with every kind of limit: plans HiGHS can prove in seconds."""
    random = np.random.default_rng(seed)
    months = int(random.integers(6, 15))
    problem = market(seed, months, int(random.integers(8, 21)), mixed=bool(random.random() < 0.7))
    peak = np.ceil(problem.peak * random.choice([0.05, 0.2, 0.5]))
    hours = np.where(problem.hours > 0, peak * random.uniform(200, 730, months), 0.0)
    noise = random.random() < 0.5
    units = []
    for unit in problem.units:
        wobble = random.uniform(0.9, 1.1, months) if noise else np.ones(months)
        start_cost = np.where(random.random(months) < 0.1 * noise, np.inf, unit.start_cost * wobble)
        units.append(
            replace(
                unit,
                start_cost=start_cost,
                max_units=int(random.integers(0, 4)) if random.random() < 0.2 else None,
                existing=random.integers(0, 2, months) if random.random() < 0.1 else None,
            )
        )
    rental_options = [
        replace(s, available=random.random(months) < 0.8) if random.random() < 0.2 else s
        for s in problem.rental_options
    ]
    ever = rental("always", months, 12.0, capacity=1.0)
    scale = float(peak.max() / problem.peak.max())
    return replace(
        problem,
        hours=hours,
        peak=np.where(hours > 0, peak, 0.0),
        units=tuple(units),
        rental_options=(*rental_options, ever),
        quotas=tuple(Quota(q.group, np.ceil(q.most * scale)) for q in problem.quotas),
        capex_budget=None if problem.capex_budget is None else problem.capex_budget * scale,
        monthly_budget=None if random.random() < 0.5 else 12.0 * hours.max() * 0.6,
    )


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
            source, limit_groups=(*source.limit_groups, name), limit_sizes={name: source.capacity}
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


def limited(problem, seed):
    """The problem with a budget about what its cheapest plan pays, and payments after the end."""
    random = np.random.default_rng(seed)
    units = [
        replace(u, payments=u.start_cash.sum(axis=1) + random.choice([0.0, 150.0, 400.0]))
        for u in problem.units
    ]
    changed = replace(
        problem, units=tuple(units), whole_nodes=bool(seed % 2), base_payments=10.0 * (seed % 3)
    )
    plan = solve(changed)
    if not plan.feasible:
        return replace(changed, total_budget=1000.0)
    paid = payments(changed, plan)
    return replace(changed, total_budget=float(paid * random.choice([0.7, 0.9, 0.97, 1.001, 1.2])))


def payments(problem, plan):
    """Everything that a plan pays, whatever month it falls in."""
    paid = problem.base_payments
    for unit in problem.units:
        started = plan.units_started[unit.key]
        paid += unit.all_payments[started > 0] @ started[started > 0]
        paid += unit.hour_cash @ plan.used_hours[unit.key]
    return paid + sum(s.hour_cash @ plan.rented_hours[s.key] for s in problem.rental_options)


def with_years(problem, seed, scale):
    """The problem with a budget for the first part of its months, and often for the rest."""
    random, months = np.random.default_rng(seed + 1000), problem.hours.size
    middle = int(random.integers(1, months + 1))
    most = max((float(u.capex.max()) for u in problem.units), default=0.0)
    parts = [CapitalBudget("year 1", most * float(random.integers(0, 4)) * scale, 0, middle)]
    if middle < months and random.random() < 0.7:
        amount = most * float(random.integers(0, 3)) * scale
        parts.append(CapitalBudget("year 2", amount, middle, months))
    return replace(problem, capex_by_period=tuple(parts))


def with_machines(seed):
    """Quotas that count machines of two providers and a region, sizes of 1 to 8, spot, budgets."""
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


def of_one_node_size(seed):
    """A node by the hour beside accelerators rented in parts, dearer or limited, in many months."""
    random = np.random.default_rng(seed)
    months = int(random.integers(4, 13))
    peak = random.uniform(0.5, 60.0, months).round(1)
    hours = peak * random.choice([50.0, 400.0, 730.0], months)
    node = rental("node", months, 16.0, rate=0.08)
    parts = rental("parts", months, random.uniform(1.0, 9.0), capacity=1.0, groups=("parts",))
    spot = rental("spot", months, random.uniform(4.0, 15.0), is_spot=True)
    limits = {
        "quotas": (Quota("parts", float(random.integers(0, 9))),),
        "max_spot_share": float(random.choice([0.0, 0.2, 0.5])),
    }
    rentals = (node, replace(parts, in_parts=True), spot)
    return PlanProblem(hours, peak, rentals, (), whole_nodes=True, **limits)


def in_parts(seed):
    """A small problem whose smallest machines rent in parts, the others whole."""
    problem = small(seed)
    least = min((s.capacity for s in problem.rental_options), default=0.0)
    rentals = [replace(s, in_parts=s.capacity == least) for s in problem.rental_options]
    return replace(problem, whole_nodes=True, rental_options=tuple(rentals))


DRAWN = {
    "small": small,
    "whole nodes": lambda seed: replace(small(seed), whole_nodes=True),
    "nodes in parts": in_parts,
    "one node size": of_one_node_size,
    "quotas of machines": with_machines,
    "suppliers and power": lambda seed: with_supply(small(seed), seed),
    "total budget": lambda seed: limited(small(seed), seed),
    "capital by year": lambda seed: with_years(small(seed), seed, 1.0),
}
"""Random problems of each kind, by seed."""
