"""How well sizing predicts what is published: runs, throughput ratios, memory.

Every run is predicted by a calibration that has seen none of its family, every ratio by an index
that has seen none of its workload.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.contract.request.workload import Samples
from planner.sizing.evidence.measured_throughput import Measurement, measurements
from planner.sizing.evidence.published_runs import PublishedRun, published_runs
from planner.sizing.footprint.memory import min_accelerators
from planner.sizing.footprint.training_flops import RECOMPUTE_FACTOR
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.relative_throughput import comparable, fit_index
from planner.sizing.performance.throughput import (
    benchmark_level,
    calibrate,
    held_out_log_errors,
    run_accelerators,
    run_work,
    small_model_share,
    training_from_run,
)
from planner.sizing.runs.sample_run import size_samples
from pricing.market.accelerators import get

PLAIN_MFU = 0.35
"""What the floor assumes of every run: 6 N D at one MFU."""
SAMPLE_RUNS = (
    ("ffcv ResNet-50, 88 epochs", 88, 10.293, "libffcv/ffcv README @3a12966b3afe"),
    ("ffcv ResNet-50, 16 epochs", 16, 1.987, "libffcv/ffcv README @3a12966b3afe"),
    ("YOLOv5 ResNet50, 90 epochs", 90, 44.67, "ultralytics/yolov5 README @5081342f04fb"),
)
"""Published ImageNet trainings on A100 whose workload another family measured: accelerator-hours,
2022. FFCV resizes progressively; YOLOv5's loader decodes JPEG on few cores."""
IMAGENET = 1_281_167
"""Training images of ImageNet-1k."""


@dataclass(frozen=True)
class Prediction:
    """One run as predicted and as published."""

    run: PublishedRun
    hours: float
    is_covered: bool

    @property
    def error(self) -> float:
        return self.hours / self.run.accelerator_hours - 1


def predictions() -> list[Prediction]:
    """Every run of quality A and B, MFU not given, by leave-one-family-out."""
    runs = published_runs()
    errors = held_out_log_errors(runs)
    found = []
    for family in dict.fromkeys(run.family for run in runs):
        low, high = calibrate([r for r in runs if r.family != family]).log_error_quantiles
        for run in (r for r in runs if r.family == family):
            hours = run.accelerator_hours * math.exp(-errors[run.run])
            found.append(Prediction(run, hours, low <= errors[run.run] <= high))
    return found


def plain_errors() -> list[float]:
    """Errors of 6 N D over the peak at one MFU for all: the floor."""
    found = []
    for run in published_runs():
        flops = run_work(run).model_flops
        hours = flops / (_peak(run) * PLAIN_MFU * 3600)
        found.append(hours / run.accelerator_hours - 1)
    return found


def errors_with_published_mfu() -> dict[str, float]:
    """run → error with its published MFU (3/4 of an HFU) and goodput: 1 where the hours hold
    useful work alone, our own where the source gives none."""
    found = {}
    for run in published_runs():
        mfu = run.mfu or (run.hfu and run.hfu / RECOMPUTE_FACTOR)
        if mfu:
            useful = 1.0 if run.hours_exclude_downtime else estimate_goodput(run_accelerators(run))
            hours = run_work(run).model_flops / (_peak(run) * mfu * useful * 3600)
            found[run.run] = hours / run.accelerator_hours - 1
    return found


def ratio_errors(
    workloads: Iterable[str] | None = None,
) -> list[tuple[Measurement, Measurement, float]]:
    """Error of the predicted ratio for every pair of accelerators measured alike, the index
    fitted without any measurement of the pair's workload; of every workload for None."""
    rows = measurements()
    found = []
    for workload in workloads or dict.fromkeys(row.workload for row in rows):
        own = comparable(row for row in rows if row.workload == workload)
        if not own:
            continue
        index = fit_index(row for row in rows if row.workload != workload)
        for group in own:
            for one, other in itertools.combinations(group, 2):
                predicted = index.ratio(
                    get(one.accelerator),
                    get(other.accelerator),
                    one.precision_class,
                    one.workload_class,
                )
                assert predicted is not None
                measured = one.rate_per_second / other.rate_per_second
                found.append((one, other, predicted / measured - 1))
    return found


