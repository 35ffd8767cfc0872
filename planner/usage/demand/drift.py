"""How far a growth that goes on leads beyond a forecast that lets it fade. PURE.

Hours that grow or shrink steadily run away from a trend that fades and from the same month a year
ago. Where a history shows such a drift, the range reaches to where it leads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from planner.usage.demand.methods import SEASON, seasonal_naive

STANDARD_ERRORS = 3.0
"""From how many standard errors on a drift is one. With these a range holds 80 to 88 % of hours
that grow or shrink steadily, where it held 58 to 75 %, and no less of others."""
MIN_PAIRS = 4
"""Least months with a year before them by which years are compared."""
TRIFLE = 1e-12
"""Of the largest month: what is less counts as no hours, since its logarithm means nothing."""


def drift_gaps(history: Sequence[float], method: str, middle: Sequence[float]) -> list[float]:
    """What each month of the middle is short of or beyond a drift that goes on, in logarithms; 0
    where there is none. A drift is carried a year ahead, as long as it was seen.

    >>> [round(gap, 2) for gap in drift_gaps([1.1**month for month in range(12)], "", [3.0, 3.0])]
    [0.05, 0.14]
    """
    if len(history) < SEASON or max(history) <= 0:
        return [0.0] * len(middle)
    if method in ("seasonal_naive", "seasonal_trend"):
        drift, ends = _between_years(history, len(middle))
    else:
        drift, ends = _within_the_year(history, len(middle))
    least = TRIFLE * max(history)
    gaps: list[float] = []
    for step, (end, hours) in enumerate(zip(ends, middle, strict=True)):
        gap = math.log(end / hours) if end > least and hours > least else 0.0
        gaps.append(gaps[-1] if step >= SEASON else gap if gap * drift > 0 else 0.0)
    return gaps


def _within_the_year(history: Sequence[float], months: int) -> tuple[float, list[float]]:
    """The line through the logarithms of the last year."""
    least = 1e-3 * max(history)
    logs = [math.log(max(hours, least)) for hours in history[-SEASON:]]
    middle, mean = (SEASON - 1) / 2, fmean(logs)
    spread = sum((month - middle) ** 2 for month in range(SEASON))
    slope = sum((month - middle) * (one - mean) for month, one in enumerate(logs)) / spread
    rest = sum((one - mean - slope * (i - middle)) ** 2 for i, one in enumerate(logs))
    error = math.sqrt(rest / (SEASON - 2) / spread)
    if abs(slope) < STANDARD_ERRORS * error:
        return 0.0, [0.0] * months
    end = mean + slope * (SEASON - 1 - middle)
    return slope, [math.exp(end + slope * step) for step in range(1, months + 1)]


def _between_years(history: Sequence[float], months: int) -> tuple[float, list[float]]:
    """The same months a year ago, times the growth of the last ones over the year before them."""
    count = min(SEASON, len(history) - SEASON)
    pairs = zip(history[len(history) - count :], history[-SEASON - count :], strict=False)
    least = TRIFLE * max(history)
    ratios = [math.log(now / old) for now, old in pairs if now > least and old > least]
    if len(ratios) < MIN_PAIRS:
        return 0.0, [0.0] * months
    growth, error = fmean(ratios), stdev(ratios) / math.sqrt(len(ratios))
    if abs(growth) < STANDARD_ERRORS * error:
        return 0.0, [0.0] * months
    return growth, [hours * math.exp(growth) for hours in seasonal_naive(history, months)]
