"""Accelerator-hours of one training run under its layout. PURE.

    H = t_token · D / (share of the layout · share of the cluster) · team / g + n · start

t_token is a token's time at the level that a well-tuned framework reaches on the accelerator, the
team's factor what real runs take beyond it, g the goodput. A team's own rate replaces all but g.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

from planner.contract.request.workload import Training
from planner.sizing.evidence.training_runs import cluster_share
from planner.sizing.footprint.memory import check_precision, supported_precisions
from planner.sizing.footprint.training_flops import (
    FINE_TUNING,
    RECOMPUTE_FACTOR,
    Work,
    checked_training,
    compute_work,
    is_adapter,
    is_mixture,
    is_near_both,
    stage_of,
    with_padding,
)
from planner.sizing.layout.refusals import check_split, refuse_nowhere, refuse_too_few
from planner.sizing.layout.search import LayoutTask, PlacedLayout, judge_with_idle
from planner.sizing.layout.shapes import CHECKPOINTING, FULL
from planner.sizing.layout.step_time import is_lone_chip, is_tpu
from planner.sizing.performance.confidence import (
    has_user_rate,
    has_user_throughput,
    user_mfu,
)
from planner.sizing.performance.goodput import goodput_of, start_hours
from planner.sizing.performance.levels import (
    benchmark_level,
    default_accelerators,
    is_vector,
    most_executed,
    peak_flops,
    rates_on,
    worked_flops,
)
from planner.sizing.performance.rollouts import RolloutHours, rollout_excess, rollout_hours
from planner.sizing.performance.teams import team_excess, team_fit
from planner.sizing.runs.counts import (
    NEAR_THE_FEWEST,
    chips_rented,
    choose_at_work,
    of_slices,
    whole_count,
    within_job,
)
from planner.sizing.runs.placed_size import ADAPTER_RECOMPUTE, PlacedSize, another_number
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import Accelerator

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


CODE_WORDS = {
    "hand_tuned": "hand-tuned code",
    "standard": "a standard framework",
    "first_version": "a first version of the code",
    None: "what published teams reach",
}
"""How well tuned code is, in words."""


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
    """The precision asked for, or the best that the accelerator has; refuses one it lacks."""
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
