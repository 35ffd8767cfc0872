"""Accelerator-hours of one training run under its layout. PURE.

    H = t_token · D / (share of the layout · share of the cluster) · team / g + n · start

t_token is a token's time at the level that a well-tuned framework reaches on the accelerator, the
team's factor what real runs take beyond it, g the goodput. A team's own rate replaces all but g.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from planner.contract.accelerator_memory import usable_gib
from planner.contract.answer.estimate import Neighbour, RolloutFigures, RunFigures
from planner.contract.copies import cached_property, replace
from planner.contract.models.config import other_layers, read_fields
from planner.contract.models.count_parameters import read_config
from planner.contract.models.known_models import context_of
from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import check_precision, supported_precisions, weight_bytes
from planner.sizing.footprint.training_flops import (
    FINE_TUNING,
    RECOMPUTE_FACTOR,
    USUAL_VOCABULARY,
    Work,
    active_parameters,
    checked_training,
    compute_work,
    is_adapter,
    is_mixture,
    is_near_both,
    stage_of,
    with_padding,
)
from planner.sizing.layout.refusals import check_split, refuse_nowhere, refuse_too_few
from planner.sizing.layout.search import SAME_BATCH, LayoutTask, PlacedLayout, judge_with_idle
from planner.sizing.layout.shapes import CHECKPOINTING, FULL, state_bytes
from planner.sizing.layout.step_time import is_lone_chip, is_tpu, links_of
from planner.sizing.performance.confidence import (
    excess_beside_standard,
    has_user_rate,
    has_user_throughput,
    placed_range,
    placed_warnings,
    team_excess,
    team_fit,
    user_mfu,
)
from planner.sizing.performance.goodput import goodput_of, saving_hours, start_hours
from planner.sizing.performance.levels import (
    LOW_BITS,
    MFU_CEILING,
    benchmark_level,
    cluster_share,
    default_accelerators,
    is_vector,
    most_executed,
    peak_flops,
    rates_on,
    worked_flops,
)
from planner.sizing.performance.neighbours import CODE_WORDS, find_neighbours
from planner.sizing.performance.replicas import rollout_fit, rollout_hours
from planner.sizing.runs.run_size import RunSize
from planner.sizing.runs.schedule import (
    NEAR_THE_FEWEST,
    chips_rented,
    choose_at_work,
    of_slices,
    whole_count,
    within_job,
)
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.accelerators import Accelerator

ADAPTER_RECOMPUTE = 1.5
"""Executed over model FLOPs, fully checkpointed on frozen weights: 6 N D for 4 N D (LoRA, 2021)."""
HALF_BYTES, STATE_BYTES = 2.0, 16.0
"""Bytes of a parameter in 16 bits, and with gradient and AdamW's states (ZeRO, arXiv 1910.02054,
2020)."""
THIN_SHARE, LEAST_SHARE = 0.5, 0.01
"""Share of an accelerator's rate that a split leaves, below which the answer says so, and the least
that it tells; planning choices, 2026."""
MOSTLY = 0.5
"""Share of the working time that a split waits for its links, from which the answer says so; a
planning choice, 2026."""
MOST_UNLIKE = 4.0
"""Parameters over those of a usual shape, or the reverse, from which one of them is doubted: the
models of the table have 0.76 to 1.93; a planning choice, 2026."""
MUCH_LONGER = 1.5
"""Hours over others from which they are told as a multiple; a planning choice, 2026."""


@dataclass(frozen=True, kw_only=True)
class PlacedSize(RunSize):
    """One run of a training with its layout."""

    training: Training
    precision: str
    work: Work
    mfu: float
    mfu_source: str
    layout: PlacedLayout
    peak_flops: float
    seconds_per_token: float
    """Of one accelerator at its level."""
    rollouts: RolloutFigures | None = None
    """Hours of answers written and judged for the training, among `hours`."""

    @property
    def method(self) -> str:
        beside = self.rollouts
        answers = (
            f"; of {self.hours:,.4g} h {beside.writing_hours:,.4g} write answers and "
            f"{beside.scoring_hours:,.4g} judge them"
            if beside
            else ""
        )
        return (
            f"{self.work.model_flops:.3g} FLOPs a run over {self.precision} peak, MFU "
            f"{self.mfu:.1%} ({self.mfu_source}) and goodput {self.goodput:.1%} "
            f"({self.goodput_source}){answers}"
        )

    @cached_property
    def range_p10_p90(self) -> tuple[float, float]:
        """Factors on `hours`; p10 executes no more than a step can."""
        low, high = placed_range(self.training, self.accelerator, self.precision, self.accelerators)
        if has_user_rate(self.training):
            return low, high
        most = most_executed(self.accelerator, self.precision)
        return max(low, min(1.0, self.hfu / most)), high

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Why to doubt its figures, and what they leave out."""
        uncertain = placed_warnings(
            self.training, self.accelerator, self.precision, self.accelerators
        )
        return (*(words for warn in WARNINGS for words in warn(self)), *uncertain)

    @property
    def unused(self) -> int:
        return self.layout.unused

    @property
    def share_of_level(self) -> float:
        return self.layout.share_of_level

    @property
    def at_once(self) -> int:
        return self.layout.at_once

    @property
    def tensor_parallel(self) -> int:
        return self.layout.tensor

    @property
    def memory_gib(self) -> float:
        return self.layout.memory.total_gib

    @property
    def least_gib(self) -> float:
        memory = self.layout.memory
        working = memory.activations_gib + memory.logits_gib
        return memory.total_gib - working * (1 - 1 / self.layout.micro_batch)

    @property
    def memory_reason(self) -> str:
        weights = weights_gb(self.training)
        return (
            f"memory: weights are {weights['fp32']:,.4g} GB in fp32 and {weights['fp16']:,.4g} GB "
            f"in half precision; training holds {self.memory_gib:,.1f} of "
            f"{usable_gib(self.accelerator):,.1f} GiB that can be used on each"
        )

    @property
    def links_reason(self) -> str:
        return f"; traffic takes {self.layout.exposed_communication:.0%} of the working time"

    @property
    def dense_tflops(self) -> float | None:
        one = self.accelerator
        return one.dense_tflops(self.precision) or one.dense_tflops("fp32")

    @property
    def saving_hours(self) -> float:
        return saving_hours(state_bytes(self.training, self.precision), self.accelerators)

    @property
    def own_figures(self) -> RunFigures:
        return RunFigures(
            precision=self.precision,
            training_flops=self.work.model_flops,
            hardware_flops=self.hardware_flops,
            mfu=self.mfu,
            mfu_source=self.mfu_source,
            hfu=self.hfu,
            memory_per_accelerator_gib=self.memory_gib,
            memory_breakdown=self.layout.memory,
            parallelism=self.layout.parallelism,
            scaling_efficiency=cluster_share(self.accelerators),
            tokens_per_second_per_accelerator=self.step_tokens_per_second,
            rollouts=self.rollouts,
            neighbours=self.neighbours,
        )

    @cached_property
    def neighbours(self) -> tuple[Neighbour, ...]:
        """The nearest published runs with what they would make of this work."""
        training = self.training
        if training.rollouts:
            return ()
        rate = self.layout.share_of_level * cluster_share(self.accelerators)
        seconds = self.seconds_per_token * training.tokens * with_padding(training) / rate
        hours = seconds / 3600 / self.goodput
        return find_neighbours(training, self.accelerator, self.accelerators, hours)

    @property
    def executed_factor(self) -> float:
        """Executed over model FLOPs of the layout."""
        if self.layout.checkpointing != CHECKPOINTING[FULL]:
            return 1.0
        return ADAPTER_RECOMPUTE if is_adapter(self.training) else RECOMPUTE_FACTOR

    @property
    def hardware_flops(self) -> float:
        """FLOPs executed in one run, recomputation included."""
        return worked_flops(self.work) * self.executed_factor

    @property
    def hfu(self) -> float:
        """Executed FLOP/s over the dense peak."""
        return self.mfu * self.hardware_flops / self.work.model_flops

    @property
    def step_tokens_per_second(self) -> float:
        """Tokens of a step over its time on one accelerator: the team's rate as measured or the
        step model's, lost hours not counted; by code and kind of model."""
        training, share = self.training, self.layout.share_of_level
        if has_user_rate(training):
            return self.mfu * self.peak_flops * training.tokens / self.work.model_flops
        rate = share * cluster_share(self.accelerators) / self.seconds_per_token
        if training.rollouts:
            return rate
        excess = excess_beside_standard(training, self.accelerator, self.precision)
        most = most_executed(self.accelerator, self.precision) * self.peak_flops
        return min(rate * math.exp(-excess), most * training.tokens / self.hardware_flops)


