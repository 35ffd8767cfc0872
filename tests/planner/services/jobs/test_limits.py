"""How many jobs wait at once, and what those that wait are told."""

from __future__ import annotations

import datetime as dt

import pytest

from planner.models import ANONYMOUS, Job, JobState
from planner.services.jobs import jobs
from planner.services.jobs.jobs import (
    TooManyJobsError,
    kinds_in_queue_of,
    place_in_line,
)
from tests.planner.services.jobs.jobs_of import start
from tests.planner.workspace import Workspace, market

pytestmark = pytest.mark.django_db


@pytest.fixture
def work() -> Workspace:
    market()
    return Workspace("alpha")


@pytest.fixture
def waiting(settings) -> None:
    """Jobs that are started wait: a thread starts on commit, which never comes here."""
    settings.JOBS_BACKEND = "thread"


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize(
    ("setting", "whose"),
    [("JOBS_PER_PERSON", "yours"), ("JOBS_PER_TEAM", "Alpha"), ("JOBS_PER_SERVER", "server")],
)
def test_so_many_jobs_wait_at_most(work: Workspace, settings, setting: str, whose: str) -> None:
    setattr(settings, setting, 2)
    first, _ = start(work), start(work)
    with pytest.raises(TooManyJobsError, match=f"2 jobs wait or run .*{whose}"):
        start(work)
    jobs.cancel(work.access(), first)
    assert start(work).state == JobState.QUEUED


@pytest.mark.usefixtures("waiting")
def test_a_visitor_s_jobs_count_for_their_address(settings) -> None:
    settings.JOBS_PER_VISITOR = 1
    for address in ("ip:192.0.2.1", "ip:192.0.2.2"):
        jobs.start(ANONYMOUS, "comparison", {}, None, visitor=address)
    with pytest.raises(TooManyJobsError, match="1 job waits or runs of yours"):
        jobs.start(ANONYMOUS, "comparison", {}, None, visitor="ip:192.0.2.2")


@pytest.mark.usefixtures("waiting")
def test_a_waiting_job_is_told_its_place(work: Workspace) -> None:
    first, second = start(work), start(work)
    Job.objects.create(kind="price_refresh", created_at=first.created_at - dt.timedelta(hours=1))
    kinds = kinds_in_queue_of("comparison")
    assert [place_in_line(job, kinds) for job in (first, second)] == [1, 2]
    Job.objects.filter(pk=first.pk).update(state=JobState.RUNNING)
    first.refresh_from_db()
    assert [place_in_line(job, kinds) for job in (first, second)] == [None, 1]
