"""What a model needs in memory, and the least number of accelerators that holds it. PURE.

Bytes are exact, GiB is 2^30 bytes. N parameters, L layers, d hidden size, s sequence length,
b micro-batch, V vocabulary; n accelerators, of them t in a tensor-parallel group and p pipeline
stages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import (
    USUAL_VOCABULARY,
    Shape,
    is_adapter,
    shape_of_training,
    usual_length,
)

GIB = 2.0**30
"""Bytes; definition (IEC 80000-13, 2008)."""
BYTES = {"fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5}
"""Bytes of one stored value, by precision; definition (IEEE 754, 2019, and its short forms)."""
QLORA_BYTES = 0.55
"""Bytes per frozen weight: 4 bits NF4, double-quantised constants and layers kept in 16 bits
(Dettmers et al., arXiv 2305.14314, 2023: 65B fits one 48 GB GPU)."""
ADAM_MIXED = (2.0, 2.0, 12.0)
"""Bytes per parameter of weights, gradients, optimiser under 16-bit mixed precision: 2 + 2 +
(4 master weights + 8 Adam moments) = 16 (Rajbhandari et al., ZeRO, arXiv 1910.02054, 2020)."""
ADAM_FULL = (4.0, 4.0, 8.0)
"""The same in 32 bits: 16 (stanford_alpaca README, 2023: a naive 7B fine-tune is 112 GB)."""
MOMENTUM_SAVED = 4.0
"""Bytes that SGD with momentum needs less than Adam: one 32-bit moment instead of two
(definition of both; Kingma and Ba, Adam, arXiv 1412.6980, 2014)."""
FP8_WEIGHTS = 1.0
"""An 8-bit copy of the weights replaces the 16-bit one; gradients stay in 16 bits
(NVIDIA TransformerEngine documentation, FP8 primer, 2024)."""
ADAPTER_RANK = 16
"""Rank of adapters on all linear layers where their parameters are not given (huggingface/peft
documentation, 2024)."""
ADAPTER_PARAMETERS = 18.0
"""Adapter parameters per rank, layer and hidden unit: 4 attention matrices of 2 d and two
feed-forward matrices of 5 d (from Hu et al., LoRA, arXiv 2106.09685 section 4, 2021)."""
ACTIVATION_BYTES = 34.0
"""Bytes per layer, token and hidden unit kept for the backward pass in 16 bits, attention
scores recomputed as in FlashAttention (Korthikanti et al., arXiv 2205.05198 equation 1, 2022)."""
CHECKPOINT_BYTES = 2.0
"""The same under full activation checkpointing: the layer's input alone
(Korthikanti et al., section 5, 2022)."""
LOGIT_BYTES = 6.0
"""Bytes per token and vocabulary entry: 16-bit logits and their 32-bit softmax gradient
(stas00/ml-engineering training performance chapter, 2024)."""
CONTEXT_GIB, FRAGMENTATION = 0.75, 0.04
"""GiB and share of memory that driver context, communication buffers and fragmentation keep;
planning values of this project, 2026."""
TENSOR_SIZES = (1, 2, 4, 8, 16, 32, 64)
"""Accelerators over which one sequence's activations may be split (tensor, sequence or context
parallelism); a planning choice, 2026."""
PIPELINE_SIZES = (1, 2, 4, 8, 16, 32, 64)
"""Pipeline stages over which the layers may be split; a planning choice, 2026."""


@dataclass(frozen=True)
class States:
    """Bytes of everything kept between steps, for the whole model."""

    weights: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimizer

    def by_stage(self, stage: int) -> tuple[float, float]:
        """Bytes that a ZeRO stage divides over every accelerator, and bytes that it does not."""
        parts = (self.optimizer, self.gradients, self.weights)
        return sum(parts[:stage]), sum(parts[stage:])


@dataclass(frozen=True)
class Split:
    """How a model is spread: the part each accelerator holds follows from it."""

    accelerators: int
    tensor: int = 1
    pipeline: int = 1
    zero_stage: int = 3
    recompute: bool = True

    @property
    def data(self) -> int:
        """Replicas of the model that work side by side."""
        return max(1, self.accelerators // (self.tensor * self.pipeline))

    @property
    def unused(self) -> int:
        """Accelerators left over, too few for one more replica."""
        return self.accelerators - self.tensor * self.pipeline * self.data


@dataclass(frozen=True)
class Memory:
    """GiB on one accelerator."""

    weights_gib: float
    gradients_gib: float
    optimizer_gib: float
    activations_gib: float
    logits_gib: float
    overhead_gib: float

    @property
    def total_gib(self) -> float:
        parts = (self.weights_gib, self.gradients_gib, self.optimizer_gib)
        return sum(parts) + self.activations_gib + self.logits_gib + self.overhead_gib


def weight_bytes(parameters: float, precision: str) -> float:
    """Bytes of the weights alone: N times bytes per value.

    >>> weight_bytes(7e9, "fp32") / 1e9, weight_bytes(7e9, "fp16") / 1e9
    (28.0, 14.0)
    """
    return parameters * BYTES[precision]


def training_states(training: Training, precision: str) -> States:
    """Bytes kept between steps: 16 N under AdamW, 12 N under SGD with momentum; adapters keep
    the frozen weights and 16 bytes per adapter parameter.

    >>> seven = Training(kind="training", parameters=7e9, tokens=1e9)
    >>> training_states(seven, "bf16").total / 1e9, training_states(seven, "fp32").total / 1e9
    (112.0, 112.0)
    """
    if is_adapter(training):
        return _adapter_states(training, precision)
    weights, gradients, optimizer = _bytes_per_parameter(training.optimizer, precision)
    n = training.parameters
    return States(weights * n, gradients * n, optimizer * n)


def adapter_parameters(training: Training) -> float:
    """Trained parameters of LoRA: as given, else 18 r L d at rank 16."""
    if training.trainable_parameters:
        return training.trainable_parameters
    shape = shape_of_training(training)
    return ADAPTER_PARAMETERS * ADAPTER_RANK * shape.layers * shape.hidden_size


def memory_on(training: Training, precision: str, memory_gib: float, split: Split) -> Memory:
    """GiB on each accelerator under `split`.

    Tensor and pipeline parallelism divide all states; ZeRO stage 1 divides the optimiser over
    every accelerator, 2 the gradients too, 3 the weights too (arXiv 1910.02054).
    """
    states, stage = training_states(training, precision), split.zero_stage
    model_parallel, every = split.tensor * split.pipeline, split.accelerators - split.unused
    return Memory(
        weights_gib=states.weights / (every if stage >= 3 else model_parallel) / GIB,
        gradients_gib=states.gradients / (every if stage >= 2 else model_parallel) / GIB,
        optimizer_gib=states.optimizer / (every if stage >= 1 else model_parallel) / GIB,
        activations_gib=activation_bytes(training, precision, split.recompute) / split.tensor / GIB,
        logits_gib=logit_bytes(training) / split.tensor / GIB,
        overhead_gib=memory_gib - usable_gib(memory_gib),
    )


def min_accelerators(training: Training, precision: str, memory_gib: float) -> int | None:
    """Least n that holds the training, over every split into t · p parts, in whole replicas:

        n = t · p · max(1, ⌈sharded / (usable − kept / (t · p) − activations / t) / (t · p)⌉)

    `sharded` is what the ZeRO stage divides over all n (everything, unless a lower stage is
    asked for), `kept` the rest; activations are recomputed unless that is ruled out. None where
    nothing fits, however it is split.

    >>> llama = Training(kind="training", parameters=65.2e9, tokens=1.4e12, sequence_length=2048)
    >>> min_accelerators(llama, "bf16", 80)
    14
    >>> min_accelerators(llama.model_copy(update={"optimizer": "qlora"}), "bf16", 48)
    1
    """
    stage = 3 if training.zero_stage is None else training.zero_stage
    sharded, stored = training_states(training, precision).by_stage(stage)
    recompute = training.activation_checkpointing is not False
    activations = activation_bytes(training, precision, recompute) + logit_bytes(training)
    usable = usable_gib(memory_gib) * GIB
    counts = []
    for t in TENSOR_SIZES:
        for p in PIPELINE_SIZES if stored else (1,):
            left = usable - stored / (t * p) - activations / t
            if left > 0 and (left >= sharded or stage):
                counts.append(t * p * max(1, math.ceil(sharded / left / (t * p))))
    return min(counts, default=None)


def usable_gib(memory_gib: float) -> float:
    """Memory left to the model after context and fragmentation, GiB."""
    return max(0.0, memory_gib * (1 - FRAGMENTATION) - CONTEXT_GIB)


def activation_bytes(training: Training, precision: str, recompute: bool) -> float:
    """Bytes for the backward pass of a micro-batch: 34 s b d L, or 2 s b d L plus one live layer
    of 34 s b d under full checkpointing; twice that in 32 bits."""
    shape = shape_of_training(training)
    width = 2.0 if precision in ("fp32", "tf32") else 1.0
    per_layer = micro_batch_tokens(training) * shape.hidden_size * width
    if recompute:
        return per_layer * (CHECKPOINT_BYTES * shape.layers + ACTIVATION_BYTES)
    return per_layer * ACTIVATION_BYTES * shape.layers


def logit_bytes(training: Training) -> float:
    """Bytes of logits and their gradient: 6 s b V."""
    vocabulary = training.vocabulary_size or USUAL_VOCABULARY
    return LOGIT_BYTES * micro_batch_tokens(training) * vocabulary


def kv_cache_bytes(
    shape: Shape, sequence: float, batch: float, precision: str, kv_share: float = 1.0
) -> float:
    """Bytes of keys and values while serving: 2 L d s b bytes, times the share of heads that
    have their own keys (grouped-query attention).

    >>> kv_cache_bytes(Shape(32, 4096), 4096, 1, "fp16") / GIB
    2.0
    """
    return 2 * shape.layers * shape.hidden_size * kv_share * sequence * batch * BYTES[precision]


def sequence_length(training: Training) -> int:
    """Tokens of one sequence, the usual ones where none are given."""
    return usual_length(training)


def micro_batch_tokens(training: Training) -> int:
    """Tokens that one replica works on at once: s b."""
    return sequence_length(training) * (training.micro_batch_size or 1)


def _bytes_per_parameter(optimizer: str, precision: str) -> tuple[float, float, float]:
    weights, gradients, moments = ADAM_FULL if precision in ("fp32", "tf32") else ADAM_MIXED
    if optimizer == "sgd":
        moments -= MOMENTUM_SAVED
    return (FP8_WEIGHTS if precision == "fp8" else weights), gradients, moments


def _adapter_states(training: Training, precision: str) -> States:
    quantised = training.optimizer == "qlora"
    frozen = training.parameters * (QLORA_BYTES if quantised else BYTES[precision])
    weights, gradients, moments = _bytes_per_parameter("adamw", precision)
    trained = adapter_parameters(training)
    return States(frozen + weights * trained, gradients * trained, moments * trained)
