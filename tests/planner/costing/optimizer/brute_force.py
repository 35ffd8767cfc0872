"""Every plan of a small problem tried, each month's hours by trying every corner of its polygon.

Shares no code with the planner: neither HiGHS nor its model.
"""

from itertools import combinations, product
from math import ceil, inf

import numpy as np

EPSILON = 1e-7


def cheapest_cost(problem):
    """The least net present cost, or infinity where no plan meets every limit."""
    known = {}
    admitted = (
        units_started
        for units_started in all_begun(problem)
        if within_totals(problem, units_started)
    )
    return min((cost_of(problem, units_started, known) for units_started in admitted), default=inf)


def cost_of(problem, units_started, known=None):
    """Net present cost of exactly these starts [units, T]; `known` remembers months."""
    known = {} if known is None else known
    cost = problem.base_cost + _start_cost(problem, units_started)
    for t in range(problem.hours.size):
        in_service = tuple(
            _in_service(unit, units_started[i], t) for i, unit in enumerate(problem.units)
        )
        spent = _start_cash(problem, units_started, t)
        if (t, in_service, spent) not in known:
            known[t, in_service, spent] = _month_cost(problem, t, in_service, spent)
        cost += known[t, in_service, spent]
    return cost


def all_begun(problem):
    """Every way to start units, up to what the demand can use."""
    months = problem.hours.size
    choices = []
    for unit in problem.units:
        most = max(
            ceil(max(p / unit.capacity, h / unit.capacity / unit.hours_per_month) - EPSILON)
            for p, h in zip(problem.peak, problem.hours, strict=True)
        )
        for m in range(months):
            useful = np.isfinite(unit.start_cost[m]) and m + unit.lead_months < months
            choices.append(range(most + 1) if useful else range(1))
    for flat in product(*choices):
        yield np.array(flat, dtype=int).reshape(len(problem.units), months)


def within_totals(problem, units_started):
    """Whether the limits over the whole horizon admit it."""
    for unit, row in zip(problem.units, units_started, strict=True):
        if unit.max_units is not None and row.sum() > unit.max_units:
            return False
    for part in problem.capex_by_period:
        months = slice(part.first, part.last)
        if (
            sum(
                u.capex[months] @ row[months]
                for u, row in zip(problem.units, units_started, strict=True)
            )
            > part.amount + EPSILON
        ):
            return False
    if problem.capex_budget is None:
        return True
    spent = sum(u.capex @ row for u, row in zip(problem.units, units_started, strict=True))
    return spent <= problem.capex_budget + EPSILON


def _start_cost(problem, units_started):
    return sum(
        n * u.start_cost[m]
        for u, row in zip(problem.units, units_started, strict=True)
        for m, n in enumerate(row)
        if n
    )


def _start_cash(problem, units_started, t):
    return float(
        sum(row @ u.start_cash[:, t] for u, row in zip(problem.units, units_started, strict=True))
    )


def _in_service(unit, row, t):
    there = 0 if unit.existing is None else int(unit.existing[t])
    return there + sum(
        int(n)
        for m, n in enumerate(row)
        if m + unit.lead_months <= t < m + unit.lead_months + unit.duration_months
    )


def _month_cost(problem, t, in_service, spent):
    """min c·v subject to A·v ≤ b, v ≥ 0, over every corner; v: used per unit, rented per hourly."""
    units, rental_options = problem.units, problem.rental_options
    cost = np.array([u.hour_cost[t] for u in units] + [s.hour_cost[t] for s in rental_options])
    size, demand, peak = cost.size, problem.hours[t], problem.peak[t]
    capacity = np.array([u.capacity for u in units] + [s.capacity for s in rental_options])
    is_hourly = np.array([0.0] * len(units) + [1.0] * len(rental_options))
    rate = peak / demand if demand > 0 else 0.0
    limits = [(np.eye(size)[i], u.hours_per_month * in_service[i]) for i, u in enumerate(units)]
    for j, source in enumerate(rental_options):
        if demand == 0 or (source.available is not None and not source.available[t]):
            limits.append((np.eye(size)[len(units) + j], 0.0))
    if demand > 0:
        ready = sum(u.capacity * n for u, n in zip(units, in_service, strict=True))
        limits.append((-capacity * is_hourly * rate, ready - peak))
        limits.append((-capacity, -demand))
        spot = np.array([0.0] * len(units) + [s.capacity * s.is_spot for s in rental_options])
        limits.append((spot, problem.max_spot_share * demand))
    for quota in problem.quotas:
        held = sum(
            u.accelerators * n
            for u, n in zip(units, in_service, strict=True)
            if quota.group in u.limit_groups
        )
        inside = [s.accelerators * rate * (quota.group in s.limit_groups) for s in rental_options]
        limits.append((np.array([0.0] * len(units) + inside), quota.most - held))
    if problem.monthly_budget is not None:
        base = 0.0 if problem.base_cash is None else problem.base_cash[t]
        cash = np.array([u.hour_cash[t] for u in units] + [s.hour_cash[t] for s in rental_options])
        limits.append((cash, problem.monthly_budget - base - spent))
    limits += [(-np.eye(size)[i], 0.0) for i in range(size)]
    return _cheapest_corner(
        cost, np.array([a for a, _ in limits]), np.array([b for _, b in limits])
    )


def _cheapest_corner(cost, rows, most):
    scale = np.abs(rows).max(axis=1)
    empty = scale == 0
    if (most[empty] < -EPSILON).any():
        return inf
    rows, most = rows[~empty] / scale[~empty, None], most[~empty] / scale[~empty]
    chosen = np.array(list(combinations(range(len(rows)), cost.size)))
    square, right = rows[chosen], most[chosen]
    regular = np.abs(np.linalg.det(square)) > 1e-9
    corners = np.linalg.solve(square[regular], right[regular][..., None])[..., 0]
    inside = (corners @ rows.T <= most + EPSILON * (1 + np.abs(most))).all(axis=1)
    return float((corners[inside] @ cost).min(initial=inf))