def memory_misses() -> list[str]:
    """Runs that used fewer accelerators than we say is possible."""
    found = []
    for run in published_runs():
        if run.accelerators and run.parameters:
            training = training_from_run(run)
            least = min_accelerators(training, run.precision, get(run.accelerator).memory_gib)
            if least is None or least > run.accelerators:
                found.append(f"{run.run}: {least} for {run.accelerators}")
    return found


def sample_errors() -> list[tuple[str, float, float, str]]:
    """(run, predicted, published, source) of ImageNet trainings, by NVIDIA's measured rate."""
    a100 = get("nvidia-a100-80gb-sxm")
    found = []
    for name, epochs, hours, source in SAMPLE_RUNS:
        work = Samples(
            kind="samples",
            samples=IMAGENET,
            epochs=epochs,
            benchmark="resnet-50-v1.5-imagenet-ngc",
        )
        found.append((name, size_samples(work, a100).hours, hours, source))
    return found


Features = Callable[[PublishedRun], tuple[float, ...]]


def alternatives() -> dict[str, tuple[float, float, float]]:
    """What else was tried: name → (median |error|, share within 25 %, within 50 %), the same
    fit and evaluation with other features beside the benchmark level."""
    tried: dict[str, Features] = {
        "level alone": lambda r: (),
        "n, 8 to 128 (as shipped)": lambda r: (_clip(r),),
        "n without limits": lambda r: (_cluster(r),),
        "n, model size": lambda r: (_clip(r), _size(r)),
        "n, small models fitted": lambda r: (_clip(r), max(0.0, math.log(1.3 / 7) - _size(r))),
        "n, mixture of experts": lambda r: (_clip(r), float(bool(r.active_parameters))),
        "n, Hopper": lambda r: (_clip(r), float("h100" in r.accelerator)),
        "n, year": lambda r: (_clip(r), float(r.year - 2023)),
    }
    return {name: _scores(_held_out(features)) for name, features in tried.items()}


def shares(errors: Iterable[float]) -> tuple[float, float, float]:
    """Median |error|, share within ±25 %, share within ±50 %."""
    absolute = [abs(error) for error in errors]
    within = [statistics.fmean(a <= limit for a in absolute) for limit in (0.25, 0.5)]
    return statistics.median(absolute), within[0], within[1]


def _scores(log_errors: Sequence[float]) -> tuple[float, float, float]:
    return shares(math.exp(-error) - 1 for error in log_errors)


def _held_out(features: Features) -> list[float]:
    """ln(used / predicted) of each run by ridge with Huber weights on `features`."""
    runs = published_runs()
    design = np.array([(1.0, *features(run)) for run in runs])
    target = np.array([_log_realised(run) for run in runs])
    families = [run.family for run in runs]
    weight = np.array([(1.0 if r.quality == "A" else 0.6) / families.count(r.family) for r in runs])
    errors = np.zeros(len(runs))
    for family in set(families):
        out = np.array([f == family for f in families])
        fitted = _ridge(design[~out], target[~out], weight[~out])
        errors[out] = design[out] @ fitted - target[out]
    return [float(error) for error in errors]


def _ridge(design: np.ndarray, target: np.ndarray, prior: np.ndarray) -> np.ndarray:
    shrink = np.diag([1e-9] + [0.5] * (design.shape[1] - 1))
    weights = prior
    fitted = np.zeros(design.shape[1])
    for _ in range(20):
        weighted = design.T * weights
        fitted = np.linalg.solve(weighted @ design + shrink, weighted @ target)
        weights = prior * np.minimum(1, 0.3 / np.maximum(abs(target - design @ fitted), 1e-9))
    return fitted


def _log_realised(run: PublishedRun) -> float:
    share = run_work(run).executed_flops / (run.accelerator_hours * 3600 * _peak(run))
    small = small_model_share(run.active_parameters or run.parameters or 7e9)
    return math.log(share / benchmark_level(get(run.accelerator), run.precision).mfu / small)


def _peak(run: PublishedRun) -> float:
    return (get(run.accelerator).dense_tflops(run.precision) or 0.0) * 1e12


def _cluster(run: PublishedRun) -> float:
    return math.log(run_accelerators(run) / 128)


def _clip(run: PublishedRun) -> float:
    return min(0.0, max(math.log(8 / 128), _cluster(run)))


def _size(run: PublishedRun) -> float:
    return math.log((run.active_parameters or run.parameters or 7e9) / 7e9)
