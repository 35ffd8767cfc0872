"""Jobs: done once whatever goes meanwhile, cancelled when asked, honest about what went wrong."""

import datetime as dt
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.utils import timezone
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError as BrokerDown

from planner import tasks
from planner.models import Access, Job, JobState, Role, Schedule, Scope
from planner.services.jobs import background, jobs, price_refreshes
from planner.services.jobs.jobs import TooManyJobsError, recover_jobs
from planner.services.teams.access import WrongStateError
from pricing import discovery
from pricing.common.invalid_input import InvalidInput
from pricing.models import RefreshRun
from tests.planner.workspace import REQUEST, Workspace

pytestmark = pytest.mark.django_db
OPERATOR = Access(user_id=None, name="op", scopes=frozenset({Scope.REFRESH}), is_operator=True)
WORK = "planner.services.projects.comparisons.comparison_job"


def queued(work: Workspace, **values: object) -> Job:
    plain: dict[str, Any] = {"kind": "comparison", "arguments": {"request": REQUEST}}
    return Job.objects.create(team=work.team, **plain | values)


def lost(work: Workspace, **values: object) -> Job:
    """A running job whose process has said nothing for a minute."""
    silent = timezone.now() - dt.timedelta(minutes=1)
    return queued(
        work, **{"state": JobState.RUNNING, "heartbeat_at": silent, "attempts": 1} | values
    )


def start(work: Workspace) -> Job:
    return jobs.start(work.access(), "comparison", {"request": REQUEST}, work.team)


@pytest.fixture
def waiting(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Jobs that are started wait; the tasks that were asked for."""
    settings.TASKS_INLINE = False
    asked: list[str] = []
    monkeypatch.setattr(background, "submit", lambda task, *_, **__: asked.append(task))
    return asked


def test_a_job_is_done_once(work: Workspace) -> None:
    job = queued(work)
    assert jobs.do_next()
    finished = Job.objects.get(pk=job.pk)
    assert finished.state == JobState.SUCCEEDED
    assert finished.result["scenarios"]
    assert finished.done == finished.total > 0
    assert not jobs.run(job.pk)
    assert not jobs.do_next()
    assert Job.objects.get(pk=job.pk).finished_at == finished.finished_at


def test_a_queued_job_is_cancelled_at_once(work: Workspace) -> None:
    job = jobs.cancel(work.access(Role.EDITOR), queued(work))
    assert job.state == JobState.CANCELLED
    assert not jobs.do_next()
    with pytest.raises(WrongStateError, match="over"):
        jobs.cancel(work.access(), job)


@pytest.mark.parametrize(
    ("deed", "state", "attempts"),
    [
        ("cancelled", JobState.CANCELLED, 1),
        ("broken", JobState.FAILED, 1),
        ("taken over", JobState.RUNNING, 2),
        ("database gone", JobState.SUCCEEDED, 2),
    ],
)
def test_what_becomes_of_a_job_that_is_disturbed(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, deed: str, state: JobState, attempts: int
) -> None:
    failures = iter([OperationalError("the server closed the connection")])

    def disturbed(job: Job, progress: jobs.Progress) -> dict[str, object]:
        if deed == "broken":
            raise RuntimeError("secret detail")
        if deed == "database gone":
            for failure in failures:
                raise failure
            return {}
        if deed == "cancelled":
            jobs.cancel(work.access(), job)
        if deed == "taken over":
            Job.objects.filter(pk=job.pk).update(attempts=2)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            progress.step(1, 2)
        return {"stale": True}

    monkeypatch.setattr(jobs.connection, "close", lambda: None)
    monkeypatch.setattr(WORK, disturbed)
    job = queued(work)
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (state, attempts)
    assert "stale" not in str(job.result)
    assert "secret" not in str(job.error)


def test_every_kind_and_task_is_there() -> None:
    assert all(callable(import_string(path)) for path in jobs.WORK.values())
    assert set(jobs.SCHEDULES) <= set(jobs.WORK)
    assert set(tasks.app.conf.task_routes) <= set(tasks.app.tasks)


@pytest.mark.parametrize(
    ("values", "state", "words"),
    [
        ({}, JobState.SUCCEEDED, "None"),
        ({"heartbeat_at": dt.timedelta(seconds=20)}, JobState.RUNNING, "None"),
        ({"attempts": 5}, JobState.FAILED, "ended 5 times"),
        ({"cancel_requested": True}, JobState.CANCELLED, "None"),
        (
            {"state": JobState.QUEUED, "created_at": dt.timedelta(hours=25)},
            JobState.FAILED,
            "within 24 hours",
        ),
    ],
)
def test_a_job_whose_process_is_gone(
    work: Workspace, values: dict[str, Any], state: JobState, words: str
) -> None:
    now = timezone.now()
    dated = {n: now - v if isinstance(v, dt.timedelta) else v for n, v in values.items()}
    job = lost(work, **dated)
    recover_jobs()
    job.refresh_from_db()
    assert job.state == state
    assert words in str(job.error)


def test_whoever_looks_says_that_jobs_wait(work: Workspace, waiting: list[str]) -> None:
    start(work)
    assert waiting == ["do_next_job"]
    recover_jobs()
    assert waiting == ["do_next_job"] * 2


def test_a_job_is_there_when_the_broker_is_not(
    work: Workspace, settings, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    settings.TASKS_INLINE = False
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1"
    sent: list[str] = []

    def send(*_: object, **__: object) -> None:
        sent.append("refused" if not sent else "sent")
        if len(sent) == 1:
            raise BrokerDown("nobody listens")

    monkeypatch.setattr(tasks.do_next_job, "apply_async", send)
    with django_capture_on_commit_callbacks(execute=True):
        start(work)
        recover_jobs()
    assert sent == ["refused", "sent"]
    assert Job.objects.get().state == JobState.QUEUED


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process as a server whose tasks run in its threads."""
    settings.TASKS_INLINE = False
    background._executor.cache_clear()
    monkeypatch.setattr(background, "_is_stopping", threading.Event())
    monkeypatch.setattr(background, "_schedule", threading.current_thread())
    yield
    background.stop()
    background._executor.cache_clear()


def in_thread(do: Callable[[], object]) -> Callable[..., None]:
    def take(name: str, *_: object) -> None:
        if name == "do_next_job":
            do()

    return take


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("server")
def test_a_slow_delivery_holds_up_no_job_and_a_server_that_ends_begins_none(monkeypatch) -> None:
    answered, done = threading.Event(), threading.Event()
    monkeypatch.setattr("planner.services.webhooks.webhooks.deliver_due", lambda: answered.wait(20))
    monkeypatch.setattr(background, "_run", lambda name, _: tasks.deliver_webhooks())
    background.submit("deliver_webhooks")
    monkeypatch.setattr(background, "_take", in_thread(done.set))
    background.submit("do_next_job")
    try:
        assert done.wait(5)
        done.clear()
        background.stop()
        background.submit("do_next_job")
        assert not done.wait(0.2)
    finally:
        answered.set()


NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("cron", "last", "is_due"),
    [
        ("15 3 * * *", NOON - dt.timedelta(hours=10), True),
        ("15 3 * * *", NOON - dt.timedelta(hours=8), False),
        ("15 3 * * *", NOON - dt.timedelta(days=9), True),
        ("0 6 * * 1", dt.datetime(2026, 11, 16, 6, 0, tzinfo=dt.UTC), False),
        ("0 0 1 1 *", dt.datetime(2025, 12, 31, tzinfo=dt.UTC), True),
        ("", NOON - dt.timedelta(days=9), False),
        ("15 3 * * *", None, False),
    ],
)
def test_a_schedule_that_is_due_is_taken_once(
    settings: Any, monkeypatch: pytest.MonkeyPatch, cron: str, last: Any, is_due: bool
) -> None:
    settings.PRICE_REFRESH_JITTER_SECONDS = 0
    monkeypatch.setattr(jobs.timezone, "now", lambda: NOON)
    if last is not None:
        Schedule.objects.create(name="prices", started_at=last)
    assert jobs.take_turn("prices", cron) == is_due
    assert not jobs.take_turn("prices", cron)


