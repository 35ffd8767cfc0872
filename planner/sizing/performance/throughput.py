"""Share of peak that a transformer's training sustains (MFU), and how sure that is. PURE.

    MFU = level(accelerator, precision) · small(N) · exp(a + b · ln(n / 128)),  n within 8 … 128

`level` is what tuned public benchmarks reach (`mfu_levels.csv`) and `small` how much less they
reach with small models; `a` is what real runs lose against them and `b` how that grows from one
node to many. Two numbers, fitted robustly to `published_runs.csv` with every family of runs
counted once, so nothing is fitted to one run.
MFU counts the model's FLOPs over the dense peak; recomputation and sparsity are not in it.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planner.contract.request.workload import Training
from planner.sizing.evidence.measured_throughput import FULL, LOW, MIXED
from planner.sizing.evidence.published_runs import PublishedRun, published_runs
from planner.sizing.footprint.precisions import dense_tflops
from planner.sizing.footprint.training_flops import Work, compute_work, size_at_work
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.relative_throughput import DIGITS, throughput_index
from pricing.market.accelerators import Accelerator, get

Floats = NDArray[np.float64]

SMALLEST_CLUSTER, LARGEST_CLUSTER = 8, 128
"""Accelerators between which the loss grows: within a node there is none, and beyond 16 nodes
Megatron-LM lost only 5 points from 96 to 4,608 H100 (NVIDIA/Megatron-LM README, 2024)."""
FULL_MODEL, SMALL_EXPONENT = 1.3e9, 0.14
"""Parameters below which a model does not fill an accelerator, and by how much: MFU falls with
N^0.14 from 1.3B to 0.12B on A100 (MPT at 1,024 and 2,048 tokens: 57 to 41 % and 57 to 45 %,
mosaicml/llm-foundry benchmarking README @8c8dd48f7216, 2023). Attention fills it too: 0.12B at
65,536 tokens does the work of 1.3B a token and reaches 52 % (same source)."""
MFU_CEILING = 0.65
"""Sustained MFU above this is suspect: best matmuls reach 73-87 % of peak on A100, H100 and
B200 (stas00/ml-engineering, 2025) and a training step holds more than matmuls."""
UNMEASURED_CEILING = 0.56
"""Most that is believed of an accelerator nobody measured: what the A100 reaches
(mfu_levels.csv, 2023)."""
USUAL_WALL_CLOCK_HOURS = 500.0
"""h: median wall clock of the published pre-training runs that state it, 2021-2025."""
LARGEST_USUAL = 16_384
"""Accelerators of the largest published run (Llama 3.1 405B, arXiv 2407.21783, 2024)."""
USUAL_MFU = 0.35
"""Used only to guess a cluster's size where none is given: the middle of the
published runs (published_runs.csv, 2021-2025)."""
OLDER_ANCHOR, NEWER_ANCHOR = "nvidia-a100-80gb-sxm", "nvidia-h100-80gb-sxm"
"""Accelerators against which one without a language-model benchmark of its own is placed: one of
before 2022 against the A100, a newer one and any 8-bit rate against the H100."""
NEWER_YEAR = 2022
"""Year of the H100, from which on it is the nearer of the two (NVIDIA H100 datasheet, 2022)."""
QUANTILES = (0.1, 0.9)
"""p10 and p90; definition of the range, 2026."""
_HUBER = 0.3
"""Residual of ln MFU beyond which a run loses weight: one run in three (Huber, Annals of
Mathematical Statistics 35, 1964); chosen on held-out families, 2026."""
_RIDGE = 0.5
"""Weight, in runs, that holds the cluster slope at 0; chosen on held-out families, 2026."""
_ROUNDS = 30
"""Most rounds of reweighting; it ends when the fit stands still, 2026."""
_QUALITY_WEIGHT = {"A": 1.0, "B": 0.6}
"""Weight of a run by how fully it is stated; planning values, 2026."""
_LEVELS = Path(__file__).with_name("mfu_levels.csv")


@dataclass(frozen=True)
class Level:
    """MFU that tuned benchmarks reach on an accelerator at a precision."""

    mfu: float
    source: str
    is_measured: bool
    """False where it is placed by the throughput index alone."""
    stands_in: str = ""
    """Whose share of the peak it is, where no benchmark of the accelerator itself is published."""


@dataclass(frozen=True)
class Calibration:
    """The two fitted numbers and the spread that is left."""

    loss: float
    """a: ln of what runs on 128 accelerators or more reach of the benchmarks' level."""
    cluster_slope: float
    """b: change of ln MFU with ln n."""
    log_error_quantiles: tuple[float, float]
    """p10 and p90 of ln(hours used / hours predicted), every family predicted by the others."""


