"""At which use a machine that is bought costs no more than one that is rented. PURE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.contract.answer.risk import PayingWhen
from planner.contract.labels import OWNED
from pricing.market.offers import HOURS_PER_MONTH


@dataclass(frozen=True)
class PayingUse:
    """The shares of its hours at which owning a machine costs no more than renting one."""

    when: PayingWhen
    share: float | None
    """Least of them, or of `up_to` the largest; of `never` the use above the ceiling that it would
    take, None where no use would do."""


NOT_KNOWN = PayingUse("", None)


@dataclass(frozen=True)
class UseCost:
    """Cost of a machine as a straight line over the share of its hours in use."""

    idle: float
    in_full_use: float

    def at(self, share: float) -> float:
        """Cost at a share of the hours."""
        return self.idle + share * (self.in_full_use - self.idle)


def find_paying_use(owned: UseCost, rented: UseCost, ceiling: float) -> PayingUse:
    """The uses up to `ceiling` at which owning costs no more than renting.

    >>> find_paying_use(UseCost(100, 120), UseCost(0, 220), 1.0)  # by the hour
    PayingUse(when='from', share=0.5)
    >>> find_paying_use(UseCost(100, 120), UseCost(320, 320), 1.0)  # a commitment, used or not
    PayingUse(when='always', share=0.0)
    >>> find_paying_use(UseCost(100, 120), UseCost(110, 110), 1.0)
    PayingUse(when='up_to', share=0.5)
    >>> find_paying_use(UseCost(100, 120), UseCost(0, 110), 1.0)
    PayingUse(when='never', share=None)
    >>> find_paying_use(UseCost(100, 120), UseCost(0, 220), 0.4)
    PayingUse(when='never', share=0.5)
    """
    idle = rented.idle - owned.idle
    busiest = rented.at(ceiling) - owned.at(ceiling)
    if idle >= 0 and busiest >= 0:
        return PayingUse("always", 0.0)
    share = ceiling * idle / (idle - busiest) if idle != busiest else math.inf
    if idle < 0 and busiest < 0:
        return PayingUse("never", share if 0 < share <= 1 else None)
    return PayingUse("up_to" if idle >= 0 else "from", share)


@dataclass(frozen=True)
class CostLine:
    """Cost of a node as a straight line over its hours of use a month: over the months of the
    horizon in which a server bought at the start serves, over all where there is none."""

    key: str
    label: str
    purchase_option: str
    fixed: float
    """Net present cost without any use."""
    per_hour: float
    """Net present cost of one more hour of use in each of those months."""

    def cost(self, hours_per_month: float) -> float:
        """fixed + per_hour · hours."""
        return self.fixed + self.per_hour * hours_per_month

    @property
    def over_use(self) -> UseCost:
        """The same line over the share of the hours of a month."""
        return UseCost(self.fixed, self.cost(HOURS_PER_MONTH))


@dataclass(frozen=True)
class Crossing:
    """Where two ways of getting a node cost the same."""

    one: str
    other: str
    hours_per_month: float
    cost: float


def uses_that_pay(lines: Sequence[CostLine], ceiling: float) -> dict[str, PayingUse]:
    """Key of each rented line → the uses at which the owned one costs no more than it does."""
    owned = next((line for line in lines if line.purchase_option == OWNED), None)
    if owned is None:
        return {}
    return {
        line.key: find_paying_use(owned.over_use, line.over_use, ceiling)
        for line in lines
        if line is not owned
    }


def find_crossings(lines: Sequence[CostLine]) -> list[Crossing]:
    """Where two of the lines cross between no use and full use.

    >>> a = CostLine("a", "a", "owned", 100.0, 0.0)
    >>> b = CostLine("b", "b", "on_demand", 0.0, 0.5)
    >>> [(c.one, c.other, c.hours_per_month) for c in find_crossings([a, b])]
    [('a', 'b', 200.0)]
    """
    points = []
    for i, one in enumerate(lines):
        for other in lines[i + 1 :]:
            slope = other.per_hour - one.per_hour
            if not slope:
                continue
            hours = (one.fixed - other.fixed) / slope
            if 0 < hours <= HOURS_PER_MONTH:
                points.append(Crossing(one.key, other.key, hours, one.cost(hours)))
    return sorted(points, key=lambda c: c.hours_per_month)
