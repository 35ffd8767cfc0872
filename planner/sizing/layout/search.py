"""The layout of a training on n accelerators: the fastest that fits, or one's own, judged. PURE."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from planner.contract.accelerator_memory import usable_gib
from planner.contract.answer.estimate import MemoryBreakdown, Parallelism
from planner.contract.copies import cached_property, replace
from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import GIB
from planner.sizing.footprint.training_flops import (
    compute_work,
    is_adapter,
    is_mixture,
    multiplied_parameters,
)
from planner.sizing.layout.memory_fit import (
    RESERVE,
    MemoryPlan,
    Shard,
    fullest_stage,
    memory_plan,
    shard_of,
)
from planner.sizing.layout.shapes import (
    CHECKPOINTING,
    FULL,
    LONG_SEQUENCE,
    MARGIN,
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
from planner.sizing.layout.step_time import (
    Links,
    Rates,
    StepTime,
    StepWork,
    TimePlan,
    host_seconds,
    is_tpu,
    links_of,
    most_in_stages,
    step_time,
    time_plan,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator

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
def splits_of(training: Training, precision: str, domain: int) -> Splits:
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
            states.frozen / shape.parameters or 2.0,
            bool(training.weights_offload),
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
    if training.weights_offload:  # FSDP's offload keeps a shard of every layer beside each
        mask &= (grid.zero_stage == 3) & (grid.tensor == 1) & (grid.pipeline == 1)
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


FULLY_SHARDED_GROUP, FULLY_SHARDED_PARAMETERS = 512, 1e11
"""Accelerators per tensor-parallel slice, and parameters, up to which ZeRO stage 3 is usual over
fast links: llm-foundry trains up to 70B on 512 (2023); GPT-3, BLOOM, MT-NLG and Llama 3.1 405B add
tensor and pipeline parallelism (2020-2024)."""
PCIE_TENSOR = 4
"""Accelerators over which PCIe carries tensor parallelism where a batch leaves nothing else: Llama
2 70B with steps of 8 sequences on 64 L40S in servers of 4 (NVIDIA, MLPerf Training v4.0, 2024)."""
USUAL_TENSOR, TORUS_TENSOR = 8, 32
"""Accelerators over which tensor parallelism goes at most, and on a torus: LaMDA
and PaLM split layers over axes of a TPU pod (arXiv 2201.08239 section 4, 2204.02311 section 4,
2022); planning choices of this project, 2026."""
LARGEST_GUESSED_BATCH = 4_194_304.0
"""Tokens of a step up to which a micro-batch on every accelerator makes it larger than usual: LLaMA
65B works on 4 million with 2,048 accelerators, a sequence each (arXiv 2302.13971, 2023)."""
FEWEST_STEPS = 1_000
"""Steps of a training that a guess leaves at least; planning value of this project, 2026 (LLaMA 65B
takes 350,000 of them, a fine-tuning on 50,000 examples 400 to 6,000)."""
SHORT_TOKENS = 32_768.0
"""Tokens of a micro-batch up to which short sequences share one: BERT on A100 works
on 256 sequences of 128 at once (NVIDIA/DeepLearningExamples BERT README, 2021)."""
SHARES_MEMORY = "nvidia-gb10"
"""Has the memory of its host and no other (NVIDIA DGX Spark data sheet, 2025)."""
STAGE_COST = 1e-4
"""Share of time by which a simpler split wins where two take as long, for each ZeRO stage and
doubling of parallelism; a planning choice, 2026."""


@dataclass(frozen=True)
class LayoutTask:
    """A training on one kind of accelerator, before it is known on how many."""

    training: Training
    accelerator: Accelerator
    precision: str
    rates: Rates

    @cached_property
    def splits(self) -> Splits:
        # Tensor parallelism may span those of the fast links; with a stated batch, which may be
        # too small for replicas and stages, four over PCIe too.
        domain, most = self.links.domain, USUAL_TENSOR
        if is_tpu(self.accelerator):
            most = TORUS_TENSOR
        elif self.training.global_batch_tokens:
            domain = max(domain, PCIE_TENSOR)
        return splits_of(self.training, self.precision, min(domain, most))

    @cached_property
    def streamed(self) -> LayoutTask | None:
        """The same with frozen weights in the memory of the hosts, where the request leaves open
        where they are and that holds it on fewer."""
        training, own = self.training, self.training.layout
        is_split = own is not None and own.tensor * own.pipeline > 1
        is_sharded = training.zero_stage in (None, 3) and not is_split
        is_open = training.weights_offload is None and is_adapter(training) and is_sharded
        one = self.accelerator
        if not is_open or one.slug == SHARES_MEMORY or one.vendor not in ("NVIDIA", "AMD"):
            return None
        other = replace(self, training=training.model_copy(update={"weights_offload": True}))
        least, most = other.least(), self.least()
        return other if least and (most is None or least < most) else None

    @cached_property
    def links(self) -> Links:
        return links_of(self.accelerator)

    @cached_property
    def limit_bytes(self) -> float:
        """What an advised layout may hold on one card."""
        return MARGIN * usable_gib(self.accelerator) * GIB

    @cached_property
    def seconds_per_token(self) -> float:
        """Accelerator-seconds of one token at the level of the accelerator."""
        work, rates = self.splits.work, self.rates
        return work.matrix / rates.matrix + work.attention / rates.attention

    def least(self) -> int | None:
        """Fewest accelerators that hold the training under any split; None where none does.

        n = t p c · d for each split, from the least d that leaves room for what the ZeRO stage
        divides and over whose ranks experts are spread evenly.
        """
        splits, memory = self.splits, self.splits.memory
        left = (self.limit_bytes - splits.least_bytes) / (1 + RESERVE)
        with np.errstate(divide="ignore", invalid="ignore"):
            data = np.ceil(memory.shared / splits.grid.context / left - 1e-9)
        data = np.ceil(np.maximum(1.0, data) / splits.replicas) * splits.replicas
        counts = splits.parts * data
        counts = np.maximum(counts, splits.grid.expert * splits.grid.pipeline)
        fits = (left > 0) & (splits.grid.expert <= self._most_experts)
        return int(counts[fits].min()) if fits.any() else None

    def on(self, accelerators: int) -> PlacedLayout | None:
        """The fastest split over n accelerators that fits: of the usual ones within a global
        batch, else of all within it, else of all; None where none fits."""
        splits = self.splits
        data = self._most_replicas(accelerators)
        possible = data >= 1
        if not possible.any():
            return None
        batch = self._batch_tokens(accelerators)
        data = self._kept_replicas(np.maximum(data, splits.replicas), accelerators, batch)
        group = data * splits.grid.context
        size = self._sequences(data, group)
        per_pass = size * data * splits.shape.sequence
        batches = np.maximum(1.0, np.floor(batch / per_pass + 1e-9))
        if self._is_batch_kept and not is_whole(batch / splits.shape.sequence):
            # A batch in round tokens: 16 million stand for 2,048 sequences, which fill 16 stages.
            stages = splits.grid.pipeline
            is_short = (batches < stages) & (stages * per_pass <= batch * (1 + SAME_BATCH))
            batches = np.where(is_short, stages, batches)
        flying = np.minimum(batches, splits.grid.pipeline)
        possible &= splits.memory.total(group, flying, size, batches) <= self.limit_bytes
        possible &= splits.grid.expert <= self._most_experts
        possible &= splits.grid.expert <= group * splits.grid.tensor
        if not possible.any():
            return None
        within = possible & (per_pass <= max(batch, per_pass[data >= 1].min()) * (1 + 1e-9))
        usual = within & self._is_usual(accelerators)
        mask = usual if usual.any() else within if within.any() else possible
        fill = Fill(data, group, size, batches)
        times = self._times(fill)
        worth = times.share * (data * splits.parts) * (1 - STAGE_COST * splits.complexity)
        if self._is_batch_kept:
            worth = worth * kept_share(batches * per_pass, batch)
        best = int(np.argmax(np.where(mask, worth, -1.0)))
        return self._placed(best, accelerators, fill, times)

    def judge(self, accelerators: int) -> PlacedLayout:
        """The layout on n accelerators; refuses, on `layout`, one's own that does not fit."""
        placed = self.on(accelerators)
        if placed is not None:
            return placed
        own = self.training.layout
        field = "layout" if own else "accelerators"
        parts = self.at_once
        if parts > accelerators:
            raise InvalidInput(
                field,
                f"takes {parts} accelerators at once and {accelerators} are used; a split over "
                f"{accelerators} or fewer, or {parts} accelerators, would do",
            )
        # What one's own layout holds at least, and one that fits.
        splits = self.splits
        data = np.maximum(1.0, self._most_replicas(accelerators))
        size = np.full_like(data, float(self.training.micro_batch_size or 1))
        held = splits.memory.total(data * splits.grid.context, splits.grid.pipeline, size)
        free = replace(self, training=self.training.model_copy(update={"layout": None}))
        other = free.on(accelerators)
        fitting = f"; {other.words} fits" if other else ""
        raise InvalidInput(
            field,
            f"holds {held.min() / GIB:,.1f} GiB on each {self.accelerator.name}, of which "
            f"{self.limit_bytes / GIB:,.1f} GiB may be taken{fitting}",
        )

    @property
    def at_once(self) -> int:
        """Accelerators of which the split with the fewest takes a multiple: those of one replica,
        or of as many as experts are spread over."""
        return int((self.splits.parts * self.splits.replicas).min())

    def _most_replicas(self, accelerators: int) -> Floats:
        """Replicas of each split on n accelerators, over which experts are spread evenly."""
        splits = self.splits
        return np.floor(accelerators / (splits.parts * splits.replicas)) * splits.replicas

    def _batch_tokens(self, accelerators: int) -> float:
        """Tokens of a step; where no batch is stated at least a micro-batch of every accelerator,
        up to `LARGEST_GUESSED_BATCH`: a stated one, else a sequence."""
        usual, stated = self.splits.batch_tokens, self.training.micro_batch_size
        if self.training.global_batch_tokens:
            return usual
        of_all = float(accelerators * (stated or 1) * self.splits.shape.sequence)
        most = (
            LARGEST_GUESSED_BATCH
            if stated
            else min(LARGEST_GUESSED_BATCH, self.training.tokens / FEWEST_STEPS)
        )
        return max(usual, min(of_all, most))

    @property
    def _is_batch_kept(self) -> bool:
        return self.training.global_batch_tokens is not None

    def _kept_replicas(self, most: Floats, accelerators: int, batch: float) -> Floats:
        """Replicas that work on a batch: of an advised split fewer than there may be where they
        hold it and a stated batch would lose more, or a guessed one has too few sequences."""
        if self.training.layout:
            return most
        splits, size = self.splits, self.training.micro_batch_size or 1
        passes = max(1.0, math.floor(batch / splits.shape.sequence / size + 1e-9))
        if self._is_batch_kept:
            fewer = replicas_for(passes, most, splits.replicas)
        elif accelerators <= passes:
            return most
        else:
            of_batch = np.maximum(1.0, np.floor(passes / splits.replicas)) * splits.replicas
            fewer = np.minimum(most, of_batch)
        stages = splits.grid.pipeline
        held = splits.memory.total(fewer * splits.grid.context, stages, np.full_like(most, size))
        return np.where(held <= self.limit_bytes, fewer, most)

    def _sequences(self, data: Floats, group: Floats) -> Floats:
        """Sequences of a micro-batch: as asked, else the largest power of two that fits memory and
        global batch, the largest number that keeps a stated one; at least 1."""
        splits, stated = self.splits, self.training.micro_batch_size
        if stated is not None:
            return np.full_like(data, float(stated))
        memory = splits.memory
        states = memory.fixed + memory.shared / group
        left = self.limit_bytes / (1 + RESERVE) - states
        of_batch = splits.batch_tokens / (data * splits.shape.sequence)
        room = np.minimum(left / splits.sequence_bytes, of_batch)
        most = np.maximum(splits.most_sequences, SHORT_TOKENS / splits.shape.sequence)
        sequence = splits.shape.sequence
        alone = self.seconds_per_token * sequence
        staged = most_in_stages(splits.time, splits.grid, self.rates, alone, sequence, of_batch)
        most = np.minimum(most, np.maximum(1.0, staged))
        room = np.clip(room, 1.0, most)
        if self._is_batch_kept:
            return micro_batches_for(splits.batch_tokens / splits.shape.sequence, data, room)
        return np.asarray(np.exp2(np.floor(np.log2(room))))

    def _is_usual(self, accelerators: int) -> Mask:
        """Whether ZeRO stage 3 is used where it usually is; it always is without fast links, and
        over the torus of TPUs, where PaLM 540B shards its weights over 3,072 (section 4)."""
        splits, training = self.splits, self.training
        grid = splits.grid
        is_free = self.links.domain == 1 or is_tpu(self.accelerator)
        if is_free or training.zero_stage == 3 or training.layout:
            return np.ones(grid.tensor.size, dtype=np.bool_)
        is_small = splits.shape.parameters <= FULLY_SHARDED_PARAMETERS
        is_near = accelerators <= FULLY_SHARDED_GROUP * grid.tensor
        return np.asarray((grid.zero_stage < 3) | (is_small & is_near))

    @property
    def _most_experts(self) -> float:
        return float(self.training.experts or USUAL_EXPERTS)

    def _times(self, fill: Fill) -> StepTime:
        splits = self.splits
        host: Floats | float = 0.0
        if self.training.optimizer_offload:
            host = host_seconds(splits.shard.trained, splits.grid, fill.group)
        tokens = fill.size * splits.shape.sequence
        plan, grid, level = splits.time, splits.grid, self.seconds_per_token
        group, batches = fill.group, fill.batches
        return step_time(plan, grid, self.links, level, self.rates, tokens, group, batches, host)

    def _placed(self, i: int, accelerators: int, fill: Fill, times: StepTime) -> PlacedLayout:
        splits, grid = self.splits, self.splits.grid
        used = int(fill.data[i] * splits.parts[i])
        sequences = float(fill.batches[i] * fill.data[i] * fill.size[i])
        return PlacedLayout(
            tensor=int(grid.tensor[i]),
            pipeline=int(grid.pipeline[i]),
            context=int(grid.context[i]),
            expert=int(grid.expert[i]),
            data=int(fill.data[i]),
            zero_stage=int(grid.zero_stage[i]),
            checkpointing=CHECKPOINTING[int(grid.checkpointing[i])],
            micro_batch=int(fill.size[i]),
            micro_batches=int(fill.batches[i]),
            unused=accelerators - used,
            hold=partial(self._memory, i, fill),
            share_of_level=float(times.share[i]) * used / accelerators,
            pipeline_bubble=float(times.bubble[i]),
            exposed_communication=float(times.exposed[i]),
            at_once=int(splits.parts[i] * splits.replicas[i]),
            global_batch_tokens=sequences * splits.shape.sequence,
        )

    def _memory(self, i: int, fill: Fill) -> MemoryBreakdown:
        plan, group = self.splits.memory, fill.group
        flying = np.minimum(fill.batches, self.splits.grid.pipeline)
        gradients = plan.gradients_at_peak(group, flying, fill.size, fill.batches)
        memory = MemoryBreakdown(
            weights_gib=float(plan.weights.on(group)[i]) / GIB,
            gradients_gib=float(gradients[i]) / GIB,
            optimizer_gib=float(plan.optimizer.on(group)[i]) / GIB,
            activations_gib=float(plan.activations(flying, fill.size)[i]) / GIB,
            logits_gib=float(plan.logits_beyond(flying, fill.size)[i]) / GIB,
            overhead_gib=0.0,
        )
        return memory.model_copy(update={"overhead_gib": memory.total_gib * RESERVE})


