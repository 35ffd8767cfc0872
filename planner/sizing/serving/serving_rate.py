"""Tokens a second that an accelerator generates. PURE.

    step = (weights + B · cache) / (t · bandwidth) + 2 N B / (t · peak) + traffic + B · host
    prefill = 2 N p / (t · peak) + attention of the prompt / (t · 16-bit peak)
    rate = B / ((step + prefill · B / output) · engine) / t

    rate of a latency class = its share of the rate of as many sequences as fit

B sequences at once on t accelerators, N parameters active on a token. What a step reads of a
mixture grows with B. Over q servers layers are split within each and stages of them lie between: q
groups of B / q sequences go through in turn, so that a step reads the weights q times and its
messages stay within a server. The constants are fitted to `serving_throughput.csv`; the page on
accuracy says how far they carry to teams that the fit has not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from planner.sizing.evidence.served_model import Load, ServedModel
from planner.sizing.footprint.memory import GIB
from planner.sizing.layout.links import links_of
from planner.sizing.layout.usable_memory import MARGIN
from planner.sizing.serving.served_model import CACHE_BYTES, WEIGHT_BYTES
from pricing.market.accelerators import Accelerator

RATE_RANGE = (0.25, 1.63)
"""p10 and p90 of measured over predicted rates, each team predicted by the others, one vote a team
(`serving_throughput.csv`, 17 teams, 2023-2025)."""
PACE_RULES = 6
"""Edition of the rules from which a limit on latency holds fewer sequences at once, 2026."""
PROMPT_RULES = 6
"""Edition of the rules from which the attention of prompts takes time, 2026."""
ATTENTION_SHARE = 0.65
"""Of the dense 16-bit peak that the attention of long prompts reaches, whatever the weights are
stored in: FlashAttention-3 forward, causal, heads of 128, 16,384 tokens, some 640 of 989 TFLOP/s on
an H100 (Shah et al., arXiv 2407.08608 figure 5, 2024)."""
STAGE_RULES = 6
"""Edition of the rules from which a replica of several servers has a stage of layers on each,
2026."""
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


def peak_of(one: Accelerator, precision: str, knows_fp8: bool = True) -> float | None:
    """Dense FLOP/s with weights of a precision; 4 bits are computed in 8 where the accelerator has
    no better, and in 16 where it lacks those. None without any rate."""
    names = {"fp4": ("fp4", "fp8", "bf16", "fp16"), "fp8": ("fp8", "bf16", "fp16")}
    for name in names.get(precision, ("bf16", "fp16", "fp32")):
        tflops = one.dense_tflops(name) if knows_fp8 or name != "fp8" else None
        if tflops:
            return tflops * 1e12
    return None


def fewest_for(model: ServedModel, one: Accelerator, precision: str) -> int:
    """Accelerators of one replica: the least power of two that holds its weights with room.

    >>> from pricing.market.accelerators import get
    >>> h100 = get("nvidia-h100-80gb-sxm")
    >>> [fewest_for(ServedModel(70e9, 70e9, 80, 8192, 2048), h100, p) for p in WEIGHT_BYTES]
    [2, 1, 1]
    """
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
    peak, bandwidth = peak_of(one, precision, load.knows_fp8), one.memory_bandwidth_gb_per_s
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
    if load.counts_attention:
        attention_peak = (peak_of(one, "bf16") or peak) * ATTENTION_SHARE
        prompt_seconds += model.prompt_attention_flops(load.prompt_tokens) / attention_peak

    stages = math.ceil(count / links_of(one).node) if load.is_staged else 1

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
    if load.is_paced and load.sequences is None:
        sequences = _sequences_at(rate, sequences, step_of)
    return Replica(count, sequences, step_of(sequences), rate / count)


def _sequences_at(rate: float, most: float, step_of: Callable[[float], float]) -> float:
    """Sequences at once, up to a number, whose step gives a rate: B / step(B) rises with B, as a
    step reads the weights once however many they are. Below 1 it is the part of the time in which
    there is one.

    >>> round(_sequences_at(50.0, 100.0, lambda at_once: 1.0 + 0.01 * at_once / 2), 3)
    66.667
    """
    low, high = 0.0, most
    for _ in range(PACE_STEPS):
        middle = (low + high) / 2
        if middle / step_of(middle) < rate:
            low = middle
        else:
            high = middle
    return high


def _traffic(
    model: ServedModel, one: Accelerator, count: int, sequences: float, constants: Engine
) -> float:
    """Seconds of the two all-reduces of every layer."""
    if count == 1:
        return 0.0
    links = links_of(one)
    inside = links.inside if count <= links.node else links.network / links.node
    moved = 4 * model.layers * sequences * model.hidden_size * (count - 1) / count
    waiting = 2 * model.layers * constants.message_seconds
    return waiting + moved / (inside * 1e9 * constants.link_share)
