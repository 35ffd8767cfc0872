"""How old the prices of each provider are, and whether that is still all right."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone

from pricing.discovery import all_providers
from pricing.market.snapshot import RevisionInfo
from pricing.models import HeldBatch, RefreshRun, Revision

LEVELS = ("green", "amber", "red")


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
    """green, amber or red, by PRICES_AMBER_AFTER_DAYS and PRICES_RED_AFTER_DAYS."""
    offers: int
    undated_prices: int
    last_run: str
    """Outcome of the last refresh; empty before the first."""
    last_run_at: dt.datetime | None
    message: str
    """What the last refresh that did not publish said."""
    held_batches: int
    """Batches that wait for review."""


def newest_revisions() -> QuerySet[Revision]:
    """The latest revision of each provider, in order of provider."""
    newest = Revision.objects.order_by().values("provider").annotate(newest=Max("pk"))
    return Revision.objects.filter(pk__in=newest.values("newest")).order_by("provider")


def freshness(today: dt.date | None = None) -> tuple[Freshness, ...]:
    """One entry for each provider that has an adapter or prices, in order of name."""
    day = today or timezone.now().date()
    providers = all_providers()
    revisions = {revision.provider: revision for revision in newest_revisions()}
    titles = {name: name for name in revisions} | {n: p.title for n, p in providers.items()}
    return tuple(
        _build_freshness(name, titles[name], revisions.get(name), day)
        for name in sorted(titles, key=str)
    )


def grade_age(age_days: int | None) -> str:
    """green, amber or red; no known age is red."""
    if age_days is None or age_days >= settings.PRICES_RED_AFTER_DAYS:
        return "red"
    return "amber" if age_days >= settings.PRICES_AMBER_AFTER_DAYS else "green"


def summarize_revision(revision: Revision) -> RevisionInfo:
    """A revision as costing and the API report it."""
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


def _build_freshness(name: str, title: str, revision: Revision | None, today: dt.date) -> Freshness:
    last = RefreshRun.objects.filter(provider=name).first()
    age = summarize_revision(revision).age_days(today) if revision else None
    return Freshness(
        provider=name,
        title=title,
        revision=revision.number if revision else None,
        origin=revision.origin if revision else "",
        as_of=revision.as_of if revision else None,
        oldest_price_as_of=revision.oldest_price_as_of if revision else None,
        age_days=age,
        level=grade_age(age),
        offers=revision.offer_count if revision else 0,
        undated_prices=revision.undated_prices if revision else 0,
        last_run=last.outcome if last else "",
        last_run_at=last.started_at if last else None,
        message=last.message if last else "",
        held_batches=_count_waiting(name),
    )


def _count_waiting(provider: str) -> int:
    waiting = HeldBatch.objects.filter(provider=provider, state=HeldBatch.State.WAITING)
    return waiting.count()