class Fill(NamedTuple):
    """How each split is filled on some accelerators; every array is [splits]."""

    data: Floats
    """Replicas."""
    group: Floats
    """Accelerators that share one rank's states."""
    size: Floats
    """Sequences of a micro-batch."""
    batches: Floats
    """Micro-batches of a step."""


@dataclass(frozen=True)
class PlacedLayout:
    """A split that fits, with what it holds and what it costs."""

    tensor: int
    pipeline: int
    context: int
    expert: int
    data: int
    zero_stage: int
    checkpointing: str
    micro_batch: int
    micro_batches: int
    unused: int
    hold: Callable[[], MemoryBreakdown]
    share_of_level: float
    """Rate under this split over the level of the accelerator."""
    pipeline_bubble: float
    exposed_communication: float
    at_once: int
    """Accelerators of which it takes a multiple."""
    global_batch_tokens: float

    @cached_property
    def memory(self) -> MemoryBreakdown:
        """GiB on the fullest accelerator; worked out when first asked for."""
        return self.hold()

    @property
    def parallelism(self) -> Parallelism:
        """The split as the estimate shows it."""
        named = {
            "activation_checkpointing": self.checkpointing != CHECKPOINTING[NONE],
            "micro_batch_size": self.micro_batch,
        }
        same = {name: getattr(self, name) for name in Parallelism.model_fields.keys() - named}
        return Parallelism(**same, **named)

    @property
    def words(self) -> str:
        """The split in a few words."""
        sizes = {name: getattr(self, name) for name in ("tensor", "pipeline", "context", "expert")}
        named = [f"{name} {size}" for name, size in sizes.items() if size > 1]
        return ", ".join([*named, f"ZeRO stage {self.zero_stage}"])


