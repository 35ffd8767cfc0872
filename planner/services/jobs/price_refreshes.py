"""Price refreshes as jobs: started by operators, or by a token with the scope refresh."""

from __future__ import annotations

import datetime as dt
import logging
import random
import threading
import time
from collections.abc import Sequence
from typing import Any

from celery.schedules import crontab
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import connection, transaction
from django.utils import timezone

from planner.models import Access, Job, Scope
from planner.services.jobs import background, jobs
from planner.services.jobs.jobs import CancelledError, Progress
from planner.services.teams.access import WrongStateError, record, require_scope
from pricing import discovery
from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable
from pricing.models import QuarantinedBatch, QuarantinedPrice, RefreshRun
from pricing.publish.publication import Publication
from pricing.publish.publication import release as publish_batch
from pricing.publish.publication import release_prices as publish_prices
from pricing.publish.refresh import Listener, RefreshResult, refresh
from pricing.storage.bulk import AlreadyRunning


def require_operator(access: Access) -> None:
    require_scope(access, Scope.REFRESH)
    if not access.is_operator:
        raise PermissionDenied("Only operators of this server can refresh prices.")


def start_refresh(access: Access, providers: list[str]) -> Job:
    """Queues a refresh of these providers, of all without any."""
    require_operator(access)
    try:
        discovery.get_providers(providers)
    except InvalidInput as refusal:
        raise InvalidInput("providers", refusal.message) from None
    with transaction.atomic():
        job = jobs.start(access, "price_refresh", {"providers": providers}, None)
        record(access, "prices.refresh_started", job, after={"providers": providers or ["all"]})
    return job


class _Reporter(Listener):
    """Carries a run's progress into its job; called from the providers' threads too."""

    def __init__(self, progress: Progress, providers: int) -> None:
        self._progress = progress
        self._providers = providers
        self._finished = 0
        self._lock = threading.Lock()
        self._home = threading.get_ident()

    def started(self, provider: str) -> None:
        self._note(f"Reading {provider}")

    def progress(self, provider: str, what: str, done: int, total: int | None) -> None:
        share = f"{done} of {total}" if total else str(done)
        self._note(f"{provider}: {what} {share}")

    def finished(self, result: RefreshResult) -> None:
        self._finished += 1
        self._note(f"{result.provider}: {result.outcome}")

    def _note(self, message: str) -> None:
        with self._lock:
            try:
                self._progress.step(self._finished, self._providers, message)
            finally:
                if threading.get_ident() != self._home:
                    connection.close()


