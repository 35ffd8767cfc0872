"""Whether spot machines are there: interruptions, waiting and what falls back. PURE.

A spot machine runs for 730 / λ hours on average, λ interruptions a month, and is then waited
for W hours on average (exponential waits). Of the hours wanted

    A = (730 / λ) / (730 / λ + W)              are there,
    (1 − A) e^(−p / W)                         fall back to on demand after a patience of p hours,
    (1 − A) (1 − e^(−p / W))                   are waited for.

λ comes from the interruption bands of `pricing.market.interruptions` (AWS Spot Instance
Advisor). No price list or history says how long the wait is: W is assumed, by tier, with the
range that a sensitivity should try.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from planner.costing.price_processes.families import Tier
from pricing.common.invalid_input import InvalidInput
from pricing.market.interruptions import all_interruption_bands, find_interruption_band
from pricing.market.offers import HOURS_PER_MONTH


@dataclass(frozen=True)
class Waiting:
    """Mean hours until a spot machine of a tier is there again, with the range to try."""

    hours: float
    low: float
    high: float
    source: str


_ASSUMED = (
    "assumed: no price list or history says it (probed traces of AWS V100 zones exist, Wu et "
    "al., Can't Be Late, NSDI 2024; they were not used)"
)
WAITING: dict[Tier, Waiting] = {
    Tier.TRAINING: Waiting(6.0, 1.0, 48.0, _ASSUMED),
    Tier.INFERENCE: Waiting(1.0, 0.25, 12.0, _ASSUMED),
    Tier.WORKSTATION: Waiting(1.0, 0.25, 12.0, _ASSUMED),
    Tier.CONSUMER: Waiting(1.0, 0.25, 12.0, _ASSUMED),
}
"""By tier. Training machines are scarcer and wanted whole."""


@dataclass(frozen=True)
class SpotAvailability:
    """How much of the time a spot machine is there, in hours of 730 to the month."""

    interruptions_per_month: float
    waiting_hours: float
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("interruptions_per_month", "waiting_hours"):
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise InvalidInput(name, "must be a number from 0 on")

    @property
    def available_share(self) -> float:
        """A: share of the wanted hours in which the machine is there.

        >>> SpotAvailability(interruptions_per_month=1.0, waiting_hours=7.3).available_share
        0.9900990099009901
        """
        return 1.0 / (1.0 + self.interruptions_per_month * self.waiting_hours / HOURS_PER_MONTH)

    @property
    def missing_chance(self) -> float:
        """1 − A: chance that it is not there when it is wanted."""
        return 1.0 - self.available_share

    def fallback_share(self, patience_hours: float) -> float:
        """Share of the wanted hours that on demand takes over after `patience_hours`."""
        if patience_hours < 0:
            raise InvalidInput("patience_hours", "must not be negative")
        if not self.waiting_hours:
            return 0.0
        return self.missing_chance * math.exp(-patience_hours / self.waiting_hours)

    def waiting_share(self, patience_hours: float) -> float:
        """Share of the wanted hours in which nothing runs."""
        return self.missing_chance - self.fallback_share(patience_hours)

    def effective_usd_per_hour(
        self, spot_usd_per_hour: float, on_demand_usd_per_hour: float, patience_hours: float
    ) -> float:
        """Mean price of an hour that runs: spot while it is there, on demand as fallback."""
        share = self.fallback_share(patience_hours)
        cost = self.available_share * spot_usd_per_hour + share * on_demand_usd_per_hour
        return cost / (self.available_share + share)


def find_availability(
    provider: str, region: str, instance_type: str, tier: Tier
) -> SpotAvailability:
    """Availability of a machine: of its band, or of all bands where it has none."""
    own = find_interruption_band(provider, region, instance_type)
    if own is not None:
        rate, source = own.interruptions_per_month, own.source
    else:
        rate, source = _mean_rate(), "mean of all bands of the AWS Spot Instance Advisor"
    waiting = WAITING[tier]
    return SpotAvailability(rate, waiting.hours, f"{source}; waiting {waiting.source}")


@cache
def _mean_rate() -> float:
    rates = [one.interruptions_per_month for one in all_interruption_bands()]
    return sum(rates) / len(rates)
