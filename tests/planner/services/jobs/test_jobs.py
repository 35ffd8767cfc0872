"""Jobs: done once, cancelled when asked, honest about what went wrong."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied
from django.db import transaction

from planner.models import ANONYMOUS, Access, Job, JobState, Role, Scope
from planner.services.jobs import jobs, price_refreshes
from planner.services.jobs.jobs import (
    KINDS,
    TooManyJobsError,
    background,
    kinds_in_queue_of,
    place_in_line,
)
from planner.services.teams.access import WrongStateError
from pricing import discovery
from pricing.common.invalid_input import InvalidInput
from tests.planner.services.jobs.jobs_of import queued, start
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.django_db
OPERATOR = Access(user_id=None, name="op", scopes=frozenset({Scope.REFRESH}), is_operator=True)


def test_a_job_is_done_once(work: Workspace) -> None:
    job = queued(work)
    jobs.run(str(job.pk))
    finished = Job.objects.get(pk=job.pk)
    assert finished.state == JobState.SUCCEEDED
    assert finished.result["scenarios"]
    assert finished.done == finished.total > 0
    jobs.run(str(job.pk))
    assert Job.objects.get(pk=job.pk).finished_at == finished.finished_at


def test_a_queued_job_is_cancelled_at_once(work: Workspace) -> None:
    job = jobs.cancel(work.access(Role.EDITOR), queued(work))
    assert job.state == JobState.CANCELLED
    jobs.run(str(job.pk))
    assert Job.objects.get().state == JobState.CANCELLED
    with pytest.raises(WrongStateError, match="over"):
        jobs.cancel(work.access(), job)


def test_a_running_job_stops_at_its_next_step(work: Workspace, monkeypatch) -> None:
    def endless(job: Job, progress: jobs.Progress) -> None:
        jobs.cancel(work.access(), job)
        while True:
            progress.step(1, 2)
            time.sleep(0.01)

    monkeypatch.setattr("planner.services.projects.comparisons.comparison_job", endless)
    job = queued(work)
    jobs.run(str(job.pk))
    assert Job.objects.get().state == JobState.CANCELLED


def test_a_bug_says_so_without_showing_itself(work: Workspace, monkeypatch) -> None:
    def broken(job: Job, progress: jobs.Progress) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("planner.services.projects.comparisons.comparison_job", broken)
    job = queued(work)
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert "secret" not in str(job.error)


def test_every_kind_names_a_function_that_is_there() -> None:
    from django.utils.module_loading import import_string

    paths = [kind.work for kind in KINDS.values()] + [kind.clean_up for kind in KINDS.values()]
    for path in (*filter(None, paths), *(task.function for task in background.TASKS.values())):
        assert callable(import_string(path))


def test_every_task_is_known_to_celery() -> None:
    from planner import tasks
    from planner.celery import app

    assert {f"planner.tasks.{name}" for name in background.TASKS} <= set(app.tasks)
    assert tasks.run_job.name == "planner.tasks.run_job"


def test_a_task_is_sent_to_celery_by_name(
    work: Workspace, settings, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    settings.JOBS_BACKEND = "celery"
    sent: list[tuple] = []
    monkeypatch.setattr(
        "planner.celery.app.send_task", lambda *args, **options: sent.append((args, options))
    )
    with django_capture_on_commit_callbacks(execute=True):
        job = jobs.start(work.access(), "comparison", {"request": REQUEST}, work.team)
    options = {"queue": "comparisons", "expires": None}
    assert sent == [(("planner.tasks.run_job", (str(job.pk),)), options)]


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_a_thread_does_it(settings) -> None:
    settings.JOBS_BACKEND = "thread"
    market()
    work = Workspace("alpha")
    with transaction.atomic():
        job = jobs.start(work.access(), "comparison", {"request": REQUEST}, work.team)
    background._executor("comparisons").submit(lambda: None).result(timeout=20)
    assert Job.objects.get(pk=job.pk).state == JobState.SUCCEEDED


@pytest.mark.django_db(transaction=True)
def test_a_slow_delivery_holds_up_no_job(settings, monkeypatch) -> None:
    settings.JOBS_BACKEND = "thread"
    answered, done = threading.Event(), threading.Event()
    monkeypatch.setattr("planner.services.webhooks.webhooks.deliver_due", lambda: answered.wait(20))
    monkeypatch.setattr("planner.services.jobs.jobs.run", lambda job_id: done.set())
    background.submit("deliver_webhooks")
    background.submit("run_job", "1")
    try:
        assert done.wait(5)
    finally:
        answered.set()


class HandTimer:
    """A timer that rings when told to."""

    waiting: list[HandTimer]

    def __init__(self, seconds: float, call: Callable[..., None], args: tuple[str, ...]) -> None:
        self.seconds, self.ring = seconds, lambda: call(*args)

    def start(self) -> None:
        self.waiting.append(self)

    def is_alive(self) -> bool:
        return self in self.waiting

    def cancel(self) -> None:
        self.waiting.remove(self)


# Refreshes --------------------------------------------------------------------------------


class FakeProvider:
    name = title = "fake"

    def fetch(self, context):
        from pricing.ingest.provider import ProviderUnavailable

        context.progress("pages", 1, 3)
        raise ProviderUnavailable("fake", "it sleeps", "Wake it.")
        yield


@pytest.mark.django_db(transaction=True)
def test_a_refresh_says_what_came_of_each_provider(settings, monkeypatch) -> None:
    settings.JOBS_BACKEND = "inline"
    monkeypatch.setattr(discovery, "get_providers", lambda names: [FakeProvider()])
    job = price_refreshes.start_refresh(OPERATOR, [])
    assert job.state == JobState.SUCCEEDED
    row = job.result["results"][0]
    assert (row["provider"], row["outcome"], row["revision"]) == ("fake", "failed", None)
    assert "it sleeps" in row["message"]


def test_prices_are_refreshed_by_operators_alone(work: Workspace) -> None:
    with pytest.raises(PermissionDenied):
        price_refreshes.start_refresh(work.access(), [])
    with pytest.raises(InvalidInput, match="unknown"):
        price_refreshes.start_refresh(OPERATOR, ["nobody"])


# How many jobs wait at once, and what those that wait are told ----------------------------


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