SAME_BATCH = 0.05
"""Share by which a step may differ from the batch that was asked for; a planning choice, 2026."""


def kept_share(tokens: Floats, batch: float) -> Floats:
    """Share of a batch that steps of `tokens` keep, as far as it is less than nobody minds."""
    share = np.minimum(1.0, tokens / batch)
    return np.asarray(np.where(share < 1 - SAME_BATCH, share, 1.0))


def replicas_for(passes: float, most: Floats, multiple: Floats) -> Floats:
    """Replicas of at most `most`, a multiple of `multiple`, that work on a batch of `passes`
    micro-batches: some idle where a round more of fewer replicas costs less than the batch loses,
    or where each would take more than the batch.

    976 micro-batches are one round of 500 replicas, or two of 488; 2,000 replicas would take more.

    >>> replicas_for(976.0, np.array([500.0, 900.0, 8.0, 2000.0]), np.ones(4)).tolist()
    [488.0, 900.0, 8.0, 976.0]
    """
    passes = max(1.0, passes)
    rounds = np.floor(passes / most)
    fewer = np.floor(passes / (rounds + 1) / multiple) * multiple
    all_at_work = kept_share(rounds * most, passes)
    some_idle = kept_share((rounds + 1) * fewer, passes) * fewer / most
    return np.asarray(np.where((fewer >= 1) & (some_idle > all_at_work), fewer, most))


