"""A process, the broker or the database goes: no job is lost, none is done twice."""

from __future__ import annotations

import datetime as dt
import runpy
import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.db import OperationalError
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerDown

from planner.models import Job, JobState
from planner.services import timer
from planner.services.jobs import background, jobs
from planner.services.jobs import price_refreshes as price_schedule
from planner.services.jobs.jobs import recover_jobs
from pricing.models import RefreshRun
from pricing.publish.refresh import RefreshResult
from tests.planner.services.jobs.jobs_of import queued, start
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db


def lost(work: Workspace, **values: object) -> Job:
    """A running job whose process has said nothing for a minute."""
    silent = timezone.now() - dt.timedelta(minutes=1)
    plain = {"state": JobState.RUNNING, "heartbeat_at": silent, "attempts": 1}
    return queued(work, **plain | values)


def test_a_job_whose_process_is_gone_is_done_again(work: Workspace) -> None:
    job = lost(work)
    alive = lost(work, heartbeat_at=timezone.now() - dt.timedelta(seconds=20))
    assert recover_jobs() == 0
    job.refresh_from_db()
    alive.refresh_from_db()
    assert (job.state, job.attempts, alive.state) == (JobState.SUCCEEDED, 2, JobState.RUNNING)
    assert job.result["scenarios"]


@pytest.mark.parametrize(
    ("values", "state", "words"),
    [
        ({"attempts": 5}, JobState.FAILED, "ended 5 times"),
        ({"cancel_requested": True}, JobState.CANCELLED, ""),
    ],
)
def test_a_job_that_is_not_done_again_says_why(
    work: Workspace, values: dict, state: JobState, words: str
) -> None:
    job = lost(work, **values)
    assert recover_jobs() == (state == JobState.FAILED)
    job.refresh_from_db()
    assert job.state == state
    assert words in str(job.error)


def test_an_attempt_that_was_given_up_writes_nothing(work: Workspace, monkeypatch) -> None:
    """A process that slept wakes up and finds that its job is another's."""
    seen: list[bool] = []

    def sleeper(job: Job, progress: jobs.Progress) -> dict:
        Job.objects.filter(pk=job.pk).update(attempts=2, message="another's")
        seen.append(progress.is_cancelled())
        return {"stale": True}

    monkeypatch.setattr("planner.services.projects.comparisons.comparison_job", sleeper)
    job = queued(work)
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert seen == [True]
    assert (job.state, job.result, job.message) == (JobState.RUNNING, None, "another's")


def test_a_job_under_which_the_database_went_waits_again(work: Workspace, monkeypatch) -> None:
    failures = iter([OperationalError("the server closed the connection")])

    def interrupted(job: Job, progress: jobs.Progress) -> dict:
        for failure in failures:
            raise failure
        return {"scenarios": []}

    monkeypatch.setattr(jobs.connection, "close", lambda: None)
    monkeypatch.setattr("planner.services.projects.comparisons.comparison_job", interrupted)
    job = queued(work)
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.attempts) == (JobState.SUCCEEDED, 2)


