"""Jobs: work that is started by a request, polled for its progress, and may be cancelled."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.module_loading import import_string

from planner.costing.optimizer.work import WorkCancelledError
from planner.models import ALL_SCOPES, Access, ApiToken, Job, JobState, Role, Team
from planner.services.fair_use.courtesy import JOBS, Visit
from planner.services.jobs import background
from planner.services.jobs.heartbeat import keep_alive
from planner.services.jobs.kinds import KINDS, clean_up_after, queue_of
from planner.services.jobs.limits import OPEN_STATES, check_room, owner_key
from planner.services.jobs.recovery import MAX_ATTEMPTS, put_back
from planner.services.observability.measures import JOB_SECONDS
from planner.services.observability.request_id import current_request_id, use_request_id
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import EDIT, require
from planner.services.work_budget import Budget, spend_from
from pricing.common.invalid_input import InvalidInput

logger = logging.getLogger(__name__)

_WRITE_EVERY_SECONDS = 0.25
DATABASE_GONE = (OperationalError, InterfaceError)
"""What a query raises whose server stopped, restarts or is locked for too long."""


class CancelledError(Exception):
    """Raised inside a job whose cancellation was asked for."""


class Work(Protocol):
    def __call__(self, job: Job, progress: Progress) -> Any: ...


class Progress:
    """How a job says how far it is, and learns that it should stop."""

    def __init__(self, job: Job) -> None:
        self._rows = Job.objects.filter(pk=job.pk, attempts=job.attempts)
        self._written = self._checked = 0.0
        self._is_cancelled = False

    def is_cancelled(self) -> bool:
        """Whether the job is to stop; asks the database now and then, and says that it goes on."""
        now = time.monotonic()
        if now - self._checked >= _WRITE_EVERY_SECONDS:
            self._checked = now
            self._is_cancelled = not self._note()
        return self._is_cancelled

    def step(self, done: int, total: int | None = None, message: str = "") -> None:
        """Notes progress; raises `CancelledError` when the job is to stop."""
        now = time.monotonic()
        if now - self._written < _WRITE_EVERY_SECONDS:
            return
        self._written = now
        if not self._note(done=done, total=total, message=message[:200]):
            raise CancelledError

    def _note(self, **values: Any) -> bool:
        """Writes that the attempt goes on; whether it should, or is to stop or another's now."""
        is_ours = self._rows.update(heartbeat_at=timezone.now(), **values)
        return bool(is_ours) and not self._rows.filter(cancel_requested=True).exists()


def start(
    access: Access, kind: str, arguments: Mapping[str, Any], team: Team | None, visitor: str = ""
) -> Job:
    """A queued job of the team; it begins once the transaction is committed.

    `visitor` is the address of an anonymous caller. Raises `TooManyJobsError`.
    """
    with transaction.atomic():
        check_room(access, team, visitor)
        job = Job.objects.create(
            kind=kind,
            arguments=dict(arguments),
            team=team,
            created_by_id=access.user_id,
            owner=owner_key(access, visitor),
            request_id=current_request_id(),
        )
    background.submit("run_job", str(job.pk), queue=queue_of(kind))
    job.refresh_from_db()
    return job


def cancel(access: Access, job: Job) -> Job:
    """Stops a queued job at once and a running one at its next step."""
    if job.team_id is not None:
        require(access, job.team_id, EDIT)
    return _stop(job)


def stop_jobs_of_token(token: ApiToken) -> None:
    """Stops what a service token asked for; the jobs of a personal token are its person's."""
    owner = Access(token_id=token.pk).person
    for job in Job.objects.filter(owner=owner, state__in=OPEN_STATES):
        with suppress(WrongStateError):  # It ended by itself meanwhile.
            _stop(job)


def _stop(job: Job) -> Job:
    with transaction.atomic():
        current: Job = Job.objects.select_for_update().get(pk=job.pk)
        if current.is_over:
            raise WrongStateError(f"The job is over: {current.state}.")
        current.cancel_requested = True
        ends_now = current.state == JobState.QUEUED
        if ends_now:
            current.state, current.finished_at = JobState.CANCELLED, timezone.now()
        current.save(update_fields=["cancel_requested", "state", "finished_at"])
    if ends_now:
        clean_up_after(current)
    return current


def run(job_id: str) -> None:
    """Does a queued job; a second call finds nothing to do."""
    now = timezone.now()
    claimed = Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.RUNNING, started_at=now, heartbeat_at=now, attempts=F("attempts") + 1
    )
    if not claimed:
        return
    job = Job.objects.select_related("team", "created_by").get(pk=job_id)
    try:
        with use_request_id(job.request_id), keep_alive(job):
            _do(job)
    except DATABASE_GONE:
        logger.warning("The database was gone under job %s (%s).", job.pk, job.kind)
        connection.close()
        if KINDS[job.kind].may_be_repeated and job.attempts < MAX_ATTEMPTS:
            put_back(job)


def _do(job: Job) -> None:
    """One attempt, counted and logged; its end is written."""
    start = time.perf_counter()
    state, result, error = _run_work(job)
    seconds = time.perf_counter() - start
    JOB_SECONDS.labels(job.kind, state.value).observe(seconds)
    facts = {"job": str(job.pk), "kind": job.kind, "state": state.value}
    logger.info("Job %s (%s) %s after %.1f s.", job.pk, job.kind, state.value, seconds, extra=facts)
    _finish(job, state, result, error)


def _finish(job: Job, state: JobState, result: Any, error: Any) -> None:
    """Writes what became of an attempt; nothing where it is another's by now."""
    rows = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts)
    values: dict[str, Any] = {"state": state, "result": result, "error": error}
    if state == JobState.SUCCEEDED:
        total = rows.values_list("total", flat=True).first() or 1
        values |= {"done": total, "total": total}
    if rows.update(finished_at=timezone.now(), **values):
        clean_up_after(job)


def _run_work(job: Job) -> tuple[JobState, Any, Any]:
    work: Callable[[Job, Progress], Any] = import_string(KINDS[job.kind].work)
    progress, visit = Progress(job), Visit(JOBS)
    budget = Budget(
        is_signed_in=lambda: job.created_by_id is not None or job.team_id is not None,
        is_job=True,
        is_cancelled=visit.look_up(progress.is_cancelled),
    )
    try:
        with visit, spend_from(budget):
            return JobState.SUCCEEDED, work(job, progress), None
    except (CancelledError, WorkCancelledError):
        return JobState.CANCELLED, None, None
    except InvalidInput as refusal:
        detail = "The request cannot be used."
        return JobState.FAILED, None, {"detail": detail, "errors": refusal.to_errors()}
    except DATABASE_GONE:
        raise
    except Exception:
        logger.exception("Job %s (%s) failed.", job.pk, job.kind)
        detail = "Internal error; see the server log."
        return JobState.FAILED, None, {"detail": detail, "errors": []}


def access_for_job(job: Job) -> Access:
    """The rights under which a job acts: those of an owner of its own team, nothing beyond."""
    name = job.created_by.get_username() if job.created_by else f"job {job.kind}"
    roles = {job.team_id: Role.OWNER} if job.team_id is not None else {}
    return Access(user_id=job.created_by_id, name=name, roles=roles, scopes=ALL_SCOPES)
