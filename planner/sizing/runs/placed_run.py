"""Accelerator-hours of one training run under its layout (rules 2). PURE.

    H = t_token · D / (share of the layout · share of the cluster) · team / g + n · start

t_token is a token's time at the level that a well-tuned framework reaches on the accelerator, the
team's factor what real runs take beyond it, g the goodput. A team's own rate replaces all but g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from planner.contract.request.workload import Training
from planner.sizing.evidence.cluster_scaling import ONE_NODE, cluster_share
from planner.sizing.footprint.stages import FINE_TUNING, stage_of
from planner.sizing.footprint.training_flops import RECOMPUTE_FACTOR, Work, compute_work, is_adapter
from planner.sizing.layout.grid import CHECKPOINTING, FULL
from planner.sizing.layout.placed_layout import PlacedLayout
from planner.sizing.layout.search import LayoutTask
from planner.sizing.performance.confidence import (
    has_user_rate,
    has_user_throughput,
    placed_range,
    placed_warnings,
)
from planner.sizing.performance.energy import energy_kwh
from planner.sizing.performance.goodput import CALENDAR_SHARE, estimate_goodput
from planner.sizing.performance.levels import most_executed, peak_flops, rates_on
from planner.sizing.performance.rollouts import RolloutHours, rollout_excess, rollout_hours
from planner.sizing.performance.start import start_hours
from planner.sizing.performance.teams import team_fit
from planner.sizing.performance.throughput import (
    benchmark_level,
    default_accelerators,
)
from planner.sizing.runs.training_run import high_mfu, precision_on, user_rate
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator

COUNT_STEPS = 32
"""A number of accelerators is rounded up by at most this part of it; a planning choice, 2026."""
ADAPTER_RECOMPUTE = 1.5
"""Executed over model FLOPs with full checkpointing and frozen weights: 6 N D for 4 N D
(from Hu et al., arXiv 2106.09685, 2021)."""
ROLLOUT_RULES = 3
"""Edition of the rules from which rollouts are known, 2026."""
CODE_WORDS = {
    "hand_tuned": "hand-tuned code",
    "standard": "a standard framework",
    "first_version": "a first version of the code",
    None: "what published teams reach",
}


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

    @cached_property
    def range_p10_p90(self) -> tuple[float, float]:
        """Factors on `hours`."""
        return placed_range(
            self.training, self.accelerator, self.precision, self.accelerators, self.rules
        )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is suspect about a given rate, or why the calibration may not hold."""
        uncertain = placed_warnings(
            self.training, self.accelerator, self.precision, self.accelerators, self.rules
        )
        about = (*self._impossible(), *self._small(), *self._of_teams())
        return (*high_mfu(self.mfu, self.training), *about, *uncertain)

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
        return self.work.executed_flops * self.executed_factor

    @property
    def hfu(self) -> float:
        """Executed FLOP/s over the dense peak."""
        return self.mfu * self.executed_factor

    @property
    def scaling_efficiency(self) -> float:
        """Rate of one accelerator in this cluster over its rate within one node."""
        return cluster_share(self.accelerators)

    @property
    def step_tokens_per_second(self) -> float:
        """Tokens of a step over its time on one accelerator: the team's rate as measured or the
        step model's, lost hours not counted."""
        training, share = self.training, self.layout.share_of_level
        if has_user_rate(training):
            return self.mfu * self.peak_flops * training.tokens / self.work.model_flops
        return share * cluster_share(self.accelerators) / self.seconds_per_token

    @property
    def energy_kwh(self) -> float | None:
        """Energy of the run's servers, without the data centre's overhead."""
        return energy_kwh(self.accelerator, self.hours, self.rules)

    def _impossible(self) -> tuple[str, ...]:
        if self.hfu <= 1:
            return ()
        return (
            f"at an MFU of {self.mfu:.1%} nothing is left for activation checkpointing, without "
            f"which {self.accelerators} {self.accelerator.slug} cannot hold it: that is "
            f"{self.hfu:.0%} of the dense peak",
        )

    def _of_teams(self) -> tuple[str, ...]:
        """Why the range of a fine-tuning is wide."""
        is_tuning = stage_of(self.training) == FINE_TUNING or self.training.rollouts
        if has_user_rate(self.training) or not is_tuning:
            return ()
        if self.training.rollouts:
            return (
                "two teams publish steps of reinforcement learning: how far fine-tunings differ is "
                "in the range; a measured step narrows it",
            )
        return (
            "published fine-tunings differ by a factor of ten between teams, as padded sequences, "
            "small batches and first code take most of the time: the range holds that; a measured "
            "rate, of 15 minutes say, narrows it",
        )

    def _small(self) -> tuple[str, ...]:
        batch = self.layout.global_batch_tokens
        if self.training.tokens >= batch:
            return ()
        return (
            f"the {self.training.tokens:,.0f} tokens are less than one step of {batch:,.0f}: fewer "
            "accelerators, or a smaller batch, are enough",
        )


