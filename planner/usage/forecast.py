"""Forecast of monthly hours with a range, by the method that its own past speaks for. PURE.

The history is cut at each month of its past; every method forecasts what followed, and the one
with the least mean error is chosen, but only where it is at least a tenth better than the same
month a year ago. With too few cuts, at 12 to 15 months, signs of a season weigh the two instead.
The range comes from the errors that the chosen method made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean, stdev

import numpy as np

from pricing.common.invalid_input import InvalidInput

MIN_HISTORY = 3
"""Least months of a history that is carried on."""
MAX_MONTHS = 120
REQUIRED_GAIN = 0.1
"""Share by which a method has to be better than the same month a year ago."""
TESTED_MONTHS = 6
MIN_CUTS = 4
"""Least cuts of the past by which methods are told apart."""
WIDTH_SHARE = 0.8
"""Share of the past errors that a range from the tenth to the ninetieth percentile holds."""
PRIOR_WIDTH, PRIOR_CUTS = 0.24, 4
"""Half the range in logarithms before a history has shown its own, and the cuts that it counts as.
With these a range holds 83 and 89 % of what followed on the two public series of two years; on
series that had no part in choosing them it holds 55 to 95 % (docs/methodology/demand.md)."""
GROWTH_PER_MONTH = 0.03
"""Share by which the squared width grows with each month beyond the third."""
MAX_LOG_ERROR = 2.0
"""A month that stood still is no sign of a range without end."""


@dataclass(frozen=True)
class Forecast:
    method: str
    p10: list[float]
    p50: list[float]
    p90: list[float]
    cuts: int
    """Cuts of the past on which methods were compared."""
    errors: dict[str, float]
    """Mean absolute error of each method over those cuts, hours a month."""
    growth_per_year: float | None
    """Last six months over the six of a year before; None for a shorter history."""
    seasonality: float | None
    """Share of the variation that the month of the year explains; None below two years."""

    @property
    def title(self) -> str:
        return TITLES[self.method]


def forecast(history: Sequence[float], months: int) -> Forecast:
    """The `months` after `history`, hours of consecutive months.

    >>> forecast([100.0] * 12, 2).p50
    [100.0, 100.0]
    """
    if len(history) < MIN_HISTORY:
        problem = f"holds {len(history)} whole months; a forecast needs {MIN_HISTORY}"
        raise InvalidInput("history", problem)
    if not 1 <= months <= MAX_MONTHS:
        raise InvalidInput("months", f"{months} is not between 1 and {MAX_MONTHS}")
    errors, cuts = _compare(history)
    method = _choose(errors, cuts, history)
    middle = ALL_METHODS[method][0](history, months)
    p10, p90 = _range(history, method, middle, is_tested=cuts >= MIN_CUTS)
    gaps = drift_gaps(history, method, middle)
    p10 = [low * math.exp(min(0.0, gap)) for low, gap in zip(p10, gaps, strict=True)]
    p90 = [high * math.exp(max(0.0, gap)) for high, gap in zip(p90, gaps, strict=True)]
    return Forecast(
        method=method,
        p10=p10,
        p50=middle,
        p90=p90,
        cuts=cuts,
        errors=errors,
        growth_per_year=_growth(history),
        seasonality=_seasonality(history),
    )


def _compare(history: Sequence[float]) -> tuple[dict[str, float], int]:
    """Mean absolute error of each method over the cuts that have a year before them; of one that
    needs a longer history its error on fewer cuts, times what the same month a year ago erred on
    all of them over what it erred on those."""
    cuts = range(SEASON, len(history))
    errors: dict[str, float] = {}
    for name, (method, least) in METHODS.items():
        usable = [cut for cut in cuts if cut >= least]
        if not usable or len(usable) < min(len(cuts), MIN_CUTS):
            continue
        naive, of_all = (_mean_error(seasonal_naive, history, some) for some in (usable, cuts))
        scale = of_all / naive if naive else 1.0
        errors[name] = _mean_error(method, history, usable) * scale
    return errors, len(cuts)


def _mean_error(method: Method, history: Sequence[float], cuts: Sequence[int]) -> float:
    forecasts = ((cut, method(history[:cut], TESTED_MONTHS)) for cut in cuts)
    return fmean(
        fmean(abs(one - other) for one, other in zip(expected, history[cut:], strict=False))
        for cut, expected in forecasts
    )


def _choose(errors: dict[str, float], cuts: int, history: Sequence[float]) -> str:
    if len(history) < SEASON:
        return "damped_trend"
    if cuts < MIN_CUTS:
        weight = season_weight(history)
        return "damped_trend" if not weight else "seasonal_naive" if weight == 1 else "blend"
    best = min(errors, key=lambda name: errors[name])
    is_better = errors[best] <= (1 - REQUIRED_GAIN) * errors["seasonal_naive"]
    return best if is_better else "seasonal_naive"


def _range(
    history: Sequence[float], method: str, middle: Sequence[float], is_tested: bool
) -> tuple[list[float], list[float]]:
    """Low and high ends. With a year behind and too little to test methods on, signs alone tell a
    season from chance: the range reaches to the same month a year ago and to the trend, and around
    the trend where both are blended."""
    widths = [_width(history, method, step) for step in range(1, len(middle) + 1)]
    factors = [math.exp(width) for width in widths]
    p10 = [hours / factor for hours, factor in zip(middle, factors, strict=True)]
    p90 = [hours * factor for hours, factor in zip(middle, factors, strict=True)]
    if is_tested or len(history) < SEASON:
        return p10, p90
    year_ago, trend = (carry(history, len(middle)) for carry in (seasonal_naive, damped_trend))
    around = factors if method == "blend" else [1.0] * len(middle)
    low_trend = [hours / factor for hours, factor in zip(trend, around, strict=True)]
    high_trend = [hours * factor for hours, factor in zip(trend, around, strict=True)]
    return (
        [min(ends) for ends in zip(p10, year_ago, low_trend, strict=True)],
        [max(ends) for ends in zip(p90, year_ago, high_trend, strict=True)],
    )


def _width(history: Sequence[float], method: str, step: int) -> float:
    """Half the range in logarithms, `step` months ahead: errors of the past, and a prior that
    counts as a few of them."""
    carry, least = ALL_METHODS[method]
    errors: list[float] = []
    for cut in range(max(SEASON, least), len(history)):
        expected = carry(history[:cut], TESTED_MONTHS)
        for one, actual in zip(expected, history[cut:], strict=False):
            if one > 0 and actual > 0:
                errors.append(min(abs(math.log(actual) - math.log(one)), MAX_LOG_ERROR))
    weight = len(errors) / TESTED_MONTHS
    own = float(np.quantile(errors, WIDTH_SHARE)) if errors else 0.0
    width = (PRIOR_CUTS * PRIOR_WIDTH + weight * own) / (PRIOR_CUTS + weight)
    return width * math.sqrt(1 + GROWTH_PER_MONTH * max(0, step - 3))


def _growth(history: Sequence[float]) -> float | None:
    if len(history) < SEASON + TESTED_MONTHS:
        return None
    before = fmean(history[-SEASON - TESTED_MONTHS : -SEASON])
    return fmean(history[-TESTED_MONTHS:]) / before - 1 if before > 0 else None


def _seasonality(history: Sequence[float]) -> float | None:
    """1 less what is left of the variation once each month of the year has its own mean."""
    if len(history) < 2 * SEASON:
        return None
    mean = fmean(history)
    total = sum((hours - mean) ** 2 for hours in history)
    by_month = [fmean(history[start::SEASON]) for start in range(SEASON)]
    rest = sum((hours - by_month[i % SEASON]) ** 2 for i, hours in enumerate(history))
    return 1 - rest / total if total > 0 else None


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
