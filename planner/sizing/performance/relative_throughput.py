"""How much faster one accelerator trains than another, from measured throughputs. PURE.

Model: ln rate = benchmark + a · ln dense peak + b · ln memory bandwidth + accelerator
(+ accelerator within the class of precision + accelerator within the class of workload). The
datasheet terms a, b come first, by least squares; the accelerator's own terms are shrunk
towards 0 (ridge), so an accelerator nobody measured is placed by its datasheet alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from planner.sizing.evidence.measured_throughput import FULL, LOW, Measurement, measurements
from pricing.market.accelerators import Accelerator, get

Floats = NDArray[np.float64]

MAIN_RIDGE, CLASS_RIDGE = 1.0, 3.0
"""Weight of the shrinkage in measurements: an accelerator's own term counts half once one
benchmark has it, a term within a class once three have (chosen on held-out workloads, 2026)."""
OUTLIER = 0.15
"""Residual of ln rate beyond which a measurement loses weight (Huber, Annals of
Mathematical Statistics 35, 1964); chosen on held-out workloads, 2026."""
_ROUNDS = 6
"""Rounds of reweighting; the effects move by less than 1e-3 after them, 2026."""

DIGITS = 9
"""Decimals kept of a fitted term (ours, 2026): the last of a sum depend on the number of cores."""


@dataclass(frozen=True)
class ThroughputIndex:
    """The fitted model; compare its values within one class of precision and workload."""

    peak_exponent: float
    bandwidth_exponent: float
    effects: dict[tuple[str, str], float]
    """(accelerator, class) → ln of its rate over the datasheet's; class "" is its main term."""

    def log_rate(self, one: Accelerator, precision: str, workload: str) -> float | None:
        """ln of the sustained rate up to a constant; None where the datasheet lacks a value."""
        peak, bandwidth = peak_tflops(one, precision), one.memory_bandwidth_gb_per_s
        if not peak or not bandwidth:
            return None
        terms = (self.effects.get((one.slug, c), 0.0) for c in ("", precision, workload))
        datasheet = self.peak_exponent * math.log(peak) + self.bandwidth_exponent * math.log(
            bandwidth
        )
        return datasheet + sum(terms)

    def ratio(
        self, one: Accelerator, other: Accelerator, precision: str, workload: str
    ) -> float | None:
        """Rate of `one` over the rate of `other` in the same work."""
        rates = [self.log_rate(a, precision, workload) for a in (one, other)]
        if rates[0] is None or rates[1] is None:
            return None
        return math.exp(rates[0] - rates[1])


def peak_tflops(one: Accelerator, precision_class: str) -> float | None:
    """Dense peak that a class of precision runs at, TFLOP/s; the next best where it lacks it.

    >>> peak_tflops(get("nvidia-a100-80gb-sxm"), FULL), peak_tflops(get("nvidia-p40"), "mixed")
    (156.0, 11.76)
    """
    tensor = one.bf16_tflops or one.fp16_tflops or one.fp32_tflops
    if precision_class == FULL:
        return one.tf32_tflops or one.fp32_tflops or tensor
    if precision_class == LOW:
        return one.fp8_tflops or tensor
    return tensor


@cache
def throughput_index() -> ThroughputIndex:
    """The index over every measurement.

    >>> h100, a100 = get("nvidia-h100-80gb-sxm"), get("nvidia-a100-80gb-sxm")
    >>> 1.5 < throughput_index().ratio(h100, a100, "mixed", "nlp") < 2.6
    True
    """
    return fit_index(measurements())


def fit_index(rows: Iterable[Measurement]) -> ThroughputIndex:
    """Least squares for the datasheet terms, then ridge with Huber weights for the rest."""
    groups = comparable(rows)
    datasheet = np.vstack([_centred(_datasheet(group)) for group in groups])
    rates = np.concatenate([_centred(_log_rates(group)) for group in groups])
    exponents = np.linalg.lstsq(datasheet, rates, rcond=None)[0]
    keys = sorted({key for group in groups for row in group for key in _keys(row)})
    design = np.vstack([_centred(_indicators(group, keys)) for group in groups])
    effects = _ridge(design, rates - datasheet @ exponents, _shrinkage(keys)).round(DIGITS)
    peak, bandwidth = exponents.round(DIGITS).tolist()
    return ThroughputIndex(
        peak_exponent=peak,
        bandwidth_exponent=bandwidth,
        effects=dict(zip(keys, effects.tolist(), strict=True)),
    )


def comparable(rows: Iterable[Measurement]) -> list[list[Measurement]]:
    """Measurements grouped by what must be alike to compare them, groups of one left out."""
    groups: dict[tuple[str, str, int], list[Measurement]] = {}
    for row in rows:
        if peak_tflops(get(row.accelerator), row.precision_class):
            groups.setdefault((row.benchmark, row.precision, row.accelerators), []).append(row)
    return [group for group in groups.values() if len(group) > 1]


def _ridge(design: Floats, target: Floats, shrinkage: Floats) -> Floats:
    weights = np.ones(len(target))
    effects: Floats = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        weighted = design.T * weights
        solved = np.linalg.solve(weighted @ design + np.diag(shrinkage), weighted @ target)
        effects = solved.astype(np.float64)
        residual = np.abs(target - design @ effects)
        weights = np.minimum(1.0, OUTLIER / np.maximum(residual, 1e-9))
    return effects


def _keys(row: Measurement) -> tuple[tuple[str, str], ...]:
    return tuple((row.accelerator, c) for c in ("", row.precision_class, row.workload_class))


def _shrinkage(keys: Sequence[tuple[str, str]]) -> Floats:
    return np.array([CLASS_RIDGE if part else MAIN_RIDGE for _, part in keys])


def _indicators(group: Sequence[Measurement], keys: Sequence[tuple[str, str]]) -> Floats:
    column = {key: i for i, key in enumerate(keys)}
    matrix = np.zeros((len(group), len(keys)))
    for i, row in enumerate(group):
        matrix[i, [column[key] for key in _keys(row)]] = 1.0
    return matrix


def _datasheet(group: Sequence[Measurement]) -> Floats:
    """[measurements, 2] ln peak and ln bandwidth."""
    return np.log(
        [
            [
                peak_tflops(get(row.accelerator), row.precision_class) or 1.0,
                get(row.accelerator).memory_bandwidth_gb_per_s or 1.0,
            ]
            for row in group
        ]
    )


def _log_rates(group: Sequence[Measurement]) -> Floats:
    return np.log([row.rate_per_second for row in group])


def _centred(values: Floats) -> Floats:
    """Values less their mean over the group: the benchmark's own term drops out."""
    centred: Floats = values - values.mean(axis=0)
    return centred
