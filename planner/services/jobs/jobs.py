"""Jobs: work that is started by a request, polled for its progress, and may be cancelled."""

from __future__ import annotations

import datetime as dt
import logging
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from celery.schedules import crontab
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from planner.costing.optimizer.work import WorkCancelledError
from planner.models import ALL_SCOPES, Access, Job, JobState, Role, Schedule, Team
from planner.services.jobs import background, jobs
from planner.services.observability.logs import current_request_id, use_request_id
from planner.services.observability.measures import JOB_SECONDS
from planner.services.teams.access import EDIT, WrongStateError, require
from planner.services.work_budget import Budget, spend_from
from pricing.common.invalid_input import InvalidInput
from pricing.common.problems import list_errors
from pricing.storage.bulk import wait_in_line

logger = logging.getLogger(__name__)

SERVER = Access(name="schedule", scopes=ALL_SCOPES)
"""Who starts the jobs of a schedule."""
_WRITE_EVERY_SECONDS = 0.25
DATABASE_GONE = (OperationalError, InterfaceError)
"""What a query raises whose server stopped, restarts or is locked for too long."""


class CancelledError(Exception):
    """Raised inside a job whose cancellation was asked for."""


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


def start(access: Access, kind: str, arguments: Mapping[str, Any], team: Team | None) -> Job:
    """A queued job of the team; it begins once the transaction is committed. Raises
    `TooManyJobsError`."""
    job = add(access, kind, arguments, team)
    wake_up(1)
    job.refresh_from_db()
    return job


@transaction.atomic
def add(
    access: Access, kind: str, arguments: Mapping[str, Any], team: Team | None, **values: Any
) -> Job:
    check_room(access, team)
    return Job.objects.create(
        kind=kind,
        arguments=dict(arguments),
        team=team,
        created_by_id=access.user_id,
        owner="" if access.is_anonymous else access.person,
        request_id=current_request_id(),
        **values,
    )


def wake_up(waiting: int, expires: float | None = None) -> None:
    """Says that so many jobs wait; whoever hears of it does the next, and asks for another."""
    for _ in range(min(waiting, MESSAGES_AT_ONCE)):
        background.submit("do_next_job", expires=expires)


def cancel(access: Access, job: Job) -> Job:
    """Stops a queued job or a sweep at once and a running job at its next step."""
    if job.team_id is not None:
        require(access, job.team_id, EDIT)
    with transaction.atomic():
        current: Job = Job.objects.select_for_update().get(pk=job.pk)
        if current.is_over:
            raise WrongStateError(f"The job is over: {current.state}.")
        current.cancel_requested = True
        ends_now = current.state == JobState.QUEUED or current.kind == SWEEP
        if ends_now:
            current.state, current.finished_at = JobState.CANCELLED, timezone.now()
        current.save(update_fields=["cancel_requested", "state", "finished_at"])
        parts = Job.objects.filter(parent=current, state__in=OPEN_STATES)
        parts.filter(state=JobState.QUEUED).update(
            state=JobState.CANCELLED, finished_at=timezone.now()
        )
        parts.update(cancel_requested=True)
    if ends_now:
        settle_sweep(current)
    return current


def do_next() -> bool:
    """Does the job that is next in line; whether there was one."""
    queued = Job.objects.filter(state=JobState.QUEUED).order_by("part", "created_at")
    while pk := queued.values_list("pk", flat=True).first():
        if run(pk):
            return True
    return False


def run(pk: uuid.UUID) -> bool:
    """Does a queued job; False where another process took it."""
    now = timezone.now()
    claimed = Job.objects.filter(pk=pk, state=JobState.QUEUED).update(
        state=JobState.RUNNING, started_at=now, heartbeat_at=now, attempts=F("attempts") + 1
    )
    if not claimed:
        return False
    job = Job.objects.select_related("team", "created_by", "parent").get(pk=pk)
    try:
        with use_request_id(job.request_id), keep_alive(job):
            start = time.perf_counter()
            state, result, error = _run_work(job)
            seconds = time.perf_counter() - start
            JOB_SECONDS.labels(job.kind, state.value).observe(seconds)
            facts = {"job": str(job.pk), "kind": job.kind, "state": state.value}
            logger.info(
                "Job %s (%s) %s after %.1f s.", job.pk, job.kind, state.value, seconds, extra=facts
            )
            values: dict[str, Any] = {"state": state, "result": result, "error": error}
            if state == JobState.SUCCEEDED:
                rows = Job.objects.filter(pk=job.pk)
                total = rows.values_list("total", flat=True).first() or 1
                values |= {"done": total, "total": total}
            _end(job, **values)
    except DATABASE_GONE:
        logger.warning("The database was gone under job %s (%s).", job.pk, job.kind)
        connection.close()
        if job.attempts < MAX_ATTEMPTS:
            put_back(job)
    return True


