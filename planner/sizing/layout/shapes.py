"""A model as memory and step time see it: its parts, and what a token keeps and moves. PURE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planner.contract.models.known_models import count_heads
from planner.contract.request.workload import Training
from planner.sizing.evidence import read_rows
from planner.sizing.footprint.memory import BYTES, adapter_parameters
from planner.sizing.footprint.training_flops import (
    USUAL_VOCABULARY,
    active_parameters,
    attention_width,
    embedding_parameters,
    is_adapter,
    is_mixture,
    shape_of_training,
    usual_length,
)

LAYER_BYTES = 34.0
"""Bytes per layer, token and hidden unit kept for the backward pass, attention fused
(Korthikanti et al., arXiv 2205.05198 equation 1, 2022)."""
ATTENTION_PART, GATED_PART, PLAIN_PART = 18.0, 8.0, 4.0
"""The same from the shape: norms, queries, attention and output projection 18 per hidden unit, and
per unit of the feed-forward width 8 where it is gated (gate, up, activation, product) or 4 where it
is not (input and output of the activation); counted from the modules of Llama 3 and GPT-2, 16-bit
(pytorch/torchtitan, 2025)."""
WIDTH_BYTES = 8.0
"""Bytes of either per layer, token and unit of attention's width: queries, keys, values and the
output, 2 each in 16 bits (Korthikanti et al., equation 1), so that an attention wider than the
hidden state keeps more. Grouped keys and values are repeated for the heads (pytorch/torchtitan
Llama 3, 2025), and of MLA the four have the mean of both widths."""
SELECTIVE_WIDTH_BYTES = 4.0
"""The same under selective checkpointing: queries and the output are kept, keys and values are not
(pytorch/torchtitan keeps every second product and attention's output, 2025)."""
ADAPTER_SHARE = 0.8
"""The same with frozen weights over trained ones: inputs of frozen matrices need not be kept.
litgpt's phi-1.5 and StableLM 3B keep 27.5 (tutorials/resource-tables.md @4839345a, 2023)."""
GATED_ADAPTER_SHARE = 1.0
"""The same of a gated feed-forward part: the gate's product needs both its sides,
RMSNorm its input, and adapters keep the inputs of their matrices. A second sequence of Llama 2 7B
takes 43 bytes per layer, token and hidden unit, 18 d + 8 f are 39.5 (litgpt, @4839345a, 2023)."""
SELECTIVE_BYTES = 20.5
"""Bytes per layer, token and hidden unit under selective checkpointing: Llama 3.1 8B at 8,192
tokens (pytorch/torchtitan benchmarks @04133643, 2025)."""
EXPERT_SHARE_OF_ACTIVE = 0.6
"""Part of a mixture's active parameters that is experts, where the request does not give the
experts: Mixtral 8x7B 0.88, Qwen3-30B-A3B 0.54, DeepSeek-V3 0.6 (from their configs, 2023-2025)."""
USUAL_GROUP = 4
"""Heads that share keys and values where the request does not say what a token keeps: of models
that read long sequences Llama 3 8B, Mistral 7B and Qwen3 8B have 4 (their configs, 2023-2025)."""
USUAL_EXPERTS_PER_TOKEN = 8
"""Experts a token visits where the request does not say (DeepSeek-V3, Qwen3, 2024-2025)."""


@dataclass(frozen=True)
class ModelShape:
    """Sizes that memory and step time need."""

    parameters: float
    embedding: float
    """Parameters of one embedding matrix."""
    embeddings: float
    """Such matrices: input and output, or the input alone of a classifier."""
    dense: float
    """Parameters of the layers that every token passes."""
    experts: float
    """Parameters of all experts; 0 for a dense model."""
    layers: float
    hidden_size: float
    wider: float
    """Units by which attention is wider than the hidden state; negative where it is narrower."""
    outputs: float
    """Values put out for each token: the vocabulary, or next to none by a classifier."""
    sequence: int
    kept_bytes: float
    """Bytes per layer and token kept for the backward pass without checkpointing."""
    experts_per_token: int
    is_adapter: bool
    keys_and_values: float
    """Values that a token has of both in one layer."""


def model_shape(training: Training) -> ModelShape:
    """Parts of a model, usual ones where the request is silent; `by_parts` counts what frozen
    weights spare by the kind of the feed-forward part."""
    shape = shape_of_training(training)
    wider = attention_width(training) - shape.hidden_size
    vocabulary = float(training.vocabulary_size or USUAL_VOCABULARY)
    embedding = embedding_parameters(training)
    embeddings = 1.0 if training.is_classifier else 2.0
    body = training.parameters - embeddings * embedding
    experts = min(_experts(training), 0.98 * body)
    # What trained weights keep of a token in a layer, or what frozen ones do of that.
    width = training.feed_forward_size
    is_gated = bool(width) and training.is_gated is not False
    bytes_ = LAYER_BYTES * shape.hidden_size
    if width:
        units = width * (training.experts_per_token or 1)
        bytes_ = (
            ATTENTION_PART * shape.hidden_size + (GATED_PART if is_gated else PLAIN_PART) * units
        )
    share = GATED_ADAPTER_SHARE if is_gated else ADAPTER_SHARE
    return ModelShape(
        parameters=training.parameters,
        embedding=embedding,
        embeddings=embeddings,
        dense=body - experts,
        experts=experts,
        layers=max(1.0, float(round(shape.layers))),
        hidden_size=shape.hidden_size,
        wider=wider,
        outputs=0.0 if training.is_classifier else vocabulary,
        sequence=usual_length(training),
        kept_bytes=((bytes_ + WIDTH_BYTES * wider) * (share if is_adapter(training) else 1.0)),
        experts_per_token=training.experts_per_token or USUAL_EXPERTS_PER_TOKEN,
        is_adapter=is_adapter(training),
        keys_and_values=float(
            training.cached_values_per_layer or 2 * shape.hidden_size / USUAL_GROUP
        ),
    )


def _experts(training: Training) -> float:
    """Parameters of the experts: with E experts of which k work, (N - A) · E / (E - k); else from
    what is usual."""
    if not is_mixture(training):
        return 0.0
    idle = training.parameters - active_parameters(training)
    count, active = training.experts, training.experts_per_token
    if count and active and count > active:
        return idle * count / (count - active)
    return idle + EXPERT_SHARE_OF_ACTIVE * active_parameters(training)


def usual_global_batch(flops: float) -> float:
    """Tokens of one optimizer step that are usual for a training: 0.292 C^0.3271, at least 2^16
    (DeepSeek LLM, arXiv 2401.02954 equation 6, 2024)."""
    return max(65_536.0, 0.292 * math.exp(0.3271 * math.log(max(flops, 1.0))))


Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

NONE, SELECTIVE, FULL = range(3)
CHECKPOINTING = ("none", "selective", "full")
"""Names of the three kinds of activation checkpointing, by their number."""
TENSOR_SIZES, PIPELINE_SIZES = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16, 32, 64)
"""Sizes that are looked at; planning choices of this project, 2026."""
CONTEXT_SIZES = (2, 4, 8, 16)
"""The same for long sequences; planning choices of this project, 2026."""
WHOLE_EXPERT_SIZES = (4, 8, 16, 32, 64)
"""Sizes for mixtures, whose experts are spread evenly: ranks that 8 does not divide
may be a multiple of 4; planning choices of this project, 2026."""
LONG_SEQUENCE = 16_384
"""Tokens from which a sequence may be split over accelerators; a planning choice, 2026."""


