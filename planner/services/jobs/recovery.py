"""Jobs whose process is gone: done again where that changes nothing, else failed in words.

A running job notes every ten seconds that it is alive. One that said nothing for longer belonged
to a process that was killed, or to a machine that is gone; whoever looks next puts it in line
again. Should that process wake up after all, it finds that the attempt is no longer its own, and
nothing of what it did is written.
"""

from __future__ import annotations

import datetime as dt
import logging

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from planner.models import Job, JobState
from planner.services.jobs import background
from planner.services.jobs.kinds import KINDS, queue_of
from planner.services.jobs.kinds import clean_up_after as clean_up

logger = logging.getLogger(__name__)
LOST_AFTER = dt.timedelta(seconds=40)
"""A running job that says nothing for so long ran in a process that is gone."""
START_AGAIN_AFTER = dt.timedelta(seconds=30)
"""A job that waits for so long is sent again, as its message may be lost."""
NEVER_DONE_AFTER = dt.timedelta(days=1)
MAX_ATTEMPTS = 5
"""A job that took its process with it so often is not tried again."""
_AT_ONCE = 50
"""Jobs looked after at most by one call."""


def recover_jobs() -> int:
    """Puts lost jobs in line again, or fails them; says how many it failed.

    Called by the timer, and wherever somebody looks at a job.
    """
    now = timezone.now()
    stalled = Q(state=JobState.RUNNING, heartbeat_at__lt=now - LOST_AFTER)
    failed = sum(_recover(job) for job in Job.objects.filter(stalled)[:_AT_ONCE])
    unclaimed = Q(state=JobState.QUEUED, created_at__lt=now - NEVER_DONE_AFTER)
    hours = NEVER_DONE_AFTER // dt.timedelta(hours=1)
    for job in Job.objects.filter(unclaimed)[:_AT_ONCE]:
        failed += _end(job, f"No worker picked it up within {hours} hours; start it again.")
    if settings.JOBS_BACKEND != "inline":
        _start_again_before(now - START_AGAIN_AFTER)
    return failed


def _recover(job: Job) -> bool:
    """Whether the job failed for good."""
    if job.cancel_requested:
        _end(job, "", JobState.CANCELLED)
        return False
    if not KINDS[job.kind].may_be_repeated:
        return _end(job, "The worker process ended; start the job again.")
    if job.attempts >= MAX_ATTEMPTS:
        return _end(job, f"The worker process ended {job.attempts} times while at it.")
    put_back(job)
    return False


def put_back(job: Job) -> None:
    """Puts the attempt of a running job back in line, unless it is over or another's by now."""
    waiting = {"state": JobState.QUEUED, "heartbeat_at": timezone.now(), "message": ""}
    if _same_attempt(job).update(**waiting):
        logger.warning("Job %s (%s) was interrupted and waits again.", job.pk, job.kind)
        start_again(job)


def _end(job: Job, detail: str, state: JobState = JobState.FAILED) -> bool:
    error = {"detail": detail, "errors": []} if detail else None
    ended = _same_attempt(job).update(state=state, finished_at=timezone.now(), error=error)
    if ended:
        clean_up(job)
    return bool(ended)


def _same_attempt(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=job.state, attempts=job.attempts)


def _start_again_before(moment: dt.datetime) -> None:
    """Jobs that wait since before `moment`, each by one of those who look at the same time."""
    in_line_since = Coalesce("heartbeat_at", "created_at")
    waiting = Job.objects.alias(since=in_line_since).filter(state=JobState.QUEUED, since__lt=moment)
    for job in list(waiting.order_by("since")[:_AT_ONCE]):
        if waiting.filter(pk=job.pk).update(heartbeat_at=timezone.now()):
            start_again(job)


def start_again(job: Job) -> None:
    """Sends a queued job once more; whoever comes first does it, the others nothing.

    Its message ends by the time the next one is sent, so that they do not pile up.
    """
    expires = START_AGAIN_AFTER.total_seconds()
    background.submit("run_job", str(job.pk), queue=queue_of(job.kind), expires=expires)
