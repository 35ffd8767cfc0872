"""A clock that is off must never make prices look fresher than they are. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from pricing.ingest.fetch import ServerTime
from pricing.ingest.provider import ProviderUnavailable
from pricing.market.offers import Offer
from pricing.publish.batch import Batch

TOLERANCE_S = 600.0
"""Difference between two clocks that nobody needs to hear of, s."""
LARGEST_S = 86_400.0
"""From this difference on, s, a day cannot be told any more and nothing is published."""


def dated(batch: Batch, times: Sequence[ServerTime]) -> Batch:
    """`batch` dated by the earlier of the provider's clock and ours, with a warning where they
    differ; `ProviderUnavailable` where they differ by a day or more.

    Offers that carry the batch's day, or a later one, are dated with it.
    """
    if not times:
        return batch
    seen = max(times, key=lambda time: abs(time.ahead_s))
    if abs(seen.ahead_s) <= TOLERANCE_S:
        return batch
    if abs(seen.ahead_s) >= LARGEST_S:
        raise ProviderUnavailable(
            batch.provider,
            f"our clock is {_span(seen)} the provider's,"
            f" which says {seen.server_time:%Y-%m-%d %H:%M}",
            "Set the clock of this machine and refresh again.",
        )
    day = min(batch.as_of, seen.server_time.astimezone(dt.UTC).date())
    warning = f"our clock is {_span(seen)} the provider's; prices are dated {day}, the earlier day"
    return replace(
        batch,
        as_of=day,
        offers=tuple(_no_later(offer, day) for offer in batch.offers),
        warnings=(*batch.warnings, warning),
    )


def _no_later(offer: Offer, day: dt.date) -> Offer:
    if offer.as_of is None or offer.as_of <= day:
        return offer
    return replace(offer, as_of=day)


def _span(time: ServerTime) -> str:
    """'2 h 5 min ahead of' or '3 min behind'."""
    hours, minutes = divmod(round(abs(time.ahead_s) / 60), 60)
    side = "ahead of" if time.ahead_s > 0 else "behind"
    return f"{f'{hours} h ' if hours else ''}{minutes} min {side}"
