"""Quantiles of errors with one vote a team, that hold as often as they say. PURE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

QUANTILES = (0.1, 0.9)
"""p10 and p90; definition of the range, 2026."""


def conformal_quantile(errors: Sequence[tuple[str, float]], level: float) -> float:
    """The error below which that of a new team lies with the chance `level`; (team, error) pairs.

    The i-th of T errors in order stands at i / (T + 1), as in split-conformal prediction (Lei et
    al., Journal of the American Statistical Association 113, 2018); several of one team share one
    vote. Levels beyond the outermost error stay at it.

    >>> conformal_quantile([("a", 1.0), ("b", 2.0), ("c", 3.0)], 0.5)
    2.0
    >>> conformal_quantile([("a", 1.0), ("b", 2.0), ("c", 3.0)], 0.9)
    3.0
    """
    ordered = sorted(errors, key=lambda pair: pair[1])
    of_team = Counter(team for team, _ in ordered)
    weights = np.array([1 / of_team[team] for team, _ in ordered])
    places = (np.cumsum(weights) - weights / 2 + 0.5) / (len(of_team) + 1)
    return float(np.interp(level, places, [error for _, error in ordered]))


def conformal_range(errors: Sequence[tuple[str, float]]) -> tuple[float, float]:
    """p10 and p90 of the same."""
    low, high = (conformal_quantile(errors, level) for level in QUANTILES)
    return low, high
