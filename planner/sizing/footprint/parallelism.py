"""How a training is spread over accelerators: tensor, pipeline and data parallelism. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.contract.answer.estimate import Parallelism
from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import (
    PIPELINE_SIZES,
    TENSOR_SIZES,
    Memory,
    Split,
    memory_on,
    micro_batch_tokens,
)
from pricing.market.accelerators import Accelerator

FAST_DOMAIN = {
    "nvlink": 8,
    "infinity-fabric": 8,
    "nvlink-bridge": 2,
    "pcie": 1,
    "ici": 64,
    "neuronlink": 16,
}
"""Accelerators joined by the fast interconnect: HGX and MI300X boards 8, an NVLink bridge 2, a
TPU slice and a Trainium server as usually rented (vendors' system guides, 2024)."""
RACK_DOMAIN = 72
"""GPUs of one NVLink domain of GB200 and GB300 NVL72 (NVIDIA GB200 NVL72 datasheet, 2024)."""
FULLY_SHARDED_LIMIT = 512
"""Accelerators up to which ZeRO stage 3 alone is usual; the gathers of the weights grow beyond
(mosaicml/llm-foundry runs up to 512, Llama 3 adds tensor and pipeline parallelism, 2023-2024)."""
GLOBAL_BATCH_TOKENS = 4e6
"""Tokens of one optimiser step: LLaMA and Llama 2 use 4 M (arXiv 2302.13971, 2023)."""


@dataclass(frozen=True)
class Layout:
    """A split that fits, with what it costs."""

    split: Split
    memory: Memory
    pipeline_bubble: float
    """Share of time that stages idle: (p − 1) / (m + p − 1), m micro-batches a step."""

    @property
    def parallelism(self) -> Parallelism:
        """The split as the estimate shows it."""
        return Parallelism(
            tensor=self.split.tensor,
            pipeline=self.split.pipeline,
            data=self.split.data,
            zero_stage=self.split.zero_stage,
            activation_checkpointing=self.split.recompute,
            unused=self.split.unused,
            pipeline_bubble=self.pipeline_bubble,
        )


def fast_domain(one: Accelerator) -> int:
    """Accelerators that tensor parallelism may span.

    >>> from pricing.market.accelerators import get
    >>> [fast_domain(get(s)) for s in ("nvidia-h100-80gb-sxm", "nvidia-l4", "nvidia-gb200")]
    [8, 1, 72]
    """
    if one.slug.startswith(("nvidia-gb200", "nvidia-gb300")):
        return RACK_DOMAIN
    return FAST_DOMAIN.get(one.interconnect, 8 if one.form == "oam" else 1)


def layout_on(
    training: Training, precision: str, one: Accelerator, accelerators: int
) -> Layout | None:
    """The first split that fits, in the order of what it costs to run: those that use every
    accelerator before those that leave some over; None where none does."""
    for leaves_some_over in (False, True):
        for split in _splits(fast_domain(one), accelerators):
            if (split.unused > 0) is not leaves_some_over or not _is_requested(training, split):
                continue
            memory = memory_on(training, precision, one.memory_gib, split)
            if memory.total_gib <= one.memory_gib:
                return Layout(split, memory, _bubble(training, split))
    return None


def _is_requested(training: Training, split: Split) -> bool:
    """Whether a split keeps to the stage and checkpointing that the team asks for; an HFU is
    that of a run that recomputes."""
    stage = training.zero_stage
    checkpointing = True if training.hfu else training.activation_checkpointing
    return stage in (None, split.zero_stage) and checkpointing in (None, split.recompute)


def _splits(domain: int, accelerators: int) -> Iterator[Split]:
    """Replicas first, then sharded states, then tensor and pipeline parallelism within the fast
    domain; what goes beyond it comes last."""
    full_shard = accelerators <= FULLY_SHARDED_LIMIT or domain == 1
    for recompute in (False, True):
        for stage in (0, 1, 2, 3) if full_shard else (0, 1, 2):
            yield Split(accelerators, zero_stage=stage, recompute=recompute)
    for tensor in (t for t in (2, 4, 8) if t <= domain):
        yield from _at(accelerators, tensor, 1, (1,))
    for stages in PIPELINE_SIZES[1:]:
        yield from _at(accelerators, min(domain, 8), stages, (1,))
    for tensor in TENSOR_SIZES:
        yield from _at(accelerators, tensor, 1, (3,))
    for tensor in TENSOR_SIZES:
        for stages in PIPELINE_SIZES:
            yield from _at(accelerators, tensor, stages, (0, 1, 2))


def _at(accelerators: int, tensor: int, pipeline: int, stages: Sequence[int]) -> Iterator[Split]:
    """Splits of one size with and without recomputation, if there are enough accelerators."""
    if tensor * pipeline <= accelerators:
        for stage in stages:
            for recompute in (True, False):
                yield Split(accelerators, tensor, pipeline, stage, recompute)


def _bubble(training: Training, split: Split) -> float:
    per_replica = GLOBAL_BATCH_TOKENS / (micro_batch_tokens(training) * split.data)
    return (split.pipeline - 1) / (max(1.0, per_replica) + split.pipeline - 1)
