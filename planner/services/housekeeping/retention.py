"""Rows that nobody needs after some time, removed a few at a time.

Prices, revisions, projects, saved comparisons, actuals, alerts and the audit log are data: they
stay until somebody deletes them.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from planner.models import (
    DeliveryState,
    IdempotencyRecord,
    Invitation,
    Job,
    JobState,
    WebhookDelivery,
)
from planner.services.jobs.jobs import Progress
from pricing.models import QuarantinedPart, RefreshRun

logger = logging.getLogger(__name__)
AT_ONCE = 1_000
"""Rows deleted in one transaction, so that nobody waits for a lock."""
IDEMPOTENCY_RETENTION = dt.timedelta(hours=24)
SUPERSEDED_AFTER = dt.timedelta(days=1)
"""After that a batch that a newer one took the place of is of no use."""


def remove_expired() -> dict[str, int | None]:
    """Removes what is older than its retention, and says how much of each kind, None where that
    failed: each kind goes by itself, so that one that fails leaves the others to be done."""
    removed: dict[str, int | None] = {}
    for what, sweep in _sweeps(timezone.now()).items():
        try:
            removed[what] = sweep()
        except Exception:
            logger.exception("Housekeeping of %s failed.", what)
            removed[what] = None
    counts = {what: count for what, count in removed.items() if count}
    if counts:
        logger.info("Housekeeping removed %s.", counts, extra={"removed": counts})
    return removed


def _sweeps(now: dt.datetime) -> dict[str, Callable[[], int]]:
    """By kind what removes what goes. Of invitations those whose links work no more:
    they hold addresses, and the audit log has what came of them. Of refresh runs all but the last
    one, and the last that was published, of each provider. Of a part that can be published no
    more the content; what was decided stays on record."""
    over = Job.objects.exclude(state__in=(JobState.QUEUED, JobState.RUNNING))
    ended = WebhookDelivery.objects.exclude(state=DeliveryState.PENDING)
    closed = _before(now, settings.RETAIN_INVITATIONS_DAYS)
    runs = RefreshRun.objects.order_by()
    last = [
        rows.values("provider").annotate(last=Max("pk")).values("last")
        for rows in (runs, runs.filter(outcome=RefreshRun.Outcome.PUBLISHED))
    ]
    states = QuarantinedPart.State
    useless = Q(state=states.SUPERSEDED, created_at__lt=now - SUPERSEDED_AFTER) | Q(
        state__in=(states.RELEASED, states.REJECTED),
        created_at__lt=_before(now, settings.RETAIN_QUARANTINED_BATCHES_DAYS),
    )
    full = QuarantinedPart.objects.filter(useless).exclude(payload=b"")
    rows = {
        "jobs": over.filter(finished_at__lt=_before(now, settings.RETAIN_JOBS_DAYS)),
        "idempotency records": IdempotencyRecord.objects.filter(
            created_at__lt=now - IDEMPOTENCY_RETENTION
        ),
        "webhook deliveries": ended.filter(
            created_at__lt=_before(now, settings.RETAIN_DELIVERIES_DAYS)
        ),
        "invitations": Invitation.objects.filter(
            Q(accepted_at__lt=closed) | Q(revoked_at__lt=closed) | Q(expires_at__lt=closed)
        ),
        "sessions": Session.objects.filter(expire_date__lt=now),
        "refresh runs": runs.filter(started_at__lt=_before(now, settings.RETAIN_REFRESH_RUNS_DAYS))
        .exclude(pk__in=last[0])
        .exclude(pk__in=last[1]),
    }
    return {what: partial(_delete, expired) for what, expired in rows.items()} | {
        "contents of batches": lambda: full.update(payload=b"")
    }


def _delete(rows: QuerySet) -> int:  # type: ignore[type-arg]
    """Rows deleted; what is deleted along with them is not counted."""
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted


def _before(now: dt.datetime, days: int) -> dt.datetime:
    return now - dt.timedelta(days=days)


def housekeeping_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Removes what expired; how many of each kind."""
    return {"removed": remove_expired()}
