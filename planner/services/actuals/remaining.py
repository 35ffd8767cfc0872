"""What is left of a plan, at the prices of today: what follows use, and what does not.

Hours of machines that are rented by the hour follow use and are at the price that the catalog has
today: the planned amount × what the provider asks now over what it asked when the plan was made,
so that contract discounts and trends of the plan stay. Commitments, servers, data and tax stay as
planned.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed
from planner.contract.months import format_month
from planner.services.actuals.actuals import recommended_lines
from planner.services.actuals.machine_hours import NODE_HOURS
from pricing import catalog as catalogs
from pricing.market.offer_table import OfferTable
from pricing.market.offers import PurchaseOption

_ZERO = Decimal(0)
_HOURLY = (PurchaseOption.ON_DEMAND.value, PurchaseOption.SPOT.value)


class Left(NamedTuple):
    """Money of months to come, at the prices of today."""

    hourly: Decimal = _ZERO
    """What follows use."""
    fixed: Decimal = _ZERO

    @property
    def total(self) -> Decimal:
        return self.hourly + self.fixed

    def plus(self, other: Left) -> Left:
        return Left(self.hourly + other.hourly, self.fixed + other.fixed)


@dataclass(frozen=True)
class Remaining:
    """Each month of a plan at the prices of today."""

    months: Mapping[str, Left]
    prices_as_of: dt.date | None
    """Day on which the oldest of these prices was seen; None where none has a date."""
    not_sold: int
    """Offers of the plan that the catalog has no more, which stay at the planned price."""


def remaining_by_month(answer: ComparisonAnswer) -> Remaining:
    """The months of the plan, those that are paid for too."""
    table = catalogs.current().offers
    factors: dict[str, Decimal | None] = {}
    dates: set[dt.date] = set()
    months: dict[str, Left] = defaultdict(Left)
    for line in recommended_lines(answer):
        follows_use = line.unit == NODE_HOURS and line.purchase_option in _HOURLY
        used = answer.offers.get(line.offer_id)
        amount = line.amount
        if follows_use and used is not None and used.native_price_per_hour is not None:
            if line.offer_id not in factors:
                factors[line.offer_id] = _factor(table, line.offer_id, used, dates)
            amount *= factors[line.offer_id] or 1
        left = Left(hourly=amount) if follows_use else Left(fixed=amount)
        month = format_month(answer.month(line.month))
        months[month] = months[month].plus(left)
    not_sold = sum(factor is None for factor in factors.values())
    return Remaining(dict(months), min(dates, default=None), not_sold)


def _factor(
    table: OfferTable, offer_id: str, used: OfferUsed, dates: set[dt.date]
) -> Decimal | None:
    """Price of today over that of the plan; None where the catalog does not have the offer."""
    offer, before = table.find(offer_id), Decimal(used.native_price_per_hour or 0)
    if offer is None or not offer.sold_now or offer.currency != used.native_currency or not before:
        return None
    if offer.as_of is not None:
        dates.add(offer.as_of)
    return offer.price_per_hour / before
