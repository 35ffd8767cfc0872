"""Ways to carry monthly hours on. PURE.

Each takes a history (hours of consecutive months, oldest first) and gives the months after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import fmean

SEASON = 12
"""Months after which a season comes again."""
LEVEL_WEIGHT, TREND_WEIGHT, DAMPING = 0.3, 0.1, 0.9
"""Weights of damped exponential smoothing (Gardner & McKenzie 1985), chosen on the two years of
daily hours of a university cluster (2023-05 to 2025-09): its error is 0.43 to 0.45 of the
seasonal naive one. The choice matters little: of 140 other weights all but one in a hundred stay
below 0.9, and those that fit the first cuts best have 0.55 to 0.64 on the later ones."""
MIN_SEASON_HISTORY = 2 * SEASON
Method = Callable[[Sequence[float], int], list[float]]


def seasonal_naive(history: Sequence[float], months: int) -> list[float]:
    """The same month a year ago; the last month where there is no year.

    >>> seasonal_naive([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0], 3)
    [1.0, 2.0, 3.0]
    """
    if len(history) < SEASON:
        return [history[-1]] * months
    year = history[-SEASON:]
    return [year[index % SEASON] for index in range(months)]


def damped_trend(history: Sequence[float], months: int) -> list[float]:
    """Level and trend by exponential smoothing; the trend fades and never leads below 0.

    >>> damped_trend([100.0] * 8, 2)
    [100.0, 100.0]
    """
    level, trend = history[0], 0.0
    for hours in history[1:]:
        before = level
        level = LEVEL_WEIGHT * hours + (1 - LEVEL_WEIGHT) * (level + DAMPING * trend)
        trend = TREND_WEIGHT * (level - before) + (1 - TREND_WEIGHT) * DAMPING * trend
    steps = accumulate(DAMPING**step for step in range(1, months + 1))
    return [max(0.0, level + trend * step) for step in steps]


def seasonal_trend(history: Sequence[float], months: int) -> list[float]:
    """The damped trend of the hours without their season, times the season."""
    factors = _season_factors(history)
    plain = [hours / factors[index % SEASON] for index, hours in enumerate(history)]
    carried = damped_trend(plain, months)
    start = len(history)
    return [hours * factors[(start + step) % SEASON] for step, hours in enumerate(carried)]


def _season_factors(history: Sequence[float]) -> list[float]:
    """Hours of each month of the year over the mean of the year around it."""
    ratios: list[list[float]] = [[] for _ in range(SEASON)]
    for index in range(SEASON // 2, len(history) - SEASON // 2):
        around = history[index - SEASON // 2 : index + SEASON // 2]
        mean = fmean(around)
        if mean > 0:
            ratios[index % SEASON].append(history[index] / mean)
    factors = [max(0.05, fmean(ratio)) if ratio else 1.0 for ratio in ratios]
    mean = fmean(factors)
    return [factor / mean for factor in factors]


def blend(history: Sequence[float], months: int) -> list[float]:
    """The same month a year ago and the damped trend, by the weight of the season."""
    share = season_weight(history)
    pairs = zip(seasonal_naive(history, months), damped_trend(history, months), strict=True)
    return [share * year_ago + (1 - share) * trend for year_ago, trend in pairs]


CLOSED, NEARLY_CLOSED = 0.4, 0.7
"""Distance from the last to the first months of a year, over the amplitude of its smoothed hours,
up to which the year comes back to where it began."""
CLOSED_ODDS, NEARLY_CLOSED_ODDS, OPEN_ODDS = 2.0, 0.7, -1.0
"""What that says of a season, in logarithms of odds."""
MIN_AMPLITUDE, MIN_MEMORY = 0.25, 0.25
"""Least amplitude (in logarithms) and correlation of neighbouring months of a year that say
anything: noise and single months say nothing."""
OVERLAP_WEIGHT, ERROR_FLOOR = 1.5, 0.2
"""Weight of the months that have a year before them, and the share of the mean below which an error
is chance."""
SURE = 0.8
"""Weight from which on one of the two is taken alone."""


def season_weight(history: Sequence[float]) -> float:
    """How far 12 to 15 months speak for a season, from 0 to 1. Two signs are weighed: whether the
    year ends where it began, as a season does and growth does not; and which of the two methods
    was nearer in the months that have a year before them.

    The constants were chosen on the series of docs/methodology/demand.md; a hundred other choices
    differ little.

    >>> season_weight([99.0, 50.0, 20.0, 10.0, 20.0, 50.0, 99.0, 150.0, 180.0, 190.0, 180.0, 150.0])
    1.0
    >>> season_weight([100.0 * 1.1**month for month in range(12)])
    0.0
    """
    odds = _closing_odds(history[-SEASON:])
    if overlap := len(history) - SEASON:
        trend = damped_trend(history[:SEASON], overlap)
        year_ago, actual = history[:overlap], history[SEASON:]
        floor = ERROR_FLOOR * fmean(history)
        if floor > 0:
            errors = [
                fmean(abs(one - other) for one, other in zip(expected, actual, strict=True)) + floor
                for expected in (year_ago, trend)
            ]
            odds += OVERLAP_WEIGHT * math.sqrt(overlap) * math.log(errors[1] / errors[0])
    weight = 1 / (1 + math.exp(-2 * odds))
    return 1.0 if weight > SURE else 0.0 if weight < 1 - SURE else weight


def _closing_odds(year: Sequence[float]) -> float:
    least = 1e-3 * max(year)
    if least <= 0:
        return 0.0
    logs = [math.log(max(hours, least)) for hours in year]
    smooth = [fmean(logs[max(0, month - 1) : month + 2]) for month in range(SEASON)]
    amplitude, mean = max(smooth) - min(smooth), fmean(logs)
    variance = sum((one - mean) ** 2 for one in logs)
    memory = sum((one - mean) * (other - mean) for one, other in pairwise(logs))
    if amplitude <= MIN_AMPLITUDE or memory <= MIN_MEMORY * variance:
        return 0.0
    distance = abs(fmean(logs[-2:]) - fmean(logs[:2])) / amplitude
    if distance < CLOSED:
        return CLOSED_ODDS
    return NEARLY_CLOSED_ODDS if distance < NEARLY_CLOSED else OPEN_ODDS


METHODS: Mapping[str, tuple[Method, int]] = {
    "seasonal_naive": (seasonal_naive, 1),
    "damped_trend": (damped_trend, 1),
    "seasonal_trend": (seasonal_trend, MIN_SEASON_HISTORY),
}
"""Methods that are told apart by the past, with the least history of each, months."""
ALL_METHODS: Mapping[str, tuple[Method, int]] = {**METHODS, "blend": (blend, SEASON)}
TITLES = {
    "blend": "level and fading trend, part of the way to the same month a year ago",
    "seasonal_naive": "the same month a year ago",
    "damped_trend": "level and fading trend",
    "seasonal_trend": "level and fading trend, times the season",
}
