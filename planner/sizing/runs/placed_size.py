"""One run of a training under its layout: its figures, and why to doubt them. PURE."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from planner.contract.answer.estimate import MemoryBreakdown, RolloutFigures, RunFigures
from planner.contract.models.config import KNOWN_FAMILIES, other_layers, read_fields
from planner.contract.models.count_parameters import read_config
from planner.contract.models.known_models import context_of
from planner.contract.request.workload import Serving, Training
from planner.sizing.evidence.training_runs import cluster_share
from planner.sizing.footprint.memory import weight_bytes
from planner.sizing.footprint.training_flops import (
    FINE_TUNING,
    RECOMPUTE_FACTOR,
    USUAL_VOCABULARY,
    Work,
    active_parameters,
    is_adapter,
    is_mixture,
    is_near_both,
    stage_of,
)
from planner.sizing.layout.search import SAME_BATCH, PlacedLayout
from planner.sizing.layout.shapes import CHECKPOINTING, FULL, state_bytes, usable_gib
from planner.sizing.performance.confidence import has_user_rate, placed_range, placed_warnings
from planner.sizing.performance.goodput import saving_hours
from planner.sizing.performance.levels import (
    MFU_CEILING,
    benchmark_level,
    most_executed,
    worked_flops,
)
from planner.sizing.performance.rollouts import RolloutHours
from planner.sizing.performance.teams import excess_beside_standard
from planner.sizing.runs.run_size import RunSize
from pricing.common.pluralize import pluralize

ADAPTER_RECOMPUTE = 1.5
"""Executed over model FLOPs, fully checkpointed on frozen weights: 6 N D for 4 N D (LoRA, 2021)."""
HALF_BYTES, STATE_BYTES = 2.0, 16.0
"""Bytes of a parameter in 16 bits, and with gradient and AdamW's states (ZeRO, arXiv 1910.02054,
2020)."""
THIN_SHARE, LEAST_SHARE = 0.5, 0.01
"""Share of an accelerator's rate that a split leaves, below which the answer says so, and the least
that it tells; planning choices, 2026."""
MOSTLY, MUCH_EXPOSED = 0.5, 0.25
"""Share of the working time that an advised split, and one's own, waits for its links, from which
the answer says so; planning choices, 2026."""
MOST_UNLIKE = 4.0
"""Parameters over those of a usual shape, or the reverse, from which one of them is doubted: the
models of the table have 0.76 to 1.93; a planning choice, 2026."""
LONG_YEARS = 10.0
"""Years from which a run is said to take too long to be one; a planning choice, 2026."""
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
    rollouts: RolloutHours | None = None
    """Hours of answers written and judged for the training, among `hours`."""

    @property
    def method(self) -> str:
        beside = self.rollouts
        answers = (
            f"; of {self.hours:,.4g} h {beside.writing:,.4g} write answers and "
            f"{beside.scoring:,.4g} judge them"
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
        beside = self.rollouts
        return RunFigures(
            precision=self.precision,
            training_flops=self.work.model_flops,
            hardware_flops=self.hardware_flops,
            mfu=self.mfu,
            mfu_source=self.mfu_source,
            hfu=self.hfu,
            memory_per_accelerator_gib=self.memory_gib,
            memory_breakdown=MemoryBreakdown(**asdict(self.layout.memory)),
            parallelism=self.layout.parallelism,
            scaling_efficiency=cluster_share(self.accelerators),
            tokens_per_second_per_accelerator=self.step_tokens_per_second,
            rollouts=beside
            and RolloutFigures(
                steps=beside.steps,
                writing_hours=beside.writing,
                scoring_hours=beside.scoring,
                critic_hours=beside.critic,
            ),
        )

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
    """Whose rate an accelerator is given that no training benchmark was published of."""
    stands_in = benchmark_level(size.accelerator, size.precision).stands_in
    if stands_in and not has_user_rate(size.training):
        yield (
            f"no training benchmark of {size.accelerator.name} itself is in its rate: the share of "
            f"its peak is that of {stands_in}"
        )


def _warn_number(size: PlacedSize) -> Iterator[str]:
    yield from size.count_words
    years = size.wall_clock_hours / (730 * 12)
    if years >= LONG_YEARS:
        yield (
            f"on {size.accelerators:,} accelerators it takes {years:,.0f} years: use more, or do "
            "less work"
        )


def _warn_step(size: PlacedSize) -> Iterator[str]:
    layout, batch = size.layout, size.training.global_batch_tokens
    if batch is not None and abs(layout.global_batch_tokens / batch - 1) > SAME_BATCH:
        yield (
            f"a step processes {layout.global_batch_tokens:,.0f} tokens, not the {batch:,.0f} of "
            f"global_batch_tokens: {layout.data} x {layout.micro_batch} sequences are processed at "
            "once, and a step holds a multiple of that"
        )
    if layout.unused and not size.training.layout:
        used = layout.tensor * layout.pipeline * layout.context * layout.data
        yield (
            f"the fastest split that fits uses {used:,} accelerators and leaves {layout.unused:,} "
            "idle but paid for; a different number of them would not"
        )


def _warn_description(size: PlacedSize) -> Iterator[str]:
    """What a training is said to be that hardly goes together, or may be two things."""
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


def _warn_own_split(size: PlacedSize) -> Iterator[str]:
    training, layout, own = size.training, size.layout, size.training.layout
    if own is None:
        return
    if layout.unused:
        takers = (
            "one replica takes"
            if layout.at_once == own.parts
            else f"spread experts evenly: expert {layout.expert} divides the ranks of a stage"
        )
        yield (
            f"the layout leaves {pluralize(layout.unused, 'accelerator')} idle but paid for: "
            f"their number is no multiple of the {layout.at_once} that {takers}"
        )
    if training.layers and training.layers % layout.pipeline:
        fullest = math.ceil(training.layers / layout.pipeline)
        yield (
            f"{training.layers} layers do not divide into {layout.pipeline} stages: the fullest "
            f"holds {fullest} and the others wait for it: hours and memory count {fullest} a stage"
        )
    if layout.exposed_communication > MUCH_EXPOSED:
        yield (
            f"the layout spends {layout.exposed_communication:.0%} of the working time waiting for "
            "its links; without it, the fastest split that fits is used"
        )


def _warn_slow_split(size: PlacedSize) -> Iterator[str]:
    """An advised split that spends more time on its links than on the model, or leaves each
    accelerator too little of a step to do where half of them or fewer hold the training."""
    training, layout, count = size.training, size.layout, size.accelerators
    if training.layout is not None or has_user_rate(training):
        return
    if layout.exposed_communication >= MOSTLY:
        yield (
            f"the fastest split that fits spends {layout.exposed_communication:.0%} of the working "
            "time waiting for its links: accelerators with faster links or more memory, or a "
            "different number of them, may take far fewer accelerator-hours"
        )
    if count >= 2 * size.min_accelerators and layout.share_of_level < THIN_SHARE:
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
    """What a config has that is counted nowhere, or otherwise than it is."""
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
    if fields.family and fields.family not in KNOWN_FAMILIES and is_filled:
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


WARNINGS: tuple[Callable[[PlacedSize], Iterator[str]], ...] = (
    _warn_given_rate,
    _warn_short,
    _warn_few_teams,
    _warn_borrowed_rate,
    _warn_number,
    _warn_step,
    _warn_description,
    _warn_own_split,
    _warn_slow_split,
    _warn_other_memory,
    _warn_config,
    _warn_context,
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


def served_beyond_context(training: Training, serving: Serving) -> tuple[str, ...]:
    """Prompts with their answers that are longer than what a served model reads."""
    tokens = serving.prompt_tokens + serving.output_tokens
    return tuple(beyond_context(training, tokens, "prompts with answers"))


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
