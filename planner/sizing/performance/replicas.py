"""What a model on some accelerators answers a second, prompts and answers apart. PURE.

    step = (reading + arithmetic) / n + traffic + start        of one token of B answers at once
    token = step + B · prompt / answer                          with the prompts read in between
    rate = B / token                                            tokens a second of the replica

n = t · p accelerators, t of them to a layer and p stages; B is the largest number of answers that
memory and the limits on latency leave. Each n from 1 to 64 has the split that answers most.

Reinforcement learning takes hours beside the training itself:

    hours = (training + scoring + critic + writing) · exp(excess)

Writing: the answers' tokens at the rate that an engine generates with the answers of a step at
once. Scoring: a forward pass of the policy over what it wrote, and one of the frozen copy. The
excess is what measured steps took beyond that (refitting weights, the longest answer of a step,
the data between the two), the median of teams.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from planner.contract.accelerator_memory import usable_gib
from planner.contract.answer.estimate import RolloutFigures
from planner.contract.request.workload import Rollouts, Training
from planner.sizing.evidence import fitted, typed
from planner.sizing.footprint.memory import GIB, fast_domain
from planner.sizing.footprint.training_flops import active_parameters, shape_of_training
from planner.sizing.layout.shapes import Floats
from planner.sizing.layout.step_time import links_in_servers
from planner.sizing.performance.levels import matmul_share
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get

LEAST_DENSE_SHARE = 0.02
"""Part of a mixture's parameters that every token passes, at least; planning value, 2026."""


@dataclass(frozen=True)
class ServedModel:
    """Sizes that the rate of generation depends on."""

    parameters: float
    active_parameters: float
    layers: float
    hidden_size: float
    cached_values: float
    """Keys and values that one token keeps in one layer."""
    windowed_layers: float = 0.0
    """Layers that keep no more than the window."""
    window: float = 128.0
    experts: int = 0
    experts_per_token: int = 0
    attention_width: float = 0.0
    """Heads times their width; 0 where it is the hidden size."""

    def prompt_attention_flops(self, tokens: float) -> float:
        """Scores and sums of values over a prompt, each token looking back at all before it, or at
        a window W: 4 w · p²/2, or 4 w · (W p − W²/2) in layers with one (PaLM, arXiv 2204.02311,
        appendix B, 2022, by halves)."""
        window = min(tokens, self.window)
        pairs = (self.layers - self.windowed_layers) * tokens**2 / 2
        pairs += self.windowed_layers * (window * tokens - window**2 / 2)
        return 4 * (self.attention_width or self.hidden_size) * pairs

    def sequence_bytes(self, tokens: float, bytes_per_value: float) -> float:
        """Cache of one sequence."""
        whole = (self.layers - self.windowed_layers) * tokens
        in_windows = self.windowed_layers * min(tokens, self.window)
        return (whole + in_windows) * self.cached_values * bytes_per_value

    def touched_parameters(self, sequences: Floats) -> Floats:
        """Parameters that a step over some sequences reads: of a mixture the dense part, and the
        experts that at least one token visits, 1 − (1 − k/E)^B of them."""
        if self.experts <= self.experts_per_token:
            return np.full_like(sequences, self.parameters)
        idle_share = 1 - self.experts_per_token / self.experts
        experts = (self.parameters - self.active_parameters) / idle_share
        dense = max(LEAST_DENSE_SHARE * self.parameters, self.parameters - experts)
        visited = 1 - idle_share**sequences
        return np.asarray(dense + (self.parameters - dense) * visited)


@dataclass(frozen=True)
class Load:
    """What is asked of a replica."""

    prompt_tokens: float
    answer_tokens: float
    sequences: float | None = None
    """At once; absent: as many as memory, engine and the limits take."""
    engine: str = "standard"
    first_token_seconds: float = math.inf
    """s until the first token of an answer at most."""
    token_seconds: float = math.inf
    """s from one token of an answer to its next at most."""


