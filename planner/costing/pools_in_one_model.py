"""Credits and minimum spends as the optimiser sees them in one model. PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.provider_bills import Bills
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Plan, PlanProblem
from planner.costing.optimizer.solve import DEFAULT_GAP, restrict_sources
from planner.costing.optimizer.with_pools import Spending, solve_with_pools
from planner.costing.optimizer.work import WorkMeter

Floats = NDArray[np.float64]
WholeModel = Callable[[PlanProblem, Spending], Plan | None]
"""Solves a problem together with its pools; None where it is too large."""
WHOLE_SHARE = 0.1
"""Share of the work of a scenario that one model may take."""


def one_model(inputs: ModelInputs, keys: frozenset[str], work: WorkMeter) -> WholeModel | None:
    """How a market of some sources is solved together with its pools: as one model, where plans
    need not keep to one kind of machine. None under rules before 6."""
    if not inputs.keeps_books or inputs.one_accelerator or inputs.fills_machines:
        return None

    def whole(problem: PlanProblem, spending: Spending) -> Plan | None:
        part = work.share(WHOLE_SHARE, stops=False)
        within = restrict_sources(problem, keys)
        return solve_with_pools(within, spending, gap=DEFAULT_GAP / 10, work=part)

    return whole


def read_spending(
    inputs: ModelInputs,
    bills: Mapping[str, Bills],
    worth: Floats,
    fixed: Mapping[str, Floats],
    in_total: float,
) -> Spending:
    """The pools and the bills that they count."""
    return Spending(
        tuple(pool.provider for pool in inputs.pools),
        worth,
        np.array([pool.amount for pool in inputs.pools]),
        np.array([pool.is_credit for pool in inputs.pools], bool),
        {s.key: s.provider for s in inputs.sources},
        {key: one.hour for key, one in bills.items()},
        {key: one.unit for key, one in bills.items()},
        fixed,
        in_total,
    )
