"""What a provider itself asks for an offer, as it stands in its list. PURE."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.terms import Calendar
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.offers import Offer


@dataclass(frozen=True)
class NativePrice:
    """What the provider itself asks, before any conversion or adjustment."""

    currency: str
    price_per_hour: str
    """Exact decimal, per hour of the whole machine."""
    upfront: str
    units_per_usd: str
    """Exchange rate used for it; "1" for US dollars."""
    rate_date: dt.date | None
    multiplier: float
    """Contract discount applied to it, the highest of the plan."""
    changes: tuple[tuple[dt.date, float], ...]
    """First day of the months from which on a contract discount applies, with it; empty where one
    holds throughout."""
    as_of: dt.date | None
    source: str
    sku: str


def read_native_price(
    offer: Offer,
    rate: ExchangeRate,
    multiplier: float,
    calendar: Calendar,
    by_month: NDArray[np.float64] | None = None,
) -> NativePrice:
    """The price of an offer, the `rate` of its currency and the contract discount on it, times
    `by_month` [at least T] where that is of some months; of a commitment to the end of a term."""
    months = calendar.months + (offer.term_months or 0)
    factors = multiplier * (np.ones(1) if by_month is None else by_month[:months])
    changes = _list_changes(factors, calendar)
    return NativePrice(
        currency=offer.currency,
        price_per_hour=str(offer.price_per_hour),
        upfront=str(offer.upfront),
        units_per_usd=str(rate.units_per_usd),
        rate_date=None if rate.date == dt.date.min else rate.date,
        multiplier=float(factors[: calendar.months].min()),
        changes=changes if len(changes) > 1 else (),
        as_of=offer.as_of,
        source=offer.source,
        sku=offer.sku,
    )


def _list_changes(
    factors: NDArray[np.float64], calendar: Calendar
) -> tuple[tuple[dt.date, float], ...]:
    """First day and factor of each run of months with one factor.

    >>> _list_changes(np.array([0.8, 0.8, 1.0]), Calendar(dt.date(2027, 1, 1), 3))[1]
    (datetime.date(2027, 3, 1), 1.0)
    """
    first = np.flatnonzero(np.diff(factors, prepend=np.nan) != 0)
    return tuple((calendar.month(month), float(factors[month])) for month in first.tolist())
