"""Rows and files that nobody needs after some time, removed a few at a time.

Prices, revisions, projects, saved comparisons, actuals, alerts and the audit log are data: they
stay until somebody deletes them.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
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
from planner.services.actuals.uploads import UPLOAD_FOLDER
from planner.services.jobs.jobs import Progress
from pricing.models import QuarantinedBatch, RefreshRun

logger = logging.getLogger(__name__)
AT_ONCE = 1_000
"""Rows deleted in one transaction, so that nobody waits for a lock."""
IDEMPOTENCY_RETENTION = dt.timedelta(hours=24)
SUPERSEDED_AFTER = dt.timedelta(days=1)
"""After that a batch that a newer one took the place of is of no use."""
UPLOAD_RETENTION = dt.timedelta(days=2)
"""A file that waits for no job after so long was left by a process that ended."""


@dataclass(frozen=True)
class Removed:
    """How many of one kind went, or would go."""

    what: str
    count: int | None
    """None where it failed."""


def remove_expired(*, dry_run: bool = False) -> list[Removed]:
    """Removes what is older than its retention; each kind by itself, so that one that fails
    leaves the others to be done."""
    now = timezone.now()
    removed = []
    sweeps: dict[str, Callable[[], int]] = {
        what: partial(_delete, rows, dry_run) for what, rows in _expired_rows(now).items()
    }
    sweeps["contents of batches"] = partial(_sweep_batches, now, dry_run)
    sweeps["uploads"] = partial(_sweep_uploads, now, dry_run)
    for what, sweep in sweeps.items():
        try:
            removed.append(Removed(what, sweep()))
        except Exception:
            logger.exception("Housekeeping of %s failed.", what)
            removed.append(Removed(what, None))
    counts = {one.what: one.count for one in removed if one.count}
    if counts and not dry_run:
        logger.info("Housekeeping removed %s.", counts, extra={"removed": counts})
    return removed


def _delete(rows: QuerySet, dry_run: bool) -> int:  # type: ignore[type-arg]
    """Rows deleted, or that would be; what is deleted along with them is not counted."""
    if dry_run:
        return rows.count()
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted


def _expired_rows(now: dt.datetime) -> dict[str, QuerySet]:  # type: ignore[type-arg]
    """By kind the rows that go. Of invitations those whose links work no more: they hold addresses,
    and the audit log has what came of them. Of refresh runs all but the last one, and the last that
    was published, of each provider."""
    over = Job.objects.exclude(state__in=(JobState.QUEUED, JobState.RUNNING))
    ended = WebhookDelivery.objects.exclude(state=DeliveryState.PENDING)
    closed = _before(now, settings.RETAIN_INVITATIONS_DAYS)
    runs = RefreshRun.objects.order_by()
    last = [
        rows.values("provider").annotate(last=Max("pk")).values("last")
        for rows in (runs, runs.filter(outcome=RefreshRun.Outcome.PUBLISHED))
    ]
    old_runs = runs.filter(started_at__lt=_before(now, settings.RETAIN_REFRESH_RUNS_DAYS))
    return {
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
        "refresh runs": old_runs.exclude(pk__in=last[0]).exclude(pk__in=last[1]),
    }


def _before(now: dt.datetime, days: int) -> dt.datetime:
    """The moment before which something goes; long ago where it never does."""
    return now - dt.timedelta(days=days) if days > 0 else dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _sweep_batches(now: dt.datetime, dry_run: bool) -> int:
    """The content of batches that can be published no more; what was decided stays on record."""
    superseded = Q(state=QuarantinedBatch.State.SUPERSEDED, created_at__lt=now - SUPERSEDED_AFTER)
    decided = (QuarantinedBatch.State.RELEASED, QuarantinedBatch.State.DISCARDED)
    old = _before(now, settings.RETAIN_QUARANTINED_BATCHES_DAYS)
    which = superseded | Q(state__in=decided, created_at__lt=old)
    full = QuarantinedBatch.objects.filter(which).exclude(payload=b"")
    return full.count() if dry_run else full.update(payload=b"")


def _sweep_uploads(now: dt.datetime, dry_run: bool) -> int:
    waiting = Job.objects.filter(state__in=(JobState.QUEUED, JobState.RUNNING))
    needed = set(waiting.filter(kind="actuals_upload").values_list("arguments__kept", flat=True))
    left = [name for name in _list_uploads() if name not in needed and _is_old(name, now)]
    for name in () if dry_run else left:
        default_storage.delete(name)
    return len(left)


def _list_uploads() -> Iterator[str]:
    try:
        _, names = default_storage.listdir(UPLOAD_FOLDER)
    except FileNotFoundError:
        return
    yield from (f"{UPLOAD_FOLDER}/{name}" for name in names)


def _is_old(name: str, now: dt.datetime) -> bool:
    """False for a file that a job has just read and removed."""
    try:
        return default_storage.get_modified_time(name) < now - UPLOAD_RETENTION
    except FileNotFoundError:
        return False


def housekeeping_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Removes what expired; how many of each kind."""
    return {"removed": {one.what: one.count for one in remove_expired()}}
