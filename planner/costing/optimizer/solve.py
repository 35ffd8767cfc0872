"""The cheapest plan that meets the demand of every month, with a certified bound. PURE.

What no best plan needs is left out (`presolve`, `presolve_rentals`). The plan with fractions of
units allowed gives the bound (`master_lp`), a dive and, where they pay, small models of whole
units give the plan (`diving`); its hours are then settled exactly (`dispatch`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.budgets import (
    eased_to_the_cent,
    tightened,
    with_attainable_capital,
    within_capital,
)
from planner.costing.optimizer.by_month.dispatch import dispatch
from planner.costing.optimizer.constraints import build_rows
from planner.costing.optimizer.diving import Search
from planner.costing.optimizer.infeasibility import find_conflicts
from planner.costing.optimizer.master_lp import Master
from planner.costing.optimizer.presolve import prune
from planner.costing.optimizer.problem import Floats, Plan, PlanProblem
from planner.costing.optimizer.reduced_problem import NO_SOURCE, ReducedProblem
from planner.costing.optimizer.work import CELL_UNITS, WorkMeter

DEFAULT_GAP = 0.01
DEFAULT_NODE_LIMIT = 2_000
ROUNDING = 1e-9
"""Relative difference of two costs that counts as none."""
_FAMILIES = 4
"""Kinds of row beside quotas."""
CONFLICT_SHARE = 0.1
"""Least share of the work left that the search for limits in conflict may take."""
NOT_CHEAPER = "no plan costs less than asked for"
UNDECIDED = "no plan was found within the work that one question may take"


def solve(
    problem: PlanProblem,
    allowed: Collection[str] | None = None,
    *,
    gap: float = DEFAULT_GAP,
    known_plans: Sequence[Plan] = (),
    node_limit: int = DEFAULT_NODE_LIMIT,
    work: WorkMeter | None = None,
    ceiling: float = np.inf,
    eases: bool = True,
) -> Plan:
    """The cheapest plan from the sources whose keys are in `allowed` (None: every source).

    The search goes on until (cost − bound) / cost ≤ `gap`, then polishes the plan for a set
    effort; `gap=0` asks for the optimum itself. `node_limit` bounds the search tree, so that an
    answer never depends on the time it took; where the `work` that may be spent is over, the best
    plan so far stands, with the bound proven so far. It costs no more than any plan of
    `known_plans` that the limits and `allowed` admit. Where no plan costs less than `ceiling` the
    search ends as soon as that is proven, without one (`NOT_CHEAPER`). Sources are put in order of
    their keys first: the order in which they are given changes nothing. Where half a cent of a
    budget is all that is missing, `eases` takes it for kept.

    >>> from planner.costing.optimizer.problem import RentalOption
    >>> rent = RentalOption("on demand", 8.0, 8.0, np.full(2, 20.0), np.full(2, 20.0))
    >>> demand = PlanProblem(np.array([800.0, 0.0]), np.array([16.0, 0.0]), (rent,), ())
    >>> plan = solve(demand)
    >>> plan.cost, plan.rented_hours["on demand"].tolist()
    (2000.0, [100.0, 0.0])
    """
    problem = restrict_sources(problem, allowed)
    work = (WorkMeter() if work is None else work).part(np.inf)
    rentals, units = len(problem.rental_options), len(problem.units)
    work.charge(presolve_units(problem, rentals, units))
    reduced = prune(with_attainable_capital(problem), work)
    affordable = within_capital(reduced)
    master = Master(build_rows(affordable, work), work=work)
    scale = master.rows.cost_scale
    search = Search(
        master, gap=gap, node_limit=node_limit, ceiling=(ceiling - problem.base_cost) / scale
    )
    starts = search.run()
    plans = [_dispatch_starts(affordable, starts, work)]
    if search.is_of_no_use:
        bound = search.bound * scale + problem.base_cost
        return Plan(False, np.inf, bound, why_not=(NOT_CHEAPER,))
    if master.rows.nodes and _is_open(problem, plans[0], search.bound * scale, gap):
        plans.append(_dispatch_starts(affordable, search.run_with_whole_nodes(), work))
    again = None
    if starts is not None and plans[-1] is None and problem.has_budget:
        lower = replace(affordable, problem=tightened(affordable.problem))
        again = Search(Master(build_rows(lower, work), work=work), gap=gap, node_limit=node_limit)
        plans.append(_dispatch_starts(affordable, again.run(), work))
    known_starts = [plan.units_started for plan in known_plans if plan.feasible]
    plans += [dispatch_units(reduced, starts, work) for starts in known_starts]
    feasible = [plan for plan in plans if plan is not None]
    if not feasible:
        is_undecided = work.left_out and not search.is_infeasible
        bound = search.bound * scale + problem.base_cost
        if is_undecided:
            return _undecided(bound)
        nothing = _no_plan(problem, reduced, work)
        eased = eased_to_the_cent(problem, nothing.conflicts) if eases else None
        if eased is not None:
            with_cent = partial(solve, gap=gap, node_limit=node_limit, ceiling=ceiling, eases=False)
            plan = with_cent(eased, known_plans=known_plans, work=work)
            if plan.feasible:
                return plan
        whole = _with_whole_nodes(affordable, again, work)
        if whole is None:
            return nothing
        feasible = [whole]
    best = min(feasible, key=lambda plan: plan.cost)
    return replace(best, bound=_bound(problem, best, search.bound * scale))


def presolve_units(problem: PlanProblem, rentals: int, units: int, copies: int = 1) -> float:
    """Units of work that it takes to compare so many sources of a problem, its months side by side
    `copies` times: every source by month, every unit by month of its start and by limit."""
    months = problem.hours.size * copies
    by_month = rentals * months
    by_start = units * months * (problem.hours.size if problem.monthly_budget is not None else 1)
    by_limit = units * months * (len(problem.quotas) + _FAMILIES)
    return CELL_UNITS * (by_month + by_start + by_limit)


def _dispatch_starts(
    reduced: ReducedProblem, chosen_starts: Floats | None, work: WorkMeter
) -> Plan | None:
    if chosen_starts is None:
        return None
    units = count_units_started(reduced, chosen_starts)
    return dispatch(reduced.problem, reduced.quotas, reduced.rentals, units, work)


def _with_whole_nodes(
    affordable: ReducedProblem, search: Search | None, work: WorkMeter
) -> Plan | None:
    """The plan of a search under lower budgets with whole nodes throughout, where they rent so."""
    if search is None or not search.master.rows.nodes:
        return None
    return _dispatch_starts(affordable, search.run_with_whole_nodes(), work)


def _is_open(problem: PlanProblem, plan: Plan | None, bound: float, gap: float) -> bool:
    """Whether a plan with whole nodes is further from the bound than asked for."""
    if plan is None:
        return bool(np.isfinite(bound))
    excess = plan.cost - (bound + problem.base_cost)
    return excess > max(gap, ROUNDING) * abs(plan.cost)


def _undecided(bound: float) -> Plan:
    return Plan(False, np.inf, bound, why_not=(UNDECIDED,))


def _no_plan(problem: PlanProblem, reduced: ReducedProblem, work: WorkMeter) -> Plan:
    part = work.part(max(work.remaining, work.stop_after * CONFLICT_SHARE), stops=True)
    amounts = {budget.name: budget.amount for budget in problem.capital_budgets}
    conflicts = tuple(
        replace(conflict, current_value=amounts.get(conflict.limit, conflict.current_value))
        for conflict in find_conflicts(reduced, part)
    )
    reasons = [str(conflict) for conflict in conflicts] or ["no plan meets every limit"]
    if part.left_out:
        reasons.append("other limits were not tried within the work that one question may take")
    return Plan(False, np.inf, np.inf, why_not=tuple(reasons), conflicts=conflicts)


def restrict_sources(problem: PlanProblem, allowed: Collection[str] | None) -> PlanProblem:
    """The problem with its allowed sources only, in the order of their keys.

    Raises ValueError where two sources share a key or a coefficient is not a number.
    """
    _check_prices(problem)

    def is_allowed(key: str) -> bool:
        return allowed is None or key in allowed

    return replace(
        problem,
        rental_options=tuple(
            sorted((s for s in problem.rental_options if is_allowed(s.key)), key=lambda s: s.key)
        ),
        units=tuple(sorted((s for s in problem.units if is_allowed(s.key)), key=lambda s: s.key)),
    )


def count_units_started(
    reduced: ReducedProblem, unit_counts: Floats
) -> dict[str, NDArray[np.int64]]:
    """key → [T] units started in each month, of the chosen start candidates [n]."""
    units: dict[str, NDArray[np.int64]] = {}
    months = reduced.problem.units[0].start_cost.size if reduced.problem.units else 0
    for j in np.flatnonzero(unit_counts):
        if reduced.start_candidates.source[j] == NO_SOURCE:
            continue
        key = reduced.problem.units[reduced.start_candidates.source[j]].key
        row = units.setdefault(key, np.zeros(months, np.int64))
        row[reduced.start_candidates.month[j]] += int(unit_counts[j])
    return units


def dispatch_units(
    reduced: ReducedProblem, units: Mapping[str, NDArray[np.int64]], work: WorkMeter
) -> Plan | None:
    """The plan that starts these units, with the hours that are best here; None if not allowed."""
    problem = reduced.problem
    units_started = {key: row for key, row in units.items() if row.any()}
    sources = {unit.key: unit for unit in problem.units}
    if not units_started.keys() <= sources.keys():
        return None
    for key, row in units_started.items():
        unit, months = sources[key], row > 0
        if not np.isfinite(unit.start_cost[months]).all():
            return None
        if unit.max_units is not None and row.sum() > unit.max_units:
            return None
    return dispatch(problem, reduced.quotas, reduced.rentals, units_started, work)


def _bound(problem: PlanProblem, plan: Plan, bound: float) -> float:
    """The bound with the base cost, taken as the cost itself where rounding alone parts them."""
    whole = bound + problem.base_cost
    if plan.cost - whole <= ROUNDING * abs(plan.cost):
        return plan.cost
    return whole


def _check_prices(problem: PlanProblem) -> None:
    keys = [s.key for s in problem.rental_options] + [u.key for u in problem.units]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"{twice}: two sources have this key; give each one of its own")
    figures = [s.hour_cost for s in problem.rental_options] + [u.start_cost for u in problem.units]
    wrong = np.flatnonzero(np.isnan(np.array(figures)).any(axis=-1))
    if wrong.size:
        key = keys[int(wrong[0])]
        raise ValueError(f"{key}: a price is not a number; leave a source without a price out")
