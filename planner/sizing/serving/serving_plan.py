"""Accelerators and hours a month that serve a trained model. PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from planner.contract.answer.estimate import ServingPlan
from planner.contract.models.known_models import is_encoder
from planner.contract.request.workload import Serving, Training
from planner.sizing.evidence.served_model import Load, ServedModel
from planner.sizing.footprint.memory import GIB
from planner.sizing.footprint.training_flops import active_parameters, shape_of_training
from planner.sizing.layout.shapes import MARGIN
from planner.sizing.layout.step_time import links_in_servers
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator
from pricing.market.offers import HOURS_PER_MONTH

MOST_PER_REPLICA = 512
"""Accelerators of one replica beyond which nothing is served; planning value, 2026: DeepSeek-V3 is
served on 32 to 144 (arXiv 2412.19437 section 3.4, 2024)."""


def plan_serving(training: Training, serving: Serving, one: Accelerator) -> ServingPlan:
    """Whole replicas that give the tokens asked for.

    Raises `InvalidInput` on `serving` where the accelerator cannot serve the model.

    >>> from pricing.market.accelerators import get
    >>> llama = Training(kind="training", model="Llama-3.1-8B", tokens=1)
    >>> plan = plan_serving(llama, Serving(tokens_per_second=5000), get("nvidia-h100-80gb-sxm"))
    >>> plan.precision, plan.accelerators_per_replica, plan.accelerators
    ('fp8', 1, 1)
    """
    # What weights are served in where the request does not say: 8 bits where the accelerator
    # computes in them.
    precision = serving.precision or ("fp8" if one.fp8_tflops else "bf16")
    replica = _replica(training, serving, one, precision)
    low, high = RATE_RANGE
    rate = replica.tokens_per_second * replica.accelerators
    counts = [
        max(1, math.ceil(serving.tokens_per_second / (rate * factor) - 1e-9)) * replica.accelerators
        for factor in (high, 1.0, low)
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


def refuse_unserved(training: Training) -> None:
    """Refuses, on `serving`, a model that writes no words: one that classifies and an
    encoder by its name or config."""
    if training.is_classifier:
        raise InvalidInput("serving", "is of words written, and is_classifier says there are none")
    if is_encoder(training.model, training.config):
        name = training.model or "the model"
        raise InvalidInput(
            "serving",
            f"is of words written, and {name} is an encoder, which writes none; hours of what it "
            "answers a second, measured, go into a workload of kind accelerator_hours",
        )


def fewer_at_once(serving: Serving, plan: ServingPlan) -> tuple[str, ...]:
    """Fewer answers at once than asked for, as no more fit."""
    wanted, held = serving.sequences or 0, plan.sequences_per_replica
    if wanted <= held:
        return ()
    return (
        f"of {wanted:,} sequences at once {held:,} fit the memory of a replica beside its weights, "
        "and these figures are theirs: fewer bits (precision), shorter prompts or an accelerator "
        "with more memory hold more",
    )


def _replica(training: Training, serving: Serving, one: Accelerator, precision: str) -> Replica:
    model = served_model(training)
    load = Load(
        serving.prompt_tokens,
        serving.output_tokens,
        serving.sequences,
        serving.latency,
        serving.engine,
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


RATE_RANGE = (0.25, 1.63)
"""p10 and p90 of measured over predicted rates, each team predicted by the others, one vote a team
(`serving_throughput.csv`, 17 teams, 2023-2025)."""
ATTENTION_SHARE = 0.65
"""Of the dense 16-bit peak that the attention of long prompts reaches, whatever the weights are
stored in: FlashAttention-3 forward, causal, heads of 128, 16,384 tokens, some 640 of 989 TFLOP/s on
an H100 (Shah et al., arXiv 2407.08608 figure 5, 2024)."""
PACE_STEPS = 40
"""Halvings in search of that number: 500 sequences to 1e-9 of one; a planning choice, 2026."""
ROOM = 1.12
"""Memory of a replica over its weights, at least: room for the cache; planning value, 2026."""


@dataclass(frozen=True)
class Engine:
    """What an engine sustains; fitted to `serving_throughput.csv` (2023-2025)."""

    bandwidth_share: float = 0.89
    """Of the memory's bandwidth."""
    decode_share: float = 0.93
    """Of the dense peak while generating, beside the reading of weights."""
    prefill_share: float = 0.89
    """Of the dense peak while reading prompts."""
    link_share: float = 0.22
    """Of the links' rate that small messages reach."""
    message_seconds: float = 53e-6
    """Of one all-reduce, however small; two in a layer."""
    host_seconds: float = 37e-6
    """A token and replica: sampling, scheduling."""
    most_sequences: float = 500.0
    """At once on one accelerator where as many as possible are served."""
    slower: dict[str, float] = field(
        default_factory=lambda: {"tuned": 1.0, "standard": 1.3, "plain": 4.3}
    )
    """Time over that of a tuned engine: TensorRT-LLM; vLLM and the like; eager code."""
    latency_share: dict[str, float] = field(
        default_factory=lambda: {"offline": 1.0, "server": 0.89, "interactive": 0.6}
    )
    """Part of the rate that limits on latency leave."""


