"""A plan explained: what starts when, what each limit costs, where the recommendation changes.

PURE. Every figure comes from solving the changed problem again, not from duals: a dual says
what a fraction of a unit is worth, and nobody can buy one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.plan_model import HOURS_PER_MONTH
from planner.costing.optimizer.problem import (
    LARGEST_SHARE,
    LEAST_GROUPS,
    CommitmentOption,
    ConflictingConstraint,
    Floats,
    Plan,
    PlanProblem,
    Quota,
    RentalOption,
)
from planner.costing.optimizer.solve import DEFAULT_GAP, restrict_sources, solve
from planner.costing.optimizer.work import WorkMeter, WorkSpentError

Keys = frozenset[str]
_NOISE = 1e-9
"""Relative excess over a whole number that is taken as rounding."""


@dataclass(frozen=True)
class UnitStart:
    """Units of one source started in one month."""

    month: int
    key: str
    units: int
    first: int
    """First month in which they can be used."""
    last: int
    """Last month within the horizon in which they can be used."""

    def __str__(self) -> str:
        """
        >>> print(UnitStart(0, "dgx-h100", 4, 2, 35))
        month 0: begin 4 × dgx-h100, usable in months 2 to 35
        """
        usable = f"usable in months {self.first} to {self.last}"
        return f"month {self.month}: begin {self.units:,} × {self.key}, {usable}"


@dataclass(frozen=True)
class AdditionalUnit:
    """One more unit of a source that is there whatever the plan starts."""

    in_service: NDArray[np.int64]
    """[T] 1 in the months in which it can be used."""
    cost: float
    """Net present cost of keeping it, what it fetches at the horizon taken off."""
    cash: Floats
    """[T] the same, undiscounted by month, for the monthly budget."""


@dataclass(frozen=True)
class MarginalValue:
    """What a plan would save if one limit were a step wider, or one more unit were there."""

    limit: str
    """As a conflict names it, or "one more <key> in place"."""
    current_value: float
    step: float
    saving: float
    """Net present cost saved by the whole step; the plan is solved anew for it."""


@dataclass(frozen=True)
class SwitchPoint:
    """A demand, as a multiple of the one given, at which the set of what is started changes."""

    multiplier: float
    """Where one side has no plan, the demand nearest to the other that was found without one."""
    below: Keys | None
    """What is started; None where there is no plan."""
    above: Keys | None
    conflicts: tuple[ConflictingConstraint, ...] = ()
    """The limits that leave a side without a plan."""


def list_unit_starts(problem: PlanProblem, plan: Plan) -> tuple[UnitStart, ...]:
    """What a plan starts, in the order of months, then of keys.

    >>> [str(purchase) for purchase in list_unit_starts(_example(), solve(_example()))]
    ['month 0: begin 2 × year, usable in months 0 to 11']
    """
    months = problem.hours.size
    rows = [
        UnitStart(
            month=int(m),
            key=unit.key,
            units=int(plan.units_started[unit.key][m]),
            first=int(m) + unit.lead_months,
            last=min(int(m) + unit.lead_months + unit.duration_months, months) - 1,
        )
        for unit in problem.units
        if unit.key in plan.units_started
        for m in np.flatnonzero(plan.units_started[unit.key])
    ]
    return tuple(sorted(rows, key=lambda p: (p.month, p.key)))


def marginal_values(
    problem: PlanProblem,
    plan: Plan,
    allowed: Collection[str] | None = None,
    *,
    gap: float = 0.0,
    additional_units: Mapping[str, AdditionalUnit] | None = None,
    work: WorkMeter | None = None,
) -> tuple[MarginalValue, ...]:
    """What each limit costs `plan`, the best one of the problem for the sources allowed.

    A quota is widened by its smallest node, the capex budget by its cheapest server, the monthly
    and the total budget by a hundredth, the spot share by 0.01, the most units of a source by one;
    and one more unit of each source of `additional_units` is put there.

    Ends early where the work that may be spent is over.

    >>> rows = marginal_values(_example(), solve(_example()))
    >>> [(value.limit, value.step, round(value.saving)) for value in rows]
    [('quota hall', 8.0, 67200)]
    """
    problem = restrict_sources(problem, allowed)
    meter = WorkMeter() if work is None else work

    def saving(wider: PlanProblem) -> float:
        better = solve(wider, gap=gap, work=meter)
        return max(0.0, plan.cost - better.cost)

    widened = chain(_widened(problem), _with_one_more(problem, additional_units or {}))
    values: list[MarginalValue] = []
    with suppress(WorkSpentError):
        for limit, current_value, step, wider in widened:
            values.append(MarginalValue(limit, current_value, step, saving(wider)))
    return tuple(values)


def _widened(problem: PlanProblem) -> Iterator[tuple[str, float, float, PlanProblem]]:
    """Limit, value given, step, and the problem with that limit a step wider."""
    for quota in problem.quotas:
        nodes = _nodes(problem, quota)
        if nodes and not quota.is_share:
            wider = replace(quota, most=quota.most + min(nodes))
            quotas = tuple(wider if q is quota else q for q in problem.quotas)
            name, current_value = f"quota {quota.group}", quota.most
            yield name, current_value, min(nodes), replace(problem, quotas=quotas)
    for_sale = [unit for unit in problem.units if unit.max_units != 0]
    prices = [float(c) for u in for_sale for c in u.capex[np.isfinite(u.start_cost)] if c > 0]
    if problem.capex_budget is not None and prices:
        budget, step = problem.capex_budget, min(prices)
        yield "capex_budget", budget, step, replace(problem, capex_budget=budget + step)
    for part in problem.capex_by_period if prices else ():
        wider_part = replace(part, amount=part.amount + min(prices))
        parts = tuple(wider_part if p is part else p for p in problem.capex_by_period)
        yield part.name, part.amount, min(prices), replace(problem, capex_by_period=parts)
    if problem.monthly_budget:
        budget, step = problem.monthly_budget, problem.monthly_budget / 100
        yield "monthly_budget", budget, step, replace(problem, monthly_budget=budget + step)
    if problem.total_budget:
        budget, step = problem.total_budget, problem.total_budget / 100
        yield "total_budget", budget, step, replace(problem, total_budget=budget + step)
    if problem.max_spot_share < 1.0 and any(s.is_spot for s in problem.rental_options):
        share = problem.max_spot_share
        wider_share = min(share + 0.01, 1.0)
        wider_problem = replace(problem, max_spot_share=wider_share)
        yield "max_spot_share", share, wider_share - share, wider_problem
    yield from _wider_groups(problem)
    for unit in problem.units:
        if unit.max_units is not None:
            more = replace(unit, max_units=unit.max_units + 1)
            yield f"max_units {unit.key}", unit.max_units, 1.0, _changed(problem, unit, more)


def _wider_groups(problem: PlanProblem) -> Iterator[tuple[str, float, float, PlanProblem]]:
    """The largest share of one group a hundredth wider, and one group less that must be in use."""
    shares = {q.most for q in problem.quotas if q.is_share and q.most < 1.0}
    if shares:
        share = min(shares)
        wider = min(share + 0.01, 1.0)
        quotas = tuple(
            replace(q, most=wider) if q.is_share and q.most == share else q for q in problem.quotas
        )
        yield LARGEST_SHARE, share, wider - share, replace(problem, quotas=quotas)
    least = problem.least_groups
    if least is not None and least.count > 1:
        fewer = replace(problem, least_groups=replace(least, count=least.count - 1))
        yield LEAST_GROUPS, float(least.count), 1.0, fewer


def _nodes(problem: PlanProblem, quota: Quota) -> list[float]:
    """What each node that counts towards a quota counts for."""
    sizes = [s.size_in(quota.group) for s in problem.rental_options]
    sizes += [u.size_in(quota.group) for u in problem.units]
    return [size for size in sizes if size]


def _with_one_more(
    problem: PlanProblem, additional_units: Mapping[str, AdditionalUnit]
) -> Iterator[tuple[str, float, float, PlanProblem]]:
    """The problem with one more unit of a source there, and its operating cost due."""
    months = problem.hours.size
    for unit in problem.units:
        if unit.key not in additional_units:
            continue
        one = additional_units[unit.key]
        existing = np.zeros(months, np.int64) if unit.existing is None else unit.existing
        cash = np.zeros(months) if problem.base_cash is None else problem.base_cash
        extended = replace(
            _changed(problem, unit, replace(unit, existing=existing + one.in_service)),
            base_cost=problem.base_cost + one.cost,
            base_cash=cash + one.cash,
            base_payments=problem.base_payments + float(np.maximum(one.cash, 0.0).sum()),
        )
        yield f"one more {unit.key} in place", float(existing[0]), 1.0, extended


def _changed(
    problem: PlanProblem, unit: CommitmentOption, changed: CommitmentOption
) -> PlanProblem:
    units = tuple(changed if u is unit else u for u in problem.units)
    return replace(problem, units=units)


def demand_switch_points(
    problem: PlanProblem,
    allowed: Collection[str] | None = None,
    *,
    min_multiplier: float = 0.5,
    max_multiplier: float = 2.0,
    samples: int = 9,
    tolerance: float = 0.01,
    gap: float = DEFAULT_GAP,
    work: WorkMeter | None = None,
) -> tuple[SwitchPoint, ...]:
    """Demand multipliers, from the least to the most, at which the set of starts changes.

    The plan is solved at `samples` multipliers in equal ratios; between two whose sets differ
    the change is narrowed down to `tolerance`, relative. Two changes that cancel between two
    samples go unseen.

    >>> [point] = demand_switch_points(_example(), min_multiplier=0.05, tolerance=0.001)
    >>> round(point.multiplier, 2), sorted(point.below), sorted(point.above)
    (0.21, [], ['year'])
    """
    problem = restrict_sources(problem, allowed)
    meter = WorkMeter() if work is None else work

    def changes(low: _Evaluated, high: _Evaluated) -> Iterator[SwitchPoint]:
        if low.units_started == high.units_started:
            return
        middle = float(np.sqrt(low.multiplier * high.multiplier))
        if high.multiplier / low.multiplier <= 1 + tolerance:
            unserved = next((side for side in (high, low) if side.units_started is None), None)
            at, conflicts = (unserved.multiplier, unserved.conflicts) if unserved else (middle, ())
            yield SwitchPoint(at, low.units_started, high.units_started, conflicts)
            return
        between = _evaluate(problem, middle, gap, meter)
        yield from changes(low, between)
        yield from changes(between, high)

    multipliers = np.geomspace(min_multiplier, max_multiplier, samples).tolist()
    evaluated = (_evaluate(problem, multiplier, gap, meter) for multiplier in multipliers)
    points: list[SwitchPoint] = []
    with suppress(WorkSpentError):
        for low, high in pairwise(evaluated):
            points.extend(changes(low, high))
    return tuple(points)


@dataclass(frozen=True)
class _Evaluated:
    """What is started at one demand."""

    multiplier: float
    units_started: Keys | None
    conflicts: tuple[ConflictingConstraint, ...]


def _evaluate(problem: PlanProblem, multiplier: float, gap: float, work: WorkMeter) -> _Evaluated:
    plan = solve(scale_demand(problem, multiplier), gap=gap, work=work)
    if not plan.feasible:
        return _Evaluated(multiplier, None, plan.conflicts)
    return _Evaluated(
        multiplier, frozenset(k for k, units in plan.units_started.items() if units.any()), ()
    )


def scale_demand(problem: PlanProblem, multiplier: float) -> PlanProblem:
    """The problem at a multiple of its demand, the peak in whole accelerators as a request has
    it: ⌈H / 730⌉ again where it is that, else the multiple rounded up.

    >>> problem = replace(_example(), hours=np.full(12, 600.0), peak=np.ones(12))
    >>> [float(scale_demand(problem, m).peak[0]) for m in (0.5, 1.0, 1.2, 1.3)]
    [1.0, 1.0, 1.0, 2.0]
    """
    evenly = _whole(problem.hours / HOURS_PER_MONTH)
    is_even = np.array_equal(problem.peak, evenly)
    hours = problem.hours * multiplier
    peak = _whole(hours / HOURS_PER_MONTH if is_even else problem.peak * multiplier)
    return replace(problem, hours=hours, peak=peak)


def _whole(accelerators: Floats) -> Floats:
    """Rounded up, but for the noise of a multiplication."""
    return np.asarray(np.ceil(accelerators * (1 - _NOISE)))


def _example() -> PlanProblem:
    """The problem of the examples: 24 accelerators for a year, rack space for 16."""
    months, one = 12, np.ones(12)
    rent = RentalOption("rent", 8.0, 8.0, 20 * one, 20 * one)
    year = CommitmentOption(
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