def weights_gb(training: Training) -> dict[str, float]:
    """Weights of a model in fp32 and in half precision, decimal GB."""
    return {name: weight_bytes(training.parameters, name) / 1e9 for name in ("fp32", "fp16")}


def _warn_given_rate(size: PlacedSize) -> Iterator[str]:
    if size.mfu > MFU_CEILING and has_user_rate(size.training):
        yield (
            f"an MFU of {size.mfu:.1%} is above {MFU_CEILING:.0%}, what training sustains at best; "
            "check that it is MFU and not HFU, and against the dense peak and not the sparse one"
        )
    if size.hfu > 1:
        yield (
            f"at an MFU of {size.mfu:.1%} nothing is left for activation checkpointing, without "
            f"which {size.accelerators} {size.accelerator.name} cannot hold it: that is "
            f"{size.hfu:.0%} of the dense peak"
        )


def _warn_short(size: PlacedSize) -> Iterator[str]:
    """Tokens that do not fill one step, of reinforcement learning one of all its prompts and
    answers."""
    training, batch, rollouts = (
        size.training,
        size.layout.global_batch_tokens,
        size.training.rollouts,
    )
    step = (
        rollouts.per_step * (rollouts.prompt_tokens + rollouts.response_tokens) if rollouts else 0
    )
    if rollouts and training.tokens < step:
        yield (
            f"the {training.tokens:,.0f} tokens are less than one step of {step:,} "
            f"({rollouts.per_step:,} answers with prompts): tokens are those of all steps"
        )
    elif training.tokens < batch:
        yield (
            f"the {training.tokens:,.0f} tokens are less than one step of {batch:,.0f}: fewer "
            "accelerators, or a smaller batch, are enough"
        )


