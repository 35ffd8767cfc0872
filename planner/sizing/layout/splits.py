"""The splits that a training may take, with what each holds and moves. PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import compute_work, is_mixture, multiplied_parameters
from planner.sizing.layout.memory_fit import MemoryPlan, Shard, fullest_stage, memory_plan, shard_of
from planner.sizing.layout.shapes import (
    FULL,
    LONG_SEQUENCE,
    NONE,
    SELECTIVE,
    WHOLE_EXPERT_SIZES,
    Floats,
    Grid,
    Mask,
    ModelShape,
    StateBytes,
    all_splits,
    heads_of,
    make_grid,
    model_shape,
    state_bytes,
    usual_global_batch,
)
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
        return np.asarray(working + self.memory.logits)


@lru_cache(maxsize=64)
def splits_of(
    training: Training,
    precision: str,
    domain: int,
) -> Splits:
    """Splits that keep to what the request asks for."""
    shape, states = model_shape(training), state_bytes(training, precision)
    work = compute_work(training)
    matrix = (work.executed_flops - work.attention_flops) / training.tokens
    grid = _candidates(training, shape, domain)
    fullest = fullest_stage(shape.layers, grid) if training.layers is not None else None
    shard = shard_of(shape, states, grid, fullest)
    usual = usual_global_batch(matrix * training.tokens)
    most = np.where(grid.pipeline > 1, MOST_SEQUENCES_STAGED, MOST_SEQUENCES)
    # Replicas of which a multiple spreads the experts evenly: e divides the d c t ranks of a
    # stage (NVIDIA/Megatron-LM core/parallel_state.py, 2024), so that d is a multiple of e /
    # gcd(e, c t).
    expert = grid.expert.astype(np.int64)
    ranks = (grid.tensor * grid.context).astype(np.int64)
    return Splits(
        shape=shape,
        states=states,
        work=StepWork(matrix, work.attention_flops / training.tokens),
        batch_tokens=float(training.global_batch_tokens or usual),
        grid=grid,
        shard=shard,
        memory=memory_plan(training, shape, states, grid, shard),
        time=time_plan(
            shape,
            grid,
            shard,
            multiplied_parameters(training),
            work.attention_flops / training.tokens,
        ),
        parts=grid.parts,
        replicas=np.asarray((expert // np.gcd(expert, ranks)).astype(np.float64)),
        least_sequences=float(training.micro_batch_size or 1),
        most_sequences=most,
        complexity=grid.zero_stage + np.log2(grid.parts * grid.expert),
    )


def _candidates(training: Training, shape: ModelShape, domain: int) -> Grid:
    """Splits that keep to what the request asks for, split no head and spread experts evenly; of
    one's own layout what it leaves open."""
    own = training.layout
    if own is None:
        experts = sizes_that_divide(training.experts or USUAL_EXPERTS) if shape.experts else ()
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
    heads = heads_of(training)
    if heads is not None:
        mask &= heads % grid.tensor == 0
    if training.zero_stage is not None:
        mask &= grid.zero_stage == training.zero_stage
    stated, kinds = training.activation_checkpointing, {"selective": SELECTIVE, False: NONE}
    if training.hfu or stated is not None:  # an HFU is that of a run that recomputes
        mask &= grid.checkpointing == (FULL if training.hfu else kinds.get(stated, FULL))
    return grid if mask.all() else grid.where(mask)


USUAL_EXPERTS = 64
"""Experts of a mixture where the request does not say (DeepSeek and Qwen3 have 64 to 256,
2024-2025)."""


def sizes_that_divide(experts: int) -> tuple[int, ...]:
    """Ranks over which experts are spread evenly: of the sizes that are looked at what divides
    their number."""
    return tuple(sorted({math.gcd(experts, size) for size in WHOLE_EXPERT_SIZES} - {1}))


def check_experts(training: Training) -> None:
    """Refuse experts that cannot be.

    Raises `InvalidInput` on `experts_per_token` where a token would visit more than there are, and
    on `layout` where it spreads experts that there are not, or not evenly.
    """
    count, active = training.experts, training.experts_per_token
    if count and active and active > count:
        raise InvalidInput(
            "experts_per_token",
            f"{active:,} of {count:,} experts; a token visits {count:,} at most",
        )
    ways = training.layout.expert if training.layout else 1
    if ways > 1 and not is_mixture(training):
        raise InvalidInput(
            "layout",
            f"expert {ways} spreads experts, and a dense model has none; active_parameters, fewer "
            "than parameters, make it a mixture",
        )
    if count is None and ways > USUAL_EXPERTS:
        raise InvalidInput(
            "layout",
            f"expert {ways} is more than the {USUAL_EXPERTS} experts of a layer that are taken "
            "where none are named; experts says how many there are",
        )
    if count and count % ways:
        raise InvalidInput(
            "layout",
            f"expert {ways} does not divide the {count:,} experts of a layer; 1 to {count:,} that "
            "divide them do",
        )
