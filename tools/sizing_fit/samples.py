"""Coefficients of a sample's time, fitted to what published teams took.

The coefficients move from their first values only as far as teams agree (ridge on their
logarithms), every team with one vote. What is left, each team predicted by the others, is the
range.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.sizing.evidence.benchmarks import FULL, MIXED, TRAINING_FACTOR
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.runs.sample_run import (
    ARCHITECTURES,
    CODE,
    FACTS,
    MATRIX,
    READING,
    SYSTOLIC,
    VECTOR,
    Sample,
    parts,
    scaling_efficiency,
)
from pricing.market.accelerators import get
from tools.sizing_fit.evidence import SampleRun, sample_runs
from tools.sizing_fit.teams import conformal_range
from tools.sizing_fit.throughput import DIGITS

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
class _Row:
    """What one run says to the fit."""

    times: dict[str, float]
    """Of the parts of its sample before their coefficients."""
    code: str
    taken: float = 1.0
    """s of one accelerator that a sample took."""


def fit_samples() -> dict[str, Any]:
    """Coefficients and range by what a request says, as the product reads them."""
    names = (*FIRST, *ARCHITECTURES)
    fits = {}
    for count in range(len(FACTS) + 1):
        for facts in itertools.combinations(FACTS, count):
            fitted, errors = fit_errors(*facts)
            fits[" ".join(facts)] = {
                "coefficients": {name: _first(name) for name in names} | fitted,
                "log_range": conformal_range([(run.team, error) for run, error in errors]),
            }
    return fits


@cache
def fit_errors(*facts: str) -> tuple[dict[str, float], Errors]:
    """The fit on every run of images that states enough, of which these of `FACTS` are stated, with
    ln(hours used / hours predicted) of each, predicted without its team; where nothing is stated
    the errors hold those of other work too, which the same coefficients predict."""
    stated = [run for run in sample_runs() if run.is_stated]
    images = [run for run in stated if run.is_images]
    rows = {}
    for run in stated:
        sample = _sample(run, facts)
        rows[run] = _Row(parts(sample, get(run.accelerator)), sample.code, _taken(run))
    errors: list[tuple[SampleRun, float]] = []
    for team in dict.fromkeys(run.team for run in images):
        others = [run for run in images if run.team != team]
        fitted = _fit(others, rows)
        own = [run for run in images if run.team == team]
        errors += [(run, _error(run, rows, fitted)) for run in own]
    fitted = _fit(images, rows)
    if "loader" in facts:
        errors = [(run, error) for run, error in errors if run.loader]
    elif "architecture" not in facts:
        errors += [(run, _error(run, rows, fitted)) for run in stated if not run.is_images]
    return fitted, tuple(errors)


def errors_as_stated() -> Errors:
    """Errors of all images, each asked for with what its source states."""
    _, with_loader = fit_errors("architecture", "loader", "code")
    _, silent = fit_errors("architecture", "code")
    return (*with_loader, *((run, error) for run, error in silent if not run.loader))


Rows = dict[SampleRun, _Row]


def _sample(run: SampleRun, facts: Sequence[str]) -> Sample:
    told = {name: getattr(run, name) if name in facts else "" for name in FACTS}
    if not run.is_images:
        told["architecture"] = ""
    return Sample(
        forward_flops=_forward_flops(run),
        precision_class=FULL if run.precision == "fp32" else MIXED,
        is_read=run.is_images,
        resized_share=run.resized_share,
        **told,
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