def sustained_mfu(
    one: Accelerator, precision: str, accelerators: float, parameters: float = FULL_MODEL
) -> float:
    """Sustained MFU on n accelerators of a model with N active parameters (`size_at_work`, so
    that more work never takes less time), at most 0.65.

    >>> a100 = get("nvidia-a100-80gb-sxm")
    >>> 0.3 < sustained_mfu(a100, "bf16", 1024) < sustained_mfu(a100, "bf16", 8) <= 0.65
    True
    >>> sustained_mfu(a100, "bf16", 8, 1.2e8) < sustained_mfu(a100, "bf16", 8, 7e9)
    True
    """
    fitted = calibrated()
    log_loss = fitted.loss + fitted.cluster_slope * _log_cluster(accelerators)
    level = benchmark_level(one, precision).mfu * small_model_share(parameters)
    return min(MFU_CEILING, level * math.exp(log_loss))


def small_model_share(parameters: float) -> float:
    """MFU of a small model over that of one that fills the accelerator: (N / 1.3e9)^0.14.

    >>> small_model_share(7e9), round(small_model_share(1.25e8), 2)
    (1.0, 0.72)
    """
    return float(min(1.0, (parameters / FULL_MODEL) ** SMALL_EXPONENT))


def default_accelerators(executed_flops: float, peak_flops: float) -> int:
    """Cluster that does the work in about 500 h, a usual count.

    >>> default_accelerators(6 * 7e9 * 1e12, 312e12), default_accelerators(1e18, 312e12)
    (216, 1)
    """
    hours = executed_flops / (peak_flops * USUAL_MFU * 3600)
    return usual_count(hours / USUAL_WALL_CLOCK_HOURS)


def usual_count(least: float) -> int:
    """A whole number of accelerators: whole nodes of 8 beyond one node, at most 16,384.

    >>> usual_count(0.2), usual_count(9), usual_count(1e9)
    (1, 16, 16384)
    """
    if least <= SMALLEST_CLUSTER:
        return max(1, math.ceil(least))
    return min(LARGEST_USUAL, math.ceil(least / SMALLEST_CLUSTER) * SMALLEST_CLUSTER)


def benchmark_level(one: Accelerator, precision: str, rules: int = 1) -> Level:
    """Benchmark level of an accelerator; where there is none, the level of the A100 or H100
    moved by the throughput index of language models: level · rate ratio / peak ratio, within
    0.1 … 0.65, or 0.56 where the datasheet alone places it. By the table as the rules know it.

    >>> benchmark_level(get("nvidia-a100-80gb-sxm"), "bf16").mfu
    0.56
    >>> 0.3 < benchmark_level(get("nvidia-h200-141gb-sxm"), "bf16").mfu < 0.5
    True
    """
    return _benchmark_level(one.slug, precision, rules)


@cache
def _benchmark_level(slug: str, precision: str, rules: int) -> Level:
    """By slug, which hashes faster than the whole datasheet."""
    one = get(slug)
    levels = _levels(rules)
    level = levels.get((slug, "bf16" if precision == "fp16" else precision))
    if level:
        return level
    is_full = precision in ("fp32", "tf32")
    anchor_precision = "tf32" if is_full else "fp8" if precision == "fp8" else "bf16"
    anchor = get(_anchor(one, anchor_precision))
    kind = {"tf32": FULL, "fp8": LOW}.get(anchor_precision, MIXED)
    index = throughput_index()
    ratio = index.ratio(one, anchor, kind, "nlp")
    peak, other = _peak(one, precision, rules), _peak(anchor, anchor_precision)
    share = 1.0 if ratio is None or not peak else ratio * other / peak
    is_measured = (one.slug, "nlp") in index.effects
    most = MFU_CEILING if is_measured else UNMEASURED_CEILING
    return Level(
        mfu=min(most, max(0.1, levels[anchor.slug, anchor_precision].mfu * share)),
        source=f"{anchor.name} adjusted by "
        + (
            "measured throughputs of language models"
            if is_measured
            else "other workloads and the datasheet"
        ),
        is_measured=is_measured,
    )


def _anchor(one: Accelerator, precision: str) -> str:
    if precision == "tf32":
        return OLDER_ANCHOR
    return NEWER_ANCHOR if precision == "fp8" or one.year >= NEWER_YEAR else OLDER_ANCHOR


@cache
def calibrated() -> Calibration:
    """The calibration on every published run of quality A and B."""
    return calibrate(published_runs())


def calibrate(runs: Sequence[PublishedRun]) -> Calibration:
    """Fit to `runs`; the spread comes from predicting each family by the other families."""
    loss, slope = _fit(runs)
    errors = list(held_out_log_errors(runs).values())
    low, high = np.quantile(errors, _quantiles(len({run.family for run in runs})))
    return Calibration(loss, slope, (float(low), float(high)))


