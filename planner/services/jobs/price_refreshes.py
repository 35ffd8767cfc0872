"""Price refreshes as jobs: started by operators, or by a token with the scope refresh."""

from __future__ import annotations

import threading
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import connection, transaction

from planner.models import Access, Job, Scope
from planner.services.jobs import jobs
from planner.services.jobs.jobs import CancelledError, Progress
from planner.services.teams.audit import record
from planner.services.teams.permissions import require_scope
from pricing import discovery
from pricing.common.invalid_input import InvalidInput
from pricing.publish.refresh import refresh
from pricing.publish.refresh_result import RefreshResult


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


class _Reporter:
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
