"""Accelerator-hours of one training run on one kind of accelerator. PURE.

    H = C / (P · MFU · 3600 · g)

C model FLOPs, P dense peak of one accelerator, g goodput. MFU and g are the team's own where
given, calibrated otherwise; a measured throughput replaces P · MFU.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import min_accelerators
from planner.sizing.footprint.parallelism import Layout, fast_domain, layout_on
from planner.sizing.footprint.precisions import check_precision, supported_precisions
from planner.sizing.footprint.training_flops import (
    RECOMPUTE_FACTOR,
    Work,
    compute_work,
    size_at_work,
    under_rules,
)
from planner.sizing.performance.confidence import (
    calibration_warnings,
    estimate_range,
    has_user_rate,
    user_mfu,
)
from planner.sizing.performance.energy import energy_kwh
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.throughput import (
    MFU_CEILING,
    benchmark_level,
    default_accelerators,
    sustained_mfu,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator

PRECISION_ORDER = ("bf16", "fp16", "fp32")
"""Tried in this order where the request names no precision."""


LATER_FIELDS = (
    "optimizer_offload",
    "stage",
    "code",
    "global_batch_tokens",
    "chunked_loss",
    "layout",
    "mfu_of",
    "padding",
    "tokens_per_example",
    "is_classifier",
    "rollouts",
)
FIRST_OPTIMIZERS = ("adamw", "sgd", "lora", "qlora")


QUANTISED_RULES = 6
"""Edition of the rules from which QLoRA is refused in 8 bits (arXiv 2305.14314 section 3), 2026."""
PEERLESS_SHARE = 0.86
"""Rate of each of several consumer cards without a bridge over one card's: median of four
workloads on 2 RTX 4090 (lambdal/deeplearning-benchmark @aa5addb6a536, 2023)."""

QLORA_SHARE = 0.64
"""Rate of QLoRA over LoRA at one batch: the weights are dequantised in every pass. Median of
phi-1.5 (0.87), StableLM 3B (0.66), Llama 2 7B (0.62) and 13B (0.49), NF4 double-quantised on
one A100 (Lightning-AI/litgpt tutorials/resource-tables.md @4839345a97a0, 2023)."""


@dataclass(frozen=True)
class TrainingSize:
    """One run on `accelerators` of one kind."""

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

    @cached_property
    def range_p10_p90(self) -> tuple[float, float]:
        """Factors on `hours`."""
        return estimate_range(self.training, self.accelerator, self.precision, self.accelerators)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is suspect about a given rate, or why the calibration may not hold."""
        uncertain = calibration_warnings(
            self.training, self.accelerator, self.precision, self.accelerators
        )
        return (*high_mfu(self.mfu, self.training), *self._impossible_hfu(), *uncertain)

    def _impossible_hfu(self) -> tuple[str, ...]:
        if self.mfu <= 1 / RECOMPUTE_FACTOR or self.hfu <= 1:
            return ()
        return (
            f"at an MFU of {self.mfu:.1%} nothing is left for activation checkpointing, without "
            f"which {self.accelerators} {self.accelerator.name} cannot hold it: that is "
            f"{self.hfu:.0%} of the dense peak",
        )

    @cached_property
    def layout(self) -> Layout:
        """The first split that fits; there is one from `min_accelerators` on."""
        layout = layout_on(self.training, self.precision, self.accelerator, self.accelerators)
        if layout is None:
            raise AssertionError(f"no split over {self.accelerators} {self.accelerator.name}")
        return layout

    @property
    def wall_clock_hours(self) -> float:
        return self.hours / self.accelerators

    @property
    def hardware_flops(self) -> float:
        """FLOPs executed in one run: 4/3 of the model's where activations are recomputed."""
        if self.layout.split.recompute:
            return self.work.hardware_flops_recomputing
        return self.work.executed_flops

    @property
    def hfu(self) -> float:
        """Executed FLOP/s over the dense peak: 4/3 of MFU where activations are recomputed."""
        return self.mfu * (RECOMPUTE_FACTOR if self.layout.split.recompute else 1.0)

    @property
    def energy_kwh(self) -> float | None:
        """Energy of the run's servers, without the data centre's overhead."""
        return energy_kwh(self.accelerator, self.hours)


def precision_on(training: Training, one: Accelerator, rules: int = 1) -> str:
    """The precision asked for, or the best that the accelerator has; refuses one it lacks.

    >>> from pricing.market.accelerators import get
    >>> llm = Training(kind="training", parameters=1e9, tokens=1e9)
    >>> precision_on(llm, get("nvidia-h100-80gb-sxm")), precision_on(llm, get("nvidia-t4"))
    ('bf16', 'fp16')
    """
    if training.precision is None:
        best = [p for p in PRECISION_ORDER if p in supported_precisions(one, rules)]
        if best:
            return best[0]
        raise InvalidInput("accelerator", f"no training rate of {one.name} is known")
    check_precision(training.precision, one, rules)
    if rules >= QUANTISED_RULES and training.optimizer == "qlora" and training.precision == "fp8":
        raise InvalidInput(
            "precision",
            "fp8 is not what QLoRA multiplies in: its 4-bit weights become 16-bit ones first; "
            "allowed are bf16 and fp16, or fp8 with optimizer lora",
        )
    return training.precision


