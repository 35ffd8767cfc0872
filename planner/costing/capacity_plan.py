"""The cheapest plan that meets the demand of every month, with a certified bound. PURE."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from planner.costing.plan_highs import LinearModel, solve_model
from planner.costing.plan_model import PlanModel, build_model
from planner.costing.plan_problem import Floats, Plan, PlanProblem

DEFAULT_GAP = 1e-3
DEFAULT_NODE_LIMIT = 20_000


def solve(
    problem: PlanProblem,
    allowed: Collection[str] | None = None,
    *,
    gap: float = DEFAULT_GAP,
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> Plan:
    """The cheapest plan from the sources whose keys are in `allowed` (None: every source).

    Stops once (cost − bound) / cost ≤ `gap`, or after `node_limit` nodes of the search tree;
    the plan then carries the bound reached. Sources are put in order of their keys first, so
    the order in which they are given changes nothing.

    >>> from planner.costing.plan_problem import HourlySource
    >>> rent = HourlySource("on demand", 8.0, 8.0, np.full(2, 20.0), np.full(2, 20.0))
    >>> demand = PlanProblem(np.array([800.0, 0.0]), np.array([16.0, 0.0]), (rent,), ())
    >>> plan = solve(demand)
    >>> plan.cost, plan.rented_hours["on demand"].tolist()
    (2000.0, [100.0, 0.0])
    """
    problem = _narrowed(problem, allowed)
    model = build_model(problem)
    found = solve_model(model.linear, gap=gap, node_limit=node_limit)
    if found.values is None:
        return Plan(False, np.inf, np.inf, why_not=("no plan meets every limit",))
    fixed = solve_model(_with_whole_units(model, found.values))
    values = found.values if fixed.values is None else fixed.values
    plan = model.plan(values)
    bound = problem.base_cost + model.cost_scale * min(found.bound, found.objective)
    return replace(plan, bound=min(bound, plan.cost))


def _narrowed(problem: PlanProblem, allowed: Collection[str] | None) -> PlanProblem:
    """The problem with its allowed sources only, in the order of their keys."""

    def kept(key: str) -> bool:
        return allowed is None or key in allowed

    return replace(
        problem,
        hourly=tuple(sorted((s for s in problem.hourly if kept(s.key)), key=lambda s: s.key)),
        units=tuple(sorted((s for s in problem.units if kept(s.key)), key=lambda s: s.key)),
    )


def _with_whole_units(model: PlanModel, values: Floats) -> LinearModel:
    linear = model.linear
    whole = np.where(linear.integer, np.round(values), 0.0)
    return replace(
        linear,
        lower=np.where(linear.integer, whole, linear.lower),
        upper=np.where(linear.integer, whole, linear.upper),
        integer=np.zeros_like(linear.integer),
    )
