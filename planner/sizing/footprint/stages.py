"""Whether a training is pre-training or fine-tuning. PURE."""

from __future__ import annotations

import math
from collections.abc import Callable

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import active_parameters, is_adapter

PRETRAINING, FINE_TUNING = "pretraining", "fine_tuning"
NEAR_THE_STAGES = 2.0
"""Tokens over active parameters, or the reverse, up to which a guessed stage is said to be one and
from rules 6 on lies between the two; a planning choice, 2026."""
BETWEEN_RULES = 6
"""Edition of the rules from which that counts, 2026."""


def stage_of(training: Training) -> str:
    """As the request says; else fine-tuning with adapters or on fewer tokens than parameters at
    work, which no pre-training gets by with (20 tokens a parameter are usual: Hoffmann et al.,
    arXiv 2203.15556, 2022).

    >>> stage_of(Training(kind="training", parameters=7e9, tokens=3e7))
    'fine_tuning'
    """
    if training.stage is not None:
        return training.stage
    is_short = training.tokens < active_parameters(training)
    return FINE_TUNING if is_short or is_adapter(training) else PRETRAINING


def is_near_both(training: Training) -> bool:
    """Whether the stage is guessed from tokens that might as well make it the other one."""
    if training.stage is not None or is_adapter(training):
        return False
    ratio = training.tokens / active_parameters(training)
    return 1 / NEAR_THE_STAGES <= ratio <= NEAR_THE_STAGES


def by_stage(training: Training, rules: int, value: Callable[[str], float]) -> float:
    """What a stage makes of a training; from rules 6 on of a guess from D tokens, half to twice the
    N active parameters, what lies between the stages by ln (D / N).

    >>> seven = Training(kind="training", parameters=7e9, tokens=7e9)
    >>> value = {"pretraining": 1.0, "fine_tuning": 3.0}.__getitem__
    >>> by_stage(seven, 6, value), by_stage(seven, 5, value)
    (2.0, 1.0)
    >>> stated = seven.model_copy(update={"stage": "fine_tuning"})
    >>> more = seven.model_copy(update={"tokens": 9.9e9})
    >>> by_stage(stated, 6, value), round(by_stage(more, 6, value), 2)
    (3.0, 1.5)
    """
    if rules < BETWEEN_RULES or not is_near_both(training):
        return value(stage_of(training))
    ratio = training.tokens / active_parameters(training)
    tuning = 0.5 - math.log(ratio) / (2 * math.log(NEAR_THE_STAGES))
    return tuning * value(FINE_TUNING) + (1 - tuning) * value(PRETRAINING)
