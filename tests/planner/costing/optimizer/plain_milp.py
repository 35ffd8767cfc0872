"""The capacity plan as it stands in `PlanProblem`, handed to HiGHS whole: the oracle.

No pruning, no cuts, no rounding of its own, and none of the planner's code.
"""

from math import ceil, inf

import highspy
import numpy as np


def proven_optimum(problem, time_limit_s=60.0, gap=0.0, most_nodes=None):
    """(cost, bound) that HiGHS proves; (inf, inf) if infeasible; None if it runs out of time, or
    of `most_nodes` of its search, which then is without presolve: that heeds no limit."""
    model = Model()
    months, busy = range(problem.hours.size), problem.hours > 0
    units_started = [[_start(model, problem, u, m) for m in months] for u in problem.units]
    used = [[model.column(u.hour_cost[t]) for t in months] for u in problem.units]
    rented = [
        [model.column(s.hour_cost[t], most=_most_rented(problem, s, t)) for t in months]
        for s in problem.rental_options
    ]
    chosen = _choose_groups(model, problem.least_groups)
    for t in months:
        in_service = [
            [
                units_started[i][m]
                for m in months
                if m + u.lead_months <= t < m + u.lead_months + u.duration_months
            ]
            for i, u in enumerate(problem.units)
        ]
        there = [0 if u.existing is None else int(u.existing[t]) for u in problem.units]
        for i, unit in enumerate(problem.units):
            most = unit.hours_per_month
            model.row(
                [(used[i][t], 1.0), *((x, -most) for x in in_service[i])], -inf, most * there[i]
            )
        per_hour = problem.peak[t] / problem.hours[t] if busy[t] else 0.0
        if busy[t]:
            ready = sum(u.capacity * n for u, n in zip(problem.units, there, strict=True))
            width = [
                (x, u.capacity) for u, xs in zip(problem.units, in_service, strict=True) for x in xs
            ]
            width += [
                (rented[j][t], s.capacity * per_hour) for j, s in enumerate(problem.rental_options)
            ]
            model.row(width, problem.peak[t] - ready, inf)
            whole = [s for s in problem.rental_options if problem.whole_nodes and not s.in_parts]
            for size in {s.capacity for s in whole}:
                nodes = model.column(0.0, is_whole=True)
                of_size = [
                    (rented[j][t], 1.0)
                    for j, s in enumerate(problem.rental_options)
                    if s.capacity == size and not s.in_parts
                ]
                if per_hour:
                    model.row([*of_size, (nodes, -1.0 / per_hour)], 0.0, 0.0)
            hours = [(used[i][t], u.capacity) for i, u in enumerate(problem.units)]
            hours += [(rented[j][t], s.capacity) for j, s in enumerate(problem.rental_options)]
            model.row(hours, problem.hours[t], inf)
            spot = [
                (rented[j][t], s.capacity)
                for j, s in enumerate(problem.rental_options)
                if s.is_spot
            ]
            limit = (
                inf if problem.max_spot_share >= 1 else problem.max_spot_share * problem.hours[t]
            )
            model.row(spot, -inf, limit)
        _limit_groups(model, problem, chosen, in_service, there, rented, t, per_hour)
        if problem.monthly_budget is not None:
            base = 0.0 if problem.base_cash is None else problem.base_cash[t]
            cash = [
                (units_started[i][m], u.start_cash[m, t])
                for i, u in enumerate(problem.units)
                for m in months
                if np.isfinite(u.start_cost[m])
            ]
            cash += [(used[i][t], u.hour_cash[t]) for i, u in enumerate(problem.units)]
            cash += [(rented[j][t], s.hour_cash[t]) for j, s in enumerate(problem.rental_options)]
            model.row(cash, -inf, problem.monthly_budget - base)
    if problem.total_budget is not None:
        paid = [
            (units_started[i][m], u.all_payments[m])
            for i, u in enumerate(problem.units)
            for m in months
            if np.isfinite(u.start_cost[m])
        ]
        for columns, sources in ((used, problem.units), (rented, problem.rental_options)):
            paid += [(columns[i][t], s.hour_cash[t]) for i, s in enumerate(sources) for t in months]
        model.row(paid, -inf, problem.total_budget - problem.base_payments)
    _limit_starts(model, problem, units_started)
    found = model.solve(time_limit_s, gap, most_nodes)
    return None if found is None else tuple(figure + problem.base_cost for figure in found)


def counted(source, group):
    """What one unit or node of a source counts for in a quota."""
    if group not in source.limit_groups:
        return 0.0
    return source.limit_sizes.get(group, source.accelerators)


def _choose_groups(model, least):
    """Group → column that says whether it is one of those that must be in use."""
    if least is None:
        return {}
    chosen = {group: model.column(0.0, most=1.0, is_whole=True) for group in least.groups}
    model.row([(column, 1.0) for column in chosen.values()], least.count, inf)
    return chosen


def _limit_groups(model, problem, chosen, in_service, there, rented, t, per_hour):
    for quota in problem.quotas:
        held, gone = _held(problem, quota.group, in_service, there, rented, t, per_hour)
        if quota.is_share and per_hour:
            model.row(held, -inf, quota.most * problem.peak[t] - gone)
        elif not quota.is_share:
            model.row(held, -inf, quota.most - gone)
    if per_hour and problem.whole_nodes:
        _rent_whole_in_quotas(model, problem, rented, t, per_hour)
    for group, column in chosen.items() if per_hour else ():
        held, gone = _held(problem, group, in_service, there, rented, t, per_hour)
        asked = problem.least_groups.share * problem.peak[t]
        model.row([*held, (column, -asked)], -gone, inf)


