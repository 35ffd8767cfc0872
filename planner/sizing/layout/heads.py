"""Heads of attention that tensor parallelism has to divide. PURE."""

from __future__ import annotations

from functools import lru_cache

from planner.contract.models.fill import count_heads
from planner.contract.request.workload import Training


def heads_of(training: Training) -> int | None:
    """Heads of a training's attention, which its model or config says; None where neither does.

    A tensor-parallel slice takes whole heads of queries; those of keys and values may be repeated
    (NVIDIA/Megatron-LM core/transformer/transformer_config.py, 2024).

    >>> heads_of(Training(kind="training", model="Qwen2.5-7B", tokens=1e9))
    28
    >>> heads_of(Training(kind="training", parameters=7e9, tokens=1e9)) is None
    True
    """
    return _heads(training.model, training.config, training.hidden_size)


@lru_cache(maxsize=256)
def _heads(name: str | None, config: str | None, width: int | None) -> int | None:
    return count_heads(name, config, width)
