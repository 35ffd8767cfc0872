"""How well sizing predicts ratios of throughput and hours of samples that it has not seen."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable

from planner.contract.request.workload import Samples
from planner.sizing.evidence.sample_runs import Measurement, measurements
from planner.sizing.performance.levels import comparable, fit_index
from planner.sizing.runs.sample_run import size_samples
from pricing.market.accelerators import get

SAMPLE_RUNS = (
    ("ffcv ResNet-50, 88 epochs", 88, 10.293, "libffcv/ffcv README @3a12966b3afe"),
    ("ffcv ResNet-50, 16 epochs", 16, 1.987, "libffcv/ffcv README @3a12966b3afe"),
    ("YOLOv5 ResNet50, 90 epochs", 90, 44.67, "ultralytics/yolov5 README @5081342f04fb"),
)
"""Published ImageNet trainings on A100 whose workload another family measured: accelerator-hours,
2022. FFCV resizes progressively; YOLOv5's loader decodes JPEG on few cores."""
IMAGENET = 1_281_167
"""Training images of ImageNet-1k."""


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


def shares(errors: Iterable[float]) -> tuple[float, float, float]:
    """Median |error|, share within ±25 %, share within ±50 %."""
    absolute = [abs(error) for error in errors]
    within = [statistics.fmean(a <= limit for a in absolute) for limit in (0.25, 0.5)]
    return statistics.median(absolute), within[0], within[1]
