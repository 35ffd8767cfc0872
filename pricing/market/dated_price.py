"""One price of one offer, from a day on. PURE."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from pricing.market.offers import Offer


@dataclass(frozen=True)
class DatedPrice:
    """What one offer cost from a day on."""

    date: dt.date
    revision: int | None
    """None before the first revision: from a published history."""
    offer: Offer | None
    """None from the day on which the offer was gone."""
