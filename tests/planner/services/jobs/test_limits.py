"""How many jobs wait at once, and what those that wait are told."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection

from planner.models import ANONYMOUS, Access, Job, JobState
from planner.services.jobs import jobs
from planner.services.jobs.jobs import (
    TooManyJobsError,
    check_room,
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
def test_what_the_server_asks_of_itself_is_not_limited(settings) -> None:
    settings.JOBS_PER_SERVER = 0
    settings.JOBS_PER_PERSON = settings.JOBS_PER_VISITOR = 1
    for _ in range(2):
        jobs.start(Access(name="budget watch"), "budget_watch", {}, None)
    assert Job.objects.filter(owner="").count() == 2


@pytest.mark.usefixtures("waiting")
def test_a_waiting_job_is_told_its_place(work: Workspace) -> None:
    first, second = start(work), start(work)
    Job.objects.create(kind="price_refresh", created_at=first.created_at - dt.timedelta(hours=1))
    kinds = kinds_in_queue_of("comparison")
    assert [place_in_line(job, kinds) for job in (first, second)] == [1, 2]
    Job.objects.filter(pk=first.pk).update(state=JobState.RUNNING)
    first.refresh_from_db()
    assert [place_in_line(job, kinds) for job in (first, second)] == [None, 1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("waiting")
def test_no_two_jobs_take_the_last_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight forms sent at once had started five jobs where two are allowed."""
    held: list[bool] = []
    monkeypatch.setattr(jobs.background, "submit", lambda *_, **__: None)

    def note(*arguments: object) -> None:
        check_room(*arguments)  # type: ignore[arg-type]
        held.append(connection.in_atomic_block)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT count(*) FROM pg_locks"
                    " WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
                )
                held.append(cursor.fetchone() == (1,))

    monkeypatch.setattr(jobs, "check_room", note)
    jobs.start(ANONYMOUS, "comparison", {}, None, visitor="ip:192.0.2.1")
    assert held
    assert all(held)