@dataclass(frozen=True)
class PlacedTask:
    """A run on one kind of accelerator, before it is known on how many."""

    layouts: LayoutTask
    work: Work
    peak_flops: float
    min_accelerators: int
    rules: int = 2

    def fewest_hours(self, accelerators: int) -> float:
        """Hours that the run takes at least on n accelerators: its layout costs nothing."""
        goodput = _goodput(self.layouts.training, accelerators)[0]
        return self._bare_hours / (goodput * cluster_share(accelerators))

    @cached_property
    def _bare_hours(self) -> float:
        """Hours of the step model at the level and of the team, every hour useful."""
        training = self.layouts.training
        if has_user_rate(training):
            return 0.0
        excess = _excess(training)
        hours = self.layouts.seconds_per_token * training.tokens * math.exp(excess) / 3600
        return hours * _with_padding(training)

    def at_least(self, accelerators: int | None = None) -> PlacedSize:
        """The run on n accelerators or a few more, so that a usual number works."""
        return self.at(None if accelerators is None else whole_count(accelerators))

    def at(self, accelerators: int | None = None) -> PlacedSize:
        """The run on n accelerators, or on the usual number for its work."""
        training, one = self.layouts.training, self.layouts.accelerator
        count = self._count(accelerators)
        layout = self.layouts.judge(count)
        goodput, goodput_source = _goodput(training, count)
        stated = user_rate(training, self.work, self.peak_flops, one)
        mfu, source = stated or self._estimated(layout, count)
        seconds = self.work.model_flops * _with_padding(training) / (self.peak_flops * mfu)
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

    def _rollouts(self, count: int, hours: float) -> RolloutHours | None:
        """What the answers of a training of `hours` take; a rate of the team holds them already."""
        training = self.layouts.training
        if training.rollouts is None or has_user_throughput(training):
            return None
        one, goodput = self.layouts.accelerator, _goodput(training, count)[0]
        bare = rollout_hours(training, training.rollouts, one, count, hours)
        return replace(bare, writing=bare.writing * math.exp(rollout_excess()) / goodput)

    def _count(self, requested: int | None) -> int:
        least = self.min_accelerators
        if requested is None:
            usual = default_accelerators(self.work.executed_flops, self.peak_flops)
            return max(whole_count(least), usual)
        if requested < least:
            raise InvalidInput(
                "accelerators",
                f"{requested} {self.layouts.accelerator.slug} cannot hold the training; allowed "
                f"are {least} or more (adapters, an optimizer with fewer states, chunked_loss or "
                "optimizer_offload need fewer)",
            )
        return requested

    def _estimated(self, layout: PlacedLayout, count: int) -> tuple[float, str]:
        """MFU of the step model and the team's factor, at most what matrices reach."""
        training, one = self.layouts.training, self.layouts.accelerator
        stage = stage_of(training)
        seconds = self.layouts.seconds_per_token / (layout.share_of_level * cluster_share(count))
        seconds *= math.exp(_excess(training))
        executed = self.work.executed_flops / training.tokens
        factor = RECOMPUTE_FACTOR if layout.checkpointing == CHECKPOINTING[FULL] else 1.0
        if is_adapter(training) and factor > 1:
            factor = ADAPTER_RECOMPUTE
        share = min(executed / (seconds * self.peak_flops), most_executed(one) / factor)
        kind = "fine-tuning" if stage == FINE_TUNING else "pre-training"
        level = benchmark_level(one, self.layouts.precision).source
        source = (
            f"{level}; {layout.share_of_level:.0%} of it under this layout; {kind} with "
            f"{CODE_WORDS[training.code]}"
        )
        return share * self.work.model_flops / self.work.executed_flops, source


def whole_count(least: int) -> int:
    """A number of accelerators as clusters come in: whole nodes beyond one, in steps of a 32nd.

    >>> whole_count(5), whole_count(9), whole_count(401), whole_count(1265)
    (5, 16, 408, 1280)
    """
    if least <= COUNT_STEPS:
        return least if least <= ONE_NODE else math.ceil(least / ONE_NODE) * ONE_NODE
    step = max(ONE_NODE, 1 << int(math.log2(least / COUNT_STEPS)))
    return math.ceil(least / step) * step


def placed_on(training: Training, one: Accelerator, rules: int = 2) -> PlacedTask:
    """The run on an accelerator; refuses a precision it lacks and what fits nowhere.

    Raises `InvalidInput` on `precision`, `accelerator` or `layout`.
    """
    if training.rollouts and rules < ROLLOUT_RULES:
        raise InvalidInput("rollouts", f"need rules {ROLLOUT_RULES} and the request says {rules}")
    precision = precision_on(training, one)
    layouts = LayoutTask(training, one, precision, rates_on(training, one, precision))
    least = layouts.least()
    if least is None:
        raise InvalidInput(
            "layout" if training.layout else "accelerator",
            f"one sequence does not fit {one.slug} ({one.memory_gib:g} GiB), however it is split; "
            "a shorter sequence_length, chunked_loss or an accelerator with more memory would",
        )
    return PlacedTask(layouts, compute_work(training), peak_flops(one, precision), least, rules)


def _excess(training: Training) -> float:
    """ln of the hours that teams take over those of the step model."""
    if training.rollouts:
        return rollout_excess()
    return team_fit().excess(stage_of(training), training.code)


def _with_padding(training: Training) -> float:
    """Tokens processed over tokens of the data."""
    return 1 / (1 - (training.padding or 0.0))


def _goodput(training: Training, count: int) -> tuple[float, str]:
    if training.goodput:
        return training.goodput, "given"
    if training.measured_accelerator_hours or training.mfu_of == "run":
        return 1.0, "lost time is in the rate given"
    return estimate_goodput(count, CALENDAR_SHARE), (
        "failures at 50,700 accelerator-hours each (Llama 3, 2024) with Daly's checkpoint "
        "interval, and 8% for operations of many nodes"
    )
