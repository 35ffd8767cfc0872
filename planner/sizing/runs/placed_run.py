"""Accelerator-hours of one training run under its layout (rules 2). PURE.

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
from planner.sizing.evidence.cluster_scaling import cluster_share
from planner.sizing.footprint.training_flops import (
    RECOMPUTE_FACTOR,
    Work,
    compute_work,
    is_adapter,
    named_under_rules,
    under_rules,
    with_padding,
)
from planner.sizing.layout.grid import CHECKPOINTING, FULL
from planner.sizing.layout.idle import judge_with_idle
from planner.sizing.layout.own_split import check_split
from planner.sizing.layout.placed_layout import PlacedLayout
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.too_few import refuse_nowhere, refuse_too_few
from planner.sizing.performance.confidence import (
    has_user_rate,
    has_user_throughput,
    placed_range,
    placed_warnings,
)
from planner.sizing.performance.energy import energy_kwh
from planner.sizing.performance.levels import (
    STEP_RULES,
    most_executed,
    peak_flops,
    rates_on,
    worked_flops,
)
from planner.sizing.performance.rollouts import RolloutHours, rollout_excess, rollout_hours
from planner.sizing.performance.saving import goodput_of
from planner.sizing.performance.start import start_hours
from planner.sizing.performance.teams import excess_beside_standard, team_excess
from planner.sizing.performance.throughput import default_accelerators
from planner.sizing.runs.beside_words import left_out, on_the_host, thin_steps, waiting_for_links
from planner.sizing.runs.counts import COUNT_RULES, choose_at_work, whole_count, within_job
from planner.sizing.runs.optimizer_words import unfused_step
from planner.sizing.runs.placed_words import (
    above_peak,
    another_number,
    borrowed_rate,
    fewer_than_a_step,
    mfu_words,
    of_few_teams,
    too_long,
    unasked,
)
from planner.sizing.runs.tpu_slices import chips_rented, of_slices
from planner.sizing.runs.training_run import high_mfu, precision_on, user_rate
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator

ADAPTER_RECOMPUTE = 1.5
"""Executed over model FLOPs, fully checkpointed on frozen weights: 6 N D for 4 N D (LoRA, 2021)."""
ROLLOUT_RULES = 3
"""Edition of the rules from which rollouts are known, 2026."""
ATTENTION_SHOWS, MOST_MFU = 0.9, 0.95
"""Share of the model's FLOPs that is worked, below which the answer says that MFU counts more, and
the most that such an MFU is taken for; planning choices, 2026."""


@dataclass(frozen=True)
class PlacedSize:
    """One run on `accelerators` of one kind, with its layout."""

    training: Training
    accelerator: Accelerator
    precision: str
    accelerators: int
    min_accelerators: int
    work: Work
    mfu: float
    mfu_source: str
    goodput: float
    goodput_source: str
    hours: float
    """Accelerator-hours, p50."""
    layout: PlacedLayout
    peak_flops: float
    seconds_per_token: float
    """Of one accelerator at its level."""
    rules: int = 2
    """Edition of the rules, from 2 on."""
    rollouts: RolloutHours | None = None
    """Hours of answers written and judged for the training, among `hours`."""
    count_words: tuple[str, ...] = ()
    """Why it is on more accelerators than would do, where it is."""

    @cached_property
    def range_p10_p90(self) -> tuple[float, float]:
        """Factors on `hours`; from rules 5 on p10 executes no more than a step can."""
        low, high = placed_range(
            self.training, self.accelerator, self.precision, self.accelerators, self.rules
        )
        if self.rules < STEP_RULES or has_user_rate(self.training):
            return low, high
        most = most_executed(self.accelerator, self.precision, self.rules)
        return max(low, min(1.0, self.hfu / most)), high

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is suspect about a given rate, or why the calibration may not hold."""
        uncertain = placed_warnings(
            self.training, self.accelerator, self.precision, self.accelerators, self.rules
        )
        training, layout = self.training, self.layout
        about = (
            *above_peak(self.mfu, self.hfu, f"{self.accelerators} {self.accelerator.name}"),
            *fewer_than_a_step(training, layout.global_batch_tokens, self.rules),
            *of_few_teams(training, self.rules),
            *borrowed_rate(training, self.accelerator, self.precision, self.rules),
        )
        if self.rules >= STEP_RULES:
            long = too_long(self.wall_clock_hours, self.accelerators)
            about = (*about, *self.count_words, *long, *unasked(training, layout, self.rules))
        about += waiting_for_links(training, layout, self.rules)
        about += thin_steps(training, layout, self.accelerators, self.min_accelerators, self.rules)
        about += on_the_host(training, layout, self.precision, self.rules)
        about += unfused_step(training, self.accelerator, layout, self.precision, self.rules)
        about += left_out(training, self.accelerator, self.precision, self.rules)
        return (*high_mfu(self.mfu, training), *about, *uncertain)

    @property
    def wall_clock_hours(self) -> float:
        return self.hours / self.accelerators

    @property
    def executed_factor(self) -> float:
        """Executed over model FLOPs of the layout."""
        if self.layout.checkpointing != CHECKPOINTING[FULL]:
            return 1.0
        return ADAPTER_RECOMPUTE if is_adapter(self.training) else RECOMPUTE_FACTOR

    @property
    def hardware_flops(self) -> float:
        """FLOPs executed in one run, recomputation included."""
        return worked_flops(self.work, self.rules) * self.executed_factor

    @property
    def hfu(self) -> float:
        """Executed FLOP/s over the dense peak."""
        if self.rules < STEP_RULES:
            return self.mfu * self.executed_factor
        return self.mfu * self.hardware_flops / self.work.model_flops

    @property
    def scaling_efficiency(self) -> float:
        """Rate of one accelerator in this cluster over its rate within one node."""
        return cluster_share(self.accelerators)

    @property
    def step_tokens_per_second(self) -> float:
        """Tokens of a step over its time on one accelerator: the team's rate as measured or the
        step model's, lost hours not counted; from rules 5 on by code and kind of model."""
        training, share = self.training, self.layout.share_of_level
        if has_user_rate(training):
            return self.mfu * self.peak_flops * training.tokens / self.work.model_flops
        rate = share * cluster_share(self.accelerators) / self.seconds_per_token
        if self.rules < STEP_RULES or training.rollouts:
            return rate
        excess = excess_beside_standard(training, self.accelerator, self.precision, self.rules)
        return min(rate * math.exp(-excess), self._most_tokens_per_second)

    @property
    def _most_tokens_per_second(self) -> float:
        """Tokens of which a step executes as much as it can."""
        most = most_executed(self.accelerator, self.precision, self.rules) * self.peak_flops
        return most * self.training.tokens / self.hardware_flops

    @property
    def energy_kwh(self) -> float | None:
        """Energy of the run's servers, without the data centre's overhead."""
        return energy_kwh(self.accelerator, self.hours, self.rules)


