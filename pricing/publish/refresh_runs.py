"""The record of each refresh, and the explanation of one that failed."""

from __future__ import annotations

import errno
import logging
import sqlite3

from django.db import DatabaseError
from django.utils import timezone

from pricing.ingest.fetch import Cancelled
from pricing.ingest.provider import ProviderUnavailable
from pricing.models import RefreshRun
from pricing.publish.refresh_result import RefreshResult

log = logging.getLogger(__name__)

REVIEW_HINT = "Review it on the page /operator/ and release it there, or refresh with --force."
DRY_RUN_HINT = (
    "Nothing was stored: without --dry-run the batch is held for review, with --force it is"
    " published."
)
_HINTS = {"held": REVIEW_HINT, "would_hold": DRY_RUN_HINT}
_DISK_FULL_TEXTS = ("disk is full", "no space left", "disk full", "disk quota")


def start_run(provider: str) -> RefreshRun:
    """Record that a refresh begins, by the holder of the provider's lock: a run that is still
    noted as running was killed."""
    RefreshRun.objects.filter(provider=provider, outcome=RefreshRun.Outcome.RUNNING).update(
        outcome=RefreshRun.Outcome.INTERRUPTED,
        finished_at=timezone.now(),
        message="the process ended before the refresh did",
    )
    return RefreshRun.objects.create(provider=provider)


def finish_run(run: RefreshRun, result: RefreshResult) -> None:
    """Record what came of a refresh. A database that cannot take it does not hide the result."""
    publication = result.publication
    run.outcome = result.outcome
    run.finished_at = timezone.now()
    run.message, run.remedy = result.message, result.hint
    if publication is not None:
        run.offer_count = publication.offers
        run.skipped_count = sum(row["count"] for row in publication.skipped.values())
        run.revision, run.held_batch = publication.revision, publication.held_batch
    try:
        run.save()
    except DatabaseError:
        log.warning("%s: the outcome %s could not be recorded", run.provider, run.outcome)


def hint_for(outcome: str) -> str:
    """What to do about a batch of this outcome; empty where there is nothing to do."""
    return _HINTS.get(outcome, "")


def explain_failure(error: BaseException, where: str) -> tuple[str, str]:
    """(what happened, what to do) for an error in `where` that ended a refresh."""
    if isinstance(error, ProviderUnavailable):
        return error.what, error.hint
    if isinstance(error, Cancelled):
        return "it was stopped", "Run it again."
    text = f"{type(error).__name__}: {error}"
    if is_disk_full(error):
        return f"the disk is full ({text})", "Free disk space and refresh again."
    if isinstance(error, DatabaseError):
        return f"the database refused the revision ({text})", "Check the database; refresh again."
    if isinstance(error, OSError):
        return text, "Check the file or the network and refresh again."
    return f"a defect in {where} ({text})", "Report it with the log; refresh again later."


def is_disk_full(error: BaseException) -> bool:
    """Whether the system, PostgreSQL or SQLite says that there is no room."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return isinstance(error, DatabaseError | sqlite3.Error) and any(
        word in str(error).lower() for word in _DISK_FULL_TEXTS
    )