@dataclass(frozen=True)
class Grid:
    """Splits side by side; every array is [splits]."""

    tensor: Floats
    pipeline: Floats
    context: Floats
    expert: Floats
    zero_stage: Floats
    checkpointing: Floats

    @property
    def parts(self) -> Floats:
        """Accelerators of one replica."""
        return np.asarray(self.tensor * self.pipeline * self.context)

    def where(self, mask: Mask) -> Grid:
        """The splits for which `mask` holds."""
        return Grid(**{name: values[mask] for name, values in vars(self).items()})


@cache
def all_splits(domain: int, is_long: bool, expert_sizes: tuple[int, ...]) -> Grid:
    """Splits for accelerators whose fast links join `domain`: tensor parallelism stays within it,
    ZeRO stages 2 and 3 go without pipeline stages, experts are spread over none or `expert_sizes`.
    """
    rows = [
        (t, p, c, e, z, k)
        for t in TENSOR_SIZES
        if t <= domain
        for p in PIPELINE_SIZES
        for c in ((1, *CONTEXT_SIZES) if is_long else (1,))
        for e in (1, *expert_sizes)
        for z in ((0, 1, 2, 3) if p == 1 else (0, 1))
        for k in (NONE, SELECTIVE, FULL)
    ]
    return make_grid(rows)


