"""Accelerator-hours of one training run under its layout. PURE.

    H = t_token · D / (share of the layout · share of the cluster) · team / g + n · start

t_token is a token's time at the level that a well-tuned framework reaches on the accelerator, the
team's factor what real runs take beyond it, g the goodput. A team's own rate replaces all but g.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, cached_property

from planner.contract.answer.estimate import MemoryBreakdown, RolloutFigures, RunFigures
from planner.contract.request.workload import Training
from planner.sizing.evidence.training_runs import cluster_share
from planner.sizing.footprint.memory import check_precision, supported_precisions, weight_bytes
from planner.sizing.footprint.training_flops import (
    RECOMPUTE_FACTOR,
    Work,
    checked_training,
    compute_work,
    is_adapter,
    with_padding,
)
from planner.sizing.layout.refusals import check_split, refuse_nowhere, refuse_too_few
from planner.sizing.layout.search import LayoutTask, PlacedLayout, judge_with_idle
from planner.sizing.layout.shapes import CHECKPOINTING, FULL, state_bytes, usable_gib
from planner.sizing.layout.step_time import is_lone_chip, is_tpu
from planner.sizing.performance.confidence import (
    has_user_rate,
    has_user_throughput,
    placed_range,
    placed_warnings,
    user_mfu,
)
from planner.sizing.performance.goodput import goodput_of, saving_hours, start_hours
from planner.sizing.performance.levels import (
    MFU_CEILING,
    default_accelerators,
    most_executed,
    peak_flops,
    rates_on,
    worked_flops,
)
from planner.sizing.performance.rollouts import RolloutHours, rollout_excess, rollout_hours
from planner.sizing.performance.teams import excess_beside_standard, team_excess
from planner.sizing.runs.counts import (
    NEAR_THE_FEWEST,
    chips_rented,
    choose_at_work,
    of_slices,
    whole_count,
    within_job,
)
from planner.sizing.runs.run_size import RunSize
from planner.sizing.runs.run_warnings import (
    above_peak,
    another_number,
    borrowed_rate,
    fewer_than_a_step,
    left_out,
    mfu_words,
    of_few_teams,
    on_the_host,
    thin_steps,
    too_long,
    unasked,
    unfused_step,
    waiting_for_links,
)
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import Accelerator

ADAPTER_RECOMPUTE = 1.5
"""Executed over model FLOPs, fully checkpointed on frozen weights: 6 N D for 4 N D (LoRA, 2021)."""
ATTENTION_SHOWS, MOST_MFU = 0.9, 0.95
"""Share of the model's FLOPs that is worked, below which the answer says that MFU counts more, and
the most that such an MFU is taken for; planning choices, 2026."""


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
        """What is suspect about a given rate, or why the calibration may not hold."""
        uncertain = placed_warnings(
            self.training, self.accelerator, self.precision, self.accelerators
        )
        training, layout = self.training, self.layout
        about = (
            *above_peak(self.mfu, self.hfu, f"{self.accelerators} {self.accelerator.name}"),
            *fewer_than_a_step(training, layout.global_batch_tokens),
            *of_few_teams(training),
            *borrowed_rate(training, self.accelerator, self.precision),
        )
        long = too_long(self.wall_clock_hours, self.accelerators)
        about = (*about, *self.count_words, *long, *unasked(training, layout))
        about += waiting_for_links(training, layout)
        about += thin_steps(training, layout, self.accelerators, self.min_accelerators)
        about += on_the_host(training, layout, self.precision)
        about += unfused_step(training, self.accelerator, layout, self.precision)
        about += left_out(training, self.accelerator, self.precision)
        return (*high_mfu(self.mfu, training), *about, *uncertain)

    @property
    def unused(self) -> int:
        return self.layout.unused

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


@dataclass(frozen=True)
class PlacedTask:
    """A run on one kind of accelerator, before it is known on how many."""

    layouts: LayoutTask
    work: Work
    peak_flops: float
    min_accelerators: int
    requested: Training
    """As the request describes it."""

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
            return rollout_excess()
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
            size = replace(size, count_words=another_number(count, size.hours, other))
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
            hours=seconds / 3600 / goodput + starting + (beside.total if beside else 0.0),
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

    def _rollouts(self, count: int, hours: float) -> RolloutHours | None:
        """What the answers of a training of `hours` take; a rate of the team holds them already."""
        training = self.layouts.training
        if training.rollouts is None or has_user_throughput(training):
            return None
        one, goodput = self.layouts.accelerator, self._goodput(count)[0]
        bare = rollout_hours(self.requested, training.rollouts, one, count, hours)
        return replace(bare, writing=bare.writing * math.exp(rollout_excess()) / goodput)

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
        share = min(rate, most_executed(one, self.layouts.precision) / factor)
        source = mfu_words(self.layouts, layout)
        if worked < ATTENTION_SHOWS * self.work.model_flops:
            source += "; MFU counts the whole attention term, of which causal kernels work half"
        mfu = share * self.work.model_flops / worked
        return (min(mfu, MOST_MFU)), source


def placed_on(training: Training, one: Accelerator) -> PlacedTask:
    """The run on an accelerator; refuses a precision it lacks and what fits nowhere.

    Raises `InvalidInput` on `precision`, `accelerator` or `layout`.
    """
    check_split(training)
    requested, training = training, checked_training(training)
    precision = precision_on(training, one)
    layouts = LayoutTask(training, one, precision, rates_on(training, one, precision))
    least = layouts.least()
    if least is None:
        raise refuse_nowhere(layouts)
    work, peak = compute_work(training), peak_flops(one, precision)
    return PlacedTask(layouts, work, peak, least, requested)


PRECISION_ORDER = ("bf16", "fp16", "fp32")
"""Tried in this order where the request names no precision."""


def precision_on(training: Training, one: Accelerator) -> str:
    """The precision asked for, or the best that the accelerator has; refuses one it lacks.

    >>> from pricing.market.accelerators import get
    >>> llm = Training(kind="training", parameters=1e9, tokens=1e9)
    >>> precision_on(llm, get("nvidia-h100-80gb-sxm")), precision_on(llm, get("nvidia-t4"))
    ('bf16', 'fp16')
    """
    if training.precision is None:
        best = [p for p in PRECISION_ORDER if p in supported_precisions(one)]
        if best:
            return best[0]
        raise InvalidInput("accelerator", f"no training rate of {one.name} is known")
    check_precision(training.precision, one)
    if training.optimizer == "qlora" and training.precision == "fp8":
        raise InvalidInput(
            "precision",
            "fp8 is not what QLoRA multiplies in: its 4-bit weights become 16-bit ones first; "
            "allowed are bf16 and fp16, or fp8 with optimizer lora",
        )
    return training.precision


def user_rate(
    training: Training, work: Work, peak_flops: float, one: Accelerator
) -> tuple[float, str] | None:
    """MFU that the team's own figure means, with where it is from; None where it gives none."""
    stated = user_mfu(training)
    if stated:
        return stated, "given" if training.mfu else "given as HFU; MFU is 3/4 of it"
    if training.measured_accelerator_hours:
        hours = training.measured_accelerator_hours or 0.0
        share = work.model_flops / (hours * 3600 * peak_flops)
        if share > 1:
            raise InvalidInput(
                "measured_accelerator_hours",
                f"{hours:,.6g} h for this work would be {share:,.0%} of the dense peak of "
                f"{one.name}; allowed are {hours * share:,.6g} or more",
            )
        mfu = share
        return mfu, "accelerator-hours of a past run, given"
    if training.tokens_per_second_per_accelerator:
        return _mfu_of_rate(training, work, peak_flops, one), "measured throughput, given"
    return None


