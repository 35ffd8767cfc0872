"""A joint problem as it stands in `JointProblem`, handed to HiGHS whole: the oracle.

No pruning, no pools, no cuts, and none of the planner's code.
"""

from math import inf

import numpy as np

from tests.planner.costing.optimizer.plain_milp import Model

MOST_UNITS = 400


def proven_joint_optimum(joint, time_limit_s=60.0):
    """(cost, bound) that HiGHS proves; (inf, inf) if infeasible; None if it runs out of time."""
    model = Model()
    units = joint.units
    months = range(joint.months)
    started = {
        key: [
            model.column(c, MOST_UNITS, True) if np.isfinite(c) else model.column(0.0, 0.0, True)
            for c in unit.start_cost
        ]
        for key, unit in units.items()
    }
    parts = [_Project(model, project) for project in joint.projects]
    for key, unit in units.items():
        for t in months:
            active = [
                started[key][m]
                for m in months
                if m + unit.lead_months <= t < m + unit.lead_months + unit.duration_months
            ]
            there = 0 if unit.existing is None else int(unit.existing[t])
            shares = [(part.share[key, t], 1.0) for part in parts if (key, t) in part.share]
            used = [(part.used[key, t], 1.0) for part in parts if (key, t) in part.used]
            model.row(shares + [(x, -1.0) for x in active], -inf, there)
            hours = unit.hours_per_month
            model.row(used + [(x, -hours) for x in active], -inf, hours * there)
    _limit(model, joint, started, parts)
    return model.solve(time_limit_s, 0.0)


def _limit(model, joint, started, parts):
    limits = joint.limits
    for key, unit in joint.units.items():
        if unit.max_units is not None:
            model.row([(x, 1.0) for x in started[key]], -inf, unit.max_units)
    if limits.capex_budget is not None:
        capital = [
            (x, u.capex[m])
            for key, u in joint.units.items()
            for m, x in enumerate(started[key])
            if np.isfinite(u.start_cost[m])
        ]
        model.row(capital, -inf, limits.capex_budget)
    for period in limits.capex_by_period:
        capital = [
            (started[key][m], u.capex[m])
            for key, u in joint.units.items()
            for m in range(period.first, period.last)
            if np.isfinite(u.start_cost[m])
        ]
        model.row(capital, -inf, period.amount)
    if limits.total_budget is not None:
        _limit_payments(model, joint, started, parts)
    _limit_accelerators(model, joint, started, parts)
    if limits.monthly_budget is not None:
        _limit_cash(model, joint, started, parts)


def _limit_payments(model, joint, started, parts):
    paid = [
        (started[key][m], u.all_payments[m])
        for key, u in joint.units.items()
        for m in range(joint.months)
        if np.isfinite(u.start_cost[m])
    ]
    for part in parts:
        paid += [entry for t in range(joint.months) for entry in part.cash(t)]
    model.row(paid, -inf, joint.limits.total_budget - joint.limits.base_payments)


def _limit_accelerators(model, joint, started, parts):
    months = range(joint.months)
    for quota in joint.limits.quotas:
        for t in months:
            gone, entries = 0.0, []
            for key, u in joint.units.items():
                if quota.group not in u.limit_groups:
                    continue
                gone += 0 if u.existing is None else u.accelerators * u.existing[t]
                entries += [
                    (started[key][m], u.accelerators)
                    for m in months
                    if m + u.lead_months <= t < m + u.lead_months + u.duration_months
                ]
            for part in parts:
                rented = part.machines_rented if quota.in_machines else part.accelerators_rented
                entries += rented(quota.group, t)
            model.row(entries, -inf, quota.most - gone)


def _limit_cash(model, joint, started, parts):
    limits, months = joint.limits, range(joint.months)
    for t in months:
        base = 0.0 if limits.base_cash is None else limits.base_cash[t]
        cash = [
            (started[key][m], u.start_cash[m, t])
            for key, u in joint.units.items()
            for m in months
            if np.isfinite(u.start_cost[m])
        ]
        for part in parts:
            cash += part.cash(t)
        model.row(cash, -inf, limits.monthly_budget - base)