def micro_batches_for(sequences: float, data: Floats, room: Floats) -> Floats:
    """Sequences of a micro-batch, at most `room`, with which steps come nearest to a batch of
    `sequences` over `data` replicas, the largest such: of whole sequences a divisor of a replica's;
    else of a batch that is a round number of tokens, within what nobody minds.

    >>> micro_batches_for(480.0, np.array([8.0, 8.0]), np.array([32.0, 29.0])).tolist()
    [30.0, 20.0]
    >>> micro_batches_for(1953.125, np.array([32.0, 512.0]), np.array([16.0, 16.0])).tolist()
    [15.0, 3.0]
    """
    numbers = data.astype(np.int64)
    is_there = np.zeros(int(numbers.max()) + 1, dtype=np.bool_)
    is_there[numbers] = True
    places = np.cumsum(is_there) - 1
    replicas, row = np.flatnonzero(is_there).astype(np.float64), places[numbers]
    own = np.maximum(1.0, np.floor(sequences / replicas + 1e-9))[:, None]
    share = 1.0 if is_whole(sequences) else 1 - SAME_BATCH
    needed = np.minimum(own, np.ceil(own * share))
    sizes = np.arange(1.0, math.floor(room.max()) + 1)
    keeps = sizes * np.floor(own / sizes) >= needed
    largest = np.maximum.accumulate(np.where(keeps, sizes, 1.0), axis=1)
    return np.asarray(largest[row, np.floor(room).astype(np.int64) - 1])


