"""The range of a plan, from its cost in simulated outcomes. PURE."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.comparison_steps.range_doubts import explain_median
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import PortfolioRange
from planner.costing.analysis.risk_result import reach_plans
from planner.costing.cost_model.server import ServerToBuy
from planner.costing.optimizer.problem import Floats
from planner.costing.results.scenario_result import cents
from planner.portfolio.books import Books
from planner.portfolio.joint_inputs import source_key

_PLAN = ScenarioKey.HYBRID


def build_range(
    cost: Floats, books: Books, seed: int, currency: str, *, holds: bool
) -> PortfolioRange:
    """Of [2, N] net present and nominal cost; ends that cents alone part from the plan reach it."""
    lines = sum(len(part.lines) for part in books.parts)
    present, total = (
        reach_plans({_PLAN: tuple(np.percentile(row, (10, 50, 90)))}, {_PLAN: (float(at), lines)})
        for row, at in zip(cost, (books.net_present_cost, books.total_cost), strict=True)
    )
    low, middle, high = map(cents, present[_PLAN])
    p10, p50, p90 = map(cents, total[_PLAN])
    return PortfolioRange(
        p10=p10,
        p50=p50,
        p90=p90,
        mean=cents(float(cost[1].mean())),
        present_p10=low,
        present_p50=middle,
        present_p90=high,
        samples=cost.shape[1],
        seed=seed,
        holds=holds,
        note=explain_median(books.parts, list(_unsure(books)), float(p50), currency),
    )


def _unsure(books: Books) -> Iterator[ServerToBuy]:
    """What may become of the servers that a portfolio orders."""
    for leaf in books.apart or (books,):
        for part in leaf.parts:
            for key in map(source_key, part.units_started):
                known = (one.servers.unsure.get(key) for one in leaf.inputs)
                yield from (one for one in known if one is not None)
