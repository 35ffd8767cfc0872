"""The splits that a training may take, with what each holds and moves. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import compute_work, multiplied_parameters
from planner.sizing.layout.experts import USUAL_EXPERTS, replicas_at_once, sizes_that_divide
from planner.sizing.layout.grid import (
    EXPERT_SIZES,
    FULL,
    LONG_SEQUENCE,
    NONE,
    SELECTIVE,
    Floats,
    Grid,
    Mask,
    all_splits,
    make_grid,
)
from planner.sizing.layout.heads import heads_of
from planner.sizing.layout.memory_fit import (
    MemoryPlan,
    Shard,
    fullest_stage,
    memory_plan,
    shard_of,
)
from planner.sizing.layout.shapes import ModelShape, model_shape, usual_global_batch
from planner.sizing.layout.states import StateBytes, state_bytes
from planner.sizing.layout.step_time import StepWork, TimePlan, time_plan
from pricing.common.invalid_input import InvalidInput

THINNEST = 64
"""Hidden units of a tensor-parallel slice at least: one attention head's (GPT-2 to Llama 3,
2019-2024)."""

MOST_SEQUENCES, MOST_SEQUENCES_STAGED = 16.0, 2.0
"""Sequences of a micro-batch at most, without and with pipeline stages, which need many
micro-batches; planning choices of this project, 2026."""


@dataclass(frozen=True)
class Splits:
    """The splits that a training may take on accelerators of one fast domain, with what each holds
    and moves; the same for every such accelerator."""

    shape: ModelShape
    states: StateBytes
    work: StepWork
    batch_tokens: float
    """Tokens of one optimizer step: as given, else usual for the work."""
    grid: Grid
    shard: Shard
    memory: MemoryPlan
    time: TimePlan
    parts: Floats
    """Accelerators of one replica."""
    replicas: Floats
    """Replicas of which a multiple spreads the experts evenly; 1 where that is not asked."""
    least_sequences: float
    """Sequences of a micro-batch at least: as stated, else one."""
    most_sequences: Floats
    """At most."""
    complexity: Floats

    @cached_property
    def least_bytes(self) -> Floats:
        """Bytes of each split with its least micro-batch over any number of replicas."""
        size = np.full_like(self.parts, self.least_sequences)
        return self.memory.total(np.full_like(size, np.inf), self.grid.pipeline, size)

    @cached_property
    def sequence_bytes(self) -> Floats:
        """Bytes of one sequence in every stage, logits among them."""
        working = self.memory.activations(self.grid.pipeline, np.ones_like(self.parts))
        both: Floats = working + self.memory.logits
        return both


@lru_cache(maxsize=64)
def splits_of(
    training: Training,
    precision: str,
    domain: int,
    is_latest: bool = False,
    by_parts: bool = False,
    is_whole: bool = False,
) -> Splits:
    """Splits that keep to what the request asks for, by the latest step model or that of before;
    `by_parts` counts what adapters on frozen weights hold by its parts, `is_whole` the layers of
    the fullest stage, heads that are not split and experts that are spread evenly."""
    shape, states = model_shape(training, by_parts), state_bytes(training, precision, by_parts)
    work = compute_work(training)
    matrix = (work.executed_flops - work.attention_flops) / training.tokens
    grid = _candidates(training, shape, domain, is_whole)
    fullest = fullest_stage(shape.layers, grid) if is_whole and _is_shape_known(training) else None
    shard = shard_of(shape, states, grid, is_latest, fullest)
    usual = usual_global_batch(matrix * training.tokens)
    most = np.where(grid.pipeline > 1, MOST_SEQUENCES_STAGED, MOST_SEQUENCES)
    return Splits(
        shape=shape,
        states=states,
        work=StepWork(matrix, work.attention_flops / training.tokens),
        batch_tokens=float(training.global_batch_tokens or usual),
        grid=grid,
        shard=shard,
        memory=memory_plan(training, shape, states, grid, shard, by_parts),
        time=time_plan(
            shape,
            grid,
            shard,
            multiplied_parameters(training),
            work.attention_flops / training.tokens,
        ),
        parts=grid.parts,
        replicas=replicas_at_once(grid) if is_whole else np.ones_like(grid.parts),
        least_sequences=float(training.micro_batch_size or 1),
        most_sequences=most,
        complexity=grid.zero_stage + np.log2(grid.parts * grid.expert),
    )


def _is_shape_known(training: Training) -> bool:
    """Whether layers are stated: those of a guess may be as many as fill the stages."""
    return training.layers is not None


def _candidates(training: Training, shape: ModelShape, domain: int, is_whole: bool) -> Grid:
    """Splits that keep to what the request asks for and, where `is_whole`, split no head and
    spread experts evenly; of one's own layout what it leaves open."""
    own = training.layout
    if own is None:
        experts = _expert_sizes(training, shape, is_whole)
        grid = all_splits(domain, shape.sequence >= LONG_SEQUENCE, experts)
    else:
        stages = (0, 1, 2, 3) if own.pipeline == 1 else (0, 1)
        sizes = (own.tensor, own.pipeline, own.context, own.expert)
        grid = make_grid([(*sizes, z, k) for z in stages for k in (NONE, SELECTIVE, FULL)])
    if own is not None and own.pipeline > shape.layers:
        raise InvalidInput(
            "layout.pipeline",
            f"{own.pipeline} stages for {shape.layers:.0f} layers; allowed are "
            f"1 to {shape.layers:.0f}",
        )
    mask: Mask = grid.pipeline <= shape.layers
    if own is None:
        mask &= (grid.tensor == 1) | (grid.tensor * THINNEST <= shape.hidden_size)
    heads = heads_of(training) if is_whole else None
    if heads is not None:
        mask &= heads % grid.tensor == 0
    if training.zero_stage is not None:
        mask &= grid.zero_stage == training.zero_stage
    kind = _checkpointing(training)
    if kind is not None:
        mask &= grid.checkpointing == kind
    return grid if mask.all() else grid.where(mask)


def _expert_sizes(training: Training, shape: ModelShape, is_whole: bool) -> tuple[int, ...]:
    """Ranks over which the experts may be spread; none of a dense model."""
    if not shape.experts:
        return ()
    return sizes_that_divide(training.experts or USUAL_EXPERTS) if is_whole else EXPERT_SIZES


def _checkpointing(training: Training) -> int | None:
    """The kind of checkpointing requested for; an HFU is that of a run that recomputes."""
    if training.hfu:
        return FULL
    requested = training.activation_checkpointing
    if requested is None:
        return None
    if requested == "selective":
        return SELECTIVE
    return FULL if requested else NONE
