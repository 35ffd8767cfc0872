"""Accelerators and hours a month that serve a trained model. PURE."""

from __future__ import annotations

import math

from planner.contract.answer.estimate import ServingPlan
from planner.contract.models.fill import is_encoder
from planner.contract.request.serving import Serving
from planner.contract.request.workload import Training
from planner.sizing.evidence.served_model import Load
from planner.sizing.footprint.precisions import knows_fp8
from planner.sizing.serving.served_model import served_model
from planner.sizing.serving.serving_rate import (
    PACE_RULES,
    PROMPT_RULES,
    RATE_RANGE,
    STAGE_RULES,
    Replica,
    fewest_for,
    replica_on,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator
from pricing.market.offers import HOURS_PER_MONTH

ENCODER_RULES = 6
"""Edition of the rules from which encoders are not served as if they wrote, 2026."""
MOST_PER_REPLICA = 512
"""Accelerators of one replica beyond which nothing is served; planning value, 2026: DeepSeek-V3 is
served on 32 to 144 (arXiv 2412.19437 section 3.4, 2024)."""


def plan_serving(
    training: Training, serving: Serving, one: Accelerator, rules: int = PACE_RULES
) -> ServingPlan:
    """Whole replicas that give the tokens asked for.

    Raises `InvalidInput` on `serving` where the accelerator cannot serve the model.

    >>> from pricing.market.accelerators import get
    >>> llama = Training(kind="training", model="Llama-3.1-8B", tokens=1)
    >>> plan = plan_serving(llama, Serving(tokens_per_second=5000), get("nvidia-h100-80gb-sxm"))
    >>> plan.precision, plan.accelerators_per_replica, plan.accelerators
    ('fp8', 1, 1)
    """
    precision = serving.precision or usual_precision(one, rules)
    replica = _replica(training, serving, one, precision, rules)
    low, high = RATE_RANGE
    counts = [
        _replicas(serving, replica, factor) * replica.accelerators for factor in (high, 1.0, low)
    ]
    hours = [count * HOURS_PER_MONTH * serving.busy_share for count in counts]
    return ServingPlan(
        precision=precision,
        accelerators_per_replica=replica.accelerators,
        sequences_per_replica=max(1, math.floor(replica.sequences)),
        tokens_per_second_per_accelerator=replica.tokens_per_second,
        tokens_per_second_p10=replica.tokens_per_second * low,
        tokens_per_second_p90=replica.tokens_per_second * high,
        seconds_between_tokens=replica.token_seconds,
        accelerators=counts[1],
        accelerator_hours_per_month=hours[1],
        accelerator_hours_per_month_p10=hours[0],
        accelerator_hours_per_month_p90=hours[2],
    )


def usual_precision(one: Accelerator, rules: int) -> str:
    """What weights are served in where the request does not say: 8 bits where the accelerator
    computes in them.

    >>> from pricing.market.accelerators import get
    >>> [usual_precision(get("nvidia-rtx-4090"), rules) for rules in (5, 6)]
    ['bf16', 'fp8']
    """
    return "fp8" if one.fp8_tflops and knows_fp8(one, rules) else "bf16"


def refuse_unserved(training: Training, rules: int) -> None:
    """Refuses, on `serving`, a model that writes no words: one that classifies and, from rules 6
    on, an encoder by its name or config."""
    if training.is_classifier:
        raise InvalidInput("serving", "is of words written, and is_classifier says there are none")
    if rules >= ENCODER_RULES and is_encoder(training.model, training.config):
        name = training.model or "the model"
        raise InvalidInput(
            "serving",
            f"is of words written, and {name} is an encoder, which writes none; hours of what it "
            "answers a second, measured, go into a workload of kind accelerator_hours",
        )


def fewer_at_once(serving: Serving, plan: ServingPlan, rules: int) -> tuple[str, ...]:
    """Fewer answers at once than asked for, as no more fit."""
    wanted, held = serving.sequences or 0, plan.sequences_per_replica
    if rules < PACE_RULES or wanted <= held:
        return ()
    return (
        f"of {wanted:,} sequences at once {held:,} fit the memory of a replica beside its weights, "
        "and these figures are theirs: fewer bits (precision), shorter prompts or an accelerator "
        "with more memory hold more",
    )


def _replica(
    training: Training, serving: Serving, one: Accelerator, precision: str, rules: int
) -> Replica:
    model = served_model(training)
    load = Load(
        serving.prompt_tokens,
        serving.output_tokens,
        serving.sequences,
        serving.latency,
        serving.engine,
        is_paced=rules >= PACE_RULES,
        counts_attention=rules >= PROMPT_RULES,
        is_staged=rules >= STAGE_RULES,
        knows_fp8=knows_fp8(one, rules),
    )
    count = fewest_for(model, one, precision)
    while count <= MOST_PER_REPLICA:
        replica = replica_on(model, one, precision, load, count)
        if replica:
            return replica
        count *= 2
    raise InvalidInput(
        "serving",
        f"{MOST_PER_REPLICA} {one.name} cannot serve the model with answers of "
        f"{serving.output_tokens:,} tokens, or its bandwidth is not known; allowed are shorter "
        "answers, fewer bits or another accelerator",
    )


def _replicas(serving: Serving, replica: Replica, factor: float) -> int:
    """Whole replicas at a factor on the rate."""
    rate = replica.tokens_per_second * replica.accelerators * factor
    return max(1, math.ceil(serving.tokens_per_second / rate - 1e-9))
