"""The process of one price: parameters, units and the quantiles of its moves. PURE.

With t years from today, the price is today's price times F(t), and

    ln F(t) = J(t) + μ t + R(t) (a − d + τ w) + x(t)

- J(t): cuts and rises of the list price. They arrive at λ a year; λ itself is only known to a
  gamma distribution, so that a family with one cut on record may see none or two. A change is
  exp(±|size|), |size| lognormal, downwards but for `rise_share` of the changes.
- μ t: drift of markets and hardware as generations age; μ is known to ± `drift_sd`.
- R(t) (a − d + τ w): spot is set anew at κ resets a year; R(t) is 1 once it has been. It then
  stands at its usual discount a, both a and today's d being ln(spot / on demand), ± τ. On
  average the price returns to its usual level by 1 − e^(−κ t), as with any mean reversion, but
  as clouds do it: unchanged for months, then far at once.
- x(t): small moves, x(t + 1 month) = e^(−κ / 12) x(t) + σ √(s / 12) ε; a random walk where
  κ = 0. s is gamma-distributed with mean 1: calm paths and wild ones, heavier tails than a
  normal distribution.

A downturn of the generation (one draw per path and family) raises λ, lowers μ and a of all of
the family's prices together: rents, spot and resale values fall at once.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

Floats = NDArray[np.float64]

SHOCK_SHAPE = 2.0
"""Shape of the gamma distribution of s: kurtosis 3 (1 + 1/2) = 4.5. Assumed: monthly resale
moves have heavier tails still, moves over a year about these."""
DRIVER_HAZARD_SD = 0.8
"""Standard deviation of ln λ across downturns and booms of a generation. Assumed: all cuts of
2025 fell within two months, and none in the five years before."""
LARGEST_CHANGE = math.log(6.0)
"""Largest |ln(new / old)| of one change: of the 32 on record (2013 to 2026) the largest is 1.72."""
MARGINAL_SAMPLES = 16_384
"""Draws behind `interval`: its error at p10 and p90 is about 1 % of the range."""
_SEED = 20_260_820


class PriceKind(StrEnum):
    """What moves a price: several purchase options share one kind."""

    LIST = "list"
    """On-demand list prices of the clouds."""
    COMMITMENT = "commitment"
    """Reservations, savings plans and committed use: new ones follow on demand."""
    SPOT = "spot"
    MARKET = "market"
    """Rents of GPU clouds and marketplaces, capacity blocks and quotes."""
    HARDWARE = "hardware"
    """Purchase and resale prices of owned machines."""


KINDS: dict[PurchaseOption, PriceKind] = {
    PurchaseOption.ON_DEMAND: PriceKind.LIST,
    PurchaseOption.SPOT: PriceKind.SPOT,
    PurchaseOption.LOW_PRIORITY: PriceKind.SPOT,
    PurchaseOption.RESERVED: PriceKind.COMMITMENT,
    PurchaseOption.RESERVED_CONVERTIBLE: PriceKind.COMMITMENT,
    PurchaseOption.SAVINGS_PLAN: PriceKind.COMMITMENT,
    PurchaseOption.COMMITTED_USE: PriceKind.COMMITMENT,
    PurchaseOption.CAPACITY_BLOCK: PriceKind.MARKET,
    PurchaseOption.DWS_FLEX_START: PriceKind.LIST,
    PurchaseOption.DWS_CALENDAR_MODE: PriceKind.LIST,
}
"""The kind of price of every purchase option."""


@dataclass(frozen=True)
class PriceProcess:
    """Parameters of one family and kind; logarithms are natural, rates and sds per year."""

    family: str
    kind: PriceKind
    tier: str
    changes_per_year: float = 0.0
    """λ, of list prices."""
    changes_shape: float = 1.0
    """Shape of the gamma distribution of λ: about the number of changes on record."""
    change_size: float = 0.2
    """Median |ln(new / old)| of a change."""
    change_size_sd: float = 0.0
    """Standard deviation of ln |size|."""
    rise_share: float = 0.0
    drift: float = 0.0
    """μ, per year."""
    drift_sd: float = 0.0
    resets_per_year: float = 0.0
    """κ, of spot; ln 2 / κ is the half-life of a deviation in years."""
    usual_discount: float = 0.0
    """a, ln(spot / on demand)."""
    discount_sd: float = 0.0
    """τ, of ln(spot / on demand) around the usual discount."""
    discount: float | None = None
    """d, today's ln(spot / on demand); None takes the price as usual."""
    shock_sd: float = 0.0
    """σ, of the shocks of a year."""
    place: str = ""
    """Processes of one family and place share list changes, others only the downturn."""
    level: str = "general"
    """family, tier or general: what the parameters were fitted on."""
    series: int = 0
    """Price series behind the parameters, and `cells`: family × source × year, the cases that
    may count as independent."""
    cells: int = 0
    fitted_to: dt.date = dt.date.min
    """Last day of the evidence."""
    source: str = ""

    def at_discount(self, spot_to_on_demand: float) -> PriceProcess:
        """The process of a spot price that is this share of the on-demand price today.

        >>> PriceProcess("h100", PriceKind.SPOT, "training").at_discount(0.5).discount
        -0.6931471805599453
        """
        if not 0.0 < spot_to_on_demand < math.inf:
            raise InvalidInput("discount", "the share of the on-demand price must be above 0")
        return replace(self, discount=math.log(spot_to_on_demand))

    @property
    def pull(self) -> float:
        """a − d: how far the logarithm of the price stands below its usual level."""
        return 0.0 if self.discount is None else self.usual_discount - self.discount

    def mean_log_factor(self, months: float) -> float:
        """E ln F, of a price `months` from now: E J + μ t + (1 − e^(−κ t)) (a − d).

        >>> PriceProcess("h100", PriceKind.MARKET, "training", drift=-0.12).mean_log_factor(6)
        -0.06
        """
        years = months / 12.0
        size = self.change_size * math.exp(0.5 * self.change_size_sd**2)
        jumps = self.changes_per_year * years * size * (2.0 * self.rise_share - 1.0)
        reset = -math.expm1(-self.resets_per_year * years)
        return jumps + self.drift * years + reset * self.pull

    def shock_sd_at(self, months: float) -> float:
        """Standard deviation of x `months` from now.

        σ √((1 − φ^(2n)) / (1 − φ²) / 12) with φ = e^(−κ / 12) and n = `months`; σ √(n / 12)
        where κ = 0.

        >>> PriceProcess("h100", PriceKind.SPOT, "training", shock_sd=0.4).shock_sd_at(3)
        0.2
        """
        rate = self.resets_per_year / 6.0
        effective = math.expm1(-rate * months) / math.expm1(-rate) if rate else months
        return self.shock_sd * math.sqrt(effective / 12.0)

    def interval(self, months: float, quantiles: Sequence[float] = (0.1, 0.5, 0.9)) -> Floats:
        """Quantiles of F, the price `months` from now over today's.

        Raises `InvalidInput` where a quantile is not between 0 and 1 or months are negative.

        >>> PriceProcess("h100", PriceKind.LIST, "training").interval(12).tolist()
        [1.0, 1.0, 1.0]
        """
        if months < 0:
            raise InvalidInput("months", "must not be negative")
        if not all(0.0 <= q <= 1.0 for q in quantiles):
            raise InvalidInput("quantiles", "every one must be between 0 and 1")
        moves = self.sorted_log_factors(months)
        return np.asarray(np.exp(np.quantile(moves, list(quantiles))))

    def sorted_log_factors(self, months: float, draws: int = MARGINAL_SAMPLES) -> Floats:
        """Ascending draws of ln F `months` from now, the same at every call; read-only."""
        return _sorted_log_factors(self, months, draws)


