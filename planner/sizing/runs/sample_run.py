"""Accelerator-hours of sample-based work: vision, diffusion, GANs, detection, speech. PURE.

    H = samples · epochs / (rate · n^(e−1) · 3600 · g)

rate samples/s of one accelerator, e the scaling exponent (rate of n accelerators ∝ n^e), g
goodput. The rate is the team's own, or a benchmark's on the same accelerator, or a benchmark's
on others moved by the throughput index; else a sample's arithmetic, memory and reading, as
published teams took them: each of eight fits knows the kind of model, the loader and how tuned the
code is, or some of them, so that what a request leaves out stands for the mixture of teams
(`tools.sizing_fit`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from planner.contract.accelerator_memory import usable_gib
from planner.contract.accelerator_names import SOFTWARE_BY_VENDOR
from planner.contract.answer.estimate import RunFigures
from planner.contract.models.sample_models import model_of_benchmark
from planner.contract.request.workload import Samples
from planner.sizing.evidence import fitted, typed
from planner.sizing.evidence.benchmarks import (
    FULL,
    LOW,
    MIXED,
    TRAINING_FACTOR,
    Measurement,
    benchmark,
    benchmarks,
)
from planner.sizing.footprint.memory import GIB, ONE_NODE, check_precision, fast_domain
from planner.sizing.layout.shapes import MARGIN
from planner.sizing.performance.confidence import FAR, ROUGH_GUESS, Largest, describe_far
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.levels import (
    USUAL_WALL_CLOCK_HOURS,
    peak_tflops,
    throughput_index,
    usual_count,
)
from planner.sizing.runs.run_size import RunSize
from planner.sizing.runs.schedule import within_job
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get, resolve_all

MEASURED_RANGE = (0.8, 1.6)
"""p10 and p90 of hours used over hours from a tuned benchmark on the same accelerator; planning
values, 2026: a loader as fast as FFCV's needs 0.8, a usual one three times (published ImageNet
trainings of FFCV and ultralytics/yolov5, 2022)."""
SCALED_RANGE = (0.7, 1.9)
"""The same where the rate is moved from another accelerator: the index is within 20 % for two
pairs of three; planning values, 2026."""
USER_RANGE = (0.95, 1.25)
"""The same where the team measured its own rate; planning values, 2026."""
_CLASSES = {"fp32": FULL, "tf32": FULL, "fp8": LOW, "fp4": LOW}


STATE_BYTES = 16.0
"""Bytes that mixed precision with AdamW keeps of a parameter (ZeRO, arXiv 1910.02054, 2020)."""


@dataclass(frozen=True)
class Rate:
    """Samples/s of one accelerator alone, and what is known of it."""

    samples_per_second: float
    source: str
    range_p10_p90: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class SampleSize(RunSize):
    """One run of epochs over samples."""

    workload: Samples
    rate: Rate
    scaling_efficiency: float

    @property
    def samples_per_second(self) -> float:
        return self.rate.samples_per_second

    @property
    def range_p10_p90(self) -> tuple[float, float]:
        return self.rate.range_p10_p90

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(_doubt(self))

    @property
    def method(self) -> str:
        return (
            f"{self.samples_per_second:,.4g} samples/s of one accelerator ({self.rate.source}), "
            f"scaling efficiency {self.scaling_efficiency:.1%} and goodput {self.goodput:.1%}"
        )

    @property
    def memory_gib(self) -> float | None:
        """With one sample at a time: batches fill the rest."""
        if (held := held_by(self.workload)) is None:
            return None
        return held[0] / (self.accelerators if self.min_accelerators > 1 else 1) + held[1]

    @property
    def least_gib(self) -> float:
        return self.memory_gib or 0.0

    @property
    def dense_tflops(self) -> float | None:
        return peak_tflops(self.accelerator, _precision_class(self.workload))

    @property
    def own_figures(self) -> RunFigures:
        return RunFigures(
            samples_per_second_per_accelerator=self.samples_per_second,
            scaling_efficiency=self.scaling_efficiency,
            memory_per_accelerator_gib=self.memory_gib,
        )


@lru_cache(maxsize=256)
def held_by(workload: Samples) -> tuple[float, float] | None:
    """GiB of weights, gradients and states of AdamW, 16 bytes a parameter, and of one sample at
    work; None where parameters are not known, or a rate of the team's own says that it ran.

    A sample keeps twice the values that its layers put out, theirs and those of their norms: 89 MB
    an image of ResNet-50 in 32 bits.
    """
    rows = benchmarks().get(workload.benchmark or "")
    known = model_of_benchmark(rows[0].workload) if rows else None
    parameters = workload.parameters or (known.parameters if known else 0.0)
    if not parameters or workload.samples_per_second is not None:
        return None
    gflops = workload.forward_gflops_per_sample or (known and known.forward_gflops) or 0.0
    law = ARCHITECTURES[workload.architecture or (known and known.architecture) or ""]
    width = 4 if _precision_class(workload) == FULL else 2
    values = law.values * (gflops * 1e9 / law.flops) ** law.exponent
    return parameters * STATE_BYTES / GIB, 2 * values * width / GIB


def fewest_that_hold(workload: Samples, one: Accelerator) -> int:
    """Fewest accelerators of a server that hold a training, their share of the states and a sample
    each; refuses one that is too small."""
    states, sample = held_by(workload) or (0.0, 0.0)
    left, most = MARGIN * usable_gib(one) - sample, max(ONE_NODE, fast_domain(one))
    least = max(1, math.ceil(states / left)) if left > 0 else most + 1
    if least > most:
        raise InvalidInput(
            "accelerator",
            f"the training holds {states:,.1f} GiB of weights, gradients and states of AdamW and "
            f"{sample:,.1f} GiB for each sample at work, and {one.name} has {one.memory_gib:g} "
            f"GiB: {most} of a server do not hold it; an accelerator with more memory would, or "
            "samples_per_second measured with adapters or offload",
        )
    return least


@dataclass(frozen=True)
class SampleTask:
    """Epochs over samples on one kind of accelerator, before it is known on how many."""

    workload: Samples
    accelerator: Accelerator

    @cached_property
    def min_accelerators(self) -> int:
        return fewest_that_hold(self.workload, self.accelerator)

    def fewest_hours(self, accelerators: int) -> float:
        return 0.0

    def at(self, accelerators: int | None = None) -> SampleSize:
        return size_samples(self.workload, self.accelerator, accelerators)

    at_least = at
    on_whole_machines = at


def size_samples(
    workload: Samples, one: Accelerator, accelerators: int | None = None
) -> SampleSize:
    """Hours and range of one run; refuses an unknown benchmark or accelerator without a rate."""
    if workload.precision:
        check_precision(workload.precision, one)
    rate = rate_on(workload, one)
    total = workload.samples * workload.epochs
    single = total / (rate.samples_per_second * 3600)
    job, least = workload.accelerators_per_job, fewest_that_hold(workload, one)
    usual = max(least, usual_count(single / USUAL_WALL_CLOCK_HOURS))
    count = accelerators or within_job(usual, least, job)
    if count < least:
        raise InvalidInput(
            "accelerators",
            f"{count} {one.name} cannot hold the training; allowed are {least} or more",
        )
    efficiency = scaling_efficiency(count)
    goodput = workload.goodput or estimate_goodput(count)
    return SampleSize(
        accelerator=one,
        accelerators=count,
        min_accelerators=least,
        rate=rate,
        scaling_efficiency=efficiency,
        goodput=goodput,
        goodput_source="given" if workload.goodput else "failures and operations",
        hours=single / (efficiency * goodput),
        workload=workload,
    )


def _doubt(size: SampleSize) -> Iterator[str]:
    """Why to doubt a run: what is far beyond every published one; the time of a sample that is no
    image; a model whose states one accelerator does not hold."""
    workload, one = size.workload, size.accelerator
    is_given = workload.samples_per_second is not None
    known = sample_bounds()
    model, cluster, least = known.largest_model, known.largest_cluster, known.least_gflops
    far = describe_far(
        workload.parameters, model, size.accelerators, cluster, has_user_rate=is_given
    )
    yield from far.values()
    yield from size.warn_long()
    if is_given or workload.benchmark is not None:
        return
    gflops = workload.forward_gflops_per_sample
    if gflops is not None and gflops * FAR < least:
        yield (
            f"{gflops:.3g} GFLOP a sample are {float(f'{least / gflops:.2g}'):,g} times fewer than "
            f"in any published run on samples ({known.least_gflops_run}: {least:.2g}): almost all "
            "of the hours go to reading an image, and recommendation, tabular or signal models may "
            f"take a hundredth of them; {ROUGH_GUESS}; a rate measured in a pilot settles it"
        )
    if size.min_accelerators > 1:
        yield (
            f"one {one.name} does not hold the {workload.parameters or 0:,.0f} parameters trained "
            f"with AdamW: they are sharded over {size.min_accelerators} or more (ZeRO stage 3), "
            "whose traffic is not in these hours; adapters would need less"
        )


@dataclass(frozen=True)
class SampleBounds:
    """What the published runs on samples reach."""

    largest_model: Largest
    largest_cluster: Largest
    least_gflops: float
    """Of the forward pass of a sample."""
    least_gflops_run: str


@cache
def sample_bounds() -> SampleBounds:
    """Bounds of the published runs on samples."""
    return typed(SampleBounds, fitted()["bounds"]["samples"])


def rate_on(workload: Samples, one: Accelerator) -> Rate:
    """Samples/s of one accelerator, its source and the range of hours it leaves."""
    if workload.samples_per_second is not None:
        return _user_rate(workload, one)
    if workload.benchmark is None and workload.forward_gflops_per_sample is not None:
        _ratio(workload, one, get(A100))  # refuses an accelerator without a datasheet
        fit = time_fit(*(name for name in FACTS if getattr(workload, name) is not None))
        sample = Sample(
            forward_flops=workload.forward_gflops_per_sample * 1e9,
            precision_class=_precision_class(workload),
            architecture=workload.architecture or "",
            loader=workload.loader or "",
            code=workload.code or "",
        )
        low, high = fit.log_range
        return Rate(
            1 / fit.seconds(sample, one),
            "arithmetic, memory and reading of a sample as published teams took them",
            (math.exp(low), math.exp(high)),
        )
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
        return Rate(_single(best), source, MEASURED_RANGE)
    return _scaled_rate(workload, rows, one)


def workload_class(workload: Samples) -> str:
    """Class of the benchmark's workload; vision where the team gives its own rate."""
    return benchmark(workload.benchmark)[0].workload_class if workload.benchmark else "vision"


