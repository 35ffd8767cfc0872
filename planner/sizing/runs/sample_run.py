"""Accelerator-hours of sample-based work: vision, diffusion, GANs, detection, speech. PURE.

    H = samples · epochs / (rate · n^(e−1) · 3600 · g)

rate samples/s of one accelerator, e the scaling exponent (rate of n accelerators ∝ n^e), g
goodput. The rate is the team's own, or a benchmark's on the same accelerator, or a benchmark's
on others moved by the throughput index.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from planner.contract.request.workload import Samples
from planner.sizing.evidence.measured_throughput import (
    FULL,
    LOW,
    MIXED,
    Measurement,
    benchmark,
)
from planner.sizing.evidence.sample_runs import TRAINING_FACTOR, sample_runs
from planner.sizing.footprint.precisions import check_precision
from planner.sizing.layout.usable_memory import MARGIN, usable_gib
from planner.sizing.performance.beyond_published import Largest, describe_far
from planner.sizing.performance.energy import energy_kwh
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.relative_throughput import peak_tflops, throughput_index
from planner.sizing.performance.sample_scaling import scaling_efficiency
from planner.sizing.performance.sample_teams import (
    A100,
    A100_SAMPLE_TFLOPS,
    TEAM_RULES,
    sample_fit,
)
from planner.sizing.performance.sample_time import Sample
from planner.sizing.performance.sample_times import TIME_RULES, time_fit
from planner.sizing.performance.throughput import USUAL_WALL_CLOCK_HOURS, usual_count
from planner.sizing.runs.counts import COUNT_RULES, within_job
from planner.sizing.runs.tiny_samples import warn_tiny
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get, resolve

MEASURED_RANGE = (0.8, 1.6)
"""p10 and p90 of hours used over hours from a tuned benchmark on the same accelerator; planning
values, 2026: a loader as fast as FFCV's needs 0.8, a usual one three times (published ImageNet
trainings of FFCV and ultralytics/yolov5, 2022)."""
SCALED_RANGE = (0.7, 1.9)
"""The same where the rate is moved from another accelerator: the index is within 20 % for two
pairs of three; planning values, 2026."""
USER_RANGE = (0.95, 1.25)
"""The same where the team measured its own rate; planning values, 2026."""
FLOPS_RANGE = (0.55, 2.0)
"""The same where the rate follows from FLOPs alone: what published image models sustain on A100
lies between 34 and 61 TFLOP/s, and loaders add to it; planning values, 2026."""
_CLASSES = {"fp32": FULL, "tf32": FULL, "fp8": LOW}


STATE_BYTES, MEMORY_RULES = 16.0, 6
"""Bytes that mixed precision with AdamW keeps of a parameter (ZeRO, arXiv 1910.02054, 2020), and
the edition of the rules from which it is held against the accelerator's memory, 2026."""
PEAK_RULES = 6
"""Edition of the rules from which a measured rate is held against the dense peak, 2026."""


@dataclass(frozen=True)
class SampleSize:
    """One run on `accelerators` of one kind."""

    accelerator: Accelerator
    accelerators: int
    samples_per_second: float
    """Of one accelerator alone."""
    rate_source: str
    scaling_efficiency: float
    goodput: float
    goodput_source: str
    hours: float
    range_p10_p90: tuple[float, float]
    warnings: tuple[str, ...]
    rules: int = 2
    precision_class: str = MIXED
    """Of the numbers that are multiplied."""

    @property
    def wall_clock_hours(self) -> float:
        return self.hours / self.accelerators

    @property
    def min_accelerators(self) -> int:
        """One: the model of a benchmark fits the accelerators it is trained on."""
        return 1

    @property
    def energy_kwh(self) -> float | None:
        """Energy of the run's servers, without the data centre's overhead."""
        return energy_kwh(self.accelerator, self.hours, self.rules)


@dataclass(frozen=True)
class _Rate:
    samples_per_second: float
    source: str
    range_p10_p90: tuple[float, float]


