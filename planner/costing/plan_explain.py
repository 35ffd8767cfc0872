"""A plan explained: what to begin when, what each limit costs, at which demand the advice turns.

PURE. Every figure comes from solving the changed problem again, not from duals: a dual says
what a fraction of a unit is worth, and nobody can buy one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from planner.costing.capacity_plan import DEFAULT_GAP, DEFAULT_NODE_LIMIT, narrowed, solve
from planner.costing.plan_problem import HourlySource, Plan, PlanProblem, Quota, UnitSource

Keys = frozenset[str]


@dataclass(frozen=True)
class Purchase:
    """Units of one source begun in one month."""

    month: int
    key: str
    units: int
    first: int
    """First month in which they can be used."""
    last: int
    """Last month within the horizon in which they can be used."""

    def __str__(self) -> str:
        """
        >>> print(Purchase(0, "dgx-h100", 4, 2, 35))
        month 0: begin 4 × dgx-h100, usable in months 2 to 35
        """
        usable = f"usable in months {self.first} to {self.last}"
        return f"month {self.month}: begin {self.units:,} × {self.key}, {usable}"


@dataclass(frozen=True)
class MarginalValue:
    """What a plan would save if one limit were a step wider, or one more unit were there."""

    limit: str
    """As a clash names it, or "one more <key> in place"."""
    given: float
    step: float
    saving: float
    """Net present cost saved by the whole step; the plan is solved anew for it."""

    @property
    def per_unit(self) -> float:
        """Saved per unit of the limit: per accelerator, per unit of money, per share of 1."""
        return self.saving / self.step


@dataclass(frozen=True)
class SwitchPoint:
    """A demand, as a multiple of the one given, at which the set of what is begun changes."""

    multiplier: float
    below: Keys
    above: Keys


def purchases(problem: PlanProblem, plan: Plan) -> tuple[Purchase, ...]:
    """What a plan begins, in the order of months, then of keys.

    >>> [str(purchase) for purchase in purchases(_example(), solve(_example()))]
    ['month 0: begin 2 × year, usable in months 0 to 11']
    """
    months = problem.hours.size
    found = [
        Purchase(
            month=int(m),
            key=unit.key,
            units=int(plan.begun[unit.key][m]),
            first=int(m) + unit.lead_months,
            last=min(int(m) + unit.lead_months + unit.duration_months, months) - 1,
        )
        for unit in problem.units
        if unit.key in plan.begun
        for m in np.flatnonzero(plan.begun[unit.key])
    ]
    return tuple(sorted(found, key=lambda p: (p.month, p.key)))


def marginal_values(
    problem: PlanProblem,
    plan: Plan,
    allowed: Collection[str] | None = None,
    *,
    gap: float = 0.0,
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> tuple[MarginalValue, ...]:
    """What each limit costs `plan`, the best one of the problem for the sources allowed.

    A quota is widened by its smallest node, the capex budget by its cheapest server, the monthly
    budget by a hundredth, the spot share by 0.01, the most units of a source by one; and one
    more unit of each owned source is put in place from month 0 for its useful life.

    >>> found = marginal_values(_example(), solve(_example()))
    >>> [(value.limit, value.step, round(value.saving)) for value in found]
    [('quota hall', 8.0, 67200)]
    """
    problem = narrowed(problem, allowed)
    return tuple(
        MarginalValue(limit, given, step, _saving(wider, plan, gap=gap, node_limit=node_limit))
        for limit, given, step, wider in _widened(problem)
    )


def _saving(wider: PlanProblem, plan: Plan, *, gap: float, node_limit: int) -> float:
    better = solve(wider, gap=gap, known=(plan,), node_limit=node_limit)
    return max(0.0, plan.cost - better.cost)


def _widened(problem: PlanProblem) -> Iterator[tuple[str, float, float, PlanProblem]]:
    """Limit, value given, step, and the problem with that limit a step wider."""
    for quota in problem.quotas:
        nodes = _nodes(problem, quota)
        if nodes:
            wider = replace(quota, max_accelerators=quota.max_accelerators + min(nodes))
            quotas = tuple(wider if q is quota else q for q in problem.quotas)
            name, given = f"quota {quota.group}", quota.max_accelerators
            yield name, given, min(nodes), replace(problem, quotas=quotas)
    prices = [float(c) for u in problem.units for c in u.capex[np.isfinite(u.start_cost)] if c > 0]
    if problem.capex_budget is not None and prices:
        budget, step = problem.capex_budget, min(prices)
        yield "capex_budget", budget, step, replace(problem, capex_budget=budget + step)
    if problem.monthly_budget:
        budget, step = problem.monthly_budget, problem.monthly_budget / 100
        yield "monthly_budget", budget, step, replace(problem, monthly_budget=budget + step)
    if problem.max_spot_share < 1.0 and any(s.is_spot for s in problem.hourly):
        share = problem.max_spot_share
        wider_share = min(share + 0.01, 1.0)
        wider_problem = replace(problem, max_spot_share=wider_share)
        yield "max_spot_share", share, wider_share - share, wider_problem
    for unit in problem.units:
        yield from _one_more(problem, unit)


def _nodes(problem: PlanProblem, quota: Quota) -> list[float]:
    """Accelerators of each node that counts towards a quota."""
    rented = [s.accelerators for s in problem.hourly if quota.group in s.limit_groups]
    return rented + [u.accelerators for u in problem.units if quota.group in u.limit_groups]


def _one_more(
    problem: PlanProblem, unit: UnitSource
) -> Iterator[tuple[str, float, float, PlanProblem]]:
    def with_unit(changed: UnitSource) -> PlanProblem:
        units = tuple(changed if u is unit else u for u in problem.units)
        return replace(problem, units=units)

    if unit.max_units is not None:
        more = replace(unit, max_units=unit.max_units + 1)
        yield f"max_units {unit.key}", unit.max_units, 1.0, with_unit(more)
    if unit.is_owned and unit.duration_months > 0:
        months = np.arange(problem.hours.size)
        there = np.zeros(months.size, np.int64) if unit.existing is None else unit.existing
        placed = replace(unit, existing=there + (months < unit.duration_months))
        yield f"one more {unit.key} in place", float(there[0]), 1.0, with_unit(placed)


def demand_switch_points(
    problem: PlanProblem,
    allowed: Collection[str] | None = None,
    *,
    least: float = 0.5,
    most: float = 2.0,
    samples: int = 9,
    tolerance: float = 0.01,
    gap: float = DEFAULT_GAP,
) -> tuple[SwitchPoint, ...]:
    """Demand multipliers between `least` and `most` at which the set of what is begun changes.

    The plan is solved at `samples` multipliers in equal ratios; between two whose sets differ
    the change is narrowed down to `tolerance`, relative. Two changes that cancel between two
    samples go unseen. A multiplier without a plan begins nothing.

    >>> [point] = demand_switch_points(_example(), least=0.05, tolerance=0.001)
    >>> round(point.multiplier, 2), sorted(point.below), sorted(point.above)
    (0.21, [], ['year'])
    """
    problem = narrowed(problem, allowed)

    def begun(multiplier: float) -> Keys:
        scaled = replace(problem, hours=problem.hours * multiplier, peak=problem.peak * multiplier)
        plan = solve(scaled, gap=gap)
        return frozenset(key for key, units in plan.begun.items() if units.any())

    def changes(low: float, below: Keys, high: float, above: Keys) -> Iterator[SwitchPoint]:
        if below == above:
            return
        middle = float(np.sqrt(low * high))
        if high / low <= 1 + tolerance:
            yield SwitchPoint(middle, below, above)
            return
        between = begun(middle)
        yield from changes(low, below, middle, between)
        yield from changes(middle, between, high, above)

    tried = [(float(m), begun(float(m))) for m in np.geomspace(least, most, samples)]
    return tuple(
        point
        for (low, below), (high, above) in pairwise(tried)
        for point in changes(low, below, high, above)
    )


def _example() -> PlanProblem:
    """The problem of the examples: 24 accelerators for a year, room in the hall for 16."""
    months, one = 12, np.ones(12)
    rent = HourlySource("rent", 8.0, 8.0, 20 * one, 20 * one)
    year = UnitSource(
        key="year",
        is_owned=False,
        capacity=8.0,
        accelerators=8.0,
        lead_months=0,
        duration_months=months,
        start_cost=9_000.0 * np.arange(months, 0, -1, dtype=np.float64),
        hour_cost=0 * one,
        hours_per_month=730.0,
        start_cash=9_000.0 * np.triu(np.ones((months, months))),
        hour_cash=0 * one,
        capex=0 * one,
        limit_groups=("hall",),
    )
    return PlanProblem(24 * 730 * one, 24 * one, (rent,), (year,), (Quota("hall", 16.0),))