def _warn_few_teams(size: PlacedSize) -> Iterator[str]:
    training = size.training
    if has_user_rate(training):
        return
    if training.rollouts:
        yield (
            "only two teams publish steps of reinforcement learning, so the range is as wide as "
            "that of fine-tuning; a measured step narrows it"
        )
    elif stage_of(training) == FINE_TUNING:
        allowed = (
            "the range leaves out what the stated tuning of the code explains"
            if training.code
            else "the range allows for that"
        )
        yield (
            "published fine-tunings differ tenfold between teams, because padded sequences, small "
            f"batches and untuned code take most of the time: {allowed}; a rate measured in 15 "
            "minutes or so narrows it"
        )


def _warn_borrowed_rate(size: PlacedSize) -> Iterator[str]:
    stands_in = benchmark_level(size.accelerator, size.precision).stands_in
    if stands_in and not has_user_rate(size.training):
        yield (
            f"no training benchmark of {size.accelerator.name} itself is in its rate: the share of "
            f"its peak is that of {stands_in}"
        )


def _warn_number(size: PlacedSize) -> Iterator[str]:
    yield from size.count_words
    yield from size.warn_long()


def _warn_step(size: PlacedSize) -> Iterator[str]:
    layout, own, batch = size.layout, size.training.layout, size.training.global_batch_tokens
    if batch is not None and abs(layout.global_batch_tokens / batch - 1) > SAME_BATCH:
        yield (
            f"a step processes {layout.global_batch_tokens:,.0f} tokens, not the {batch:,.0f} of "
            f"global_batch_tokens: {layout.data} x {layout.micro_batch} sequences are processed at "
            "once, and a step holds a multiple of that"
        )
    if layout.unused:
        split = "layout" if own else "fastest split that fits"
        yield (
            f"the {split} leaves {pluralize(layout.unused, 'accelerator')} idle but paid for: it "
            f"takes a multiple of {layout.at_once}"
        )


