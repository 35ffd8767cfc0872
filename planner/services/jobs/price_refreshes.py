"""Price refreshes as jobs: started by operators, or by a token with the scope refresh."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import connection, transaction

from planner.models import Access, Job, Scope
from planner.services.jobs import jobs
from planner.services.teams.access import WrongStateError, record, require_scope
from pricing import discovery
from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable
from pricing.models import QuarantinedPart, RefreshRun, Revision
from pricing.publish.publication import Publication
from pricing.publish.publication import release as publish_parts
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

    def __init__(self, progress: jobs.Progress, providers: int) -> None:
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


def refresh_job(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Reads the providers anew; what each came to. A cancelled run keeps what was published, and
    one that begins again reads no provider twice."""
    providers = discovery.get_providers(job.arguments["providers"])
    unfinished = (RefreshRun.Outcome.RUNNING, RefreshRun.Outcome.INTERRUPTED)
    since = RefreshRun.objects.filter(started_at__gte=job.created_at).exclude(
        outcome__in=unfinished
    )
    done = {
        run.provider: _row(run, run.remedy, run.revision, run.offer_count)
        for run in since.select_related("revision")
    }
    left = [provider for provider in providers if provider.name not in done]
    results = refresh(left, listener=_Reporter(progress, len(left)))
    job.refresh_from_db(fields=["cancel_requested"])
    if job.cancel_requested:
        raise jobs.CancelledError
    for result in results:
        revision, offers = None, None
        if result.publication:
            revision, offers = result.publication.revision, result.publication.offers
        done[result.provider] = _row(result, result.hint, revision, offers)
    return {"results": [done[provider.name] for provider in providers]}


def _row(
    run: RefreshRun | RefreshResult, hint: str, revision: Revision | None, offers: int | None
) -> dict[str, Any]:
    return {
        "provider": run.provider,
        "outcome": run.outcome,
        "message": run.message,
        "remedy": hint,
        "revision": revision.number if revision else None,
        "offers": offers,
    }


def release(access: Access, parts: Sequence[QuarantinedPart]) -> Publication:
    """Publishes quarantined parts of one provider; all else stays as it is in force."""
    require_operator(access)
    try:
        publication = publish_parts(parts)
    except (AlreadyRunning, ProviderUnavailable, InvalidInput) as refusal:
        raise WrongStateError(str(refusal)) from None
    for part in parts:
        number = part.revision.number if part.revision else None
        record(access, "prices.released", part, after={**_describe(part), "revision": number})
    return publication


@transaction.atomic
def reject(access: Access, parts: Sequence[QuarantinedPart]) -> None:
    """Keeps the published prices; the same new ones are not brought up again."""
    require_operator(access)
    waiting = QuarantinedPart.objects.filter(
        pk__in=[part.pk for part in parts], state=QuarantinedPart.State.WAITING
    )
    for part in waiting.select_for_update():
        part.state = QuarantinedPart.State.REJECTED
        part.save(update_fields=["state"])
        record(access, "prices.rejected", part, after=_describe(part))


def _describe(part: QuarantinedPart) -> dict[str, Any]:
    return {"provider": part.provider, "offers": part.offer_count, "reason": part.reason}
