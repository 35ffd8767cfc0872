"""A sweep over the API: its rows, its limits, and what becomes of it when a chunk fails."""

from typing import Any

import pytest
from django.test import Client

from planner.models import Job, JobState, Role, SweepRow
from planner.services.jobs import background, jobs
from planner.services.projects import comparisons
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.django_db
URL = "/api/v1/sweeps/"
GRID = {"horizon_months": [2, 3], "constraints.regions": [["nowhere-1"], None]}


def signed_in(work: Workspace) -> Client:
    client = Client()
    client.force_login(work.users[Role.OWNER])
    return client


def post(client: Client, body: dict[str, Any]) -> Any:
    return client.post(URL, body, content_type="application/json")


@pytest.fixture
def client(settings: Any) -> Client:
    settings.SECURE_SSL_REDIRECT = False
    market()
    return signed_in(Workspace("alpha"))


def test_every_combination_has_its_row(client: Client) -> None:
    answer = post(client, {"request": REQUEST, "variations": GRID})
    assert answer.status_code == 202, answer.content
    sweep = client.get(answer["Location"]).json()
    assert (sweep["state"], sweep["done"], sweep["total"]) == ("succeeded", 4, 4)
    page = client.get(f"{URL}{sweep['id']}/rows/?page_size=3").json()
    rows = page["results"] + client.get(page["next"]).json()["results"]
    assert [row["index"] for row in rows] == [0, 1, 2, 3]
    assert rows[1]["values"] == {"horizon_months": 2, "constraints.regions": None}
    assert [row["row"] is None for row in rows] == [True, False, True, False]
    assert rows[0]["errors"][0]["field"] == "constraints.regions"
    assert rows[1]["row"]["total_cost"] != rows[3]["row"]["total_cost"]
    assert not Job.objects.filter(kind="sweep_chunk").exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "give either"),
        ({"request": REQUEST}, "give either"),
        ({"request": REQUEST, "variations": GRID, "requests": [REQUEST]}, "give either"),
        ({"request": REQUEST, "variations": {"horizon_months": [1] * 5001}}, "5"),
        ({"request": REQUEST, "variations": {"a": [1] * 80, "b": [1] * 80}}, "make 6,400"),
        ({"request": REQUEST, "variations": {str(n): [1] for n in range(21)}}, "at most 20"),
        ({"request": REQUEST, "variations": {"name": ["x" * 501]}}, "500 characters"),
        ({"request": REQUEST, "variations": {"horizon_months.x": [1]}}, "not inside"),
        ({"requests": [REQUEST], "team": "beta"}, "none of your teams"),
    ],
)
def test_a_sweep_that_cannot_be_used_is_refused(client: Client, body: dict, words: str) -> None:
    answer = post(client, body)
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert not Job.objects.exists()


def test_of_another_team_it_answers_like_one_that_is_missing(client: Client) -> None:
    pk = post(client, {"requests": [REQUEST]}).json()["id"]
    other = signed_in(Workspace("beta"))
    missing = "0" * 8 + pk[8:]
    answers = [other.get(f"{URL}{one}/rows/") for one in (pk, missing)]
    assert [one.status_code for one in answers] == [404, 404]
    assert answers[0].content.replace(pk.encode(), missing.encode()) == answers[1].content
    assert post(Client(), {"requests": [REQUEST]}).status_code == 401


@pytest.fixture
def waiting(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A sweep of two chunks that nobody has begun."""
    settings.TASKS_INLINE = False
    market()
    monkeypatch.setattr(background, "submit", lambda *_, **__: None)
    monkeypatch.setattr(jobs, "QUESTIONS_PER_CHUNK", 2)
    work = Workspace("alpha")
    return comparisons.start_sweep(
        work.access(), work.team, requests=[REQUEST, {"start": 1}, REQUEST]
    )


def test_other_jobs_come_first_and_a_chunk_done_twice_writes_once(waiting: Job) -> None:
    Job.objects.create(kind="comparison", arguments={"request": REQUEST})
    assert jobs.do_next()
    assert SweepRow.objects.count() == 0
    assert jobs.do_next()
    first = Job.objects.get(part=1)
    rows = list(SweepRow.objects.values())
    assert [row["errors"] is None for row in rows] == [True, False]
    Job.objects.filter(pk=first.pk).update(state=JobState.QUEUED)
    assert jobs.do_next()
    assert list(SweepRow.objects.values()) == rows
    assert jobs.do_next()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.done) == (JobState.SUCCEEDED, 3)


def test_a_chunk_that_fails_says_so_in_its_rows(waiting: Job, monkeypatch) -> None:
    Job.objects.filter(part=1).update(
        state=JobState.RUNNING, attempts=5, heartbeat_at=waiting.created_at - jobs.NEVER_DONE_AFTER
    )
    jobs.recover_jobs()
    assert jobs.do_next()
    waiting.refresh_from_db()
    assert waiting.state == JobState.SUCCEEDED
    messages = [row.errors and row.errors[0]["message"] for row in waiting.rows.all()]
    assert "ended 5 times" in messages[0]
    assert messages[2] is None


def test_a_sweep_is_one_job_of_its_owner_and_is_cancelled_with_its_chunks(
    waiting: Job, settings: Any
) -> None:
    settings.JOBS_PER_TEAM = 2
    jobs.add(jobs.SERVER, "comparison", {}, waiting.team, state=JobState.CANCELLED)
    jobs.check_room(jobs.SERVER, waiting.team)
    assert jobs.do_next()
    jobs.cancel(jobs.access_for_job(waiting), waiting)
    assert not jobs.do_next()
    states = {job.state for job in Job.objects.filter(parent=waiting)}
    assert states == {JobState.SUCCEEDED, JobState.CANCELLED}
    assert waiting.rows.count() == 2