def _run_work(job: Job) -> tuple[JobState, Any, Any]:
    work: Callable[[Job, Progress], Any] = import_string(WORK[job.kind])
    progress = Progress(job)
    budget = Budget(
        is_signed_in=lambda: job.created_by_id is not None or job.team_id is not None,
        is_job=True,
        is_cancelled=progress.is_cancelled,
        parts=QUESTIONS_PER_CHUNK if job.kind == SWEEP_CHUNK else 1,
    )
    try:
        with spend_from(budget):
            return JobState.SUCCEEDED, work(job, progress), None
    except (CancelledError, WorkCancelledError):
        return JobState.CANCELLED, None, None
    except InvalidInput as refusal:
        detail = "The request cannot be used."
        return JobState.FAILED, None, {"detail": detail, "errors": list_errors(refusal)}
    except DATABASE_GONE:
        raise
    except Exception:
        logger.exception("Job %s (%s) failed.", job.pk, job.kind)
        detail = "Internal error; see the server log."
        return JobState.FAILED, None, {"detail": detail, "errors": []}
    finally:
        budget.measure()


def access_for_job(job: Job) -> Access:
    """The rights under which a job acts: those of an owner of its own team, nothing beyond."""
    name = job.created_by.get_username() if job.created_by else f"job {job.kind}"
    roles = {job.team_id: Role.OWNER} if job.team_id is not None else {}
    return Access(user_id=job.created_by_id, name=name, roles=roles, scopes=ALL_SCOPES)


OPEN_STATES = (JobState.QUEUED, JobState.RUNNING)
COME_BACK_SECONDS = 10


class TooManyJobsError(WrongStateError):
    """So many jobs wait or run already (429)."""


def check_room(access: Access, team: Team | None) -> None:
    """Refuses one job more than somebody, a team or the server may have at once; within the
    transaction that adds it. The server's own are never refused."""
    wait_in_line(Job._meta.label)
    open_jobs = Job.objects.filter(state__in=OPEN_STATES, parent=None)
    if not access.is_anonymous:
        own = open_jobs.filter(owner=access.person)
        _refuse_more(own, settings.JOBS_PER_PERSON, "of yours")
    if team is not None:
        _refuse_more(open_jobs.filter(team=team), settings.JOBS_PER_TEAM, f"of {team.name}")
    if not (access.is_anonymous or access.is_operator):
        _refuse_more(open_jobs, settings.JOBS_PER_SERVER, "on this server")


def _refuse_more(rows: QuerySet[Job], most: int, whose: str) -> None:
    if most and rows.count() >= most:
        jobs = "job waits or runs" if most == 1 else "jobs wait or run"
        raise TooManyJobsError(
            f"{most} {jobs} {whose} already, which is the limit; try again when one has ended, "
            "or cancel one."
        )


SWEEP, SWEEP_CHUNK = "sweep", "sweep_chunk"
"""A job whose chunks are jobs, and runs until all of them are over; one of them."""
QUESTIONS_PER_CHUNK = 25
WORK = {
    "comparison": "planner.services.projects.comparisons.comparison_job",
    SWEEP_CHUNK: "planner.services.projects.comparisons.chunk_job",
    "portfolio": "planner.services.portfolio.portfolios.portfolio_job",
    "saved_portfolio": "planner.services.portfolio.portfolios.save_job",
    "price_refresh": "planner.services.jobs.price_refreshes.refresh_job",
    "housekeeping": "planner.services.housekeeping.retention.housekeeping_job",
    "budget_watch": "planner.services.alerts.alerts.watch_job",
}
"""Kind of job → `f(job, progress) -> result`, by its path, as it stands above this module. An
attempt that was cut off is made again: it is pure, writes all or nothing, or writes what is there
once only."""


def settle_sweep(job: Job) -> None:
    """Ends a sweep once its chunks are over, whether the job is the sweep or a chunk of it."""
    if job.kind in (SWEEP, SWEEP_CHUNK):
        import_string("planner.services.projects.comparisons.settle")(job)


LOST_AFTER = dt.timedelta(seconds=30)
"""A running job that says nothing for so long ran in a process that is gone."""
EVERY_SECONDS = 5.0
"""How often a running job says that it goes on."""
NEVER_DONE_AFTER = dt.timedelta(days=1)
MAX_ATTEMPTS = 5
"""A job that took its process with it so often is not tried again."""
MESSAGES_AT_ONCE = 32
_AT_ONCE = 50
"""Jobs looked after at most by one call."""


