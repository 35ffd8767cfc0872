"""The cheapest plan that meets the demand of every month, with a certified bound. PURE.

One model of whole units (`plan_model`), solved to a gap. A solver takes a row for kept where a
millionth is missing, so that budgets are added up again from the plan, in whole cents.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from planner.costing.optimizer.infeasibility import find_conflicts
from planner.costing.optimizer.plan_model import PlanModel, Spending
from planner.costing.optimizer.problem import (
    HALF_CENT,
    CommitmentOption,
    Plan,
    PlanProblem,
    RentalOption,
)
from planner.costing.optimizer.work import CELL_UNITS, WorkMeter

DEFAULT_GAP = 1e-4
NOT_CHEAPER = "no plan costs less than asked for"
UNDECIDED = "no plan was found within the work that one question may take"
_TIGHTER = 1 - 4e-6
"""What is left of a budget that a solver is sure to keep."""
_FAMILIES = 4
"""Kinds of row beside quotas."""
CONFLICT_SHARE = 0.1
"""Least share of the work left that the search for limits in conflict may take."""


def solve(
    problem: PlanProblem,
    allowed: Collection[str] | None = None,
    *,
    gap: float = DEFAULT_GAP,
    work: WorkMeter | None = None,
    ceiling: float = np.inf,
    spending: Spending | None = None,
) -> Plan:
    """The cheapest plan from the sources whose keys are in `allowed` (None: every source).

    The search goes on until (cost − bound) / cost ≤ `gap`; where the `work` that may be spent is
    over, the best plan so far stands, with the bound proven so far. Where no plan costs less than
    `ceiling` the search ends as soon as that is proven, without one (`NOT_CHEAPER`). Sources are
    put in order of their keys first: the order in which they are given changes nothing. Where
    half a cent of a budget of cash is all that is missing, it is kept.

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
    plan = _search(problem, gap, work, ceiling, spending)
    if plan.feasible and _is_over_budget(problem, plan):
        lower = _change_budgets(problem, times=_TIGHTER)
        plan = replace(_search(lower, gap, work, ceiling, spending), bound=plan.bound)
    if plan.feasible or NOT_CHEAPER in plan.why_not or UNDECIDED in plan.why_not:
        return plan
    if problem.limits_cash:
        plan = _search(_change_budgets(problem, more=HALF_CENT), gap, work, ceiling, spending)
        if plan.feasible:
            return plan
    part = work.part(max(work.remaining, work.stop_after * CONFLICT_SHARE), stops=True)
    conflicts = find_conflicts(problem, part)
    reasons = [str(conflict) for conflict in conflicts] or ["no plan meets every limit"]
    if part.left_out:
        reasons.append("other limits were not tried within the work that one question may take")
    return Plan(False, np.inf, np.inf, why_not=tuple(reasons), conflicts=conflicts)


def _search(
    problem: PlanProblem, gap: float, work: WorkMeter, ceiling: float, spending: Spending | None
) -> Plan:
    model = PlanModel(problem, spending)
    solution = model.model.solve(work, gap=gap, ceiling=ceiling - model.base_cost)
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


def _is_over_budget(problem: PlanProblem, plan: Plan) -> bool:
    if not problem.has_budget:
        return False
    months = problem.hours.size
    capital, cash, paid = np.zeros(months), np.zeros(months), problem.base_payments
    if problem.base_cash is not None:
        cash += problem.base_cash
    for unit in problem.units:
        started = plan.units_started[unit.key]
        at = np.flatnonzero(started)
        capital[at] += unit.capex[at] * started[at]
        hourly = unit.hour_cash * plan.used_hours[unit.key]
        paid += float(unit.all_payments[at] @ started[at]) + float(hourly.sum())
        cash += hourly
        if problem.monthly_budget is not None:
            cash += started[at] @ unit.cash_by_month[at]
    for rental in problem.rental_options:
        hourly = rental.hour_cash * plan.rented_hours[rental.key]
        cash, paid = cash + hourly, paid + float(hourly.sum())
    sums = [(float(capital[b.first : b.last].sum()), b.amount) for b in problem.capital_budgets]
    if problem.monthly_budget is not None:
        sums.append((float(cash.max()), problem.monthly_budget))
    if problem.total_budget is not None:
        sums.append((paid, problem.total_budget))
    return any(taken > amount + HALF_CENT for taken, amount in sums)


def _change_budgets(problem: PlanProblem, times: float = 1.0, more: float = 0.0) -> PlanProblem:

    def change(amount: float | None, more: float = 0.0) -> float | None:
        return None if amount is None else amount * times + more

    return replace(
        problem,
        capex_budget=change(problem.capex_budget),
        capex_by_period=tuple(
            replace(part, amount=part.amount * times) for part in problem.capex_by_period
        ),
        monthly_budget=change(problem.monthly_budget, more),
        total_budget=change(problem.total_budget, more),
    )
