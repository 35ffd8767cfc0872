"""What teams sustain in sample-based work of which only the FLOPs are known (rules 3). PURE.

    ln(hours used / hours at what an A100 sustains in image models) = a + b · ln(N / 1.5e8)

a and b are fitted to `sample_runs.csv`, every team with one vote; where the model's size is not
known a stands alone. What is left, predicted without the run's own team, is the range. How images
are read adds a term where the request says it: the mean of what the teams with such a loader have
left, drawn towards 0 where they are few.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from planner.sizing.evidence.measured_throughput import FULL, MIXED
from planner.sizing.evidence.sample_runs import SampleRun, sample_runs
from planner.sizing.performance.conformal import conformal_range
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.relative_throughput import throughput_index
from planner.sizing.performance.sample_scaling import scaling_efficiency
from planner.sizing.performance.teams import HALF_TRUST
from pricing.market.accelerators import get

Floats = NDArray[np.float64]

TEAM_RULES = 3
"""Edition of the rules from which teams of sample-based work count, 2026."""
A100_SAMPLE_TFLOPS = 42.0
"""What an A100 sustains in image models, forward and backward, TFLOP/s: geometric mean of ResNet-50
(61) and SE-ResNeXt101 (41, NVIDIA/DeepLearningExamples @729963dd47e7, 2021), CLIP ViT-B/32 (34) and
ViT-L/14 (37, mlfoundations/open_clip docs/PRETRAINED.md @89fb801, 2022)."""
A100 = "nvidia-a100-80gb-sxm"
LOADERS = ("hand_tuned", "usual")
"""How images are read: a loader written for speed (FFCV, NVIDIA DALI), or a framework's own."""
USUAL_PARAMETERS = 1.5e8
"""Parameters of the image models behind that figure (CLIP ViT-B, 2022)."""
HUBER, RIDGE, ROUNDS = 0.4, 0.3, 20
"""Error beyond which a run loses weight, weight in teams that holds b at 0, rounds of reweighting;
chosen on held-out teams, 2026."""


@dataclass(frozen=True)
class SampleFit:
    """The two numbers and what they leave."""

    level: float
    size_exponent: float
    errors: tuple[tuple[SampleRun, float], ...]
    """Each run with ln(hours used / hours predicted), predicted without its team."""
    loaders: dict[str, float]
    """ln of the hours with each loader over those without a word on it."""
    loader_errors: tuple[tuple[SampleRun, float], ...]
    """The same errors of the runs whose source says how they read images, that known."""

    def log_hours(self, parameters: float | None, loader: str | None = None) -> float:
        """ln of the hours used over those at the A100's figure."""
        term = self.loaders[loader] if loader else 0.0
        return self.level + self.size_exponent * _log_size(parameters) + term

    @property
    def log_range(self) -> tuple[float, float]:
        """p10 and p90 of ln(hours used / hours predicted)."""
        return conformal_range([(run.team, error) for run, error in self.errors])

    @property
    def log_range_of_images(self) -> tuple[float, float]:
        """The same of images whose loader is known."""
        return conformal_range([(run.team, error) for run, error in self.loader_errors])


@cache
def sample_fit() -> SampleFit:
    """The fit on every run that states enough."""
    return fit_samples([run for run in sample_runs(TEAM_RULES) if run.is_stated])


def fit_samples(runs: Sequence[SampleRun]) -> SampleFit:
    """Fit to `runs`; errors by leaving one team out."""
    level, exponent = _fit(runs)
    errors, loader_errors = [], []
    for team in dict.fromkeys(run.team for run in runs):
        others = [run for run in runs if run.team != team]
        a, b = _fit(others)
        terms = _loaders(others, a, b)
        for run in (run for run in runs if run.team == team):
            errors.append((run, _left(run, a, b)))
            if run.loader:
                loader_errors.append((run, _left_of_images(run, a, b) - terms[run.loader]))
    terms = _loaders(runs, level, exponent)
    return SampleFit(level, exponent, tuple(errors), terms, tuple(loader_errors))


def _loaders(runs: Sequence[SampleRun], level: float, exponent: float) -> dict[str, float]:
    """Mean of what the teams with each loader have left, drawn towards 0 where they are few."""
    terms = {}
    for loader in LOADERS:
        own = [run for run in runs if run.loader == loader]
        of_team = Counter(run.team for run in own)
        total = sum(_left_of_images(run, level, exponent) / of_team[run.team] for run in own)
        terms[loader] = round(total / (len(of_team) + HALF_TRUST), 12)
    return terms


def _left(run: SampleRun, level: float, exponent: float) -> float:
    return _excess(run) - level - exponent * _log_size(run.parameters)


def _left_of_images(run: SampleRun, level: float, exponent: float) -> float:
    """The same against the operations of the images as small as the run made them."""
    return _left(run, level, exponent) - math.log(run.resized_share)


def _fit(runs: Sequence[SampleRun]) -> tuple[float, float]:
    """Ridge with Huber weights, one vote a team."""
    of_team = Counter(run.team for run in runs)
    votes = np.array([1 / of_team[run.team] for run in runs])
    design = np.array([(1.0, _log_size(run.parameters)) for run in runs])
    target = np.array([_excess(run) for run in runs])
    weights, fitted = votes, np.zeros(2)
    for _ in range(ROUNDS):
        weighted = design.T * weights
        shrink = np.diag([1e-9, RIDGE])
        fitted = np.linalg.solve(weighted @ design + shrink, weighted @ target)
        residual = np.abs(target - design @ fitted)
        weights = votes * np.minimum(1.0, HUBER / np.maximum(residual, 1e-9))
    return round(float(fitted[0]), 12), round(float(fitted[1]), 12)


def _log_size(parameters: float | None) -> float:
    return math.log(parameters / USUAL_PARAMETERS) if parameters else 0.0


@cache
def _excess(run: SampleRun) -> float:
    """ln of the hours used over those at what an A100 sustains, moved to the run's accelerator."""
    kind = FULL if run.precision == "fp32" else MIXED
    ratio = throughput_index().ratio(get(run.accelerator), get(A100), kind, "vision") or 1.0
    flops = A100_SAMPLE_TFLOPS * 1e12 * ratio * scaling_efficiency(run.accelerators)
    hours = run.training_flops / (flops * 3600 * estimate_goodput(run.accelerators))
    return math.log(run.accelerator_hours / hours)