@dataclass(frozen=True)
class TrainingTask:
    """A run on one kind of accelerator, before it is known on how many."""

    training: Training
    accelerator: Accelerator
    precision: str
    work: Work
    peak_flops: float
    """Dense FLOP/s of one accelerator."""
    min_accelerators: int

    @property
    def fewest_hours(self) -> None:
        """Hours that the run takes at least: not known under rules 1."""
        return None

    def at_least(self, accelerators: int | None = None) -> TrainingSize:
        """The run on n accelerators: under rules 1 any number works."""
        return self.at(accelerators)

    def at(self, accelerators: int | None = None) -> TrainingSize:
        """The run on n accelerators, or on the usual number for its work."""
        count = self._count(accelerators)
        mfu, mfu_source = self._mfu(count)
        goodput, goodput_source = _goodput(self.training, count)
        return TrainingSize(
            training=self.training,
            accelerator=self.accelerator,
            precision=self.precision,
            accelerators=count,
            min_accelerators=self.min_accelerators,
            work=self.work,
            mfu=mfu,
            mfu_source=mfu_source,
            goodput=goodput,
            goodput_source=goodput_source,
            hours=self.work.model_flops / (self.peak_flops * mfu * goodput * 3600),
        )

    def _count(self, requested: int | None) -> int:
        least = self.min_accelerators
        if requested is None:
            return max(least, default_accelerators(self.work.executed_flops, self.peak_flops))
        if requested < least:
            raise InvalidInput(
                "accelerators",
                f"{requested} {self.accelerator.name} cannot hold the training; allowed are "
                f"{least} or more (optimizer lora or qlora needs fewer)",
            )
        return requested

    def _mfu(self, count: int) -> tuple[float, str]:
        """MFU over the model FLOPs, with where it is from."""
        stated = user_rate(self.training, self.work, self.peak_flops, self.accelerator)
        return stated or self._calibrated_mfu(count)

    def _calibrated_mfu(self, count: int) -> tuple[float, str]:
        one, work = self.accelerator, self.work
        mfu = sustained_mfu(one, self.precision, count, size_at_work(self.training))
        if count > 1 and one.accelerator_class == "consumer" and fast_domain(one) == 1:
            mfu *= PEERLESS_SHARE
        if self.training.optimizer == "qlora":
            mfu *= QLORA_SHARE
        source = benchmark_level(one, self.precision).source
        share = work.model_flops / work.executed_flops
        return mfu * share, f"{source}; calibrated on published training runs"


def user_rate(
    training: Training, work: Work, peak_flops: float, one: Accelerator
) -> tuple[float, str] | None:
    """MFU that the team's own figure means, with where it is from; None where it gives none."""
    stated = user_mfu(training)
    if stated:
        return stated, "given" if training.mfu else "given as HFU; MFU is 3/4 of it"
    if training.measured_accelerator_hours:
        mfu = _mfu_of_hours(training, work, peak_flops, one)
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


def _mfu_of_hours(training: Training, work: Work, peak_flops: float, one: Accelerator) -> float:
    """MFU of a run that is done, lost time included: C / (H · 3600 · P)."""
    hours = training.measured_accelerator_hours or 0.0
    share = work.model_flops / (hours * 3600 * peak_flops)
    if share > 1:
        raise InvalidInput(
            "measured_accelerator_hours",
            f"{hours:,.6g} h for this work would be {share:,.0%} of the dense peak of "
            f"{one.name}; allowed are {hours * share:,.6g} or more",
        )
    return share


def training_on(training: Training, one: Accelerator) -> TrainingTask:
    """The run on an accelerator; refuses a precision it lacks and what fits nowhere.

    Raises `InvalidInput` on `precision` or `accelerator`, and on what needs later rules.

    >>> from pricing.market.accelerators import get
    >>> llama = Training(kind="training", parameters=6.7e9, tokens=1e12, sequence_length=2048)
    >>> 60e3 < training_on(llama, get("nvidia-a100-80gb-sxm")).at(256).hours < 130e3
    True
    """
    later = [name for name in LATER_FIELDS if getattr(training, name) not in (None, False)]
    if training.optimizer not in FIRST_OPTIMIZERS:
        later.append("optimizer")
    if training.activation_checkpointing == "selective":
        later.append("activation_checkpointing")
    if later:
        raise InvalidInput(later[0], "needs later rules and the request says rules 1")
    training = under_rules(training, 1)
    precision = precision_on(training, one)
    least = min_accelerators(training, precision, one.memory_gib)
    if least is None:
        raise InvalidInput(
            "accelerator",
            f"one sequence does not fit {one.name_with_memory}, however it is split; "
            "a shorter sequence_length or an accelerator with more memory would",
        )
    peak = (one.dense_tflops(precision) or 0.0) * 1e12
    return TrainingTask(training, one, precision, compute_work(training), peak, least)


def _goodput(training: Training, count: int) -> tuple[float, str]:
    if training.goodput:
        return training.goodput, "given"
    if training.measured_accelerator_hours:
        return 1.0, "lost time is in the hours given"
    return estimate_goodput(count), (
        "failures at 50,700 accelerator-hours each (Llama 3, 2024) with Daly's checkpoint "
        "interval, and 5% for operations of many nodes"
    )


def high_mfu(mfu: float, training: Training) -> tuple[str, ...]:
    """A warning where a given rate is more than training sustains."""
    if mfu <= MFU_CEILING or not has_user_rate(training):
        return ()
    return (
        f"an MFU of {mfu:.1%} is above {MFU_CEILING:.0%}, what training sustains at best; check "
        "that it is MFU and not HFU, and against the dense peak and not the sparse one",
    )