def _mfu_of_rate(training: Training, work: Work, peak_flops: float, one: Accelerator) -> float:
    """MFU of a measured rate: FLOPs a token · tokens/s / P."""
    rate = training.tokens_per_second_per_accelerator or 0.0
    share = rate * work.model_flops / training.tokens / peak_flops
    if share > 1:
        raise InvalidInput(
            "tokens_per_second_per_accelerator",
            f"{rate:,.0f} tokens/s would be {share:,.0%} of the dense peak of "
            f"{one.name}; allowed are up to {rate / share:,.0f}",
        )
    return share


def high_mfu(mfu: float, training: Training) -> tuple[str, ...]:
    """A warning where a given rate is more than training sustains."""
    if mfu <= MFU_CEILING or not has_user_rate(training):
        return ()
    return (
        f"an MFU of {mfu:.1%} is above {MFU_CEILING:.0%}, what training sustains at best; check "
        "that it is MFU and not HFU, and against the dense peak and not the sparse one",
    )


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


def weights_gb(training: Training) -> dict[str, float]:
    """Weights of a model in fp32 and in half precision, decimal GB.

    >>> weights_gb(Training(kind="training", parameters=7e9, tokens=1e12))
    {'fp32': 28.0, 'fp16': 14.0}
    """
    return {name: weight_bytes(training.parameters, name) / 1e9 for name in ("fp32", "fp16")}