def counts_machines(problem, source):
    """What quotas that count machines count one node of a source for."""
    quotas = [quota for quota in problem.quotas if quota.in_machines]
    return tuple(counted(source, quota.group) for quota in quotas)


def _rent_whole_in_quotas(model, problem, rented, t, per_hour):
    """Of one node size, what the same quotas of machines count is a whole number of nodes."""
    sources = list(enumerate(problem.rental_options))
    whole = [(j, s) for j, s in sources if not s.in_parts]
    for kind in {(s.capacity, counts_machines(problem, s)) for _, s in whole}:
        nodes = model.column(0.0, is_whole=True)
        of_kind = [
            (rented[j][t], 1.0)
            for j, s in whole
            if (s.capacity, counts_machines(problem, s)) == kind
        ]
        model.row([*of_kind, (nodes, -1.0 / per_hour)], 0.0, 0.0)


def _held(problem, group, in_service, there, rented, t, per_hour):
    """Entries of what a group has in service in a month, and what is there already."""
    held = [
        (x, counted(u, group))
        for u, xs in zip(problem.units, in_service, strict=True)
        for x in xs
        if counted(u, group)
    ]
    held += [
        (rented[j][t], counted(s, group) * per_hour)
        for j, s in enumerate(problem.rental_options)
        if counted(s, group)
    ]
    gone = sum(counted(u, group) * n for u, n in zip(problem.units, there, strict=True))
    return held, gone


def _limit_starts(model, problem, units_started):
    months = range(problem.hours.size)
    for xs, unit in zip(units_started, problem.units, strict=True):
        if unit.max_units is not None:
            model.row([(x, 1.0) for x in xs], -inf, unit.max_units)
    if problem.capex_budget is not None:
        capital = [
            (units_started[i][m], u.capex[m])
            for i, u in enumerate(problem.units)
            for m in months
            if np.isfinite(u.start_cost[m])
        ]
        model.row(capital, -inf, problem.capex_budget)
    for part in problem.capex_by_period:
        capital = [
            (units_started[i][m], u.capex[m])
            for i, u in enumerate(problem.units)
            for m in range(part.first, part.last)
            if np.isfinite(u.start_cost[m])
        ]
        model.row(capital, -inf, part.amount)


def _most_rented(problem, source, t):
    is_sold = source.available is None or bool(source.available[t])
    return inf if problem.hours[t] > 0 and is_sold else 0.0


def _start(model, problem, unit, m):
    if not np.isfinite(unit.start_cost[m]):
        return model.column(0.0, most=0.0, is_whole=True)
    served = slice(m + unit.lead_months, m + unit.lead_months + unit.duration_months)
    widest = max(
        (
            max(p / unit.capacity, h / unit.capacity / unit.hours_per_month)
            for p, h in zip(problem.peak[served], problem.hours[served], strict=True)
        ),
        default=0.0,
    )
    return model.column(unit.start_cost[m], most=ceil(widest - 1e-9), is_whole=True)


class Model:
    def __init__(self):
        self.cost, self.most, self.whole = [], [], []
        self.lower, self.upper, self.start, self.index, self.value = [], [], [0], [], []

    def column(self, cost, most=inf, is_whole=False):
        self.cost.append(float(cost))
        self.most.append(float(most))
        self.whole.append(is_whole)
        return len(self.cost) - 1

    def row(self, entries, lower, upper):
        scale = max((abs(v) for _, v in entries), default=0.0) or 1.0
        self.index += [column for column, _ in entries]
        self.value += [float(v) / scale for _, v in entries]
        self.start.append(len(self.index))
        self.lower.append(float(lower) / scale)
        self.upper.append(float(upper) / scale)

    def solve(self, time_limit_s, gap, most_nodes=None):
        highs = highspy.Highs()
        bounded = {} if most_nodes is None else {"presolve": "off", "mip_max_nodes": most_nodes}
        for option, value in {
            **bounded,
            "output_flag": False,
            "threads": 1,
            "mip_rel_gap": gap,
            "mip_abs_gap": 0.0,
            "time_limit": time_limit_s,
            "primal_feasibility_tolerance": 1e-9,
            "mip_feasibility_tolerance": 1e-9,
        }.items():
            highs.setOptionValue(option, value)
        cost, scale = np.array(self.cost), max(np.abs(self.cost).max(initial=0.0), 1.0) / 1e4
        highs.passModel(
            cost.size, len(self.lower), len(self.index),
            int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize), 0.0,
            cost / scale, np.zeros(cost.size), np.array(self.most),
            np.array(self.lower), np.array(self.upper),
            np.array(self.start[:-1], np.int32), np.array(self.index, np.int32),
            np.array(self.value), np.array(self.whole, np.int32),
        )  # fmt: skip
        highs.run()
        status, info = highs.getModelStatus(), highs.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            return inf, inf
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        bound = info.mip_dual_bound if any(self.whole) else info.objective_function_value
        return info.objective_function_value * scale, bound * scale
