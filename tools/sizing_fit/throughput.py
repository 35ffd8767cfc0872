"""Rates of accelerators, loss of clusters and draw of servers, fitted to measurements."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from planner.sizing.evidence.benchmarks import Measurement, measurements
from planner.sizing.performance.levels import ThroughputIndex, peak_tflops
from pricing.market.accelerators import get
from tools.sizing_fit.evidence import ServerPower, read_rows, server_powers

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


def fit_index(rows: Iterable[Measurement]) -> ThroughputIndex:
    """Least squares for the datasheet terms, then ridge with Huber weights for the rest."""
    groups = comparable(rows)
    datasheet = np.vstack(
        [
            _centred(
                np.log(
                    [
                        [
                            peak_tflops(get(row.accelerator), row.precision_class) or 1.0,
                            get(row.accelerator).memory_bandwidth_gb_per_s or 1.0,
                        ]
                        for row in group
                    ]
                )
            )
            for group in groups
        ]
    )
    rates = np.concatenate(
        [_centred(np.log([row.rate_per_second for row in group])) for group in groups]
    )
    exponents = np.linalg.lstsq(datasheet, rates, rcond=None)[0]
    keys = sorted({key for group in groups for row in group for key in _keys(row)})
    design = np.vstack(
        [
            _centred(np.array([[key in _keys(row) for key in keys] for row in group], dtype=float))
            for group in groups
        ]
    )
    effects = _ridge(
        design,
        rates - datasheet @ exponents,
        np.array([CLASS_RIDGE if part else MAIN_RIDGE for _, part in keys]),
    ).round(DIGITS)
    by_accelerator: dict[str, dict[str, float]] = {}
    for (slug, kind), effect in zip(keys, effects.tolist(), strict=True):
        by_accelerator.setdefault(slug, {})[kind] = effect
    peak, bandwidth = exponents.round(DIGITS).tolist()
    return ThroughputIndex(peak_exponent=peak, bandwidth_exponent=bandwidth, effects=by_accelerator)


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


def _centred(values: Floats) -> Floats:
    """Values less their mean over the group: the benchmark's own term drops out."""
    return np.asarray(values - values.mean(axis=0))


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


def cluster_slope() -> float:
    """Change of ln rate of one accelerator with ln of their number: mean of the table, where the
    same code ran on 8 and on 128."""
    slopes = [
        math.log(float(row["speed_of_one"])) / math.log(int(row["large"]) / int(row["small"]))
        for row in read_rows("cluster_scaling")
    ]
    return sum(slopes) / len(slopes)


def power_shares() -> dict[str, float]:
    """Draw of a server at work over the TDP of its accelerators, by accelerator."""
    return shares_of(row for row in server_powers() if is_at_work(row))


def shares_of(rows: Iterable[ServerPower]) -> dict[str, float]:
    """The same from given rows: the median over the systems of an accelerator, each with one
    vote; of those without a row `usual`, over accelerators."""
    by_system: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        tdp = get(row.accelerator).tdp_w or row.watts
        systems = by_system.setdefault(row.accelerator, {})
        systems.setdefault(row.system, []).append(row.watts / (row.accelerators * tdp))
    shares = {
        accelerator: statistics.median(statistics.median(values) for values in systems.values())
        for accelerator, systems in by_system.items()
    }
    return {**shares, "usual": statistics.median(shares.values())}


def is_at_work(row: ServerPower) -> bool:
    """Whether a row tells what training draws: trainings and stress tests of servers as
    delivered; tuned ones draw less, and inference leaves gaps."""
    return row.mode == "default" and row.state in ("training", "stress")
