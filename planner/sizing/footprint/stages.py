"""Whether a training is pre-training or fine-tuning. PURE."""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import active_parameters, is_adapter

PRETRAINING, FINE_TUNING = "pretraining", "fine_tuning"


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
