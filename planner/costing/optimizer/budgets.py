"""Budgets to the cent, beyond what a solver can tell apart. PURE.

A solver takes a row for kept, and a number for whole, where a millionth is missing: of a server of
300,000 that is 30 cents. So what a plan takes of each budget is added up from the plan itself, and
budgets of capital are put down beforehand to what purchases can come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import floor, gcd

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.problem import (
    CASH_BUDGETS,
    HALF_CENT,
    CapitalBudget,
    ConflictingConstraint,
    Floats,
    PlanProblem,
)
from planner.costing.optimizer.reduced_problem import ReducedProblem

SOLVER_TOLERANCE = 4e-6
"""Share of a budget within which a solver may take it for kept."""
_CENTS = 100.0
_WHOLE_CENT = 1e-6
UnitsStarted = Mapping[str, NDArray[np.int64]]


def keeps_capital_budgets(problem: PlanProblem, units_started: UnitsStarted) -> bool:
    """Whether what is started takes no more capital than each budget has.

    >>> from planner.costing.optimizer.problem import CommitmentOption
    >>> one, nothing = np.ones(1), np.zeros(1)
    >>> server = CommitmentOption(
    ...     "server", True, 8.0, 8.0, 0, 1, one, nothing, 730.0, None, nothing, 300_000 * one)
    >>> demand = PlanProblem(one, one, (), (server,), capex_budget=299_999.99)
    >>> keeps_capital_budgets(demand, {"server": np.ones(1, np.int64)})
    False
    """
    if not problem.capital_budgets:
        return True
    capital = np.zeros(problem.hours.size)
    for unit in problem.units:
        if unit.key in units_started:
            row = units_started[unit.key]
            capital += np.where(row > 0, unit.capex * row, 0.0)
    return all(
        float(capital[budget.first : budget.last].sum()) <= budget.amount + HALF_CENT
        for budget in problem.capital_budgets
    )


def keeps_cash_budgets(
    problem: PlanProblem, used_hours: Mapping[str, Floats], rented_hours: Mapping[str, Floats]
) -> bool:
    """Whether the cash of every month and all payments are within their budgets; what units cost
    to start is part of the problem's base."""
    if not problem.limits_cash:
        return True
    by_use = [
        unit.hour_cash * used_hours[unit.key] for unit in problem.units if unit.key in used_hours
    ]
    by_use += [
        source.hour_cash * rented_hours[source.key]
        for source in problem.rental_options
        if source.key in rented_hours
    ]
    cash = np.sum(by_use, axis=0) if by_use else np.zeros(problem.hours.size)
    if problem.total_budget is not None:
        paid = problem.base_payments + float(cash.sum())
        if paid > problem.total_budget + HALF_CENT:
            return False
    if problem.monthly_budget is None:
        return True
    base = np.zeros(cash.size) if problem.base_cash is None else problem.base_cash
    return bool((base + cash <= problem.monthly_budget + HALF_CENT).all())


def tightened(problem: PlanProblem) -> PlanProblem:
    """The problem with every budget lower by what a solver overlooks."""

    def less(amount: float | None) -> float | None:
        return None if amount is None else amount * (1 - SOLVER_TOLERANCE)

    return replace(
        problem,
        capex_budget=less(problem.capex_budget),
        monthly_budget=less(problem.monthly_budget),
        total_budget=less(problem.total_budget),
        capex_by_period=tuple(
            replace(part, amount=part.amount * (1 - SOLVER_TOLERANCE))
            for part in problem.capex_by_period
        ),
    )


def eased_to_the_cent(
    problem: PlanProblem, conflicts: Sequence[ConflictingConstraint]
) -> PlanProblem | None:
    """The problem with the budget that alone stands in the way half a cent higher, where no more
    is missing: a budget of what a plan comes to in cents is kept by it. None elsewhere.

    >>> nothing = np.zeros(1)
    >>> problem = PlanProblem(nothing, nothing, (), (), total_budget=100.0)
    >>> short = ConflictingConstraint("total_budget", 100.0, 100.002)
    >>> eased_to_the_cent(problem, [short]).total_budget
    100.005
    >>> eased_to_the_cent(problem, [replace(short, required_value=100.01)])
    """
    if len(conflicts) != 1 or conflicts[0].limit not in CASH_BUDGETS:
        return None
    (one,) = conflicts
    if one.current_value is None or one.required_value is None:
        return None
    if one.required_value > one.current_value + HALF_CENT:
        return None
    amount = one.current_value + HALF_CENT
    if one.limit == "total_budget":
        return replace(problem, total_budget=amount)
    return replace(problem, monthly_budget=amount)


def with_attainable_capital(problem: PlanProblem) -> PlanProblem:
    """The problem with budgets of capital put down to what purchases can come to: a multiple of
    what all their prices, in cents, are multiples of. No plan is lost.

    >>> from planner.costing.optimizer.problem import CommitmentOption
    >>> two, nothing = np.ones(2), np.zeros(2)
    >>> server = CommitmentOption(
    ...     "server", True, 8.0, 8.0, 0, 1, two, nothing, 730.0, None, nothing, 300_000 * two)
    >>> demand = PlanProblem(two, two, (), (server,), capex_budget=599_999.7)
    >>> with_attainable_capital(demand).capex_budget
    300000.0
    """
    if not problem.capital_budgets:
        return problem
    amounts = {id(b): _attainable(problem, b) for b in problem.capex_by_period}
    whole = problem.capex_budget
    if whole is not None:
        whole = _attainable(problem, CapitalBudget("", whole, 0, problem.hours.size))
    parts = tuple(replace(b, amount=amounts[id(b)]) for b in problem.capex_by_period)
    return replace(problem, capex_budget=whole, capex_by_period=parts)


def _attainable(problem: PlanProblem, budget: CapitalBudget) -> float:
    step = 0
    for cents in _prices_in_cents(problem, budget):
        whole = round(cents)
        if abs(cents - whole) > _WHOLE_CENT:
            return budget.amount
        step = gcd(step, whole)
    if step <= 1:
        return budget.amount
    return floor((budget.amount + HALF_CENT) * _CENTS / step) * step / _CENTS


def _prices_in_cents(problem: PlanProblem, budget: CapitalBudget) -> Iterator[float]:
    months = slice(budget.first, budget.last)
    for unit in problem.units:
        prices = unit.capex[months][np.isfinite(unit.start_cost[months])]
        yield from (_CENTS * np.unique(prices)).tolist()


def within_capital(reduced: ReducedProblem) -> ReducedProblem:
    """The market with no more starts of one column than the budgets of capital pay for."""
    candidates = reduced.start_candidates
    most = candidates.upper_bound
    for budget in reduced.problem.capital_budgets:
        capex = candidates.capex_of(budget)
        paid_for = np.floor((budget.amount + HALF_CENT) / np.where(capex > 0, capex, 1.0))
        most = np.where(capex > 0, np.minimum(most, paid_for), most)
    return replace(reduced, start_candidates=replace(candidates, upper_bound=most))