COUNTS = (1, 2, 4, 8, 16, 32, 64)
"""Accelerators of one replica that are looked at: DeepSeek-V3 is served on 32 and more (arXiv
2412.19437 section 3.4, 2024); a planning choice, 2026."""
BATCHES = np.exp2(np.arange(0.0, 14.01, 0.25))
"""Answers at once that are looked at, a quarter of a doubling apart; a planning choice, 2026."""
MOST_STAGES = 8
"""Pipeline stages of a replica at most; a planning choice, 2026."""
ATTENTION_SHARE = 0.65
"""Of the dense 16-bit peak that the attention of long prompts reaches, whatever the weights are
stored in: FlashAttention-3 forward, causal, heads of 128, 16,384 tokens, some 640 of 989 TFLOP/s on
an H100 (Shah et al., arXiv 2407.08608 figure 5, 2024)."""
FIRST_TOKENS = 2.0
"""Steps of those at work that a new prompt waits for, beside its own time over what other prompts
leave, 1 - their share (a queue with exponential service, Kleinrock, Queueing Systems I, 1975)."""
FILLED = 0.95
"""Most of the usable memory that an engine fills: the highest setting in use of vLLM's
gpu_memory_utilization; Llama 2 70B in 4 bits on an A100 of 40 GB (Lightning-AI/litgpt, 2024)."""
ROOM = 1.12
"""Memory of a replica over its weights, at least: room for the cache; planning value, 2026."""
WEIGHT_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.56}
"""Bytes of one weight; 4 bits with the scales of their blocks (OCP Microscaling Formats, 2023)."""
CACHE_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 1.0}
"""Bytes of one cached value as engines hold it beside such weights (NVIDIA TensorRT-LLM
documentation, 2025)."""


@dataclass(frozen=True)
class Engine:
    """What engines sustain; fitted to published rates (`serving_throughput.csv`, 2023-2025), and to
    two thirds of the answers of NVIDIA aiconfigurator 0.12.0 and of the rates of InferenceX and
    GPUStack (2025-2026)."""

    bandwidth_share: float = 0.86
    """Of the memory's bandwidth."""
    matrix_share: float = 0.97
    """Of what the best 16-bit matrix products reach (`matmul_peaks.csv`)."""
    low_bit_share: float = 0.7
    """Of that where weights are multiplied in 8 or 4 bits."""
    padded_tokens: float = 88.0
    """By which the matrices of an expert are longer than its tokens: tiles of a grouped product."""
    routing_seconds: float = 68e-6
    """Of sending tokens to experts and back, a layer."""
    link_share: float = 0.65
    """Of the links' rate that messages reach."""
    message_seconds: float = 7.7e-6
    """Of one all-reduce, however small; two in a layer."""
    step_seconds: float = 42e-6
    """Of starting one layer's kernels."""
    host_seconds: dict[str, float] = field(
        default_factory=lambda: {
            **{"tuned": 2e-6, "unsaid": 20e-6, "default": 40e-6},
            **{"standard": 56e-6, "plain": 40e-6},
        }
    )
    """A token and replica: sampling, scheduling."""
    most_sequences: float = 240.0
    """At once on one accelerator."""
    slower: dict[str, float] = field(
        default_factory=lambda: {
            **{"tuned": 1.0, "unsaid": 1.55, "default": 2.4},
            **{"standard": 1.08, "plain": 3.0},
        }
    )
    """Time over that of an engine tuned to model and load: engines as installed (vLLM, SGLang and
    TensorRT-LLM in GPUStack's performance lab, 2025), in benchmarks of their makers (`standard`),
    eager code; where nothing is said the geometric middle of the first two."""
    eager_seconds: float = 1.3e-3
    """Of starting one layer's kernels in eager code, behind which all else of a step hides: 0.8 to
    2.1 ms of litgpt on an A100 (2024) and of transformers 5.17 on an H100 (2026)."""


