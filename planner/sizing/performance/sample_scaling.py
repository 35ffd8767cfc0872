"""How the rate of sample-based work grows with accelerators. PURE."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable
from functools import cache

from planner.sizing.evidence.measured_throughput import Measurement, measurements


def scaling_efficiency(accelerators: float) -> float:
    """Rate of n accelerators over n times the rate of one: n^(e − 1).

    >>> scaling_efficiency(1), 0.8 < scaling_efficiency(8) < 1
    (1.0, True)
    """
    return float(accelerators ** (scaling_exponent() - 1))


@cache
def scaling_exponent() -> float:
    """e: median of Δ ln rate / Δ ln n over benchmarks measured on several counts of one
    accelerator; time-to-train results are left out, as larger batches need more samples."""
    slopes = [slope for group in _by_accelerator(measurements()) for slope in _slopes(group)]
    return min(1.0, statistics.median(slopes))


def _by_accelerator(rows: Iterable[Measurement]) -> list[list[Measurement]]:
    groups: dict[tuple[str, str, str], list[Measurement]] = {}
    for row in rows:
        if row.unit not in ("runs", "model_tflop"):
            groups.setdefault((row.benchmark, row.precision, row.accelerator), []).append(row)
    return [sorted(group, key=lambda m: m.accelerators) for group in groups.values()]


def _slopes(group: list[Measurement]) -> list[float]:
    return [
        math.log(b.rate_per_second / a.rate_per_second) / math.log(b.accelerators / a.accelerators)
        for a, b in itertools.pairwise(group)
        if b.accelerators > a.accelerators
    ]
