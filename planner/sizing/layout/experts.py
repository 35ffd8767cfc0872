"""Whether the experts of a request can be: refusals by field. PURE."""

from __future__ import annotations

import math

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import is_mixture
from planner.sizing.layout.grid import WHOLE_EXPERT_SIZES, Floats, Grid
from pricing.common.invalid_input import InvalidInput

USUAL_EXPERTS = 64
"""Experts of a mixture where the request does not say (DeepSeek and Qwen3 have 64 to 256,
2024-2025)."""


def sizes_that_divide(experts: int) -> tuple[int, ...]:
    """Ranks over which experts are spread evenly: of the sizes that are looked at what divides
    their number.

    >>> sizes_that_divide(128), sizes_that_divide(16), sizes_that_divide(60), sizes_that_divide(61)
    ((4, 8, 16, 32, 64), (4, 8, 16), (4,), ())
    """
    return tuple(sorted({math.gcd(experts, size) for size in WHOLE_EXPERT_SIZES} - {1}))


def replicas_at_once(grid: Grid) -> Floats:
    """Replicas of which a multiple spreads the experts evenly: e divides the d c t ranks of a stage
    (NVIDIA/Megatron-LM core/parallel_state.py, 2024), so that d is a multiple of e / gcd(e, c t).

    >>> from planner.sizing.layout.grid import make_grid
    >>> replicas_at_once(make_grid([(1, 4, 1, 8, 1, 0), (2, 4, 1, 8, 1, 0)])).tolist()
    [8.0, 4.0]
    """
    expert = grid.expert.astype(np.int64)
    ranks = (grid.tensor * grid.context).astype(np.int64)
    replicas: Floats = (expert // np.gcd(expert, ranks)).astype(np.float64)
    return replicas


def check_experts(training: Training) -> None:
    """Refuse experts that cannot be.

    Raises `InvalidInput` on `experts_per_token` where a token would visit more than there are, and
    on `layout` where it spreads experts that there are not, or not evenly.

    >>> one = Training(kind="training", parameters=47e9, tokens=1e9, active_parameters=13e9)
    >>> check_experts(one.model_copy(update={"experts": 8, "experts_per_token": 2}))
    """
    count, active = training.experts, training.experts_per_token
    if count and active and active > count:
        raise InvalidInput(
            "experts_per_token",
            f"{active:,} of {count:,} experts; a token visits {count:,} at most",
        )
    ways = training.layout.expert if training.layout else 1
    if ways > 1 and not is_mixture(training):
        raise InvalidInput(
            "layout",
            f"expert {ways} spreads experts, and a dense model has none; active_parameters, fewer "
            "than parameters, make it a mixture",
        )
    if count is None and ways > USUAL_EXPERTS:
        raise InvalidInput(
            "layout",
            f"expert {ways} is more than the {USUAL_EXPERTS} experts of a layer that are taken "
            "where none are named; experts says how many there are",
        )
    if count and count % ways:
        raise InvalidInput(
            "layout",
            f"expert {ways} does not divide the {count:,} experts of a layer; 1 to {count:,} that "
            "divide them do",
        )