@pytest.fixture
def resubmitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that are put in line, without anything doing them."""
    ids: list[str] = []
    monkeypatch.setattr(background, "submit", lambda task, job_id, **_: ids.append(job_id))
    return ids


@pytest.mark.parametrize("backend", ["thread", "celery"])
def test_a_job_that_waits_for_nobody_is_put_in_line_again(
    work: Workspace, settings, resubmitted: list[str], backend: str
) -> None:
    settings.JOBS_BACKEND = backend
    long = timezone.now() - dt.timedelta(seconds=31)
    orphan = queued(work, created_at=long)
    queued(work, created_at=timezone.now() - dt.timedelta(seconds=20))
    queued(work, created_at=long, state=JobState.CANCELLED)
    assert recover_jobs() == recover_jobs() == 0
    assert resubmitted == [str(orphan.pk)], "once for each such wait, however often it is polled"
    Job.objects.filter(pk=orphan.pk).update(heartbeat_at=long)
    recover_jobs()
    assert resubmitted == [str(orphan.pk)] * 2


@pytest.mark.parametrize("backend", ["thread", "celery", "inline"])
def test_a_job_that_nothing_does_for_a_day_is_failed_in_words(
    work: Workspace, settings, resubmitted: list[str], backend: str
) -> None:
    settings.JOBS_BACKEND = backend
    orphan = queued(work, created_at=timezone.now() - dt.timedelta(hours=25))
    assert recover_jobs() == 1
    orphan.refresh_from_db()
    assert orphan.state == JobState.FAILED
    assert orphan.finished_at is not None
    assert "within 24 hours" in orphan.error["detail"]
    assert resubmitted == []


def test_a_job_is_there_when_the_broker_is_not(
    work: Workspace, settings, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    settings.JOBS_BACKEND = "celery"
    sent: list[str] = []

    def send(task: str, arguments: tuple, **_: object) -> None:
        if not sent:
            sent.append("refused")
            raise BrokerDown("nobody listens")
        sent.append(arguments[0])

    monkeypatch.setattr("planner.celery.app.send_task", send)
    with django_capture_on_commit_callbacks(execute=True):
        job = start(work)
    assert Job.objects.get().state == JobState.QUEUED
    Job.objects.update(created_at=timezone.now() - dt.timedelta(minutes=1))
    with django_capture_on_commit_callbacks(execute=True):
        recover_jobs()
        recover_jobs()
    assert sent == ["refused", str(job.pk)]


@pytest.mark.django_db(transaction=True)
def test_the_timer_sends_what_is_due_and_sets_itself_again(settings, monkeypatch) -> None:
    settings.JOBS_BACKEND = "thread"
    calls: list[tuple] = []
    monkeypatch.setattr(timer.background, "submit", lambda *task, **_: calls.append(task))
    monkeypatch.setattr(timer.background, "submit_later", lambda *task: calls.append(task))
    timer.look_after()
    assert calls == [("deliver_webhooks",), (10.0, "look_after")]


# Prices are read when the schedule is due, once, whoever finds it so ----------------------


NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[list[str]]:
    """The providers of each refresh that is started."""
    settings.PRICE_REFRESH_SCHEDULE = "15 3 * * *"
    settings.PRICE_REFRESH_JITTER_SECONDS = 0
    calls: list[list[str]] = []

    def refresh(providers: Any) -> list[RefreshResult]:
        calls.append([p.name for p in providers])
        for provider in providers:
            RefreshRun.objects.create(provider=provider.name, outcome="published")
        return [RefreshResult(p.name, "published") for p in providers]

    monkeypatch.setattr(price_schedule, "refresh", refresh)
    monkeypatch.setattr(price_schedule.timezone, "now", lambda: NOON)
    monkeypatch.setattr(RefreshRun._meta.get_field("started_at"), "default", lambda: timezone.now())
    return calls


@pytest.mark.parametrize(
    ("schedule", "due"),
    [
        ("15 3 * * *", dt.datetime(2026, 11, 20, 3, 15, tzinfo=dt.UTC)),
        ("0 * * * *", NOON),
        ("0 6 * * 1", dt.datetime(2026, 11, 16, 6, 0, tzinfo=dt.UTC)),
        ("0 0 1 1 *", dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
    ],
)
def test_when_it_was_last_due(settings: Any, schedule: str, due: dt.datetime) -> None:
    settings.PRICE_REFRESH_SCHEDULE = schedule
    assert price_schedule.last_due_time(NOON) == due


def test_every_provider_is_read_once_each_time_it_is_due(read: list[list[str]]) -> None:
    price_schedule.refresh_if_due()
    price_schedule.refresh_if_due()
    assert read == [["aws", "azure", "gcp"]]


def test_the_server_sets_a_timer_where_no_broker_does(
    read: list[list[str]], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From noon to 03:15 are 15 h 15 min."""
    timers: list[tuple[float, str]] = []
    monkeypatch.setattr(
        price_schedule.background, "submit_later", lambda *timer: timers.append(timer)
    )
    settings.JOBS_BACKEND = "celery"
    price_schedule.start_timer()
    assert timers == []
    settings.JOBS_BACKEND = "thread"
    price_schedule.start_timer()
    assert timers == [(54_900.0, "refresh_prices")]


# The timer of a web process, and how the process ends -------------------------------------


HOOKS = runpy.run_path(str(Path(site.BASE_DIR, "gunicorn.conf.py")))


@pytest.mark.parametrize(("backend", "rings"), [("thread", True), ("celery", False)])
def test_a_web_process_looks_after_what_others_left(
    settings: Any, monkeypatch: pytest.MonkeyPatch, backend: str, rings: bool
) -> None:
    settings.JOBS_BACKEND = backend
    timers: list[tuple[float, str]] = []
    monkeypatch.setattr(background, "_set_timer", lambda *timer: timers.append(timer))
    HOOKS["post_worker_init"](None)
    assert timers == ([(5.0, "look_after")] if rings else [])


def test_a_process_that_ends_leaves_what_waits_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    background._executor.cache_clear()
    monkeypatch.setattr(background, "_is_stopping", threading.Event())
    begun, over, done = threading.Event(), threading.Event(), []

    def work(task: str, *arguments: str) -> None:
        begun.set()
        over.wait(5)
        done.append(arguments)

    monkeypatch.setattr(background, "_in_thread", work)
    for job in ("first", "second"):
        background._in_executor("run_job", (job,), "comparisons")
    assert begun.wait(5)
    HOOKS["worker_exit"](None, None)
    over.set()
    background._in_executor("run_job", ("third",), "comparisons")
    background._executor("comparisons").shutdown(wait=True)
    background._executor.cache_clear()
    assert done == [("first",)]