@dataclass(frozen=True)
class Replica:
    """A model on t accelerators with its rate."""

    accelerators: int
    sequences: float
    step_seconds: float
    """Of one token of every sequence."""
    tokens_per_second: float
    """Generated on one accelerator."""

    @property
    def token_seconds(self) -> float:
        """From one token of a sequence to its next."""
        return self.sequences / (self.tokens_per_second * self.accelerators)


def peak_of(one: Accelerator, precision: str) -> float | None:
    """Dense FLOP/s with weights of a precision; 4 bits are computed in 8 where the accelerator has
    no better, and in 16 where it lacks those. None without any rate."""
    names = {"fp4": ("fp4", "fp8", "bf16", "fp16"), "fp8": ("fp8", "bf16", "fp16")}
    for name in names.get(precision, ("bf16", "fp16", "fp32")):
        tflops = one.dense_tflops(name)
        if tflops:
            return tflops * 1e12
    return None


def fewest_for(model: ServedModel, one: Accelerator, precision: str) -> int:
    """Accelerators of one replica: the least power of two that holds its weights with room."""
    needed = model.parameters * WEIGHT_BYTES[precision] * ROOM
    count = 1
    while count * one.memory_gib * GIB * MARGIN < needed:
        count *= 2
    return count


def replica_on(
    model: ServedModel,
    one: Accelerator,
    precision: str,
    load: Load,
    accelerators: int | None = None,
    engine: Engine | None = None,
) -> Replica | None:
    """A replica on t accelerators, the fewest for None; None where the accelerator's bandwidth or
    peak is not known, or where not one sequence fits beside the weights."""
    constants = engine or Engine()
    peak, bandwidth = peak_of(one, precision), one.memory_bandwidth_gb_per_s
    count = accelerators or fewest_for(model, one, precision)
    tokens = load.prompt_tokens + load.output_tokens / 2
    cache = model.sequence_bytes(tokens, CACHE_BYTES[precision])
    free = count * one.memory_gib * GIB * MARGIN - model.parameters * WEIGHT_BYTES[precision]
    if not peak or not bandwidth or free < cache:
        return None
    wanted = load.sequences or constants.most_sequences * count
    sequences = max(1.0, min(wanted, free / cache))

    prompt_seconds = 2 * model.active_parameters * load.prompt_tokens
    prompt_seconds /= peak * constants.prefill_share
    attention_peak = (peak_of(one, "bf16") or peak) * ATTENTION_SHARE
    prompt_seconds += model.prompt_attention_flops(load.prompt_tokens) / attention_peak

    stages = math.ceil(count / links_in_servers(one.slug).node)

    def step_of(at_once: float) -> float:
        group = max(1.0, at_once / stages) if stages > 1 else at_once
        weights = stages * model.touched_parameters(group) * WEIGHT_BYTES[precision]
        reading = (weights + at_once * cache) / (bandwidth * 1e9 * constants.bandwidth_share)
        computing = 2 * model.active_parameters * at_once / (peak * constants.decode_share)
        step = (reading + computing) / count + at_once * constants.host_seconds
        step += _traffic(model, one, math.ceil(count / stages), group, constants)
        step += at_once * prompt_seconds / (load.output_tokens * count)
        return step * constants.slower[load.engine]

    rate = sequences / step_of(sequences) * constants.latency_share[load.latency]
    if load.sequences is None:
        low, high = 0.0, sequences
        for _ in range(PACE_STEPS):
            middle = (low + high) / 2
            if middle / step_of(middle) < rate:
                low = middle
            else:
                high = middle
        sequences = high
    return Replica(count, sequences, step_of(sequences), rate / count)


def _traffic(
    model: ServedModel, one: Accelerator, count: int, sequences: float, constants: Engine
) -> float:
    if count == 1:
        return 0.0
    links = links_in_servers(one.slug)
    inside = links.inside if count <= links.node else links.network / links.node
    moved = 4 * model.layers * sequences * model.hidden_size * (count - 1) / count
    waiting = 2 * model.layers * constants.message_seconds
    return waiting + moved / (inside * 1e9 * constants.link_share)


WEIGHT_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.56}
"""Bytes of one weight; 4 bits with the scales of their blocks (OCP Microscaling Formats, 2023)."""
CACHE_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 1.0}
"""Bytes of one cached value as engines hold it beside such weights (NVIDIA TensorRT-LLM
documentation, 2025)."""


def served_model(training: Training) -> ServedModel:
    """The model of a training, usual sizes where the request is silent."""
    shape = shape_of_training(training)
    return ServedModel(
        parameters=training.parameters,
        active_parameters=active_parameters(training),
        layers=shape.layers,
        hidden_size=shape.hidden_size,
        cached_values=training.cached_values_per_layer or 2 * shape.hidden_size,
        windowed_layers=float(training.sliding_layers or 0) if training.sliding_window else 0.0,
        window=float(training.sliding_window or 0),
        experts=training.experts or 0,
        experts_per_token=training.experts_per_token or 0,
        attention_width=training.attention_width or 0.0,
    )