def make_grid(rows: Sequence[tuple[int, ...]]) -> Grid:
    """A grid of rows: tensor, pipeline, context, expert, ZeRO stage, checkpointing."""
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), 6).T
    return Grid(*(np.ascontiguousarray(column) for column in columns))


FULL_GRADIENT_BYTES = 4.0
"""Bytes of one gradient where tensor or pipeline parallelism is used: Megatron-LM accumulates in
32 bits (NVIDIA/Megatron-LM theoretical_memory_usage.py @00caa53a, 2024)."""
FP8_SAVED = 1.0
"""Bytes of the weights that an 8-bit copy saves (NVIDIA TransformerEngine, FP8 primer, 2024)."""
NF4_BYTES = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a weight in 4 bits: half a byte, an 8-bit constant for 64 weights and a 32-bit one for
256 of those (NF4 with double quantisation, arXiv 2305.14314 section 3, 2023)."""
UNQUANTISED_BYTES = 3.0
"""Bytes of a weight that QLoRA leaves as it is, embedding and output over the vocabulary: the
middle of 2 (litgpt, torchtune, AnswerDotAI/fsdp_qlora keep them in bf16) and 4 (huggingface/peft
prepare_model_for_kbit_training makes them fp32), 2023-2025."""


@dataclass(frozen=True)
class StateBytes:
    """Bytes per trained parameter, and of the frozen ones together."""

    weights: float
    gradients: float
    optimizer: float
    full_gradients: float
    """Of the gradients where tensor or pipeline parallelism is used."""
    trained: float
    """Parameters that are trained."""
    frozen: float
    """Bytes of the weights that are not; 0 where all are trained."""


def state_bytes(training: Training, precision: str) -> StateBytes:
    """Bytes kept between steps."""
    is_full = precision in ("fp32", "tf32")
    optimizer = "adamw" if is_adapter(training) else training.optimizer
    weights, gradients, moments = _optimizer_bytes()[optimizer, "32-bit" if is_full else "16-bit"]
    full = gradients if optimizer == "adamw_bf16" else FULL_GRADIENT_BYTES
    if is_adapter(training):
        frozen = training.parameters * BYTES[precision]
        if training.optimizer == "qlora":
            # Bytes of the weights under QLoRA: 0.516 (N - e V d) + 3 e V d with e matrices over
            # the vocabulary, two of a language model.
            whole = (1.0 if training.is_classifier else 2.0) * embedding_parameters(training)
            frozen = NF4_BYTES * (training.parameters - whole) + UNQUANTISED_BYTES * whole
        trained = adapter_parameters(training)
        return StateBytes(weights, gradients, moments, full, trained, frozen)
    if precision in ("fp8", "fp4"):
        weights -= FP8_SAVED
    return StateBytes(weights, gradients, moments, full, training.parameters, 0.0)


@cache
def _optimizer_bytes() -> dict[tuple[str, str], tuple[float, float, float]]:
    """Optimizer and width of the arithmetic → bytes per parameter of weights, gradients and what
    the optimizer keeps, master weights among it."""
    return {
        (row["optimizer"], row["arithmetic"]): (
            float(row["weights"]),
            float(row["gradients"]),
            float(row["states"]),
        )
        for row in read_rows(Path(__file__).with_name("optimizer_bytes.csv"))
    }


MARGIN = 0.92
"""Most of the usable memory that an advised layout takes; planning value of this project, 2026."""


def heads_of(training: Training) -> int | None:
    """Heads of a training's attention, which its model or config says; None where neither does.

    A tensor-parallel slice takes whole heads of queries; those of keys and values may be repeated
    (NVIDIA/Megatron-LM core/transformer/transformer_config.py, 2024).
    """
    return _heads(training.model, training.config, training.hidden_size)


_heads = lru_cache(maxsize=256)(count_heads)
