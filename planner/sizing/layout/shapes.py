"""A model as memory and step time see it: its parts, and what a token keeps and moves. PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import sequence_length
from planner.sizing.footprint.training_flops import (
    USUAL_VOCABULARY,
    active_parameters,
    attention_width,
    embedding_parameters,
    is_adapter,
    is_mixture,
    shape_of_training,
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
"""The same of a gated feed-forward part, from rules 6 on: the gate's product needs both its sides,
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


def model_shape(training: Training, by_parts: bool = False) -> ModelShape:
    """Parts of a model, usual ones where the request is silent; `by_parts` counts what frozen
    weights spare by the kind of the feed-forward part.

    >>> seven = Training(kind="training", parameters=7e9, tokens=1e9, layers=32, hidden_size=4096)
    >>> shape = model_shape(seven)
    >>> round(shape.dense / 1e9, 2), shape.experts, shape.kept_bytes / shape.hidden_size
    (6.59, 0.0, 34.0)
    """
    shape = shape_of_training(training)
    wider = attention_width(training) - shape.hidden_size
    vocabulary = float(training.vocabulary_size or USUAL_VOCABULARY)
    embedding = embedding_parameters(training)
    embeddings = 1.0 if training.is_classifier else 2.0
    body = training.parameters - embeddings * embedding
    experts = min(_experts(training), 0.98 * body)
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
        sequence=sequence_length(training),
        kept_bytes=_kept_bytes(training, shape.hidden_size, wider)
        * _adapter_share(training, by_parts),
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


def _kept_bytes(training: Training, hidden: float, wider: float) -> float:
    width = training.feed_forward_size
    bytes_ = LAYER_BYTES * hidden
    if width:
        active = training.experts_per_token or 1
        gated = training.is_gated is not False
        bytes_ = ATTENTION_PART * hidden + (GATED_PART if gated else PLAIN_PART) * width * active
    return bytes_ + WIDTH_BYTES * wider


def _adapter_share(training: Training, by_parts: bool) -> float:
    """Of what trained weights keep, what frozen ones do."""
    if not is_adapter(training):
        return 1.0
    is_gated = training.feed_forward_size and training.is_gated is not False
    return GATED_ADAPTER_SHARE if by_parts and is_gated else ADAPTER_SHARE


def usual_global_batch(flops: float) -> float:
    """Tokens of one optimizer step that are usual for a training: 0.292 C^0.3271, at least 2^16
    (DeepSeek LLM, arXiv 2401.02954 equation 6, 2024).

    >>> f"{usual_global_batch(6 * 7e9 * 2e12):.1e}"
    '9.2e+06'
    """
    return max(65_536.0, 0.292 * math.exp(0.3271 * math.log(max(flops, 1.0))))