def _precision_class(workload: Samples) -> str:
    return _CLASSES.get(workload.precision or "", MIXED)


def _user_rate(workload: Samples, one: Accelerator) -> Rate:
    rate = workload.samples_per_second or 0.0
    if workload.benchmark:
        benchmark(workload.benchmark)
    there = resolve_all(workload.accelerator or "")[0]
    _refuse_above_peak(workload, rate, there)
    if there.slug == one.slug:
        return Rate(rate, "given", USER_RANGE)
    source = f"given on {there.name}, adjusted by the throughput index"
    return Rate(rate * _ratio(workload, one, there), source, SCALED_RANGE)


def _refuse_above_peak(workload: Samples, rate: float, one: Accelerator) -> None:
    """Refuses a rate whose FLOPs, 3 · forward · samples/s, are more than the dense peak where it
    was measured."""
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


def _scaled_rate(workload: Samples, rows: Iterable[Measurement], one: Accelerator) -> Rate:
    """Geometric mean over the accelerators that were measured, each moved to this one."""
    scaled = [math.log(_single(m) * _ratio(workload, one, get(m.accelerator))) for m in rows]
    return Rate(
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
    count = measurement.accelerators
    return measurement.rate_per_second / (count * scaling_efficiency(count))


A100 = "nvidia-a100-80gb-sxm"
MATRIX_ABOVE = 1.5
"""Peak over that of fp32 from which it is that of matrix units; planning value, 2026."""
VECTOR_SHARE = 1 / 8
"""fp32 peak of vector units over that of matrix units where a datasheet leaves it out: V100 15.7
of 125 TFLOP/s (NVIDIA V100 datasheet, 2020)."""
MATRIX, SYSTOLIC, VECTOR, READING = "matrix", "systolic", "vector", "reading "
"""Parts of the time: arithmetic on the units of a GPU, of a TPU (whose one compiler lays out the
whole step for them) and of either without them, and reading; a loader's name follows the last,
2026."""


@dataclass(frozen=True)
class Architecture:
    """Values A that the layers of one forward pass put out: A0 · (F / F0)^p."""

    values: float
    """A0."""
    flops: float
    """F0, of the same model, two for each multiply-add."""
    exponent: float
    """p: 1/2 where a model grows in depth and width, 1 where its images do."""


ARCHITECTURES = {
    "convolutional": Architecture(11.1e6, 8.2e9, 0.5),
    "depthwise": Architecture(6.7e6, 0.8e9, 0.84),
    "transformer": Architecture(23.9e6, 35.2e9, 0.65),
    "detector": Architecture(11.1e6, 8.2e9, 0.75),
    "": Architecture(11.1e6, 8.2e9, 0.5),
}
"""ResNet-50, with p of Radosavovic et al. (arXiv 2003.13678, 2020); EfficientNet-B0, with p to
B5 (both facebookresearch/pycls MODEL_ZOO.md @1caf15bbefee, 2020); ViT-B/16, 10 widths and a value
for every head and other patch of each patch in each layer, with p from ViT-S to ViT-L (sizes of
Dosovitskiy et al., arXiv 2010.11929, 2020); detectors grow in both ways (planning value, 2026).
The last is for work that does not say: the law of convolutions."""


@dataclass(frozen=True)
class Sample:
    """One sample as far as its time depends on it."""

    forward_flops: float
    precision_class: str
    architecture: str
    """Empty where it is not said."""
    loader: str
    """Empty where it is not said."""
    code: str = ""
    """How well tuned the code is; empty where it is not said."""
    is_read: bool = True
    """False where it is no image: its reading is not counted."""
    resized_share: float = 1.0
    """Part of its FLOPs, and of its values, that is done at a smaller size."""


def parts(sample: Sample, one: Accelerator) -> dict[str, float]:
    """Seconds of each part before its coefficient; of reading 1, whose coefficient is its time."""
    unit, peak = _unit(sample, one)
    law = ARCHITECTURES[sample.architecture]
    values = law.values * (sample.forward_flops / law.flops) ** law.exponent
    width = 4 if sample.precision_class == FULL else 2
    bandwidth = (one.memory_bandwidth_gb_per_s or 0.0) * 1e9
    times = {
        unit: TRAINING_FACTOR * sample.forward_flops * sample.resized_share / peak,
        sample.architecture: values * sample.resized_share * width / bandwidth,
    }
    if sample.is_read:
        times[READING + sample.loader] = 1.0
    return times


def _unit(sample: Sample, one: Accelerator) -> tuple[str, float]:
    peak = peak_tflops(one, sample.precision_class) or 0.0
    vector = one.fp32_tflops
    if vector and peak <= MATRIX_ABOVE * vector:
        return VECTOR, peak * 1e12
    if sample.architecture == "depthwise":
        return VECTOR, (vector or VECTOR_SHARE * peak) * 1e12
    a100 = get(A100)
    kind = sample.precision_class
    ratio = throughput_index().ratio(one, a100, kind, "vision") or 1.0
    base = "tf32_tflops" if kind == FULL else "bf16_tflops"
    unit = SYSTOLIC if SOFTWARE_BY_VENDOR.get(one.vendor) == "xla" else MATRIX
    return unit, float(getattr(a100, base)) * ratio * 1e12


CODE = "code "
"""Before the kind of code in the name of its factor, 2026."""


@dataclass(frozen=True)
class TimeFit:
    """Coefficients of the parts, and what they leave."""

    coefficients: dict[str, float]
    log_range: tuple[float, float]
    """p10 and p90 of ln(hours used / hours predicted)."""

    def seconds(self, sample: Sample, one: Accelerator) -> float:
        """Time of one sample on one accelerator, s."""
        times = parts(sample, one).items()
        total = sum(self.coefficients[part] * seconds for part, seconds in times)
        return total * self.coefficients.get(CODE + sample.code, 1.0)


FACTS = ("architecture", "loader", "code")
"""What of a sample may be said."""


@cache
def time_fit(*stated: str) -> TimeFit:
    """The fit for requests that say these of `FACTS`, in their order."""
    return typed(TimeFit, fitted()["samples"][" ".join(stated)])


def scaling_efficiency(accelerators: float) -> float:
    """Rate of n accelerators over n times the rate of one: n^(e - 1), e the median slope of the
    benchmarks that were measured on several numbers of one accelerator."""
    return float(accelerators ** (float(fitted()["scaling_exponent"]) - 1))
