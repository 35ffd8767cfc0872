"""GiB on the fullest accelerator of a split. PURE.

Bytes are exact, GiB is 2^30 bytes. t tensor, p pipeline, c context and e expert parallelism; the
data-parallel group shards over d · c accelerators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.layout.shapes import (
    FULL,
    NF4_BYTES,
    SELECTIVE,
    SELECTIVE_BYTES,
    SELECTIVE_WIDTH_BYTES,
    UNQUANTISED_BYTES,
    Floats,
    Grid,
    Mask,
    ModelShape,
    StateBytes,
)

LOGIT_BYTES = 12.0
"""Bytes per token and vocabulary entry at the start of the backward pass: log-probabilities, their
gradient and that of the logits, 4 each (cross_entropy of PyTorch 2.11, measured on an H100 with
transformers 5.17, 2026; earlier versions held 9.4 to 13.5: Lightning-AI/litgpt @4839345a, 2023,
foundation-model-stack/fms-acceleration @04702cc5, 2024)."""
LOSS_CHUNKS = 8
"""Parts in which a chunked cross-entropy holds them (pytorch/torchtune
CEWithChunkedOutputLoss, 2024)."""
LIVE_FACTOR, ADAPTER_LIVE_FACTOR = 1.6, 1.0
"""Bytes of the layer at work over those it keeps, under full checkpointing: its gradients beside
its activations (pytorch/torchtitan Llama 3.1 70B, @04133643, 2025); with frozen weights the first
replace the second (pytorch/torchtune README, Llama 3.1 8B, @0031bfb0, 2024)."""
GATHERED_BYTES = 8.0
"""Bytes per token and hidden unit that sequence-parallel layers gather whole: inputs of attention
and feed-forward part and their gradients, 16 bits each (arXiv 2205.05198 section 4.2, 2022)."""
PREFETCHED = 2.0
"""Units whose weights ZeRO stage 3 holds whole at once: the one at work and the next one
(PyTorch FSDP documentation, backward prefetch, 2024)."""
RESERVE = 0.05
"""Share that the caching allocator reserves beyond what is used; fits what torchtitan reports as
reserved (pytorch/torchtitan benchmarks @04133643, 2025)."""
WORKING_BYTES = 2.0
"""Bytes per weight of the layer at work, which QLoRA multiplies in 16 bits (arXiv 2305.14314
equation 5, 2023)."""
QUANTISED_INPUT_BYTES, ATTENTION_INPUTS, USUAL_EXPANSION = 2.0, 3.0, 4.0
"""Bytes per unit of the inputs of 4-bit matrices, which their product keeps in 16 bits without
checkpointing: d of the projections to queries, keys and values, d of attention's output, d and f of
the feed-forward part, f = 4 d where it is not given (bitsandbytes MatMul4Bit up to 0.43, 2023-2024;
litgpt's Llama 2 7B and 13B, phi-1.5 and StableLM 3B hold 12 to 19 bytes per layer, token and hidden
unit beyond LoRA's where 2 (3 d + f) is 11 to 14, @4839345a, 2023)."""


@dataclass(frozen=True)
class Shard:
    """Parameters on one model-parallel rank."""

    resident: Floats
    """All of them."""
    trained: Floats
    wider: Floats
    """Accelerators that share what ZeRO shares, over those of the data-parallel group, by
    parameter: experts that are spread have fewer copies to share, d c t / e."""
    largest_unit: Floats
    """Of the largest layer or embedding, which ZeRO stage 3 gathers."""
    layer: Floats
    embedding: Floats
    """Of one layer, and of one embedding."""
    fullest: Floats
    """Layers of the fullest stage over those of a mean one."""
    is_whole: bool = False
    """Whether stages hold whole layers."""


@dataclass(frozen=True)
class Part:
    """Bytes of one kind: what every accelerator holds, and what a data-parallel group shares."""

    fixed: Floats
    shared: Floats

    def on(self, group: Floats) -> Floats:
        """Bytes on one accelerator of a group."""
        return np.asarray(self.fixed + self.shared / group)


@dataclass(frozen=True)
class MemoryPlan:
    """Bytes of each split on its fullest accelerator, before replicas and micro-batch are known."""

    weights: Part
    gradients: Part
    optimizer: Part
    fixed: Floats
    """Of the three together, on every accelerator."""
    shared: Floats
    """Of the three together, shared by the group."""
    layers: Floats
    """Activations that one sequence in flight keeps on a stage."""
    at_work: Floats
    """Activations of the layer at work, for one sequence."""
    logits: Floats
    """For one sequence, on the last stage."""
    is_staged: Mask
    """Whether there are pipeline stages: then the last holds the logits and one micro-batch."""
    is_sharded: Mask
    """Whether weights are, so that the group keeps no gradients between steps."""

    def activations(self, flying: Floats, size: Floats) -> Floats:
        """Bytes of `flying` micro-batches of `size` sequences on the first stage."""
        return np.asarray(size * (self.layers * flying + self.at_work))

    def logits_beyond(self, flying: Floats, size: Floats) -> Floats:
        """Bytes by which the logits make the last stage hold more than the first."""
        last = size * (self.logits - np.where(self.is_staged, self.layers * (flying - 1), 0.0))
        return np.asarray(np.maximum(0.0, last))

    def gradients_at_peak(
        self, group: Floats, flying: Floats, size: Floats, batches: Floats | float
    ) -> Floats:
        """Bytes of gradients when a stage holds the most, of a step of `batches` micro-batches.

        In a step of one they come as the backward pass frees activations: max(0, g - A), with
        the activations A but those of the layer at work. Stages and buckets of data parallelism
        (PyTorch DDP) keep all of them.
        """
        whole = self.gradients.on(group)
        freed = size * self.layers * flying + self.logits_beyond(flying, size)
        comes = (np.asarray(batches) <= 1) & ~self.is_staged & (self.is_sharded | (group == 1))
        return np.where(comes, np.maximum(0.0, whole - freed), whole)

    def total(
        self, group: Floats, flying: Floats, size: Floats, batches: Floats | float = np.inf
    ) -> Floats:
        """All bytes, the allocator's reserve among them."""
        working = self.activations(flying, size) + self.logits_beyond(flying, size)
        beside = self.gradients_at_peak(group, flying, size, batches) - self.gradients.on(group)
        return np.asarray((self.fixed + self.shared / group + working + beside) * (1 + RESERVE))


def fullest_stage(layers: float, grid: Grid) -> Floats:
    """Layers of the fullest stage over those of a mean one, ceil(L / p) p / L: it holds the most
    and all others wait for it."""
    return np.asarray(np.ceil(layers / grid.pipeline) * grid.pipeline / layers)


def shard_of(
    shape: ModelShape, states: StateBytes, grid: Grid, fullest: Floats | None = None
) -> Shard:
    """Parameters of the first stage's rank: layers / p, or those of the `fullest`, and an embedding
    (without stages the output too), over t; experts over e.

    What ZeRO shares of a dense layer is shared by the d c copies of its slice; experts that are
    spread over e ranks have d c t / e copies.
    """
    t, p = grid.tensor, grid.pipeline
    embeddings = shape.embedding * np.where(p > 1, 1.0, shape.embeddings)
    spread = np.maximum(t, grid.expert)
    over = np.ones_like(p) if fullest is None else fullest
    dense = (shape.dense / p * over + embeddings) / t
    experts = shape.experts / p * over / spread
    resident = dense + experts
    wider = (dense + experts * spread / t) / resident
    layer = (shape.dense / t + shape.experts / spread) / shape.layers
    share = states.trained / shape.parameters
    embedding = shape.embedding / t
    largest = np.maximum(layer, embedding)
    is_whole = fullest is not None
    return Shard(resident, resident * share, wider, largest, layer, embedding, over, is_whole)


def memory_plan(
    training: Training, shape: ModelShape, states: StateBytes, grid: Grid, shard: Shard
) -> MemoryPlan:
    """What each split holds."""
    z = grid.zero_stage
    is_model_parallel = (grid.tensor > 1) | (grid.pipeline > 1)
    per_gradient = np.where(is_model_parallel, states.full_gradients, states.gradients)
    moments = 0.0 if training.optimizer_offload else states.optimizer
    held = 0.0 if training.weights_offload else states.frozen
    frozen = shard.resident * (held / shape.parameters)
    wider = shard.wider
    weights = _part(shard.trained * states.weights + frozen, z >= 3, wider)
    beside = np.where(z >= 3, PREFETCHED * 2.0 * shard.largest_unit, 0.0)
    is_quantised = training.optimizer == "qlora"
    if is_quantised:
        # ZeRO stage 3 gathers two layers, or one and the embedding, which is not quantised.
        layer = NF4_BYTES * shard.layer
        gathered = layer + np.maximum(layer, UNQUANTISED_BYTES * shard.embedding)
        beside = np.where(z >= 3, gathered, 0.0) + WORKING_BYTES * shard.layer
    weights = Part(weights.fixed + beside, weights.shared)
    gradients = _part(shard.trained * per_gradient, z >= 2, wider)
    optimizer = _part(shard.trained * moments, z >= 1, wider)
    inputs = 0.0
    if is_quantised:  # 4-bit matrices keep their inputs, 2 (2 d + w + f) with attention w wide
        inner = training.feed_forward_size or USUAL_EXPANSION * shape.hidden_size
        units = ATTENTION_INPUTS * shape.hidden_size + shape.wider
        inputs = QUANTISED_INPUT_BYTES * (units + inner * (training.experts_per_token or 1))
    t, k = grid.tensor, grid.checkpointing
    tokens = shape.sequence / grid.context
    width = 2.0 if training.precision in ("fp32", "tf32") else 1.0
    whole = (shape.kept_bytes + inputs) * width
    stored = SELECTIVE_BYTES * shape.hidden_size + SELECTIVE_WIDTH_BYTES * shape.wider
    selective = min(whole, stored * width)
    input_bytes = 2.0 * shape.hidden_size * width
    per_layer = np.where(k == FULL, input_bytes, np.where(k == SELECTIVE, selective, whole))
    factor = ADAPTER_LIVE_FACTOR if shape.is_adapter else LIVE_FACTOR
    live = np.where(k == FULL, factor * whole, 0.0)
    gathered = np.where(t > 1, GATHERED_BYTES * shape.hidden_size * width, 0.0)
    chunks = LOSS_CHUNKS if training.chunked_loss else 1
    layers, at_work, logits = (
        tokens * per_layer * (shape.layers / grid.pipeline) / t,
        tokens * (live / t + gathered),
        tokens * shape.outputs * (LOGIT_BYTES / chunks) / t,
    )
    layers = layers * shard.fullest
    # Logits are gone before a layer is computed again.
    is_alone = (k == FULL) & (t == 1) & (grid.pipeline == 1)
    logits = np.where(is_alone, np.maximum(0.0, logits - at_work), logits)
    return MemoryPlan(
        weights=weights,
        gradients=gradients,
        optimizer=optimizer,
        fixed=weights.fixed + gradients.fixed + optimizer.fixed,
        shared=weights.shared + gradients.shared + optimizer.shared,
        layers=layers,
        at_work=at_work,
        logits=logits,
        is_staged=grid.pipeline > 1,
        is_sharded=z >= 3,
    )


def _part(whole: Floats, is_shared: Mask, wider: Floats) -> Part:
    return Part(np.where(is_shared, 0.0, whole), np.where(is_shared, whole * wider, 0.0))
