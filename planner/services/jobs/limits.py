"""How many jobs may wait or run at once: of one visitor, one person, one team, the server."""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet

from planner.models import Access, Job, JobState, Team
from planner.services.teams.errors import WrongStateError
from pricing.storage.locks import wait_in_line

OPEN_STATES = (JobState.QUEUED, JobState.RUNNING)
COME_BACK_SECONDS = 10


class TooManyJobsError(WrongStateError):
    """So many jobs wait or run already (429)."""


def owner_key(access: Access, visitor: str) -> str:
    """Whose a job is: a person's, a token's, an anonymous visitor's, or "" for the server's own."""
    return visitor if access.is_anonymous else access.person


def check_room(access: Access, team: Team | None, visitor: str) -> None:
    """Refuses one job more than a visitor, a team or the server may have at once; within the
    transaction that adds it."""
    wait_in_line(Job._meta.label)
    open_jobs = Job.objects.filter(state__in=OPEN_STATES)
    owner = owner_key(access, visitor)
    if owner:
        most = settings.JOBS_PER_VISITOR if access.is_anonymous else settings.JOBS_PER_PERSON
        _refuse_more(open_jobs.filter(owner=owner), most, "of yours")
    if team is not None:
        _refuse_more(open_jobs.filter(team=team), settings.JOBS_PER_TEAM, f"of {team.name}")
    if owner and not access.is_operator:
        _refuse_more(open_jobs, settings.JOBS_PER_SERVER, "on this server")


def _refuse_more(rows: QuerySet[Job], most: int, whose: str) -> None:
    if most and rows.count() >= most:
        jobs = "job waits or runs" if most == 1 else "jobs wait or run"
        raise TooManyJobsError(
            f"{most} {jobs} {whose} already, which is the limit; try again when one has ended, "
            "or cancel one."
        )


def place_in_line(job: Job, kinds: tuple[str, ...]) -> int | None:
    """1 for the queued job that is next of those kinds; None for one that waits no more."""
    if job.state != JobState.QUEUED:
        return None
    before = Job.objects.filter(state=JobState.QUEUED, kind__in=kinds)
    return before.filter(created_at__lt=job.created_at).count() + 1