def size_samples(
    workload: Samples, one: Accelerator, accelerators: int | None = None, rules: int = 2
) -> SampleSize:
    """Hours and range of one run; refuses an unknown benchmark or accelerator without a rate.

    >>> work = Samples(kind="samples", samples=1.281e6, epochs=90,
    ...                benchmark="resnet-50-v1.5-imagenet-ngc")
    >>> round(size_samples(work, get("nvidia-a100-80gb-sxm")).hours, 1)
    13.0
    """
    if workload.precision:
        check_precision(workload.precision, one, rules)
    for field in ("architecture", "code"):
        if getattr(workload, field) and rules < TIME_RULES:
            raise InvalidInput(field, _needs(TIME_RULES, rules))
    rate = rate_on(workload, one, rules)
    total = workload.samples * workload.epochs
    single = total / (rate.samples_per_second * 3600)
    job = workload.accelerators_per_job if rules >= COUNT_RULES else None
    count = accelerators or within_job(_usual_count(single), 1, job)
    efficiency = scaling_efficiency(count)
    goodput = workload.goodput or estimate_goodput(count)
    return SampleSize(
        accelerator=one,
        accelerators=count,
        samples_per_second=rate.samples_per_second,
        rate_source=rate.source,
        scaling_efficiency=efficiency,
        goodput=goodput,
        goodput_source="given" if workload.goodput else "failures and operations",
        hours=single / (efficiency * goodput),
        range_p10_p90=rate.range_p10_p90,
        warnings=(
            *_far(workload, count, rules),
            *warn_tiny(workload, rules),
            *_beyond_memory(workload, one, rules),
        ),
        rules=rules,
        precision_class=_precision_class(workload),
    )


def _far(workload: Samples, count: int, rules: int) -> tuple[str, ...]:
    """What is far beyond every published run, in words."""
    is_given = workload.samples_per_second is not None
    model, cluster = _largest(max(rules, TEAM_RULES))
    texts = describe_far(workload.parameters, model, count, cluster, has_user_rate=is_given)
    return tuple(texts.values())


def _beyond_memory(workload: Samples, one: Accelerator, rules: int) -> tuple[str, ...]:
    """A model whose states one accelerator does not hold, which nothing else says: the memory of
    samples is not counted. A rate that was measured there shows that it fits.

    >>> flux = Samples(kind="samples", samples=1e5, epochs=1, forward_gflops_per_sample=3e4,
    ...                parameters=12e9)
    >>> _beyond_memory(flux, get("nvidia-rtx-4090"), 6)[0][:67]
    'the memory of samples is not counted: 12,000,000,000 parameters tra'
    """
    parameters = workload.parameters or 0.0
    held = parameters * STATE_BYTES / 1024**3
    is_measured = workload.samples_per_second is not None or workload.benchmark is not None
    if rules < MEMORY_RULES or is_measured or held <= MARGIN * usable_gib(one):
        return ()
    return (
        f"the memory of samples is not counted: {parameters:,.0f} parameters trained with AdamW "
        f"hold {held:,.0f} GiB of weights, gradients and states, more than the "
        f"{one.memory_gib:g} GiB of one {one.name}: it takes adapters, sharding or offload, whose "
        "time is not in these hours",
    )


@cache
def _largest(rules: int) -> tuple[Largest, Largest]:
    """The largest model, and the most accelerators, of the published runs on samples."""
    models = ((run.parameters, run.run) for run in sample_runs(rules))
    clusters = ((run.accelerators, run.run) for run in sample_runs(rules))
    return Largest.of(models, "run on samples"), Largest.of(clusters, "run on samples")


def rate_on(workload: Samples, one: Accelerator, rules: int = 2) -> _Rate:
    """Samples/s of one accelerator, its source and the range of hours it leaves."""
    if workload.samples_per_second is not None:
        return _user_rate(workload, one, rules)
    if workload.benchmark is None and workload.forward_gflops_per_sample is not None:
        return _rate_of_flops(workload, workload.forward_gflops_per_sample, one, rules)
    measured = benchmark(workload.benchmark or "")
    rows = [m for m in measured if m.precision_class == _precision_class(workload)]
    if not rows:
        allowed = ", ".join(sorted({m.precision for m in measured}))
        raise InvalidInput(
            "benchmark",
            f"{workload.benchmark} was not measured at {workload.precision or 'bf16'}; allowed "
            f"there are {allowed} (mixed stands for bf16 and fp16)",
        )
    own = [m for m in rows if m.accelerator == one.slug]
    if own:
        best = min(own, key=lambda m: m.accelerators)
        source = f"measured on {best.accelerators} {one.name}: {best.source}, {best.year}"
        return _Rate(_single(best), source, MEASURED_RANGE)
    return _scaled_rate(workload, rows, one)


def workload_class(workload: Samples) -> str:
    """Class of the benchmark's workload; vision where the team gives its own rate."""
    return benchmark(workload.benchmark)[0].workload_class if workload.benchmark else "vision"


def _precision_class(workload: Samples) -> str:
    return _CLASSES.get(workload.precision or "", MIXED)


def _user_rate(workload: Samples, one: Accelerator, rules: int) -> _Rate:
    rate = workload.samples_per_second or 0.0
    if workload.benchmark:
        benchmark(workload.benchmark)
    there = resolve(workload.accelerator or "")
    if rules >= PEAK_RULES:
        _refuse_above_peak(workload, rate, there)
    if there.slug == one.slug:
        return _Rate(rate, "given", USER_RANGE)
    source = f"given on {there.name}, adjusted by the throughput index"
    return _Rate(rate * _ratio(workload, one, there), source, SCALED_RANGE)