def _warn_description(size: PlacedSize) -> Iterator[str]:
    training = size.training
    layers, width = training.layers, training.hidden_size
    if layers and width and not is_mixture(training):
        vocabulary = training.vocabulary_size or USUAL_VOCABULARY
        usual = 12.0 * layers * width**2 + 2.0 * vocabulary * width
        if not usual / MOST_UNLIKE <= training.parameters <= usual * MOST_UNLIKE:
            yield (
                f"{pluralize(layers, 'layer')} of {width:,} units usually make {usual:,.0f} "
                f"parameters, not {training.parameters:,.0f}: one of the three is wrong, or the "
                "hours are"
            )
    is_stage_open = not training.rollouts and not has_user_rate(training)
    if is_stage_open and is_near_both(training):
        yield (
            "counted between pre-training and fine-tuning, because it has "
            f"{training.tokens / active_parameters(training):.2f} times as many tokens as active "
            "parameters; either one alone takes different hours, so state the stage"
        )
    if (training.experts or training.experts_per_token) and not is_mixture(training):
        yield (
            "experts are given without active_parameters, so all "
            f"{training.parameters:,.0f} parameters are counted as active for each token; "
            "active_parameters would make it a mixture"
        )
    if training.trainable_parameters and not is_adapter(training):
        yield (
            f"trainable_parameters counts with lora and qlora alone: optimizer "
            f"{training.optimizer} trains all {training.parameters:,.0f} parameters"
        )


def _warn_slow_split(size: PlacedSize) -> Iterator[str]:
    """A split that spends more time on its links than on the model, or an advised one that leaves
    each accelerator too little of a step to do where half of them or fewer hold the training."""
    layout, count = size.layout, size.accelerators
    if has_user_rate(size.training):
        return
    if layout.exposed_communication >= MOSTLY:
        yield (
            f"the split spends {layout.exposed_communication:.0%} of the working time waiting for "
            "its links: accelerators with faster links or more memory, or a different number of "
            "them, may take far fewer accelerator-hours"
        )
    is_thin = layout.share_of_level < THIN_SHARE and size.training.layout is None
    if is_thin and count >= 2 * size.min_accelerators:
        batch, share = layout.global_batch_tokens, max(layout.share_of_level, LEAST_SHARE)
        yield (
            f"on {count:,} accelerators a step of {batch:,.0f} tokens is {batch / count:,.0f} for "
            f"each, which works at {share:.0%} of its rate: fewer accelerators, or a larger "
            "global_batch_tokens, take fewer accelerator-hours"
        )


def _warn_other_memory(size: PlacedSize) -> Iterator[str]:
    """Memory that is taken elsewhere: of hosts, and by what reinforcement learning holds beside the
    trained model."""
    training, layout, rollouts = size.training, size.layout, size.training.rollouts
    if training.optimizer_offload:
        states = state_bytes(training, size.precision)
        parts = layout.tensor * layout.pipeline
        ranks = parts * layout.data * layout.context
        total = states.trained * states.optimizer * (1 if layout.zero_stage else ranks / parts)
        yield (
            f"optimizer_offload keeps {total / 1e9:,.3g} GB of states in the memory of the hosts, "
            f"{total / ranks / 1e9:,.3g} GB beside each accelerator: see that the machines have it"
        )
    if training.weights_offload:
        held = state_bytes(training, size.precision).frozen / 1e9
        share = f"takes {layout.exposed_communication:.0%} of the working time"
        if layout.exposed_communication < 0.005:
            share = "is done while the accelerators compute"
        yield (
            f"the {held:,.3g} GB of frozen weights do not fit beside the rest: they stay in the "
            f"memory of the hosts and are streamed layer by layer, twice for every micro-batch, at "
            f"{links_of(size.accelerator).host:,.3g} GB/s to each accelerator (FSDP with CPU "
            f"offload); this traffic {share}, more where hosts have slow memory or few PCIe lanes"
        )
    if rollouts is None:
        return
    weights = HALF_BYTES * training.parameters / 1e9
    others = [f"the engine's weights ({weights:,.0f} GB) and its cache"]
    if rollouts.has_reference and not is_adapter(training):
        others.append(f"the frozen reference ({weights:,.0f} GB)")
    if rollouts.critic_parameters:
        states_gb = STATE_BYTES * rollouts.critic_parameters / 1e9
        others.append(f"the critic with its states ({states_gb:,.0f} GB)")
    yield (
        "memory and the least number of accelerators are those of the trained model alone: "
        f"{_join(others)} want room beside it, in turns on the same accelerators or on others"
    )