def test_looking_after_starts_what_is_due_and_sends_deliveries(
    settings: Any, waiting: list[str]
) -> None:
    settings.PRICE_REFRESH_SCHEDULE, settings.HOUSEKEEPING_SCHEDULE = "15 3 * * *", ""
    Schedule.objects.create(name="price_refresh", started_at=NOON - dt.timedelta(days=9))
    jobs.look_after()
    jobs.look_after()
    assert [job.kind for job in Job.objects.all()] == ["price_refresh"]
    assert waiting.count("deliver_webhooks") == 2


class FakeProvider:
    title = "fake"

    def __init__(self, name: str) -> None:
        self.name = name

    def fetch(self, context):
        from pricing.ingest.provider import ProviderUnavailable

        context.progress("pages", 1, 3)
        raise ProviderUnavailable(self.name, "it sleeps", "Wake it.")
        yield


@pytest.mark.django_db(transaction=True)
def test_a_refresh_says_what_came_of_each_provider_and_reads_none_twice(monkeypatch) -> None:
    providers = [FakeProvider("fake"), FakeProvider("read")]
    monkeypatch.setattr(discovery, "get_providers", lambda names: providers)
    monkeypatch.setattr(background, "submit", lambda *_, **__: None)
    job = price_refreshes.start_refresh(OPERATOR, [])
    RefreshRun.objects.create(provider="read", outcome="published", offer_count=7)
    jobs.run(job.pk)
    job.refresh_from_db()
    fake, read = job.result["results"]
    assert (fake["provider"], fake["outcome"], fake["revision"]) == ("fake", "failed", None)
    assert "it sleeps" in fake["message"]
    assert (read["outcome"], read["offers"]) == ("published", 7)


def test_prices_are_refreshed_by_operators_alone(work: Workspace) -> None:
    with pytest.raises(PermissionDenied):
        price_refreshes.start_refresh(work.access(), [])
    with pytest.raises(InvalidInput, match="unknown"):
        price_refreshes.start_refresh(OPERATOR, ["nobody"])


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