class _Project:
    """The columns and rows of one project."""

    def __init__(self, model, project):
        self.model, self.project, self.problem = model, project, project.problem
        months = range(self.problem.hours.size)
        moves = project.movable
        self.inside = [moves is not None and moves.first <= t < moves.last for t in months]
        self.share, self.used, self.rented = {}, {}, {}
        for t in months:
            if self.inside[t] or self.problem.hours[t] > 0:
                self._columns(t)
                if self.inside[t]:
                    self._movable_month(t)
                else:
                    self._fixed_month(t)
                self._spot(t)
        if moves is not None:
            self._window()
        self._one_kind()

    def _columns(self, t):
        for unit in self.problem.units:
            whole = unit.key in self.project.whole_nodes
            self.share[unit.key, t] = self.model.column(0.0, MOST_UNITS, whole)
            self.used[unit.key, t] = self.model.column(unit.hour_cost[t])
        for offer in self.problem.rental_options:
            is_sold = offer.available is None or bool(offer.available[t])
            self.rented[offer.key, t] = self.model.column(
                offer.hour_cost[t], inf if is_sold else 0.0
            )

    def _hours(self, t):
        entries = [(self.used[u.key, t], u.capacity) for u in self.problem.units]
        return entries + [
            (self.rented[s.key, t], self._in_use(s, t)) for s in self.problem.rental_options
        ]

    def _in_use(self, offer, t):
        """Reference accelerators at work on a node."""
        whole = self.problem.whole_nodes and not offer.in_parts
        if self.inside[t] and whole:
            return min(offer.capacity, self.project.movable.at_once)
        return offer.capacity

    def _fixed_month(self, t):
        problem = self.problem
        self.model.row(self._hours(t), problem.hours[t], inf)
        if problem.peak[t] <= 0:
            return
        d = problem.hours[t] / problem.peak[t]
        width = [(self.share[u.key, t], u.capacity) for u in problem.units]
        width += [(self.rented[s.key, t], s.capacity / d) for s in problem.rental_options]
        self.model.row(width, problem.peak[t], inf)
        whole = [s for s in problem.rental_options if problem.whole_nodes and not s.in_parts]
        for kind in {self.project.kinds.get(s.key) for s in whole}:
            of_kind = [s for s in whole if self.project.kinds.get(s.key) == kind]
            for size in {s.capacity for s in of_kind}:
                nodes = self.model.column(0.0, is_whole=True)
                of_size = [(self.rented[s.key, t], 1.0) for s in of_kind if s.capacity == size]
                self.model.row([*of_size, (nodes, -d)], 0.0, 0.0)

    def _movable_month(self, t):
        at_once = self.project.movable.at_once
        width = [(self.share[u.key, t], u.capacity) for u in self.problem.units]
        width += [
            (self.rented[s.key, t], self._in_use(s, t) / 730.0) for s in self.problem.rental_options
        ]
        self.model.row(width, -inf, at_once)
        for unit in self.problem.units:
            used, share = self.used[unit.key, t], self.share[unit.key, t]
            self.model.row([(used, 1.0), (share, -unit.hours_per_month)], -inf, 0.0)

    def _window(self):
        months = [t for t, inside in enumerate(self.inside) if inside]
        hours = [entry for t in months for entry in self._hours(t)]
        self.model.row(hours, float(self.problem.hours[months].sum()), inf)

    def _spot(self, t):
        if self.problem.max_spot_share >= 1:
            return
        hours = self.problem.hours[t]
        if self.inside[t]:
            hours = self.project.movable.at_once * 730.0
        spot = [
            (self.rented[s.key, t], self._in_use(s, t))
            for s in self.problem.rental_options
            if s.is_spot
        ]
        self.model.row(spot, -inf, self.problem.max_spot_share * hours)

    def _one_kind(self):
        kinds = sorted(set(self.project.kinds.values()))
        if len(kinds) < 2:
            return
        chosen = {kind: self.model.column(0.0, 1.0, True) for kind in kinds}
        self.model.row([(x, 1.0) for x in chosen.values()], 1.0, 1.0)
        for held, most in ((self.share, 120.0), (self.used, 90_000.0), (self.rented, 90_000.0)):
            for (key, _), column in held.items():
                kind = self.project.kinds[key]
                self.model.row([(column, 1.0), (chosen[kind], -most)], -inf, 0.0)

    def accelerators_rented(self, group, t):
        problem = self.problem
        if problem.peak[t] <= 0 and not self.inside[t]:
            return []
        d = 730.0 if self.inside[t] else problem.hours[t] / problem.peak[t]
        return [
            (self.rented[s.key, t], s.accelerators * self._in_use(s, t) / s.capacity / d)
            for s in problem.rental_options
            if group in s.limit_groups and (s.key, t) in self.rented
        ]

    def machines_rented(self, group, t):
        """Accelerators of the machines at once: those of one size and kind, in whole machines."""
        rented = dict(self.accelerators_rented(group, t))
        sizes = {}
        for s in self.problem.rental_options:
            column = self.rented.get((s.key, t))
            if column in rented and self.problem.whole_nodes and not s.in_parts:
                kind = (self.project.kinds.get(s.key), s.capacity, s.accelerators)
                sizes.setdefault(kind, []).append((column, rented.pop(column)))
        for (_, _, accelerators), entries in sizes.items():
            nodes = self.model.column(0.0, is_whole=True)
            self.model.row([*entries, (nodes, -accelerators)], -inf, 0.0)
            if not self.inside[t]:
                self.model.row([*entries, (nodes, -accelerators)], 0.0, inf)
            rented[nodes] = accelerators
        return list(rented.items())

    def cash(self, t):
        units = {u.key: u for u in self.problem.units}
        offers = {s.key: s for s in self.problem.rental_options}
        entries = [
            (x, units[key].hour_cash[t]) for (key, month), x in self.used.items() if month == t
        ]
        return entries + [
            (x, offers[key].hour_cash[t]) for (key, month), x in self.rented.items() if month == t
        ]