def refresh_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Reads the providers anew; what each came to. A cancelled run keeps what was published."""
    providers = discovery.get_providers(job.arguments["providers"])
    results = refresh(providers, listener=_Reporter(progress, len(providers)))
    job.refresh_from_db(fields=["cancel_requested"])
    if job.cancel_requested:
        raise CancelledError
    return {"results": [_row(result) for result in results]}


def _row(result: RefreshResult) -> dict[str, Any]:
    publication = result.publication
    revision = publication.revision.number if publication and publication.revision else None
    return {
        "provider": result.provider,
        "outcome": result.outcome,
        "message": result.message,
        "remedy": result.hint,
        "revision": revision,
        "offers": publication.offers if publication else None,
    }


logger = logging.getLogger(__name__)
TASK = "refresh_prices"


def start_timer() -> None:
    """Where no Celery beat does it, let this process refresh the prices when they are due."""
    if settings.PRICE_REFRESH_SCHEDULE and settings.JOBS_BACKEND == "thread":
        wait = seconds_to_next(settings.PRICE_REFRESH_SCHEDULE, timezone.now())
        background.submit_later(wait, TASK)


def refresh_if_due() -> None:
    """Refresh every provider that has had no run since the schedule was last due."""
    if not settings.PRICE_REFRESH_SCHEDULE:
        return
    time.sleep(random.uniform(0, settings.PRICE_REFRESH_JITTER_SECONDS))  # noqa: S311 - no secret
    try:
        due_since = last_due_time(timezone.now())
        started = RefreshRun.objects.filter(started_at__gte=due_since)
        done = set(started.values_list("provider", flat=True))
        due = [p for name, p in sorted(discovery.default_providers().items()) if name not in done]
        results = refresh(due) if due else []
        for result in results:
            logger.info("Prices of %s: %s. %s", result.provider, result.outcome, result.message)
    finally:
        start_timer()


def last_due_time(now: dt.datetime) -> dt.datetime:
    """When the schedule was last due, at or before `now`; a year ago where it was not since."""
    schedule = crontab.from_string(settings.PRICE_REFRESH_SCHEDULE)
    last = earlier = now - dt.timedelta(days=366)
    for span in (dt.timedelta(hours=2), dt.timedelta(days=8), dt.timedelta(days=366)):
        moment = now - span
        while (step := _until_next(schedule, moment)) is not None and moment + step <= now:
            moment += step
            last = moment
        if last > earlier:
            break
    return last


def _until_next(schedule: crontab, moment: dt.datetime) -> dt.timedelta | None:
    schedule.nowfun = lambda: moment
    remaining: dt.timedelta = schedule.remaining_estimate(moment)
    return remaining if remaining > dt.timedelta(0) else None


def seconds_to_next(schedule: str, now: dt.datetime) -> float:
    """Seconds until a schedule is due next."""
    step = _until_next(crontab.from_string(schedule), now)
    return 60.0 if step is None else step.total_seconds()


def release(access: Access, batch: QuarantinedBatch) -> Publication:
    """Publishes a quarantined batch as it was fetched."""
    require_operator(access)
    expect_waiting(batch)
    try:
        publication = publish_batch(batch)
    except (AlreadyRunning, ProviderUnavailable) as refusal:
        raise WrongStateError(str(refusal)) from None
    batch.refresh_from_db(fields=["revision"])
    number = batch.revision.number if batch.revision else None
    record(access, "prices.released", batch, after={**_describe(batch), "revision": number})
    return publication


@transaction.atomic
def reject(access: Access, batch: QuarantinedBatch) -> QuarantinedBatch:
    """Keeps a quarantined batch for the record, never to be published."""
    require_operator(access)
    current: QuarantinedBatch = QuarantinedBatch.objects.select_for_update().get(pk=batch.pk)
    expect_waiting(current)
    current.state = QuarantinedBatch.State.DISCARDED
    current.save(update_fields=["state"])
    record(access, "prices.rejected", current, after=_describe(current))
    return current


def release_prices(access: Access, rows: Sequence[QuarantinedPrice]) -> Publication:
    """Publishes single quarantined prices of one provider; all else stays as it is in force."""
    require_operator(access)
    try:
        publication = publish_prices(rows)
    except (AlreadyRunning, ProviderUnavailable, InvalidInput) as refusal:
        raise WrongStateError(str(refusal)) from None
    for row in rows:
        record(access, "price.released", row, before=row.before, after=row.after)
    return publication


@transaction.atomic
def reject_prices(access: Access, rows: Sequence[QuarantinedPrice]) -> None:
    """Keeps the published prices; the same new ones are not brought up again."""
    require_operator(access)
    waiting = QuarantinedPrice.objects.filter(
        pk__in=[row.pk for row in rows], state=QuarantinedPrice.State.WAITING
    )
    for row in waiting.select_for_update():
        row.state = QuarantinedPrice.State.REJECTED
        row.save(update_fields=["state"])
        record(access, "price.rejected", row, before=row.before, after=row.after)


def _describe(batch: QuarantinedBatch) -> dict[str, Any]:
    return {"provider": batch.provider, "offers": batch.offer_count, "reasons": batch.reasons}


def expect_waiting(row: QuarantinedBatch | QuarantinedPrice) -> None:
    """`WrongStateError` for what was decided before."""
    if row.state != row.State.WAITING:
        raise WrongStateError(f"It is {row.state} already; only a waiting one can be decided.")