def _warn_config(size: PlacedSize) -> Iterator[str]:
    training = size.training
    if training.config is None:
        return
    fields = read_fields(training.config, is_size_given=True)
    figures = read_config(training.config, is_size_given=True)
    other = other_layers(fields.config, fields.family)
    filled = (figures.parameters, figures.parameters - figures.output_parameters)
    is_filled = training.parameters in map(float, filled)
    if fields.beside and is_filled:
        yield (
            f"{_join(fields.beside)} of the config {'is' if len(fields.beside) == 1 else 'are'} "
            f"not counted: {training.parameters / 1e9:,.2f} billion parameters are the language "
            "model's; images and sound count as the tokens that they become, and parameters of "
            "one's own stand"
        )
    if other and training.sliding_layers == (figures.sliding_layers or None):
        yield (
            f"{figures.sliding_layers} layers without attention ({other} of the config) are taken "
            f"for attention with a window of {training.sliding_window or 0:,} tokens, whose work "
            "is about theirs"
            if figures.sliding_layers
            else f"the config's {other} counts by its parameters alone, not by its work"
        )
    if fields.family and not fields.code.is_known and is_filled:
        yield (
            f"the model_type {fields.family} of the config is not known: its "
            f"{training.parameters:,.0f} parameters are counted as a Llama's, with a gated "
            "feed-forward part and an output of its own where nothing else is said; parameters "
            "given beside the config replace them"
        )


def _warn_context(size: PlacedSize) -> Iterator[str]:
    """Trained sequences, or the examples packed into them, and answers that are longer than what
    the model reads."""
    training, rollouts = size.training, size.training.rollouts
    length = float(training.sequence_length or 0)
    trained = min(length, training.tokens_per_example or length)
    yield from beyond_context(training, trained, "sequences")
    if rollouts:
        written = rollouts.prompt_tokens + rollouts.response_tokens
        yield from beyond_context(training, written, "prompts with answers")


def _warn_neighbours(size: PlacedSize) -> Iterator[str]:
    low, high = (size.hours * factor for factor in size.range_p10_p90)
    for near in size.neighbours:
        if near.is_same_work and not low <= near.scaled_hours <= high:
            yield (
                f"{near.run} did this work in {near.accelerator_hours:,.0f} accelerator-hours, "
                f"which is outside the range here; it differs by {near.differs}"
            )


WARNINGS: tuple[Callable[[PlacedSize], Iterator[str]], ...] = (
    _warn_given_rate,
    _warn_short,
    _warn_few_teams,
    _warn_borrowed_rate,
    _warn_number,
    _warn_step,
    _warn_description,
    _warn_slow_split,
    _warn_other_memory,
    _warn_config,
    _warn_context,
    _warn_neighbours,
)
"""Reasons for doubt in the order in which they are told."""


def beyond_context(training: Training, tokens: float, what: str) -> Iterator[str]:
    """That some tokens are longer than what a model reads."""
    context = context_of(training.model, training.config)
    if context is None or tokens <= context.tokens:
        return
    name = training.model or "the model of the config"
    if context.is_learned:
        yield (
            f"{what} of {tokens:,.0f} tokens do not run on {name}: it has learned "
            f"{context.tokens:,} positions and none beyond; allowed are up to {context.tokens:,}, "
            "or a model of a longer context"
        )
    else:
        yield (
            f"{what} of {tokens:,.0f} tokens are longer than the {context.tokens:,} of {name}: its "
            "positions have to be extended for them first (RoPE scaling such as YaRN, and training "
            "on long sequences), which these figures leave out"
        )


