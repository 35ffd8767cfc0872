"""Why no plan meets every limit, and the smallest change of each limit that lets one in. PURE.

Each limit in turn is given slack s ≥ 0, the others stay as they are, and the least s for which
a plan exists is found. Where no limit alone is enough, all get slack and the least sum of
slacks, each relative to its limit, tells which must give way together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.costing.optimizer.constraints import ABSENT, Rows, build_rows
from planner.costing.optimizer.diving import Search
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.master_lp import Master
from planner.costing.optimizer.problem import (
    LARGEST_SHARE,
    LEAST_GROUPS,
    ConflictingConstraint,
    Floats,
)
from planner.costing.optimizer.reduced_problem import Bools, Ints, ReducedProblem
from planner.costing.optimizer.variables import (
    Continuous,
    Entries,
    StartColumns,
    continuous_columns,
)
from planner.costing.optimizer.work import WorkMeter, WorkSpentError

_NODE_LIMIT = 100
"""Nodes of a search for the least slack: with more the least sank by a thousandth in our trials."""
_EXACT = 50_000
"""Starts times rows up to which the least slack is searched to the end; beyond, one found by a
dive stands for it, some hundredths above it at most in our trials."""
_THRIFT = 1e-4
"""Weight of the plan's own cost against slack, to tell plans of equal slack apart."""
_MOST_SLACK = 1e9
_NO_SLACK = 1e-7


@dataclass(frozen=True)
class _Limit:
    """A limit as rows: slack s raises the right side of each by `per_slack`."""

    name: str
    current_value: float
    rows: Ints
    per_slack: Floats
    scale: float
    """The limit is `current_value + scale · s`; below 0 of a least number."""


@dataclass(frozen=True)
class _Model:
    """What the search for every limit has in common."""

    rows: Rows
    columns: Continuous
    cost_weight: float
    """Of the plan's own cost: so small that a slack saved always pays, yet a guide."""
    start_columns: StartColumns

    @classmethod
    def build(cls, rows: Rows) -> _Model:
        columns = continuous_columns(rows)
        most_expensive = (
            np.abs(rows.reduced.start_candidates.cost).sum() / rows.cost_scale
            + columns.cost @ columns.upper_bound
        )
        weight = _THRIFT / max(float(most_expensive), 1e-9)
        return cls(rows, columns, weight, StartColumns(rows, cost_weight=weight))


def find_conflicts(reduced: ReducedProblem, work: WorkMeter) -> tuple[ConflictingConstraint, ...]:
    """The limits of a market without a plan that would have to give way, and how far; those found
    within the work that there is.

    >>> from planner.costing.optimizer.problem import RentalOption, PlanProblem, Quota
    >>> from planner.costing.optimizer.presolve import prune
    >>> two = np.ones(2)
    >>> rent = RentalOption("h100", 8.0, 8.0, 20 * two, 20 * two, limit_groups=("gcp h100",))
    >>> problem = PlanProblem(730 * 24 * two, 24 * two, (rent,), (), (Quota("gcp h100", 16),))
    >>> [str(conflict) for conflict in find_conflicts(prune(problem), WorkMeter())]
    ['quota gcp h100: 16 → at least 24']
    """
    unserved = _unserved_months(reduced)
    if unserved.any():
        return (ConflictingConstraint(_describe_gap(reduced, unserved), None, None),)
    rows = build_rows(reduced, work)
    limits = list(_limits(rows))
    sufficient: list[ConflictingConstraint] = []
    try:
        model = _Model.build(rows)
        for limit in limits:
            slack = _least_slack(model, [limit], work)
            if slack is not None:
                required = limit.current_value + limit.scale * float(slack[0])
                sufficient.append(ConflictingConstraint(limit.name, limit.current_value, required))
        if sufficient or not limits:
            return tuple(sufficient)
        return _find_joint_conflicts(model, limits, work)
    except WorkSpentError:
        return tuple(sufficient)


def _find_joint_conflicts(
    model: _Model, limits: Sequence[_Limit], work: WorkMeter
) -> tuple[ConflictingConstraint, ...]:
    slacks = _least_slack(model, limits, work)
    if slacks is None:
        return ()
    return tuple(
        ConflictingConstraint(
            limit.name,
            limit.current_value,
            limit.current_value + limit.scale * float(slack),
            is_sufficient=False,
        )
        for limit, slack in zip(limits, slacks, strict=True)
        if slack > _NO_SLACK
    )


def _unserved_months(reduced: ReducedProblem) -> Bools:
    """[T] months whose demand what is there does not cover, and nothing is on sale for."""
    problem, unit_types, candidates = reduced.problem, reduced.unit_types, reduced.start_candidates
    change = np.zeros(problem.hours.size + 1)
    np.add.at(change, candidates.first, 1)
    np.subtract.at(change, candidates.last, 1)
    offered = reduced.rentals.offered.any(axis=0) | (change.cumsum()[:-1] > 0)
    width = unit_types.capacity @ unit_types.existing
    hours = (unit_types.capacity * unit_types.hours_per_month) @ unit_types.existing
    short = (width < problem.peak * (1 - _NO_SLACK)) | (hours < problem.hours * (1 - _NO_SLACK))
    return np.asarray((problem.hours > 0) & ~offered & short, bool)


def _describe_gap(reduced: ReducedProblem, unserved: Bools) -> str:
    when = _describe_months(unserved)
    if reduced.unit_types.existing[:, unserved].any():
        return f"what is in place is not enough {when}, and nothing more may be bought or rented"
    return f"nothing that may be bought or rented is available {when}"


