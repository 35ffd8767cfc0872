"""A plan explained: what starts when, and what each limit costs.

PURE. Every figure comes from solving the changed problem again, not from duals: a dual says
what a fraction of a unit is worth, and nobody can buy one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.problem import (
    LARGEST_SHARE,
    LEAST_GROUPS,
    CommitmentOption,
    PlanProblem,
    Quota,
)
from planner.costing.optimizer.solve import restrict_sources, solve
from planner.costing.optimizer.work import WorkMeter, WorkSpentError


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


@dataclass(frozen=True)
class MarginalValue:
    """What a plan would save if one limit were a step wider."""

    limit: str
    """As a conflict names it."""
    current_value: float
    step: float
    saving: float
    """Net present cost saved by the whole step; the plan is solved anew for it."""


def list_unit_starts(
    problem: PlanProblem, started: Mapping[str, NDArray[np.int64]]
) -> tuple[UnitStart, ...]:
    """What a plan starts, in the order of months, then of keys."""
    months = problem.hours.size
    rows = [
        UnitStart(
            month=int(m),
            key=unit.key,
            units=int(started[unit.key][m]),
            first=int(m) + unit.lead_months,
            last=min(int(m) + unit.lead_months + unit.duration_months, months) - 1,
        )
        for unit in problem.units
        if unit.key in started
        for m in np.flatnonzero(started[unit.key])
    ]
    return tuple(sorted(rows, key=lambda p: (p.month, p.key)))


def marginal_values(
    problem: PlanProblem,
    cost: float,
    allowed: Collection[str] | None = None,
    *,
    gap: float = 0.0,
    work: WorkMeter | None = None,
) -> tuple[MarginalValue, ...]:
    """What each limit costs a plan of this `cost`, the best one for the sources allowed.

    A quota is widened by its smallest node, the capex budget by its cheapest server, the monthly
    and the total budget by a hundredth, the spot share by 0.01, and the most units of a
    source by one. Ends early where the work that may be spent is over.
    """
    problem = restrict_sources(problem, allowed)
    meter = WorkMeter() if work is None else work

    values: list[MarginalValue] = []
    with suppress(WorkSpentError):
        for limit, current_value, step, wider in _widened(problem):
            saving = max(0.0, cost - solve(wider, gap=gap, work=meter).cost)
            values.append(MarginalValue(limit, current_value, step, saving))
    return tuple(values)


def _widened(problem: PlanProblem) -> Iterator[tuple[str, float, float, PlanProblem]]:
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
        budget = problem.monthly_budget
        yield "monthly_budget", budget, budget / 100, replace(problem, monthly_budget=budget * 1.01)
    if problem.total_budget:
        budget = problem.total_budget
        yield "total_budget", budget, budget / 100, replace(problem, total_budget=budget * 1.01)
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
    sizes = [s.size_in(quota.group) for s in problem.rental_options]
    sizes += [u.size_in(quota.group) for u in problem.units]
    return [size for size in sizes if size]


def _changed(
    problem: PlanProblem, unit: CommitmentOption, changed: CommitmentOption
) -> PlanProblem:
    units = tuple(changed if u is unit else u for u in problem.units)
    return replace(problem, units=units)
