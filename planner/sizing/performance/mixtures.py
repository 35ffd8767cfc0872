"""What mixtures of experts take beside dense models, by the width of their matrices. PURE.

    ln(hours / hours of a dense model of the parameters at work) = max(0, a + b · ln(d / 4,096))

d is the hidden size, at least that of a model that fills an accelerator: `small_model_share` counts
what a smaller one loses. Sorting tokens by expert, the products of an expert's few of them and
waiting for the fullest rank take about as long for a narrow matrix as for a wide one, whose
arithmetic hides them: published runs of mixtures of 2,048 to 3,072 hidden units take 1.4 times the
hours of dense models in the median, those of 5,000 and more no more than these.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.sizing.performance.relative_throughput import DIGITS
from planner.sizing.performance.team_runs import TeamRun

WIDTH_RULES = 6
"""Edition of the rules from which it depends on the width, 2026."""
USUAL_WIDTH, LEAST_WIDTH = 4_096.0, 2_048.0
"""Hidden units at which a is read, the middle of the published mixtures (published_runs.csv,
2021-2026), and of a model of 1.3 billion parameters (GPT-3 XL, arXiv 2005.14165 Table 2.1, 2020),
the smallest that fills an accelerator."""
RATE_VOTE = 0.5
"""Vote of a framework's rates beside that of a team's runs: their routing is mostly made even;
planning value, 2026."""
RIDGE = 0.5
"""Weight, in teams, that holds b at 0; as that of clusters (throughput.py), 2026."""
HUBER, ROUNDS = 0.3, 20
"""Residual beyond which a run loses weight, and rounds of reweighting; as those of teams, 2026."""


@dataclass(frozen=True)
class MixtureTerm:
    """ln of what a mixture takes beside a dense model."""

    usual: float = 0.0
    """At `USUAL_WIDTH`, or at any width where that does not count."""
    by_width: float = 0.0
    """Change with ln of the width."""

    def at(self, width: float) -> float:
        """The term at a hidden size.

        >>> term = MixtureTerm(0.2, -0.4)
        >>> [round(term.at(width), 2) for width in (512, 2_048, 4_096, 7_168)]
        [0.48, 0.48, 0.2, 0.0]
        >>> MixtureTerm(0.2).at(512)
        0.2
        """
        if not self.by_width:
            return self.usual
        return max(0.0, self.usual + self.by_width * _log_width(width))


def fit_mixtures(runs: Sequence[TeamRun], beside: Callable[[TeamRun], float]) -> MixtureTerm:
    """Weighted ridge with Huber weights over mixtures, each with what it takes `beside` a dense
    model, one vote a team."""
    if not runs:
        return MixtureTerm()
    of_team = Counter(run.team for run in runs)
    votes = np.array([_vote(run) / of_team[run.team] for run in runs])
    design = np.column_stack([np.ones(len(runs)), [_log_width(run.hidden_size) for run in runs]])
    target = np.array([beside(run) for run in runs])
    weights, fitted = votes, np.zeros(2)
    for _ in range(ROUNDS):
        weighted = design.T * weights
        fitted = np.linalg.solve(weighted @ design + np.diag([0.0, RIDGE]), weighted @ target)
        residual = np.abs(target - design @ fitted)
        weights = votes * np.minimum(1.0, HUBER / np.maximum(residual, 1e-9))
    return MixtureTerm(round(float(fitted[0]), DIGITS), round(float(fitted[1]), DIGITS))


def _vote(run: TeamRun) -> float:
    return run.trust * (RATE_VOTE if run.is_rate else 1.0)


def _log_width(width: float) -> float:
    return math.log(max(width, LEAST_WIDTH) / USUAL_WIDTH)
