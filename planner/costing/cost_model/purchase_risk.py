"""How far the price and the delivery of a server may be from plan. PURE.

- price: the price of the plan times exp(z / 1.2816 · ln f), z standard normal and f the factor at
  p10 below the plan's price, at p90 above it. Half of all outcomes lie on either side; what is
  bought later, and its resale, move with the price process of hardware besides.
- delivery: late by some months with a probability, or by months with a p10 and a p90, drawn from a
  normal distribution, in whole months and never early.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

P90_DEVIATIONS = NormalDist().inv_cdf(0.9)
"""Standard deviations from the median to the 90th percentile."""
QUOTE_MONTHS = 24
"""Months before the newest quote in which others still say what is asked today; 2026."""


@dataclass(frozen=True)
class DatedPrice:
    """A price asked in a month, which counts from any first one."""

    price: float
    month: int


@dataclass(frozen=True)
class PriceRange:
    """Where the price of a server lies, as factors on the price of the plan."""

    low: float
    """p10; at most 1."""
    high: float
    """p90; at least 1."""
    quotes: int = 0
    """Dated quotes that it rests on; 0: an assumption."""

    def factors(self, normal: Floats) -> Floats:
        """Factors on the price where the standard normal draws are `normal`.

        >>> PriceRange(0.8, 1.5).factors(np.array([-P90_DEVIATIONS, 0.0, P90_DEVIATIONS])).tolist()
        [0.8, 1.0, 1.5]
        """
        steps = np.where(normal < 0, -math.log(self.low), math.log(self.high)) / P90_DEVIATIONS
        return np.asarray(np.exp(steps * normal))

    def clip(self, factor: float) -> float:
        """A factor no lower than p10 and no higher than p90."""
        return min(max(factor, self.low), self.high)


@dataclass(frozen=True)
class DeliveryRisk:
    """By how many months a server may come later than planned."""

    late_months: float
    """Months late where it comes late; of p10 and p90 the latter."""
    probability: float | None = None
    """Chance that it does; None: between `least_months` and `late_months` in 8 of 10 cases."""
    least_months: float = 0.0
    """p10."""

    @property
    def is_certain(self) -> DeliveryRisk:
        """The same where it does come late."""
        return DeliveryRisk(self.late_months, 1.0)

    @property
    def certain_months(self) -> int:
        """Whole months by which it comes late whatever happens.

        >>> DeliveryRisk(3, 1.0).certain_months, DeliveryRisk(3, 0.9).certain_months
        (3, 0)
        >>> DeliveryRisk(3, least_months=3).certain_months
        3
        """
        is_range = self.probability is None
        certain = self.least_months == self.late_months if is_range else self.probability == 1.0
        return round(self.late_months) if certain else 0

    def delays(self, normal: Floats) -> NDArray[np.int64]:
        """Whole months late where the standard normal draws are `normal`.

        >>> DeliveryRisk(6, 0.5).delays(np.array([-1.0, 1.0])).tolist()
        [0, 6]
        >>> z = np.array([-P90_DEVIATIONS, 0.0, P90_DEVIATIONS])
        >>> DeliveryRisk(7, least_months=1).delays(z).tolist()
        [1, 4, 7]
        """
        if self.probability is not None:
            return np.where(normal > _threshold(self.probability), round(self.late_months), 0)
        middle = (self.least_months + self.late_months) / 2
        deviation = (self.late_months - self.least_months) / (2 * P90_DEVIATIONS)
        return np.maximum(np.rint(middle + deviation * normal), 0.0).astype(np.int64)


def _threshold(probability: float) -> float:
    """Standard normal draw above which something of this probability happens."""
    if probability <= 0.0 or probability >= 1.0:
        return -math.inf if probability >= 1.0 else math.inf
    return NormalDist().inv_cdf(1.0 - probability)


def range_of_quotes(price: float, quotes: Collection[DatedPrice]) -> PriceRange | None:
    """From the lowest to the highest quote of the two years before the newest, around the price of
    the plan; None where fewer than two say so.

    >>> seen = [DatedPrice(90.0, 0), DatedPrice(95.0, 30), DatedPrice(120.0, 40)]
    >>> range_of_quotes(100.0, seen)
    PriceRange(low=0.95, high=1.2, quotes=2)
    >>> range_of_quotes(100.0, seen[:1])
    """
    newest = max((quote.month for quote in quotes), default=0)
    recent = [quote.price for quote in quotes if quote.month > newest - QUOTE_MONTHS]
    if len(recent) < 2:
        return None
    return PriceRange(
        low=min(*recent, price) / price, high=max(*recent, price) / price, quotes=len(recent)
    )