def another_number(size: PlacedSize, other: PlacedSize) -> tuple[str, ...]:
    """Why a run takes more accelerators than would do, or fewer than usual."""
    count, times = size.accelerators, other.hours / size.hours
    more = f"{times:,.1f} times the" if times >= MUCH_LONGER else f"{times - 1:.0%} more"
    named = pluralize(other.accelerators, "accelerator")
    if other.accelerators > count:
        return (
            f"{named}, the usual number for this work, would take {more} accelerator-hours, as "
            f"each step would leave them too little to do: {count:,} are used instead",
        )
    return (
        f"{named} would hold it, but take {more} accelerator-hours: {count:,} are used instead, "
        "the smallest number tried that takes close to the fewest hours; to use fewer, state jobs "
        f"of {named}",
    )


def _join(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


ATTENTION_SHOWS, MOST_MFU = 0.9, 0.95
"""Share of the model's FLOPs that is worked, below which the answer says that MFU counts more, and
the most that such an MFU is taken for; planning choices, 2026."""


@dataclass(frozen=True)
class PlacedTask:
    """A run on one kind of accelerator, before it is known on how many."""

    layouts: LayoutTask
    work: Work
    peak_flops: float
    min_accelerators: int
    requested: Training
    """As the request describes it."""
    streamed: PlacedTask | None = None
    """The same on fewer, with frozen weights in the memory of the hosts."""

    def fewest_hours(self, accelerators: int) -> float:
        """Hours that the run takes at least on n accelerators: its layout costs nothing."""
        goodput = self._goodput(accelerators)[0]
        return self._bare_hours / (goodput * cluster_share(accelerators))

    @cached_property
    def _bare_hours(self) -> float:
        """Hours of the step model at the level and of the team, every hour useful."""
        training = self.layouts.training
        if has_user_rate(training):
            return 0.0
        hours = self.layouts.seconds_per_token * training.tokens * math.exp(self._excess) / 3600
        return hours * with_padding(training)

    @cached_property
    def _excess(self) -> float:
        """ln of the hours that teams take over those of the step model."""
        task = self.layouts
        if task.training.rollouts:
            return rollout_fit().excess
        return team_excess(task.training, task.accelerator, task.precision)

    def at_least(self, accelerators: int | None = None) -> PlacedSize:
        """The run on n accelerators or a few more, so that a usual number works; on the usual
        number for its work for None. On the smallest number up to twice what holds
        it whose hours are near the fewest, or further away where that takes much fewer."""
        count = self._count(None if accelerators is None else whole_count(accelerators))
        if has_user_rate(self.layouts.training):
            return self._sized(count)
        held, job = self.min_accelerators, self.requested.accelerators_per_job
        least, fewest = held if accelerators is None else count, self.fewest_hours(count)
        size, other = choose_at_work(self._sized, count, held, least, job, fewest)
        count = size.accelerators
        if other is not None:
            size = replace(size, count_words=another_number(size, other))
        one, chips = self.layouts.accelerator, chips_rented(self.layouts.accelerator, count)
        if chips == count or (job and chips > job):
            return size
        try:
            sliced = self._sized(chips)
        except InvalidInput:
            return size
        return replace(sliced, count_words=(*size.count_words, of_slices(one, chips, count)))

    def on_whole_machines(self, accelerators: int | None = None) -> PlacedSize:
        """The run on n accelerators or a few more, on machines that can be rented, where its hours
        are about the same; no more than a request says that a job takes."""
        size = self.at_least(accelerators)
        rented = accelerators_rented(size.accelerator, size.accelerators)
        job = size.training.accelerators_per_job
        if rented == size.accelerators or (job and rented > job):
            return size
        try:
            whole = self.at(rented)
        except InvalidInput:
            return size
        if whole.hours > NEAR_THE_FEWEST * size.hours:
            return size
        named = pluralize(size.accelerators, "accelerator")
        words = (
            f"{named} would do: {rented} are counted on, as machines are rented whole; stating "
            f"jobs of {named} asks for fewer"
        )
        return replace(whole, count_words=(words,))

    def at(self, accelerators: int | None = None) -> PlacedSize:
        """The run on n accelerators, or on the usual number for its work."""
        if self.streamed and accelerators and accelerators < self.min_accelerators:
            return self.streamed.at(accelerators)
        count = None if accelerators is None else self._count(accelerators)
        return self._on(count, judge_with_idle(self.layouts, count)) if count else self.at_least()

    @cached_property
    def _sized(self) -> Callable[[int], PlacedSize]:
        """The run on n accelerators, each number worked out once."""
        return cache(self._on)

    def _on(self, count: int, judged: PlacedLayout | None = None) -> PlacedSize:
        training, one = self.layouts.training, self.layouts.accelerator
        layout = judged or self.layouts.judge(count)
        goodput, goodput_source = self._goodput(count)
        stated = user_rate(training, self.work, self.peak_flops, one)
        mfu, source = stated or self._estimated(layout, count)
        seconds = self.work.model_flops * with_padding(training) / (self.peak_flops * mfu)
        beside = self._rollouts(count, seconds / 3600 / goodput)
        starting = 0.0 if stated else count * start_hours(training)
        return PlacedSize(
            training=training,
            accelerator=one,
            precision=self.layouts.precision,
            accelerators=count,
            min_accelerators=self.min_accelerators,
            work=self.work,
            mfu=mfu,
            mfu_source=source,
            goodput=goodput,
            goodput_source=goodput_source,
            hours=seconds / 3600 / goodput + starting + (beside.total_hours if beside else 0.0),
            layout=layout,
            peak_flops=self.peak_flops,
            seconds_per_token=self.layouts.seconds_per_token,
            rollouts=beside,
        )

    @cached_property
    def _goodput(self) -> Callable[[int], tuple[float, str]]:
        """Goodput on n accelerators and where it is from, each number worked out once."""
        layouts = self.layouts
        states = layouts.splits.states
        return cache(lambda count: goodput_of(layouts.training, states, count))

    def _rollouts(self, count: int, hours: float) -> RolloutFigures | None:
        """What the answers of a training of `hours` take; a rate of the team holds them already."""
        training = self.layouts.training
        if training.rollouts is None or has_user_throughput(training):
            return None
        one, goodput = self.layouts.accelerator, self._goodput(count)[0]
        bare = rollout_hours(self.requested, training.rollouts, one, count, hours)
        writing = bare.writing_hours * math.exp(rollout_fit().excess) / goodput
        return bare.model_copy(update={"writing_hours": writing})

    def _count(self, requested: int | None) -> int:
        least = self.min_accelerators
        if requested is None:
            usual = default_accelerators(self.work.executed_flops, self.peak_flops)
            job = self.requested.accelerators_per_job
            return within_job(max(whole_count(least), usual), least, job)
        own = self.layouts.training.layout
        if own and requested < own.parts:
            self.layouts.judge(requested)
        if requested < least:
            raise refuse_too_few(self.layouts, requested, least)
        return requested

    def _estimated(self, layout: PlacedLayout, count: int) -> tuple[float, str]:
        """MFU of the step model and the team's factor, at most what matrices reach."""
        training, one = self.layouts.training, self.layouts.accelerator
        seconds = self.layouts.seconds_per_token / (layout.share_of_level * cluster_share(count))
        seconds *= math.exp(self._excess)
        worked = worked_flops(self.work)
        factor = RECOMPUTE_FACTOR if layout.checkpointing == CHECKPOINTING[FULL] else 1.0
        if is_adapter(training) and factor > 1:
            factor = ADAPTER_RECOMPUTE
        rate = worked / training.tokens / (seconds * self.peak_flops)
        precision = self.layouts.precision
        share = min(rate, most_executed(one, precision) / factor)
        stage = "fine-tuning" if stage_of(training) == FINE_TUNING else "pre-training"
        if is_near_both(training):
            stage = "between pre-training and fine-tuning"
        words = f"{stage} with {CODE_WORDS[training.code]}"
        if is_vector(one, precision):
            words = f"{stage} on vector units, where the tuning of the code tells nothing"
        elif is_mixture(training):
            times = math.exp(team_fit().mixture_of(training))
            words += f"; a mixture of experts takes {times:.2f} times that"
        level = benchmark_level(one, precision).source
        source = f"{level}; {layout.share_of_level:.0%} of it under this layout; {words}"
        if worked < ATTENTION_SHOWS * self.work.model_flops:
            source += "; MFU counts the whole attention term, of which causal kernels work half"
        mfu = share * self.work.model_flops / worked
        return min(mfu, MOST_MFU), source


def placed_on(training: Training, one: Accelerator) -> PlacedTask:
    """The run on an accelerator; refuses a precision it lacks and what fits nowhere.

    Raises `InvalidInput` on `precision`, `accelerator` or `layout`.
    """
    check_split(training)
    requested, training = training, checked_training(training)
    precision = precision_on(training, one)
    layouts = LayoutTask(training, one, precision, rates_on(training, one, precision))
    least, other, job = layouts.least(), layouts.streamed, requested.accelerators_per_job
    work, peak = compute_work(training), peak_flops(one, precision)
    streamed = PlacedTask(other, work, peak, other.least() or 1, requested) if other else None
    if streamed and (least is None or (job and job < least)):
        return streamed
    if least is None:
        raise refuse_nowhere(layouts)
    return PlacedTask(layouts, work, peak, least, requested, streamed)


PRECISION_ORDER = ("bf16", "fp16", "fp32")
"""Tried in this order where the request names no precision."""


def precision_on(training: Training, one: Accelerator) -> str:
    """The precision asked for, or the best that the accelerator has; refuses one it lacks."""
    if training.precision is None:
        best = [p for p in PRECISION_ORDER if p in supported_precisions(one)]
        if best:
            return best[0]
        raise InvalidInput("accelerator", f"no training rate of {one.name} is known")
    check_precision(training.precision, one)
    if training.optimizer == "qlora" and training.precision in LOW_BITS:
        raise InvalidInput(
            "precision",
            f"{training.precision} is not what QLoRA multiplies in: its 4-bit weights become "
            "16-bit ones first; allowed are bf16 and fp16, or fp8 with optimizer lora",
        )
    return training.precision


def user_rate(
    training: Training, work: Work, peak_flops: float, one: Accelerator
) -> tuple[float, str] | None:
    """MFU that the team's own figure means, with where it is from; None where it gives none."""
    stated = user_mfu(training)
    if stated:
        return stated, "given" if training.mfu else "given as HFU; MFU is 3/4 of it"
    hours, rate = training.measured_accelerator_hours, training.tokens_per_second_per_accelerator
    if hours:
        share = work.model_flops / (hours * 3600 * peak_flops)
        field, source = "measured_accelerator_hours", "accelerator-hours of a past run, given"
        what, allowed = f"{hours:,.6g} h for this work", f"{hours * share:,.6g} or more"
    elif rate:
        share = rate * work.model_flops / training.tokens / peak_flops
        field, source = "tokens_per_second_per_accelerator", "measured throughput, given"
        what, allowed = f"{rate:,.0f} tokens/s", f"up to {rate / share:,.0f}"
    else:
        return None
    if share > 1:
        raise InvalidInput(
            field,
            f"{what} would be {share:,.0%} of the dense peak of {one.name}; allowed are {allowed}",
        )
    return share, source


USUAL_SIZES, NEURON_SIZES = (1, 2, 4, 8), (1, 16)
"""Accelerators of one machine as clouds rent them, and of Trainium (the bundled catalog of 2026:
machines of 3, 5, 6 or 7 are rare and sold by few)."""


def accelerators_rented(one: Accelerator, count: int) -> int:
    """Accelerators of the smallest usual machine with so many; beyond one machine, of superchips
    that are servers of their own and of TPUs, which come in slices, as they are.

    >>> from pricing.market.accelerators import get
    >>> [accelerators_rented(get("nvidia-l4"), count) for count in (1, 3, 5, 7, 8, 16, 120)]
    [1, 4, 8, 8, 8, 16, 120]
    >>> [accelerators_rented(get(one), 3) for one in ("nvidia-gh200-96gb", "aws-trainium2")]
    [3, 16]
    """
    if is_tpu(one) or is_lone_chip(one):
        return count
    sizes = NEURON_SIZES if one.interconnect == "neuronlink" else USUAL_SIZES
    return next((size for size in sizes if size >= count), count)
