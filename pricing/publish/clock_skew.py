"""A clock that is off must never make prices look fresher than they are. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from pricing.ingest.fetch import ServerTime
from pricing.ingest.provider import ProviderUnavailable
from pricing.market.offers import Offer
from pricing.publish.batch import OfferBatch

MAX_IGNORED_SKEW_S = 600.0
"""Difference between two clocks that nobody needs to hear of, s."""
MAX_SKEW_S = 86_400.0
"""From this difference on, s, the day is uncertain and nothing is published."""


def adjust_for_clock_skew(batch: OfferBatch, readings: Sequence[ServerTime]) -> OfferBatch:
    """`batch` dated by the earlier of the provider's clock and ours, with a warning where they
    differ; `ProviderUnavailable` where they differ by a day or more.

    Offers that carry the batch's day, or a later one, are dated with it.
    """
    if not readings:
        return batch
    largest = max(readings, key=lambda reading: abs(reading.ahead_s))
    if abs(largest.ahead_s) <= MAX_IGNORED_SKEW_S:
        return batch
    if abs(largest.ahead_s) >= MAX_SKEW_S:
        raise ProviderUnavailable(
            batch.provider,
            f"our clock is {_format_skew(largest)} the provider's,"
            f" which says {largest.server_time:%Y-%m-%d %H:%M}",
            "Set the clock of this machine and refresh again.",
        )
    day = min(batch.as_of, largest.server_time.astimezone(dt.UTC).date())
    skew = _format_skew(largest)
    warning = f"our clock is {skew} the provider's; prices are dated {day}, the earlier day"
    return replace(
        batch,
        as_of=day,
        offers=tuple(_limit_date(offer, day) for offer in batch.offers),
        warnings=(*batch.warnings, warning),
    )


def _limit_date(offer: Offer, day: dt.date) -> Offer:
    if offer.as_of is None or offer.as_of <= day:
        return offer
    return replace(offer, as_of=day)


def _format_skew(reading: ServerTime) -> str:
    """'2 h 5 min ahead of' or '3 min behind'."""
    hours, minutes = divmod(round(abs(reading.ahead_s) / 60), 60)
    direction = "ahead of" if reading.ahead_s > 0 else "behind"
    return f"{f'{hours} h ' if hours else ''}{minutes} min {direction}"
