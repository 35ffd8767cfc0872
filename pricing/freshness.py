"""How old the prices of each provider are, and whether that is still all right."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.db.models import Count, Max
from django.utils import timezone

from pricing import catalog
from pricing.discovery import all_providers
from pricing.market.snapshot import AgeLimits, PartDates, PricePart
from pricing.models import QuarantinedPart, RefreshRun
from pricing.revisions import (
    Freshness,
    PartFreshness,
    StaleOffer,
    newest_revisions,
    summarize_revision,
)

LEVELS = ("green", "amber", "red")


def freshness(today: dt.date | None = None) -> tuple[Freshness, ...]:
    """One entry for each provider that is read by default or has prices, in order of name."""
    day = today or timezone.now().date()
    providers = all_providers()
    revisions = {revision.provider: revision for revision in newest_revisions()}
    dates = catalog.current().part_dates
    titles = {name: name for name in revisions} | {
        name: provider.title
        for name, provider in providers.items()
        if provider.by_default or name in revisions
    }
    newest = RefreshRun.objects.order_by().values("provider").annotate(newest=Max("pk"))
    runs = {r.provider: r for r in RefreshRun.objects.filter(pk__in=newest.values("newest"))}
    waiting = QuarantinedPart.objects.filter(state=QuarantinedPart.State.WAITING).order_by()
    counts = dict(waiting.values_list("provider").annotate(Count("pk")))
    rows = []
    for name in sorted(titles, key=str):
        revision, last = revisions.get(name), runs.get(name)
        parts = tuple(_grade_part(part, day) for part in dates.get(name, ()))
        rows.append(
            Freshness(
                provider=name,
                title=titles[name],
                revision=revision.number if revision else None,
                origin=revision.origin if revision else "",
                as_of=revision.as_of if revision else None,
                oldest_price_as_of=revision.oldest_price_as_of if revision else None,
                age_days=summarize_revision(revision).age_days(day) if revision else None,
                level=max((part.level for part in parts), key=LEVELS.index, default="red"),
                parts=parts,
                offers=revision.offer_count if revision else 0,
                undated_prices=revision.undated_prices if revision else 0,
                last_run=last.outcome if last else "",
                last_run_at=last.started_at if last else None,
                message=last.message if last else "",
                quarantined_parts=counts.get(name, 0),
            )
        )
    return tuple(rows)


def age_limits(part: PricePart) -> AgeLimits:
    """Ages from which a part is amber and red, by the settings."""
    if part is PricePart.SPOT:
        return AgeLimits(settings.SPOT_PRICES_AMBER_AFTER_DAYS, settings.SPOT_PRICES_RED_AFTER_DAYS)
    return AgeLimits(settings.PRICES_AMBER_AFTER_DAYS, settings.PRICES_RED_AFTER_DAYS)


def _grade_part(dates: PartDates, today: dt.date) -> PartFreshness:
    limits, oldest_age = age_limits(dates.part), dates.oldest_age_days(today)
    is_stale = oldest_age is not None and oldest_age >= limits.red
    return PartFreshness(
        part=dates.part.value,
        level=limits.grade(dates.median_age_days(today)),
        count=dates.count,
        undated=dates.undated,
        median_age_days=dates.median_age_days(today),
        oldest_age_days=oldest_age,
        last_confirmed=dates.newest,
        stale_offers=tuple(
            StaleOffer(offer_id, day)
            for offer_id, day in dates.oldest_offers
            if is_stale and (today - day).days >= limits.red
        ),
    )