ENGINE = Engine()


@dataclass(frozen=True)
class Replica:
    """A model on some accelerators with its rate."""

    tensor: int
    stages: int
    sequences: float
    """Answers at once."""
    tokens_per_second: float
    """Generated by all its accelerators."""
    token_seconds: float
    """From one token of an answer to its next."""
    first_token_seconds: float
    prompt_share: float
    """Of its time that reading prompts takes."""

    @property
    def accelerators(self) -> int:
        return self.tensor * self.stages


def peak_of(one: Accelerator, precision: str) -> float:
    """Dense FLOP/s with weights of a precision; weights of 4 and 8 bits are multiplied in 16 where
    the accelerator has no such units. 0 without any rate."""
    names = {"fp4": ("fp4", "bf16", "fp16"), "fp8": ("fp8", "bf16", "fp16")}
    for name in names.get(precision, ("bf16", "fp16", "fp32")):
        tflops = one.dense_tflops(name)
        if tflops:
            return tflops * 1e12
    return 0.0


def fewest_for(model: ServedModel, one: Accelerator, precision: str) -> int:
    """Accelerators of one replica: the least power of two that holds its weights with room."""
    needed = model.parameters * WEIGHT_BYTES[precision] * ROOM
    count = 1
    while count * usable_gib(one) * GIB * FILLED < needed:
        count *= 2
    return count


def replica_on(
    model: ServedModel,
    one: Accelerator,
    precision: str,
    load: Load,
    accelerators: int,
    constants: Engine = ENGINE,
) -> Replica | None:
    """The replica on n accelerators that generates most within the limits on latency; None where
    not one answer fits memory and limits, or a rate of the accelerator is not known."""
    return next(iter(replicas_on(model, one, precision, load, (accelerators,), constants)), None)


def replicas_on(
    model: ServedModel,
    one: Accelerator,
    precision: str,
    load: Load,
    counts: tuple[int, ...] = COUNTS,
    constants: Engine = ENGINE,
) -> list[Replica]:
    """The same on each of some numbers of accelerators, without those that serve nothing."""
    peak, bandwidth = peak_of(one, precision), one.memory_bandwidth_gb_per_s
    low = constants.low_bit_share if peak > peak_of(one, "bf16") else 1.0
    best = peak * matmul_share(one) * constants.matrix_share * low
    splits = _splits(one.slug, counts)
    if not best or not bandwidth:
        return []
    memory, engine = bandwidth * 1e9 * constants.bandwidth_share, load.engine
    tensor, stages = splits
    count = tensor * stages
    tokens = load.prompt_tokens + load.answer_tokens / 2
    cache = model.sequence_bytes(tokens, CACHE_BYTES[precision])
    held = model.parameters * WEIGHT_BYTES[precision]
    room = (count * usable_gib(one) * GIB * FILLED - held) / cache
    most = np.minimum(room, constants.most_sequences * count)
    if load.sequences:
        batch = np.minimum(most, load.sequences)[None, :]
    else:
        batch = np.minimum(most, np.append(BATCHES, np.inf)[:, None])
    batch = np.maximum(1.0, batch)

    links = links_in_servers(one.slug)
    moved = 8 * model.layers * model.hidden_size * (tensor - 1) / tensor
    moved = moved / (links.inside * 1e9 * constants.link_share)  # s of a token's all-reduces
    prompt = 2 * model.active_parameters * load.prompt_tokens / best
    attention = (peak_of(one, "bf16") or best) * ATTENTION_SHARE
    prompt += model.prompt_attention_flops(load.prompt_tokens) / attention
    prompts = (prompt / count + moved * load.prompt_tokens / stages) * constants.slower[engine]

    group = np.maximum(1.0, batch / stages)
    touched = stages * model.touched_parameters(group)
    reading = touched * WEIGHT_BYTES[precision] / memory
    padding = constants.padded_tokens * (touched - stages * model.active_parameters)
    computing = 2 * (model.active_parameters * batch + padding) / best
    waiting = constants.step_seconds + 2 * constants.message_seconds * (tensor > 1)
    if model.experts > model.experts_per_token:
        waiting = waiting + constants.routing_seconds
    step = (np.hypot(reading, computing) + batch * cache / memory) / count
    step += moved * group + model.layers * waiting + batch * constants.host_seconds[engine]
    prompts_read = batch * prompts / load.answer_tokens
    step *= constants.slower[engine]
    if engine == "plain":
        step = np.maximum(step, model.layers * constants.eager_seconds)
    token = step + prompts_read
    share = prompts_read / token
    first = prompts / (1 - share) + FIRST_TOKENS * token
    is_served = (room >= 1) & (token <= load.token_seconds) & (first <= load.first_token_seconds)
    rate = np.where(is_served, batch / token, 0.0)
    at = rate.argmax(axis=0)
    replicas = []
    for number in counts:
        options = np.flatnonzero(count == number)
        j = int(options[rate[at[options], options].argmax()])
        i = int(at[j])
        if rate[i, j]:
            figures = (array[i, j].item() for array in (batch, rate, token, first, share))
            replicas.append(Replica(int(tensor[j]), int(stages[j]), *figures))
    return replicas


