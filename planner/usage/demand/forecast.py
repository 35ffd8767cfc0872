"""Forecast of monthly hours with a range, by the method that its own past speaks for. PURE.

The history is cut at each month of its past; every method forecasts what followed, and the one
with the least mean error is chosen, but only where it is at least a tenth better than the same
month a year ago. With too few cuts, at 12 to 15 months, signs of a season weigh the two instead.
The range comes from the errors that the chosen method made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from planner.usage.demand.drift import drift_gaps
from planner.usage.demand.methods import (
    ALL_METHODS,
    METHODS,
    SEASON,
    TITLES,
    damped_trend,
    season_weight,
    seasonal_naive,
)
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
    """Hours of the coming months: middle and range."""

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
    """Mean absolute error of each method over the cuts that have a year before them."""
    cuts = range(SEASON, len(history))
    errors: dict[str, float] = {}
    for name, (method, least) in METHODS.items():
        usable = [cut for cut in cuts if cut >= least]
        if len(usable) < len(cuts) and len(usable) < MIN_CUTS:
            continue
        means = [_error(method(history[:cut], TESTED_MONTHS), history[cut:]) for cut in usable]
        naive = [
            _error(seasonal_naive(history[:cut], TESTED_MONTHS), history[cut:]) for cut in usable
        ]
        base = [_error(seasonal_naive(history[:cut], TESTED_MONTHS), history[cut:]) for cut in cuts]
        if not usable:
            continue
        scale = fmean(base) / fmean(naive) if fmean(naive) else 1.0
        errors[name] = fmean(means) * scale
    return errors, len(cuts)


def _error(expected: Sequence[float], actual: Sequence[float]) -> float:
    pairs = zip(expected, actual, strict=False)
    return fmean(abs(one - other) for one, other in pairs)


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
    own = _quantile(errors, WIDTH_SHARE) if errors else 0.0
    width = (PRIOR_CUTS * PRIOR_WIDTH + weight * own) / (PRIOR_CUTS + weight)
    return width * math.sqrt(1 + GROWTH_PER_MONTH * max(0, step - 3))


def _quantile(values: Sequence[float], share: float) -> float:
    """Value below which this share lies, between the two nearest.

    >>> _quantile([1.0, 2.0, 3.0], 0.75)
    2.5
    """
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


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