def is_whole(sequences: float) -> bool:
    """Whether a batch is of whole sequences."""
    return math.isclose(sequences, round(sequences), rel_tol=1e-9)


STARVED = 0.75
"""Share of its rate that a split leaves an accelerator below which splits over fewer are looked at
too; a planning choice, 2026."""
FEWEST_OF = 16
"""Part of a number down to which they are; a planning choice, 2026."""


def judge_with_idle(task: LayoutTask, accelerators: int) -> PlacedLayout:
    """The layout on n accelerators, or on an even number below n where that is faster and the step
    is a guess, which keeps fewer at work: more accelerators never take longer.

    Raises `InvalidInput` on `layout` or `accelerators` where none fits.
    """
    placed, training = task.judge(accelerators), task.training
    is_stated = training.global_batch_tokens is not None or training.layout is not None
    if is_stated or placed.share_of_level >= STARVED:
        return placed
    rate = accelerators * placed.share_of_level
    # Numbers 2^k and 3 2^k below n and down to a sixteenth of it, over which splits are even.
    sizes = {size << k for k in range(accelerators.bit_length()) for size in (1, 3)}
    near = (size for size in sizes if accelerators <= FEWEST_OF * size and size < accelerators)
    for count in sorted(near, reverse=True):
        other = task.on(count)
        if other is not None and count * other.share_of_level > rate:
            rate = count * other.share_of_level
            idle = other.unused + accelerators - count
            placed = replace(other, unused=idle, share_of_level=rate / accelerators)
    return placed
