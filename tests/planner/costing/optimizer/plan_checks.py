"""Does a plan keep every limit of its problem, to 1e-9 of the limit?"""

import numpy as np
import pytest

from tests.planner.costing.optimizer.plain_milp import counted

TOLERANCE = 1e-9


def units_in_service(unit, units_started):
    """[T] units of a source usable in each month."""
    months = units_started.size
    in_service = np.zeros(months) if unit.existing is None else unit.existing.astype(float)
    for m, count in enumerate(units_started):
        in_service[m + unit.lead_months : m + unit.lead_months + unit.duration_months] += count
    return in_service


def assert_keeps_every_limit(problem, plan):
    months = problem.hours.size
    in_service = {u.key: units_in_service(u, plan.units_started[u.key]) for u in problem.units}
    busy = problem.hours > 0
    nodes = {
        s.key: np.where(busy, plan.rented_hours[s.key] * problem.peak, 0.0)
        / np.where(busy, problem.hours, 1.0)
        for s in problem.rental_options
    }
    width = sum((u.capacity * in_service[u.key] for u in problem.units), np.zeros(months))
    width = sum((s.capacity * nodes[s.key] for s in problem.rental_options), width)
    served = sum((u.capacity * plan.used_hours[u.key] for u in problem.units), np.zeros(months))
    served = sum((s.capacity * plan.rented_hours[s.key] for s in problem.rental_options), served)
    _at_least(width[busy], problem.peak[busy])
    _at_least(served, problem.hours)
    for unit in problem.units:
        _at_most(plan.used_hours[unit.key], unit.hours_per_month * in_service[unit.key])
        assert (plan.units_started[unit.key][~np.isfinite(unit.start_cost)] == 0).all()
        if unit.max_units is not None:
            assert plan.units_started[unit.key].sum() <= unit.max_units
    _keeps_rental_limits(problem, plan)
    for quota in problem.quotas:
        held = _held(problem, quota.group, in_service, nodes)
        if quota.is_share:
            _at_most(held[busy], quota.most * problem.peak[busy])
        elif not quota.in_machines:
            _at_most(held, quota.most)
        else:
            assert (machines_at_once(problem, quota.group, in_service, nodes) <= quota.most).all()
    least = problem.least_groups
    if least is not None:
        in_use = [
            (_held(problem, g, in_service, nodes)[busy] >= least.share * problem.peak[busy] - 1e-6)
            for g in least.groups
        ]
        assert sum(bool(months.all()) for months in in_use) >= least.count
    _keeps_budgets(problem, plan)


def _held(problem, group, in_service, nodes):
    """[T] what a group has in service."""
    held = np.zeros(problem.hours.size)
    for unit in problem.units:
        held = held + counted(unit, group) * in_service[unit.key]
    for source in problem.rental_options:
        held = held + counted(source, group) * nodes[source.key]
    return held


def machines_at_once(problem, group, in_service, nodes):
    """[T] accelerators of the machines of a group at work at once: of those of one size that are
    rented, as many as work side by side at least, however their hours are laid out."""
    held = np.zeros(problem.hours.size)
    for unit in problem.units:
        held = held + counted(unit, group) * in_service[unit.key]
    rented = {}
    for source in problem.rental_options:
        if counted(source, group):
            size = (source.capacity, counted(source, group))
            rented[size] = rented.get(size, 0.0) + nodes[source.key]
    return held + sum(size[1] * np.ceil(at_once - 1e-6) for size, at_once in rented.items())


def _keeps_rental_limits(problem, plan):
    spot = np.zeros(problem.hours.size)
    for source in problem.rental_options:
        rented = plan.rented_hours[source.key]
        assert (rented >= 0).all()
        assert (rented[problem.hours == 0] == 0).all()
        if source.available is not None:
            assert (rented[~source.available] == 0).all()
        spot += source.capacity * source.is_spot * rented
    if problem.max_spot_share < 1.0:  # 1 sets no limit, and whole nodes may rent beyond the hours
        _at_most(spot, problem.max_spot_share * problem.hours)


def _keeps_budgets(problem, plan):
    if problem.capex_budget is not None:
        _at_most(
            sum(u.capex @ plan.units_started[u.key] for u in problem.units), problem.capex_budget
        )
    for part in problem.capex_by_period:
        months = slice(part.first, part.last)
        _at_most(
            sum(u.capex[months] @ plan.units_started[u.key][months] for u in problem.units),
            part.amount,
        )
    if problem.monthly_budget is None:
        return
    cash = np.zeros(problem.hours.size) if problem.base_cash is None else problem.base_cash.copy()
    for unit in problem.units:
        cash += plan.units_started[unit.key] @ unit.start_cash
        cash += unit.hour_cash * plan.used_hours[unit.key]
    for source in problem.rental_options:
        cash += source.hour_cash * plan.rented_hours[source.key]
    _at_most(cash, problem.monthly_budget)


def _at_most(value, limit):
    value, limit = np.broadcast_arrays(np.asarray(value, float), np.asarray(limit, float))
    assert (value <= limit + TOLERANCE * np.maximum(np.abs(limit), 1.0)).all(), (value, limit)


def _at_least(value, limit):
    _at_most(-np.asarray(value), -np.asarray(limit))


def summed_cost(problem, plan):
    """The cost of a plan, added up from its pieces."""
    cost = problem.base_cost
    for unit in problem.units:
        units_started = plan.units_started[unit.key]
        cost += sum(n * unit.start_cost[m] for m, n in enumerate(units_started) if n)
        cost += unit.hour_cost @ plan.used_hours[unit.key]
    for source in problem.rental_options:
        cost += source.hour_cost @ plan.rented_hours[source.key]
    return cost


def assert_priced_by_itself(problem, plan):
    assert plan.cost == pytest.approx(summed_cost(problem, plan), rel=1e-12)