def _describe_months(unserved: Bools) -> str:
    """Months counted from 1.

    >>> _describe_months(np.array([1, 1, 1, 0], bool)), _describe_months(np.array([1, 1], bool))
    ('in the first 3 months', 'in any month')
    >>> _describe_months(np.array([0, 1, 0, 1, 1, 1], bool))
    'in months 2, 4 to 6 of 6'
    >>> _describe_months(np.array([0, 1], bool))
    'in month 2 of 2'
    >>> _describe_months(np.array([1, 0], bool))
    'in the first month'
    """
    months = np.flatnonzero(unserved) + 1
    if months.size == unserved.size:
        return "in any month"
    if months[-1] == months.size:
        return f"in the first {f'{months.size} months' if months.size > 1 else 'month'}"
    if months.size == 1:
        return f"in month {months[0]} of {unserved.size}"
    runs = np.split(months, np.flatnonzero(np.diff(months) > 1) + 1)
    spans = (f"{r[0]} to {r[-1]}" if r.size > 1 else str(r[0]) for r in runs)
    return f"in months {', '.join(spans)} of {unserved.size}"


def _limits(rows: Rows) -> Iterator[_Limit]:
    reduced, problem = rows.reduced, rows.reduced.problem
    for quota, family in zip(reduced.quotas, rows.quotas, strict=True):
        if not quota.is_share:
            one = np.ones(family.row.size)
            yield _Limit(f"quota {quota.group}", quota.most, family.row, one, 1.0)
    yield from _group_limits(rows)
    for row, budget in zip(rows.capex_rows.tolist(), problem.capital_budgets, strict=True):
        if row != ABSENT:
            yield _Limit(budget.name, budget.amount, np.array([row]), np.ones(1), rows.capex_scale)
    if problem.monthly_budget is not None:
        one = np.ones(rows.budget_row.size)
        yield _Limit(
            "monthly_budget", problem.monthly_budget, rows.budget_row, one, rows.cash_scale
        )
    if problem.total_budget is not None:
        at, one = np.array([rows.total_row]), np.ones(1)
        yield _Limit("total_budget", problem.total_budget, at, one, rows.total_scale)
    limited = rows.spot_row != ABSENT
    if limited.any():
        share = problem.max_spot_share
        yield _Limit(
            "max_spot_share", share, rows.spot_row[limited], rows.required_width[limited], 1.0
        )
    yield from _unit_limits(rows)


def _group_limits(rows: Rows) -> Iterator[_Limit]:
    """The largest share of one group, and how many must be in use."""
    reduced, least = rows.reduced, rows.reduced.problem.least_groups
    shares = [
        (quota.most, family.row[family.row != ABSENT], rows.required_width[family.row != ABSENT])
        for quota, family in zip(reduced.quotas, rows.quotas, strict=True)
        if quota.is_share and quota.most < 1.0
    ]
    if shares:
        at, width = (np.concatenate([share[i] for share in shares]) for i in (1, 2))
        yield _Limit(LARGEST_SHARE, shares[0][0], at, width, 1.0)
    if least is not None:
        at = rows.groups[-1].row[:1]
        yield _Limit(LEAST_GROUPS, float(least.count), at, -np.ones(1), -1.0)


def _unit_limits(rows: Rows) -> Iterator[_Limit]:
    candidates = rows.reduced.start_candidates
    for unit_type in np.flatnonzero(rows.limited_row != ABSENT):
        unit = rows.reduced.problem.units[candidates.source[candidates.unit_type == unit_type][0]]
        if unit.max_units is not None:
            at = rows.limited_row[unit_type : unit_type + 1]
            yield _Limit(f"max_units {unit.key}", unit.max_units, at, np.ones(1), 1.0)


def _least_slack(model: _Model, limits: Sequence[_Limit], work: WorkMeter) -> Floats | None:
    """The slack of each limit in the plan that needs least of it, None where none is enough."""
    rows, start_columns = model.rows, model.start_columns
    columns = _with_slack(model.columns, limits)
    rent = np.concatenate([model.columns.cost, np.zeros(len(limits))])
    guided = replace(columns, cost=columns.cost + model.cost_weight * rent)
    size = start_columns.cost.size * rows.count
    search = Search(
        Master(rows, guided, start_columns, work=work, elastic=True),
        gap=0.0 if size <= _EXACT else 1.0,
        node_limit=_NODE_LIMIT,
    )
    units_started = search.run()
    if units_started is None:
        return None
    program = LinearProgram(rows.lower, rows.upper, work)
    nothing = np.zeros(columns.count)
    program.add_columns(columns.cost, nothing, nothing + np.inf, columns.entries)
    start_indices = np.flatnonzero(units_started)
    whole = units_started[start_indices]
    program.add_columns(0.0 * whole, whole, whole, start_columns.entries(start_indices))
    if not program.run():
        return None
    return np.maximum(program.values()[columns.count - len(limits) : columns.count], 0.0)


def _with_slack(columns: Continuous, limits: Sequence[_Limit]) -> Continuous:
    """The continuous columns at no cost, and after them the slack of each limit at its weight."""
    count = len(limits)
    weight = [abs(lim.scale) / max(abs(lim.current_value), abs(lim.scale)) for lim in limits]
    sizes = [limit.rows.size for limit in limits]
    slack = np.repeat(np.arange(count), sizes)
    pieces = [
        (columns.entries.row, columns.entries.column, columns.entries.value),
        (
            np.concatenate([limit.rows for limit in limits]),
            columns.count + slack,
            -np.concatenate([limit.per_slack for limit in limits]),
        ),
    ]
    return replace(
        columns,
        month=np.concatenate([columns.month, np.full(count, ABSENT)]),
        cost=np.concatenate([np.zeros(columns.count), weight]),
        upper_bound=np.concatenate([columns.upper_bound, np.full(count, _MOST_SLACK)]),
        entries=Entries.ordered(pieces, columns.count + count),
    )