@lru_cache(maxsize=256)
def _sorted_log_factors(process: PriceProcess, months: float, n: int) -> Floats:
    random = np.random.Generator(np.random.PCG64(_SEED))
    years = months / 12.0
    driver, drift, shock, size = random.standard_normal((4, n))
    spread = random.standard_gamma(SHOCK_SHAPE, n) / SHOCK_SHAPE
    rate = random.standard_gamma(process.changes_shape, n) / process.changes_shape
    moves = process.shock_sd_at(months) * np.sqrt(spread) * shock
    moves += years * (process.drift + process.drift_sd * drift)
    reset = random.random(n) < -math.expm1(-process.resets_per_year * years)
    moves += reset * (process.pull + process.discount_sd * random.standard_normal(n))
    rate *= process.changes_per_year * years * driver_hazard(driver)
    moves += _changes(process, random, random.poisson(rate), size)
    moves.sort()
    moves.setflags(write=False)
    return np.asarray(moves)


def _changes(
    process: PriceProcess, random: np.random.Generator, counts: NDArray[np.int64], first: Floats
) -> Floats:
    """Sums of `counts` list changes; the first of each takes its size from `first`."""
    total = np.zeros(len(counts))
    sizes = first
    for number in range(int(counts.max(initial=0))):
        sign = np.where(random.random(len(counts)) < process.rise_share, 1.0, -1.0)
        total += np.where(counts > number, sign * size_of_change(process, sizes), 0.0)
        sizes = random.standard_normal(len(counts))
    return total


def size_of_change(process: PriceProcess, z: NDArray[np.floating]) -> NDArray[np.floating]:
    """|ln(new / old)| of changes, z standard normal."""
    size = process.change_size * np.exp(process.change_size_sd * z)
    return np.asarray(np.minimum(size, LARGEST_CHANGE))


def driver_hazard(driver: NDArray[np.floating]) -> NDArray[np.floating]:
    """Factor on λ in a downturn (driver below 0) or boom; its mean is 1."""
    sd = DRIVER_HAZARD_SD
    return np.asarray(np.exp(-sd * driver - 0.5 * sd * sd))
