"""What clouds sell of machines reserved by date: whole days, so many machines, so many days. PURE.

A reservation by date is paid for from its first day to its last, used or not. With D_t = H_t / P_t
the hours that the peak of month t lasts, each machine is paid for

    days(t) = min(24 · ⌈D_t / 24⌉, max(730, D_t)) hours

of which D_t are used. The months of a longer stretch of work than a reservation may last are
served by its first ones only: nobody promises the next reservation. How long one lasts is counted
in months, and from edition 6 of the rules on in the days of these months too.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.months import add_months, days_in_month
from planner.costing.cost_model.capacity_source import CapacitySource
from pricing.common.copies import replace
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

HOURS_PER_DAY = 24.0
QUOTED = "request"
"""Source of the offers that a request brings along."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class DateLimits:
    """The most that one reservation holds."""

    machines: int
    months: int
    """Months that its longest duration covers, of 30 days."""
    days: int


LIMITS: Mapping[PurchaseOption, DateLimits] = {
    PurchaseOption.CAPACITY_BLOCK: DateLimits(64, 5, 182),
    PurchaseOption.DWS_CALENDAR_MODE: DateLimits(80, 3, 90),
}
"""AWS: 64 instances for up to 182 days (EC2 user guide, Capacity Blocks for ML, 2025). Google
Cloud: 80 GPU machines for 1 to 90 days (Compute Engine documentation, future reservation requests
in calendar mode, 2025)."""


def reserved_hours(hours_at_peak: Floats) -> Floats:
    """[T] hours paid for each hour used, at least 1; 1 in months without work.

    >>> reserved_hours(np.array([12.0, 36.0, 730.0, 0.0])).round(3).tolist()
    [2.0, 1.333, 1.0, 1.0]
    """
    days = np.ceil(hours_at_peak / HOURS_PER_DAY * (1 - _ROUNDING))
    most = np.maximum(hours_at_peak, float(HOURS_PER_MONTH))
    paid = np.minimum(days * HOURS_PER_DAY, most)
    return np.divide(paid, hours_at_peak, out=np.ones_like(paid), where=hours_at_peak > 0)


def reserved_days(hours_at_peak: Floats, start: dt.date) -> Floats:
    """[T] days reserved in the months from `start` on, of none more than it has.

    >>> reserved_days(np.array([36.0, 730.0, 0.0]), dt.date(2027, 1, 1)).tolist()
    [2.0, 28.0, 0.0]
    """
    most = [days_in_month(add_months(start, month)) for month in range(hours_at_peak.size)]
    return np.minimum(np.ceil(hours_at_peak / HOURS_PER_DAY * (1 - _ROUNDING)), most)


def is_list_price_by_date(source: CapacitySource) -> bool:
    """Whether it is reserved by date from a provider's list, not quoted to the team."""
    offer = source.offer
    return offer is not None and offer.purchase_option in LIMITS and offer.source != QUOTED


def least_by_date(sources: Iterable[CapacitySource], hours: Floats, worth: Floats) -> float:
    """What hours come to at the lowest price that is reserved by date, of their month or an earlier
    one, whole days left aside; infinite without such a price. `worth` [T] is what 1 that is paid in
    a month counts."""
    listed = (one for one in sources if is_list_price_by_date(one) and one.capacity)
    prices = [one.hour_charges[0].unit_price[: len(hours)] / one.capacity for one in listed]
    if not prices:
        return math.inf
    lowest = np.minimum.accumulate(np.min(prices, axis=0))
    return float(lowest * worth @ hours)


def limit_by_date(
    source: CapacitySource, hours: Floats, peak: Floats, days: Floats | None = None
) -> CapacitySource:
    """`source`, which is reserved by date, in the months alone in which one reservation could
    serve all of the peak; of `days` [T] reserved it holds so many."""
    assert source.offer is not None
    limits = LIMITS[source.offer.purchase_option]
    fits = (peak <= limits.machines * source.capacity) & _begins_in(hours > 0, limits.months)
    if days is not None:
        fits &= _sum_of_stretch(np.where(hours > 0, days, 0.0)) <= limits.days
    available = fits if source.available is None else fits & source.available
    return replace(source, available=available)


def _begins_in(busy: Bools, months: int) -> Bools:
    """[T] the first `months` of each stretch of busy months.

    >>> _begins_in(np.array([True, True, True, False, True]), 2).tolist()
    [True, True, False, False, True]
    """
    inside, length = np.zeros(len(busy), dtype=bool), 0
    for t, is_busy in enumerate(busy):
        length = length + 1 if is_busy else 0
        inside[t] = 0 < length <= months
    return inside


def _sum_of_stretch(days: Floats) -> Floats:
    """[T] the days of a stretch of months with any, up to each of them.

    >>> _sum_of_stretch(np.array([31.0, 28.0, 0.0, 30.0])).tolist()
    [31.0, 59.0, 0.0, 30.0]
    """
    sums, total = np.zeros(len(days)), 0.0
    for t, of_month in enumerate(days):
        total = total + of_month if of_month else 0.0
        sums[t] = total
    return sums