def _refuse_above_peak(workload: Samples, rate: float, one: Accelerator) -> None:
    """Refuses a rate whose FLOPs, 3 · forward · samples/s, are more than the dense peak where it
    was measured.

    >>> work = Samples(kind="samples", samples=1, epochs=1, forward_gflops_per_sample=123)
    >>> _refuse_above_peak(work, 176.0, get("nvidia-t4"))
    """
    gflops = TRAINING_FACTOR * (workload.forward_gflops_per_sample or 0.0)
    peak = peak_tflops(one, _precision_class(workload))
    most = peak * 1e3 / gflops if gflops and peak else math.inf
    if rate <= most:
        return
    highest = f"{math.floor(most):,}" if most >= 100 else f"{most:.3g}"
    raise InvalidInput(
        "samples_per_second",
        f"{rate:,.0f} samples/s would be {rate / most:,.0%} of the dense peak of {one.name}, as a "
        f"sample takes {TRAINING_FACTOR:g} times its forward pass; allowed are up to {highest}, or "
        "no forward_gflops_per_sample beside it",
    )


def _rate_of_flops(workload: Samples, gflops: float, one: Accelerator, rules: int) -> _Rate:
    """Samples/s from FLOPs: what an A100 sustains over 3 times the forward pass, moved here; from
    rules 3 on what teams sustain of that, with how far they differ; from rules 5 on the parts of a
    sample's time."""
    if rules >= TIME_RULES:
        return _rate_of_parts(workload, gflops, one)
    rate = A100_SAMPLE_TFLOPS * 1e3 / (TRAINING_FACTOR * gflops) * _ratio(workload, one, get(A100))
    if rules < TEAM_RULES:
        if workload.loader:
            raise InvalidInput("loader", _needs(TEAM_RULES, rules))
        source = (
            "FLOPs of a sample at what image models sustain on A100, adjusted by throughput index"
        )
        return _Rate(rate, source, FLOPS_RANGE)
    fit = sample_fit()
    low, high = fit.log_range_of_images if workload.loader else fit.log_range
    return _Rate(
        rate * math.exp(-fit.log_hours(workload.parameters, workload.loader)),
        "FLOPs of a sample at what published teams sustain, adjusted by the throughput index",
        (math.exp(low), math.exp(high)),
    )


def _rate_of_parts(workload: Samples, gflops: float, one: Accelerator) -> _Rate:
    """Samples/s from arithmetic, memory and reading, and how far teams differ from that."""
    _ratio(workload, one, get(A100))  # refuses an accelerator without a datasheet
    facts = (workload.architecture, workload.loader, workload.code)
    fit = time_fit(*(fact is not None for fact in facts))
    sample = Sample(
        forward_flops=gflops * 1e9,
        precision_class=_precision_class(workload),
        architecture=workload.architecture or "",
        loader=workload.loader or "",
        code=workload.code or "",
    )
    low, high = fit.log_range
    return _Rate(
        1 / fit.seconds(sample, one),
        "arithmetic, memory and reading of a sample as published teams took them",
        (math.exp(low), math.exp(high)),
    )


def _needs(edition: int, rules: int) -> str:
    return f"needs rules {edition} and the request says {rules}"


def _scaled_rate(workload: Samples, rows: Iterable[Measurement], one: Accelerator) -> _Rate:
    """Geometric mean over the accelerators that were measured, each moved to this one."""
    scaled = [math.log(_single(m) * _ratio(workload, one, get(m.accelerator))) for m in rows]
    return _Rate(
        math.exp(statistics.fmean(scaled)),
        f"{workload.benchmark} on other accelerators, adjusted by the throughput index",
        SCALED_RANGE,
    )


def _ratio(workload: Samples, one: Accelerator, other: Accelerator) -> float:
    index = throughput_index()
    ratio = index.ratio(one, other, _precision_class(workload), workload_class(workload))
    if ratio is None or not peak_tflops(one, _precision_class(workload)):
        raise InvalidInput("accelerator", f"no training rate of {one.name} is known")
    return ratio


def _single(measurement: Measurement) -> float:
    """Rate of one accelerator from a measurement on several."""
    count = measurement.accelerators
    return measurement.rate_per_second / (count * scaling_efficiency(count))


def _usual_count(single_hours: float) -> int:
    """Accelerators that finish in about 500 h, as for trainings."""
    return usual_count(single_hours / USUAL_WALL_CLOCK_HOURS)
