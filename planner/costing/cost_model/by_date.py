"""What clouds sell of machines reserved by date: whole days, so many machines, so many days. PURE.

A reservation by date is paid for from its first day to its last, used or not. With D_t = H_t / P_t
the hours that the peak of month t lasts, each machine is paid for

    days(t) = min(24 · ⌈D_t / 24⌉, max(730, D_t)) hours

of which D_t are used. The months of a longer stretch of work than a reservation may last are
served by its first ones only: nobody promises the next reservation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """Whole months that its longest duration covers."""


LIMITS: Mapping[PurchaseOption, DateLimits] = {
    PurchaseOption.CAPACITY_BLOCK: DateLimits(64, 5),
    PurchaseOption.DWS_CALENDAR_MODE: DateLimits(80, 3),
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


def is_list_price_by_date(source: CapacitySource) -> bool:
    """Whether it is reserved by date from a provider's list, not quoted to the team."""
    offer = source.offer
    return offer is not None and offer.purchase_option in LIMITS and offer.source != QUOTED


def limit_by_date(source: CapacitySource, hours: Floats, peak: Floats) -> CapacitySource:
    """`source`, which is reserved by date, in the months alone in which one reservation could
    serve all of the peak."""
    assert source.offer is not None
    limits = LIMITS[source.offer.purchase_option]
    fits = (peak <= limits.machines * source.capacity) & _begins_in(hours > 0, limits.months)
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
