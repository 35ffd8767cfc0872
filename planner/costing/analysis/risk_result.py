"""What the costs of scenarios over all samples come to. PURE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import PriceModel
from planner.costing.analysis.monte_carlo import RiskParameters

Floats = NDArray[np.float64]

HALF_CENT = 0.005
"""Most by which a line is rounded."""


@dataclass(frozen=True)
class RiskResult:
    """Net present cost, and undiscounted total, of each scenario over the samples."""

    percentiles: Mapping[ScenarioKey, tuple[float, float, float]]
    """p10, p50, p90."""
    total_percentiles: Mapping[ScenarioKey, tuple[float, float, float]]
    """The same of the undiscounted total."""
    mean: Mapping[ScenarioKey, float]
    cvar_90: Mapping[ScenarioKey, float]
    """CVaR 90: mean of the most expensive tenth of the samples."""
    probability_cheapest: Mapping[ScenarioKey, float]
    """Sums to 1: of scenarios that cost the same the first counts."""
    regret: Mapping[ScenarioKey, float]
    """Mean of what a scenario costs above the cheapest one of each sample."""
    samples: int
    seed: int
    price_model: PriceModel


def summarize_risk(
    keys: Sequence[ScenarioKey], cost: Floats, total: Floats, parameters: RiskParameters
) -> RiskResult:
    """What the net present costs and the undiscounted totals, both [scenario, N], come to."""
    if not keys:
        n, seed, model = parameters.samples, parameters.seed, parameters.price_model
        return RiskResult({}, {}, {}, {}, {}, {}, n, seed, model)
    n = cost.shape[1]
    cheapest = np.bincount(_first_cheapest(cost), minlength=len(keys)) / n
    best = cost.min(axis=0)
    return RiskResult(
        percentiles={k: _p10_p50_p90(row) for k, row in zip(keys, cost, strict=True)},
        total_percentiles={k: _p10_p50_p90(row) for k, row in zip(keys, total, strict=True)},
        mean={k: float(row.mean()) for k, row in zip(keys, cost, strict=True)},
        cvar_90={k: calculate_cvar_90(row) for k, row in zip(keys, cost, strict=True)},
        probability_cheapest=dict(zip(keys, cheapest.tolist(), strict=True)),
        regret={k: float((row - best).mean()) for k, row in zip(keys, cost, strict=True)},
        samples=parameters.samples,
        seed=parameters.seed,
        price_model=parameters.price_model,
    )


def reach_plans(
    ends: Mapping[ScenarioKey, tuple[float, float, float]],
    plans: Mapping[ScenarioKey, tuple[float, int]],
) -> dict[ScenarioKey, tuple[float, float, float]]:
    """Percentiles moved to the cost of each plan outside them where cents alone part them, as its
    lines are rounded and samples are not; `plans` holds cost and number of lines.

    >>> ends = {ScenarioKey.HYBRID: (100.02, 100.02, 120.0)}
    >>> reach_plans(ends, {ScenarioKey.HYBRID: (100.0, 24)})[ScenarioKey.HYBRID]
    (100.0, 100.0, 120.0)
    >>> reach_plans(ends, {ScenarioKey.HYBRID: (99.0, 24)}) == ends
    True
    """
    reached = {}
    for key, (low, middle, high) in ends.items():
        cost, lines = plans[key]
        if not low <= cost <= high:
            low, middle, high = (
                cost if abs(end - cost) <= HALF_CENT * lines else end for end in (low, middle, high)
            )
        reached[key] = (low, middle, high)
    return reached


def calculate_cvar_90(row: Floats) -> float:
    """Mean of the worst tenth of the costs of a scenario.

    >>> calculate_cvar_90(np.arange(20.0))
    18.5
    """
    tail = max(1, len(row) // 10)
    return float(np.partition(row, len(row) - tail)[len(row) - tail :].mean())


def _first_cheapest(cost: Floats) -> NDArray[np.int64]:
    """[N] the first scenario within a hair of the least cost."""
    edge = cost.min(axis=0)
    edge = edge + 1e-9 * np.abs(edge)
    return np.asarray((cost <= edge).argmax(axis=0))


def _p10_p50_p90(row: Floats) -> tuple[float, float, float]:
    low, middle, high = np.percentile(row, (10, 50, 90))
    return float(low), float(middle), float(high)
