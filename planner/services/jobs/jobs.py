"""Jobs: work that is started by a request, polled for its progress, and may be cancelled."""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.module_loading import import_string

from planner.costing.optimizer.work import WorkCancelledError
from planner.models import ALL_SCOPES, Access, Job, JobState, Role, Team
from planner.services.jobs import background
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import EDIT, require
from planner.services.work_budget import Budget, spend_from
from pricing.common.invalid_input import InvalidInput

logger = logging.getLogger(__name__)

KINDS = {
    "comparison": "planner.services.projects.comparisons.comparison_job",
    "comparison_batch": "planner.services.projects.comparisons.batch_job",
    "portfolio": "planner.services.portfolio.portfolios.portfolio_job",
    "saved_portfolio": "planner.services.portfolio.portfolios.save_job",
    "project_reprice": "planner.services.projects.reprice.project_job",
    "price_refresh": "planner.services.jobs.price_refreshes.refresh_job",
    "actuals_upload": "planner.services.actuals.uploads.upload_job",
    "budget_watch": "planner.services.alerts.budget_watch.watch_job",
}
"""Kind of a job → the function that does it: `f(job, progress) -> result`."""

_WRITE_EVERY_SECONDS = 0.25
LOST_AFTER = dt.timedelta(minutes=30)
"""A running job that says nothing for so long ran in a process that is gone."""
START_AGAIN_AFTER = {"thread": dt.timedelta(minutes=5), "celery": dt.timedelta(hours=1)}
"""By backend: a job that waits for so long may wait for a process that is gone."""
NEVER_DONE_AFTER = dt.timedelta(days=1)
_AT_ONCE = 50
"""Jobs put in line again at most by one poll."""


class CancelledError(Exception):
    """Raised inside a job whose cancellation was asked for."""


class Work(Protocol):
    def __call__(self, job: Job, progress: Progress) -> Any: ...


class Progress:
    """How a job says how far it is, and learns that it should stop."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._written = self._checked = 0.0
        self._is_cancelled = False

    def is_cancelled(self) -> bool:
        """Whether the job is to stop; asks the database now and then, and says that it goes on."""
        now = time.monotonic()
        if now - self._checked >= _WRITE_EVERY_SECONDS:
            self._checked = now
            rows = Job.objects.filter(pk=self._job.pk)
            rows.update(heartbeat_at=timezone.now())
            self._is_cancelled = rows.filter(cancel_requested=True).exists()
        return self._is_cancelled

    def step(self, done: int, total: int | None = None, message: str = "") -> None:
        """Notes progress; raises `CancelledError` when the job is to stop."""
        now = time.monotonic()
        if now - self._written < _WRITE_EVERY_SECONDS:
            return
        self._written = now
        rows = Job.objects.filter(pk=self._job.pk)
        rows.update(done=done, total=total, message=message[:200], heartbeat_at=timezone.now())
        if rows.filter(cancel_requested=True).exists():
            raise CancelledError


def start(access: Access, kind: str, arguments: Mapping[str, Any], team: Team | None) -> Job:
    """A queued job of the team; it begins once the transaction is committed."""
    job = Job.objects.create(
        kind=kind, arguments=dict(arguments), team=team, created_by_id=access.user_id
    )
    background.submit("run_job", str(job.pk))
    job.refresh_from_db()
    return job


def cancel(access: Access, job: Job) -> Job:
    """Stops a queued job at once and a running one at its next step."""
    if job.team_id is not None:
        require(access, job.team_id, EDIT)
    with transaction.atomic():
        current: Job = Job.objects.select_for_update().get(pk=job.pk)
        if current.is_over:
            raise WrongStateError(f"The job is over: {current.state}.")
        current.cancel_requested = True
        if current.state == JobState.QUEUED:
            _end(current, JobState.CANCELLED)
        current.save()
    return current


def run(job_id: str) -> None:
    """Does a queued job; a second call finds nothing to do."""
    claimed = Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.RUNNING, started_at=timezone.now(), heartbeat_at=timezone.now()
    )
    if not claimed:
        return
    job = Job.objects.select_related("team", "created_by").get(pk=job_id)
    state, result, error = _run_work(job)
    job.refresh_from_db()
    job.result, job.error = result, error
    if state == JobState.SUCCEEDED:
        job.done = job.total = job.total or 1
    _end(job, state)
    job.save()


def _run_work(job: Job) -> tuple[JobState, Any, Any]:
    work: Callable[[Job, Progress], Any] = import_string(KINDS[job.kind])
    progress = Progress(job)
    budget = Budget(
        is_signed_in=lambda: job.created_by_id is not None or job.team_id is not None,
        is_job=True,
        is_cancelled=progress.is_cancelled,
    )
    try:
        with spend_from(budget):
            return JobState.SUCCEEDED, work(job, progress), None
    except (CancelledError, WorkCancelledError):
        return JobState.CANCELLED, None, None
    except InvalidInput as refusal:
        errors = [{"field": e.field, "message": e.message} for e in refusal.all()]
        return JobState.FAILED, None, {"detail": "The request cannot be used.", "errors": errors}
    except Exception:
        logger.exception("Job %s (%s) failed.", job.pk, job.kind)
        detail = "Internal error; see the server log."
        return JobState.FAILED, None, {"detail": detail, "errors": []}


def _end(job: Job, state: JobState) -> None:
    job.state = state
    job.finished_at = timezone.now()


def mark_lost() -> int:
    """Fails jobs whose process is gone, and puts in line again those that nothing seems to do.

    Called wherever jobs are read; says how many it failed.
    """
    now = timezone.now()
    stalled = Q(state=JobState.RUNNING, heartbeat_at__lt=now - LOST_AFTER)
    lost = _fail(stalled, "The worker process ended; start the job again.")
    never_started = Q(state=JobState.QUEUED, created_at__lt=now - NEVER_DONE_AFTER)
    hours = NEVER_DONE_AFTER // dt.timedelta(hours=1)
    unclaimed = f"No worker picked it up within {hours} hours; start it again."
    lost += _fail(never_started, unclaimed)
    if wait := START_AGAIN_AFTER.get(settings.JOBS_BACKEND):
        _start_again_before(now - wait)
    return lost


def _fail(which: Q, detail: str) -> int:
    return Job.objects.filter(which).update(
        state=JobState.FAILED,
        finished_at=timezone.now(),
        error={"detail": detail, "errors": []},
    )


def _start_again_before(moment: dt.datetime) -> None:
    """Jobs that wait since before `moment`, each by one of those who poll at the same time."""
    in_line_since = Coalesce("heartbeat_at", "created_at")
    waiting = Job.objects.alias(since=in_line_since).filter(state=JobState.QUEUED, since__lt=moment)
    for job in list(waiting.order_by("since")[:_AT_ONCE]):
        if waiting.filter(pk=job.pk).update(heartbeat_at=timezone.now()):
            start_again(job)


def start_again(job: Job) -> None:
    """Puts a queued job in line once more; whoever comes first does it, the others nothing."""
    background.submit("run_job", str(job.pk))


def access_for_job(job: Job) -> Access:
    """The rights under which a job acts: those of an owner of its own team, nothing beyond."""
    name = job.created_by.get_username() if job.created_by else f"job {job.kind}"
    roles = {job.team_id: Role.OWNER} if job.team_id is not None else {}
    return Access(user_id=job.created_by_id, name=name, roles=roles, scopes=ALL_SCOPES)
