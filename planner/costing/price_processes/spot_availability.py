"""Whether spot machines are there: interruptions, waiting and what falls back. PURE.

A spot machine runs for 730 / λ hours on average, λ interruptions a month, and is then waited
for W hours on average (exponential waits). Of the hours wanted

    A = (730 / λ) / (730 / λ + W)              are there,
    (1 − A) e^(−p / W)                         fall back to on demand after a patience of p hours,
    (1 − A) (1 − e^(−p / W))                   are waited for.

λ comes from the interruption bands of the AWS Spot Instance Advisor
(`pricing.market.interruptions`), else from the assumptions, as W and p do: no price list or
history says how long the wait is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SpotAvailability:
    """How much of the time a spot machine is there, in hours of 730 to the month."""

    interruptions_per_month: float
    waiting_hours: float

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

    def on_demand_share(self, patience_hours: float) -> float:
        """Share of the hours that run which run on demand: fallback / (A + fallback).

        >>> SpotAvailability(1.0, 7.3).on_demand_share(0.0)
        0.00990099009900991
        """
        share = self.fallback_share(patience_hours)
        return share / (self.available_share + share)

    def on_demand_shares(self, rate: Floats, waiting: Floats, patience_hours: float) -> Floats:
        """The same for `rate` times the interruptions and `waiting` times the wait, each [N]."""
        hours = self.waiting_hours * waiting
        missing = self.interruptions_per_month * rate * hours / HOURS_PER_MONTH
        waits = np.divide(patience_hours, hours, out=np.full_like(hours, np.inf), where=hours > 0)
        share = missing * np.exp(-waits)
        return np.asarray(share / (1.0 + share))

    def effective_usd_per_hour(
        self, spot_usd_per_hour: float, on_demand_usd_per_hour: float, patience_hours: float
    ) -> float:
        """Mean price of an hour that runs: spot while it is there, on demand as fallback."""
        share = self.on_demand_share(patience_hours)
        return (1.0 - share) * spot_usd_per_hour + share * on_demand_usd_per_hour
