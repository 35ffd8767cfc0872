"""Can we serve what we trained: weights and keys and values in memory. PURE."""

from __future__ import annotations

import math

from planner.contract.answer.estimate import ServingMemory
from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import (
    GIB,
    kv_cache_bytes,
    sequence_length,
    usable_gib,
    weight_bytes,
)
from planner.sizing.footprint.training_flops import shape_of_training
from pricing.market.accelerators import Accelerator

CACHED_BYTES = 2.0
"""Bytes of one cached value in 16 bits; definition (IEEE 754, 2019)."""
SERVING_PRECISIONS = ("fp16", "int8", "int4")
"""Weights as served: 16 bits, or quantised to 8 or 4."""


def serving(training: Training, one: Accelerator) -> ServingMemory:
    """Memory to serve one sequence at full length, and the accelerators it takes, by precision
    of the weights; keys and values stay in 16 bits. Where the request does not say what a token
    keeps, every head keeps its own (multi-head attention, the most that any model needs).

    >>> from pricing.market.accelerators import get
    >>> seven = Training(kind="training", parameters=6.7e9, tokens=1, layers=32, hidden_size=4096)
    >>> answer = serving(seven, get("nvidia-l4"))
    >>> answer.kv_cache_gib_per_sequence, answer.min_accelerators["fp16"]
    (2.0, 1)
    """
    length = sequence_length(training)
    cache = cache_bytes(training, length) / GIB
    weights = {p: weight_bytes(training.parameters, p) / GIB for p in ("fp32", *SERVING_PRECISIONS)}
    usable = usable_gib(one.memory_gib)
    return ServingMemory(
        sequence_length=length,
        weights_gib=weights,
        kv_cache_gib_per_sequence=cache,
        min_accelerators={p: math.ceil((weights[p] + cache) / usable) for p in SERVING_PRECISIONS},
    )


def cache_bytes(training: Training, length: float) -> float:
    """Bytes of one sequence's keys and values in 16 bits: 2 v (L_full s + L_window min(s, w)) for v
    values a token and layer; 4 L d s where they are not known.

    >>> llama = Training(kind="training", model="Llama-3.1-8B", tokens=1)
    >>> cache_bytes(llama, 8192) / GIB
    1.0
    """
    shape = shape_of_training(training)
    values = training.cached_values_per_layer
    if values is None:
        return kv_cache_bytes(shape, length, 1, "fp16")
    windowed = min(training.sliding_layers or 0, shape.layers)
    seen = min(length, training.sliding_window or length)
    tokens = (shape.layers - windowed) * length + windowed * seen
    return CACHED_BYTES * values * tokens
