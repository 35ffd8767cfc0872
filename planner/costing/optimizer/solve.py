"""The cheapest plan that meets the demand of every month, with a certified bound. PURE.

One model of whole units (`plan_model`), solved to a gap.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from planner.costing.optimizer.infeasibility import find_conflicts
from planner.costing.optimizer.model import Effort
from planner.costing.optimizer.plan_model import PlanModel, Spending
from planner.costing.optimizer.problem import CommitmentOption, Plan, PlanProblem, RentalOption
from planner.costing.optimizer.work import CELL_UNITS, WorkMeter

DEFAULT_GAP = 1e-4


FULL = Effort(DEFAULT_GAP)
BESIDE = Effort(1e-3, 120_000.0, many_choices=0, explains=False)
"""For plans that are held against the advised one; an assumption of this project, 2026."""
NOT_CHEAPER = "no plan costs less than asked for"
UNDECIDED = "no plan was found within the work that one question may take"
_FAMILIES = 4
"""Kinds of row beside quotas."""
CONFLICT_SHARE = 0.1
"""Least share of the work left that the search for limits in conflict may take."""


def solve(
    problem: PlanProblem,
    allowed: Collection[str] | None = None,
    *,
    effort: Effort = FULL,
    work: WorkMeter | None = None,
    ceiling: float = np.inf,
    spending: Spending | None = None,
) -> Plan:
    """The cheapest plan from the sources whose keys are in `allowed` (None: every source).

    The search goes on until (cost − bound) / cost ≤ gap; where the `effort` or the `work` that may
    be spent is over, the best plan so far stands, with the bound proven so far. Where no plan costs
    less than `ceiling` the search ends as soon as that is proven, without one (`NOT_CHEAPER`).
    Sources are put in order of their keys first: the order in which they are given changes nothing.

    With `spending` the bound counts what credits pay and minimum spends are short of, while `cost`
    is without both: who asks settles the bills, in the order of their months.

    >>> from planner.costing.optimizer.problem import RentalOption
    >>> rent = RentalOption("on demand", 8.0, 8.0, np.full(2, 20.0), np.full(2, 20.0))
    >>> demand = PlanProblem(np.array([800.0, 0.0]), np.array([16.0, 0.0]), (rent,), ())
    >>> plan = solve(demand)
    >>> plan.cost, plan.rented_hours["on demand"].tolist()
    (2000.0, [100.0, 0.0])
    """
    problem = restrict_sources(problem, allowed)
    work = (WorkMeter() if work is None else work).part(np.inf)
    work.charge(presolve_units(problem, len(problem.rental_options), len(problem.units)))
    plan = _search(problem, effort, work, ceiling, spending)
    if plan.feasible or not effort.explains or {NOT_CHEAPER, UNDECIDED} & set(plan.why_not):
        return plan
    part = work.part(max(work.remaining, work.stop_after * CONFLICT_SHARE), stops=True)
    conflicts = find_conflicts(problem, part)
    reasons = [str(conflict) for conflict in conflicts] or ["no plan meets every limit"]
    if part.left_out:
        reasons.append("other limits were not tried within the work that one question may take")
    return Plan(False, np.inf, np.inf, why_not=tuple(reasons), conflicts=conflicts)


def _search(
    problem: PlanProblem, effort: Effort, work: WorkMeter, ceiling: float, spending: Spending | None
) -> Plan:
    model = PlanModel(problem, spending)
    solution = model.model.solve(work, effort=effort, ceiling=ceiling - model.base_cost)
    bound = solution.bound + model.base_cost
    if solution.values is not None and bound <= ceiling:
        return model.plan(solution.values, solution.bound)
    if np.isinf(solution.bound) and solution.bound > 0:
        return Plan(False, np.inf, bound)
    return Plan(False, np.inf, bound, why_not=(NOT_CHEAPER if bound >= ceiling else UNDECIDED,))


def presolve_units(problem: PlanProblem, rentals: int, units: int) -> float:
    """Units of work that it takes to compare so many sources of a problem: every source by month,
    every unit by month of its start and by limit."""
    months = problem.hours.size
    by_start = units * months * (months if problem.monthly_budget is not None else 1)
    by_limit = units * months * (len(problem.quotas) + _FAMILIES)
    return CELL_UNITS * (rentals * months + by_start + by_limit)


def restrict_sources(problem: PlanProblem, allowed: Collection[str] | None) -> PlanProblem:
    """The problem with its allowed sources only, in the order of their keys.

    Raises ValueError where two sources share a key or a coefficient is not a number.
    """
    rentals, units = sorted(problem.rental_options, key=_key), sorted(problem.units, key=_key)
    keys = [rental.key for rental in rentals] + [unit.key for unit in units]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"{twice}: two sources have this key; give each one of its own")
    prices = [s.hour_cost for s in rentals] + [unit.start_cost for unit in units]
    wrong = np.flatnonzero(np.isnan(np.array(prices)).any(axis=-1))
    if wrong.size:
        key = keys[int(wrong[0])]
        raise ValueError(f"{key}: a price is not a number; leave a source without a price out")
    return replace(
        problem,
        rental_options=tuple(s for s in rentals if allowed is None or s.key in allowed),
        units=tuple(unit for unit in units if allowed is None or unit.key in allowed),
    )


def _key(source: RentalOption | CommitmentOption) -> str:
    return source.key
