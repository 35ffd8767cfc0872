"""Coefficients of a sample's time, fitted to what published teams took. PURE.

Each of eight fits knows the kind of model, the loader and how tuned the code is, or some of them,
so that what a request leaves out stands for the mixture of teams. The coefficients move from their
first values only as far as teams agree (ridge on their logarithms), every team with one vote. What
is left, each team predicted by the others, is the range.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from planner.sizing.evidence.sample_runs import (
    FULL,
    MIXED,
    TRAINING_FACTOR,
    Measurement,
    SampleRun,
    measurements,
    sample_runs,
)
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.levels import DIGITS, peak_tflops, throughput_index
from planner.sizing.performance.teams import conformal_range
from pricing.market.accelerators import SOFTWARE_BY_VENDOR, Accelerator, get

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


Floats = NDArray[np.float64]
Errors = tuple[tuple[SampleRun, float], ...]

FIRST = {
    MATRIX: 2.5,
    SYSTOLIC: 2.5,
    VECTOR: 1.25,
    READING + "usual": 3e-4,
    READING + "hand_tuned": 5e-5,
    READING: 2e-4,
}
"""Coefficients before any run is seen: 40 % of the peak of matrix units and 80 % of vector units
sustained, s of reading an image with a framework's loader (3 ms of one core, ten cores for each
accelerator), with a tuned one, and left open; planning values, 2026."""
PASSES = 20.0
"""How often each value passes through memory before any run is seen: written and read by a layer,
its normalisation and activation, forward and backward; planning value, 2026."""
CODE = "code "
"""Before the kind of code in the name of its factor, which is 1 before any run is seen, 2026."""
FLOPS_PER_PARAMETER = 400.0
"""FLOPs of a forward pass over parameters where a row states the training's alone: 320 for
ResNet-50, 410 for ViT-B/16 (pytorch/vision weights table, 2022)."""
USUAL_FORWARD_FLOPS = 2e10
"""The same for a row that does not state parameters; planning value, 2026."""
HUBER, RIDGE = 0.4, 0.3
"""Error beyond which a run loses weight, and weight in teams that holds a coefficient at its first
value; chosen on held-out teams, 2026."""
ROUNDS, LONGEST_STEP = 40, 1.0
"""Rounds of reweighting, and how far ln of a coefficient moves in one: the last then moves none by
1e-9; ours, 2026."""


@dataclass(frozen=True)
class TimeFit:
    """The coefficients and what they leave."""

    coefficients: dict[str, float]
    errors: Errors
    """Runs with ln(hours used / hours predicted), predicted without their team."""

    def seconds(self, sample: Sample, one: Accelerator) -> float:
        """Time of one sample on one accelerator, s."""
        return _seconds(self.coefficients, _Row(parts(sample, one), sample.code))

    @property
    def log_range(self) -> tuple[float, float]:
        """p10 and p90 of ln(hours used / hours predicted)."""
        return conformal_range([(run.team, error) for run, error in self.errors])


@dataclass(frozen=True)
class _Row:
    """What one run says to the fit."""

    times: dict[str, float]
    """Of the parts of its sample before their coefficients."""
    code: str
    taken: float = 1.0
    """s of one accelerator that a sample took."""


@cache
def time_fit(is_architecture_known: bool, is_loader_known: bool, is_code_known: bool) -> TimeFit:
    """The fit on every run of images that states enough; where nothing is said the errors hold
    those of other work too, which the same coefficients predict."""
    stated = [run for run in sample_runs() if run.is_stated]
    images = [run for run in stated if run.is_images]
    known = partial(
        _sample,
        has_architecture=is_architecture_known,
        has_loader=is_loader_known,
        has_code=is_code_known,
    )
    rows = {}
    for run in stated:
        sample = known(run)
        rows[run] = _Row(parts(sample, get(run.accelerator)), sample.code, _taken(run))
    errors: list[tuple[SampleRun, float]] = []
    for team in dict.fromkeys(run.team for run in images):
        others = [run for run in images if run.team != team]
        fitted = _fit(others, rows)
        own = [run for run in images if run.team == team]
        errors += [(run, _error(run, rows, fitted)) for run in own]
    fitted = _fit(images, rows)
    if is_loader_known:
        errors = [(run, error) for run, error in errors if run.loader]
    elif not is_architecture_known:
        errors += [(run, _error(run, rows, fitted)) for run in stated if not run.is_images]
    return TimeFit(fitted, tuple(errors))


def errors_as_stated() -> Errors:
    """Errors of all images, each asked for with what its source states."""
    with_loader = time_fit(True, True, True).errors
    silent = time_fit(True, False, True).errors
    return (*with_loader, *((run, error) for run, error in silent if not run.loader))


Rows = dict[SampleRun, _Row]


def _sample(run: SampleRun, has_architecture: bool, has_loader: bool, has_code: bool) -> Sample:
    return Sample(
        forward_flops=_forward_flops(run),
        precision_class=FULL if run.precision == "fp32" else MIXED,
        architecture=run.architecture if has_architecture and run.is_images else "",
        loader=run.loader if has_loader else "",
        code=run.code if has_code else "",
        is_read=run.is_images,
        resized_share=run.resized_share,
    )


def _forward_flops(run: SampleRun) -> float:
    if run.forward_flops:
        return run.forward_flops
    return FLOPS_PER_PARAMETER * run.parameters if run.parameters else USUAL_FORWARD_FLOPS


def _taken(run: SampleRun) -> float:
    """s of one accelerator that one sample took, less what a job of many loses."""
    samples = run.training_flops / (TRAINING_FACTOR * _forward_flops(run))
    lost = scaling_efficiency(run.accelerators) * estimate_goodput(run.accelerators)
    return run.accelerator_hours * 3600 * lost / samples


def _error(run: SampleRun, rows: Rows, coefficients: dict[str, float]) -> float:
    return math.log(rows[run].taken / _seconds(coefficients, rows[run]))


def _seconds(coefficients: dict[str, float], row: _Row) -> float:
    total = sum(coefficients.get(part, _first(part)) * time for part, time in row.times.items())
    return total * coefficients.get(CODE + row.code, 1.0)


def _first(name: str) -> float:
    return 1.0 if name.startswith(CODE) else FIRST.get(name, PASSES)


def _fit(runs: Sequence[SampleRun], rows: Rows) -> dict[str, float]:
    """Gauss-Newton on ln t, ridge on ln of the coefficients, Huber weights, one vote a team."""
    names = sorted({part for run in runs for part in rows[run].times})
    shares = np.array([[rows[run].times.get(name, 0.0) for name in names] for run in runs])
    codes = sorted({CODE + rows[run].code for run in runs if rows[run].code})
    kinds = np.array([[CODE + rows[run].code == code for code in codes] for run in runs], float)
    target = np.log([rows[run].taken for run in runs])
    of_team = Counter(run.team for run in runs)
    votes = np.array([1 / of_team[run.team] for run in runs])
    first = np.log([_first(name) for name in (*names, *codes)])
    fitted = first.copy()
    for _ in range(ROUNDS):
        times = shares * np.exp(fitted[: len(names)])
        left = target - kinds @ fitted[len(names) :]
        fitted = fitted + _step(times, kinds, left, votes, first - fitted)
    values = zip((*names, *codes), fitted, strict=True)
    return {name: round(math.exp(value), DIGITS) for name, value in values}


def _step(times: Floats, kinds: Floats, target: Floats, votes: Floats, back: Floats) -> Floats:
    """One step of the parts' and the kinds' coefficients; `back` leads to the first values."""
    total = times.sum(axis=1)
    slopes = np.hstack([times / total[:, None], kinds])
    left = target - np.log(total)
    weighted = slopes.T * votes * np.minimum(1.0, HUBER / np.maximum(np.abs(left), 1e-9))
    hessian = weighted @ slopes + RIDGE * np.eye(len(back))
    step: Floats = np.linalg.solve(hessian, weighted @ left + RIDGE * back)
    return np.clip(step, -LONGEST_STEP, LONGEST_STEP)


def scaling_efficiency(accelerators: float) -> float:
    """Rate of n accelerators over n times the rate of one: n^(e − 1)."""
    return float(accelerators ** (scaling_exponent() - 1))


@cache
def scaling_exponent() -> float:
    """e: median of Δ ln rate / Δ ln n over benchmarks measured on several counts of one
    accelerator; time-to-train results are left out, as larger batches need more samples."""
    groups: dict[tuple[str, str, str], list[Measurement]] = {}
    for row in measurements():
        if row.unit not in ("runs", "model_tflop"):
            groups.setdefault((row.benchmark, row.precision, row.accelerator), []).append(row)
    slopes = [
        math.log(b.rate_per_second / a.rate_per_second) / math.log(b.accelerators / a.accelerators)
        for group in groups.values()
        for a, b in itertools.pairwise(sorted(group, key=lambda m: m.accelerators))
        if b.accelerators > a.accelerators
    ]
    return min(1.0, statistics.median(slopes))
