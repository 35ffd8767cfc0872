"""The revisions in force, and what is reported of each."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db.models import Max, QuerySet

from pricing.market.offers import ABSENT, ENDED, REFUSED
from pricing.market.snapshot import RevisionInfo
from pricing.models import Revision


@dataclass(frozen=True)
class StaleOffer:
    """A price so old that it would be red."""

    offer_id: str
    as_of: dt.date


@dataclass(frozen=True)
class PartFreshness:
    """The age of one part of a provider's prices that are sold now."""

    part: str
    """on_demand, spot or commitments."""
    level: str
    """green, amber or red, by the median age."""
    count: int
    undated: int
    median_age_days: int | None
    oldest_age_days: int | None
    last_confirmed: dt.date | None
    """Day of its newest price."""
    stale_offers: tuple[StaleOffer, ...]
    """The oldest of the prices that would be red by themselves; at most five."""


@dataclass(frozen=True)
class Freshness:
    """The age of one provider's prices and what the last refresh did."""

    provider: str
    title: str
    revision: int | None
    """None where nothing was ever published."""
    origin: str
    as_of: dt.date | None
    """Day on which the provider was last read with success."""
    oldest_price_as_of: dt.date | None
    age_days: int | None
    """Age of the oldest price that is sold now."""
    level: str
    """green, amber or red: that of the part that is worst; one old price colours nothing."""
    parts: tuple[PartFreshness, ...]
    """On demand, spot and commitments, each with its own age."""
    offers: int
    undated_prices: int
    last_run: str
    """Outcome of the last refresh; empty before the first."""
    last_run_at: dt.datetime | None
    message: str
    """What the last refresh that did not publish said."""
    quarantined_parts: int
    """Parts of its prices that wait for review."""


NOT_READ, HELD = "not read: ", "quarantined: "
"""How the warnings of a revision begin that name what it did not take in."""


def list_unread(revision: Revision) -> tuple[str, ...]:
    """What `revision` left as it was published before, each with its reason."""
    left = (NOT_READ, ABSENT, ENDED, REFUSED)
    return tuple(text for text in revision.warnings if text.startswith(left))


def list_newly_unread(revision: Revision) -> tuple[str, ...]:
    """What `revision` left and the live one before it did not, whatever the figures in the reason.

    Nothing for the first live one: what it cannot read, for want of an account say, is no news.
    """
    before = Revision.objects.filter(provider=revision.provider, number=revision.number - 1).first()
    if before is None or before.origin == "bundled":
        return ()
    known = {_name_part(text) for text in list_unread(before)}
    return tuple(text for text in list_unread(revision) if _name_part(text) not in known)


def _name_part(warning: str) -> str:
    return warning.removeprefix(NOT_READ).partition(":")[0]


def newest_revisions() -> QuerySet[Revision]:
    newest = Revision.objects.order_by().values("provider").annotate(newest=Max("pk"))
    return Revision.objects.filter(pk__in=newest.values("newest")).order_by("provider")


def summarize_revision(revision: Revision) -> RevisionInfo:
    return RevisionInfo(
        provider=revision.provider,
        revision=revision.number,
        published_at=revision.published_at,
        as_of=revision.as_of,
        oldest_price_as_of=revision.oldest_price_as_of,
        undated_prices=revision.undated_prices,
        offer_count=revision.offer_count,
        origin=revision.origin,
    )