@dataclass(frozen=True)
class PlacedTask:
    """A run on one kind of accelerator, before it is known on how many."""

    layouts: LayoutTask
    work: Work
    peak_flops: float
    min_accelerators: int
    rules: int
    requested: Training
    """As the request describes it; answers keep to its windows under every edition."""

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
        task, rules = self.layouts, self.rules
        if task.training.rollouts:
            return rollout_excess(rules)
        return team_excess(task.training, task.accelerator, task.precision, rules)

    def at_least(self, accelerators: int | None = None) -> PlacedSize:
        """The run on n accelerators or a few more, so that a usual number works; on the usual
        number for its work for None. From rules 6 on on the smallest number up to twice what holds
        it whose hours are near the fewest, or further away where that takes much fewer."""
        count = self._count(None if accelerators is None else whole_count(accelerators))
        if self.rules < COUNT_RULES or has_user_rate(self.layouts.training):
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
            rules=self.rules,
            rollouts=beside,
        )

    @cached_property
    def _goodput(self) -> Callable[[int], tuple[float, str]]:
        """Goodput on n accelerators and where it is from, each number worked out once."""
        layouts = self.layouts
        states = layouts.splits.states
        return cache(lambda count: goodput_of(layouts.training, states, count, self.rules))

    def _rollouts(self, count: int, hours: float) -> RolloutHours | None:
        """What the answers of a training of `hours` take; a rate of the team holds them already."""
        training = self.layouts.training
        if training.rollouts is None or has_user_throughput(training):
            return None
        one, goodput = self.layouts.accelerator, self._goodput(count)[0]
        bare = rollout_hours(self.requested, training.rollouts, one, count, hours, self.rules)
        return replace(bare, writing=bare.writing * math.exp(rollout_excess(self.rules)) / goodput)

    def _count(self, requested: int | None) -> int:
        least = self.min_accelerators
        if requested is None:
            usual = default_accelerators(self.work.executed_flops, self.peak_flops)
            job = self.requested.accelerators_per_job if self.rules >= COUNT_RULES else None
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
        worked = worked_flops(self.work, self.rules)
        factor = RECOMPUTE_FACTOR if layout.checkpointing == CHECKPOINTING[FULL] else 1.0
        if is_adapter(training) and factor > 1:
            factor = ADAPTER_RECOMPUTE
        rate = worked / training.tokens / (seconds * self.peak_flops)
        share = min(rate, most_executed(one, self.layouts.precision, self.rules) / factor)
        source = mfu_words(self.layouts, layout, self.rules)
        if worked < ATTENTION_SHOWS * self.work.model_flops:
            source += "; MFU counts the whole attention term, of which causal kernels work half"
        mfu = share * self.work.model_flops / worked
        return (mfu if self.rules < STEP_RULES else min(mfu, MOST_MFU)), source


def placed_on(training: Training, one: Accelerator, rules: int = 2) -> PlacedTask:
    """The run on an accelerator; refuses a precision it lacks and what fits nowhere.

    Raises `InvalidInput` on `precision`, `accelerator` or `layout`.
    """
    if training.rollouts and rules < ROLLOUT_RULES:
        raise InvalidInput("rollouts", f"need rules {ROLLOUT_RULES} and the request says {rules}")
    check_split(training, rules)
    requested, training = named_under_rules(training, rules), under_rules(training, rules)
    precision = precision_on(training, one, rules)
    layouts = LayoutTask(training, one, precision, rates_on(training, one, precision, rules))
    least = layouts.least()
    if least is None:
        raise refuse_nowhere(layouts)
    work, peak = compute_work(training), peak_flops(one, precision, rules)
    return PlacedTask(layouts, work, peak, least, rules, requested)