def held_out_log_errors(runs: Sequence[PublishedRun]) -> dict[str, float]:
    """run → ln(hours used / hours predicted), predicted without the run's own family."""
    errors = {}
    for family in {run.family for run in runs}:
        loss, slope = _fit([run for run in runs if run.family != family])
        for run in (r for r in runs if r.family == family):
            goodput = math.log(estimate_goodput(run_accelerators(run)))
            errors[run.run] = loss + slope * _cluster(run) + goodput - _log_realised(run)
    return errors


def training_from_run(run: PublishedRun) -> Training:
    """A published run as the request it would have been."""
    return Training(
        kind="training",
        parameters=run.parameters or 1e9,
        tokens=run.tokens or 1,
        active_parameters=run.active_parameters,
        sequence_length=run.sequence_length,
        layers=run.layers,
        hidden_size=run.hidden_size,
        accelerator=run.accelerator,
    )


def run_work(run: PublishedRun) -> Work:
    """FLOPs of a published run, from its tokens, or as its source gives them."""
    if run.training_flops is None:
        return compute_work(training_from_run(run))
    return Work(run.training_flops, 0.0, run.training_flops)


def run_accelerators(run: PublishedRun) -> int:
    """Accelerators of a run, or the usual number for its work where the source is silent."""
    if run.accelerators:
        return run.accelerators
    peak = _peak(get(run.accelerator), run.precision) * 1e12
    return default_accelerators(run_work(run).executed_flops, peak)


def _fit(runs: Sequence[PublishedRun]) -> tuple[float, float]:
    """Weighted ridge with Huber weights: each family counts once, quality B 0.6."""
    seen = np.array([_observed(run) for run in runs])
    design = np.column_stack([np.ones(len(runs)), seen[:, 0]])
    target = seen[:, 1]
    of_family = Counter(run.family for run in runs)
    prior = np.array([_QUALITY_WEIGHT[r.quality] / of_family[r.family] for r in runs])
    weights, fitted = prior, np.zeros(2)
    for _ in range(_ROUNDS):
        weighted = design.T * weights
        last = fitted
        fitted = np.linalg.solve(weighted @ design + np.diag([1e-9, _RIDGE]), weighted @ target)
        if np.abs(fitted - last).max() <= 1e-9:
            break
        residual = np.abs(target - design @ fitted)
        weights = prior * np.minimum(1.0, _HUBER / np.maximum(residual, 1e-9))
    return round(float(fitted[0]), DIGITS), round(float(fitted[1]), DIGITS)


@cache
def _observed(run: PublishedRun) -> tuple[float, float]:
    """ln of the cluster over 128, and ln of what the run reached of its level while it worked."""
    return _cluster(run), _log_realised(run) - math.log(_useful_share(run))


@cache
def _log_realised(run: PublishedRun) -> float:
    """ln of (FLOPs executed / (hours · peak)) over the benchmark level."""
    one = get(run.accelerator)
    peak_hours = run.accelerator_hours * 3600 * _peak(one, run.precision) * 1e12
    share = run_work(run).executed_flops / peak_hours
    parameters = size_at_work(training_from_run(run)) if run.parameters else FULL_MODEL
    return math.log(share / benchmark_level(one, run.precision).mfu / small_model_share(parameters))


def _useful_share(run: PublishedRun) -> float:
    return 1.0 if run.hours_exclude_downtime else estimate_goodput(run_accelerators(run))


@cache
def _cluster(run: PublishedRun) -> float:
    return _log_cluster(run_accelerators(run))


def _log_cluster(accelerators: float) -> float:
    return math.log(min(max(accelerators, SMALLEST_CLUSTER), LARGEST_CLUSTER) / LARGEST_CLUSTER)


def _peak(one: Accelerator, precision: str, rules: int = 1) -> float:
    return dense_tflops(one, precision, rules) or one.dense_tflops("fp32") or 0.0


def _quantiles(families: int) -> tuple[float, float]:
    """p10 and p90 moved outwards for few families: 0.9 (m + 1) / m, as in split-conformal
    prediction (Lei et al., Journal of the American Statistical Association 113, 2018)."""
    low, high = QUANTILES
    return max(0.0, low - high / families), min(1.0, high + high / families)


@cache
def _levels(rules: int) -> dict[tuple[str, str], Level]:
    with _LEVELS.open(newline="", encoding="utf-8") as lines:
        return {
            (slug, row["precision"]): Level(
                float(row["mfu"]), f"{row['source']}, {row['year']}", True, row["stands_in"]
            )
            for row in csv.DictReader(lines)
            if int(row["since"] or 1) <= rules
            for slug in row["accelerators"].split(";")
        }
