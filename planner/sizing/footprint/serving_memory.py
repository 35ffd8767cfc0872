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

SERVING_PRECISIONS = ("fp16", "int8", "int4")
"""Weights as served: 16 bits, or quantised to 8 or 4."""


def serving(training: Training, one: Accelerator) -> ServingMemory:
    """Memory to serve one sequence at full length, and the accelerators it takes, by precision
    of the weights; keys and values stay in 16 bits and every head keeps its own (multi-head
    attention, the most that any model of this shape needs).

    >>> from pricing.market.accelerators import get
    >>> seven = Training(kind="training", parameters=6.7e9, tokens=1, layers=32, hidden_size=4096)
    >>> answer = serving(seven, get("nvidia-l4"))
    >>> answer.kv_cache_gib_per_sequence, answer.min_accelerators["fp16"]
    (2.0, 1)
    """
    length = sequence_length(training)
    cache = kv_cache_bytes(shape_of_training(training), length, 1, "fp16") / GIB
    weights = {p: weight_bytes(training.parameters, p) / GIB for p in ("fp32", *SERVING_PRECISIONS)}
    usable = usable_gib(one.memory_gib)
    return ServingMemory(
        sequence_length=length,
        weights_gib=weights,
        kv_cache_gib_per_sequence=cache,
        min_accelerators={p: math.ceil((weights[p] + cache) / usable) for p in SERVING_PRECISIONS},
    )