def recover_jobs() -> None:
    """Puts lost jobs in line again, or fails them, and says that there are some in line.

    Called every few seconds, and wherever somebody looks at a job.
    """
    now = timezone.now()
    stalled = Job.objects.filter(state=JobState.RUNNING, heartbeat_at__lt=now - LOST_AFTER)
    for job in stalled[:_AT_ONCE]:
        if job.cancel_requested:
            _end(job, state=JobState.CANCELLED)
        elif job.attempts >= MAX_ATTEMPTS:
            _fail(job, f"The worker process ended {job.attempts} times while at it.")
        else:
            put_back(job)
    queued = Job.objects.filter(state=JobState.QUEUED)
    hours = NEVER_DONE_AFTER // dt.timedelta(hours=1)
    for job in queued.filter(created_at__lt=now - NEVER_DONE_AFTER)[:_AT_ONCE]:
        _fail(job, f"No worker picked it up within {hours} hours; start it again.")
    for sweep in Job.objects.filter(kind=SWEEP, state=JobState.RUNNING):
        settle_sweep(sweep)
    if not settings.TASKS_INLINE:
        wake_up(queued[:MESSAGES_AT_ONCE].count(), settings.LOOK_AFTER_SECONDS)


def put_back(job: Job) -> None:
    """Puts the attempt of a running job back in line, unless it is over or another's by now."""
    waiting = {"state": JobState.QUEUED, "heartbeat_at": timezone.now(), "message": ""}
    if _same_attempt(job).update(**waiting):
        logger.warning("Job %s (%s) was interrupted and waits again.", job.pk, job.kind)
        wake_up(1)


def _fail(job: Job, detail: str) -> None:
    _end(job, state=JobState.FAILED, error={"detail": detail, "errors": []})


def _end(job: Job, **values: Any) -> None:
    """Ends the attempt of a job with these values, unless it is over or another's by now."""
    if _same_attempt(job).update(finished_at=timezone.now(), **values):
        settle_sweep(job)


def _same_attempt(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=job.state, attempts=job.attempts)


@contextmanager
def keep_alive(job: Job) -> Iterator[None]:
    """Notes in the database, from a thread of its own, that the job goes on."""
    is_over = threading.Event()
    thread = threading.Thread(target=_note_regularly, args=(job, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _note_regularly(job: Job, is_over: threading.Event) -> None:
    while not is_over.wait(EVERY_SECONDS):
        try:
            _same_attempt(job).update(heartbeat_at=timezone.now())
        except Error as failure:
            logger.warning("Job %s could not say that it goes on: %s", job.pk, failure)
        finally:
            connection.close()


# Schedules --------------------------------------------------------------------------------

SCHEDULES: dict[str, tuple[str, dict[str, list[str]]]] = {
    "price_refresh": ("PRICE_REFRESH_SCHEDULE", {"providers": []}),
    "housekeeping": ("HOUSEKEEPING_SCHEDULE", {}),
}
"""Kind of job → the setting that says when one is started, and its arguments."""


def look_after() -> None:
    """Puts lost jobs in line again, sends what is due, starts the jobs whose time has come: every
    few seconds, by Celery beat or by each server where no broker is set."""
    jobs.recover_jobs()
    background.submit("deliver_webhooks", expires=settings.LOOK_AFTER_SECONDS)
    for kind, (setting, arguments) in SCHEDULES.items():
        with transaction.atomic():
            if take_turn(kind, getattr(settings, setting)):
                jobs.start(jobs.SERVER, kind, arguments, None)


def take_turn(name: str, cron: str) -> bool:
    """Whether a schedule is due and the caller is the first to see it. One whose time passed while
    nothing ran is due at once; a new one waits for its first time."""
    if not cron:
        return False
    now = timezone.now()
    row, _ = Schedule.objects.get_or_create(name=name, defaults={"started_at": now})
    schedule = crontab.from_string(cron)
    schedule.nowfun = timezone.now
    # Servers elsewhere have the same schedule: each asks the providers at a second of its own.
    jitter = random.Random(settings.SECRET_KEY).uniform(0, settings.PRICE_REFRESH_JITTER_SECONDS)  # noqa: S311
    if schedule.remaining_estimate(row.started_at) + dt.timedelta(seconds=jitter) > dt.timedelta():
        return False
    same = Schedule.objects.filter(name=name, started_at=row.started_at)
    return bool(same.update(started_at=now))