@cache
def _splits(slug: str, counts: tuple[int, ...]) -> tuple[Floats, Floats]:
    widest = max(links_in_servers(slug).node, fast_domain(get(slug)))
    rows = []
    for count in counts:
        sizes = [t for t in COUNTS if t <= min(widest, count) and count % t == 0]
        few = [t for t in sizes if count // t <= MOST_STAGES]
        rows += [(t, count // t) for t in few or sizes[-1:]]
    tensor, stages = np.array(rows, dtype=np.float64).T
    return tensor, stages


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


FORWARD_SHARE = 1 / 3
"""Work of a forward pass over that of training (Kaplan et al., arXiv 2001.08361, 2020)."""


def rollout_hours(
    training: Training, rollouts: Rollouts, one: Accelerator, count: int, hours: float
) -> RolloutFigures:
    """Hours on n accelerators beside `hours` of training the policy, no excess in them.

    Raises `InvalidInput` on `accelerator` where the answers cannot be written there.
    """
    length = rollouts.prompt_tokens + rollouts.response_tokens
    answers = training.tokens / length
    model = served_model(training)
    of_one = min(count, fewest_for(model, one, "bf16"))
    at_once = max(1.0, rollouts.per_step / (count // of_one))
    load = Load(rollouts.prompt_tokens, rollouts.response_tokens, at_once, engine=rollouts.engine)
    replica = replica_on(model, one, "bf16", load, of_one)
    if replica is None:
        raise InvalidInput(
            "accelerator",
            f"{count} {one.name} cannot write the answers of a step: one sequence does not fit "
            "beside the weights, or its memory bandwidth is not known",
        )
    rate = replica.tokens_per_second * (count // replica.accelerators)
    seconds = answers * rollouts.response_tokens / rate * count
    passes = 1 + rollouts.has_reference
    critic = (rollouts.critic_parameters or 0.0) / training.parameters
    return RolloutFigures(
        writing_hours=seconds / 3600,
        scoring_hours=hours * passes * FORWARD_SHARE,
        critic_hours=hours * critic * (1 + FORWARD_SHARE),
        steps=max(1.0, answers / rollouts.per_step),
    )


@dataclass(frozen=True)
class RolloutFit:
    """What measured steps took beyond what is worked out; fitted by `tools.sizing_fit`."""

    excess: float
    """ln of their hours over those worked out: the median of the teams."""
    log_range: tuple[float, float]
    """p10 and p90 of ln(hours used / hours predicted)."""


@cache
def rollout_fit() -> RolloutFit:
    """The fit on every measured step."""
    return typed(RolloutFit, fitted()["rollouts"])
