"""What machines ask: answered by any address and over plain http, whatever is away."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import OperationalError
from django.http import HttpResponse
from django.test import RequestFactory
from health_check.exceptions import ServiceUnavailable

from planner.models import Job
from planner.services.jobs import jobs
from planner.services.observability import measures
from planner.services.observability.logs import OfRequest
from planner.web.middleware import Probes, RequestLog
from tests.planner.workspace import REQUEST, SEEN, Workspace, market

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _as_deployed(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["planner.example.com"]
    settings.SECURE_SSL_REDIRECT = True


def test_alive_needs_no_database_no_host_name_and_no_https(
    client: Any, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        answer = client.get("/livez", headers={"Host": "10.1.2.3:8000"})
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert answer["Cache-Control"] == "no-store"
    assert client.post("/livez", headers={"Host": "10.1.2.3"}).status_code == 405


def test_a_page_still_needs_its_host_and_https(client: Any) -> None:
    assert client.get("/", headers={"Host": "10.1.2.3"}).status_code == 400
    assert client.get("/", headers={"Host": "planner.example.com"}).status_code == 301


@pytest.fixture
def ask(client: Any) -> Any:
    def ask(query: str = "") -> tuple[int, dict[str, str]]:
        answer = client.get(f"/readyz{query}", headers={"Host": "10.1.2.3", "Accept": "image"})
        return answer.status_code, answer.json()

    return ask


def test_old_prices_are_told_to_who_asks_strictly(ask: Any) -> None:
    market()
    served = {"database": "ok", "migrations": "ok"}
    with time_machine.travel(SEEN + dt.timedelta(days=1), tick=False):
        assert ask("?strict=1") == (200, served | {"prices": "ok"})
    with time_machine.travel(SEEN + dt.timedelta(days=40), tick=False):
        assert ask() == (200, served)
        assert ask("?strict=1") == (503, served | {"prices": "Warning: old: aws spot"})


def test_an_empty_market_and_a_broker_that_is_away_are_said(ask: Any, settings: Any) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    status, states = ask("?strict=1")
    assert status == 503
    assert "load_catalog" in states["prices"]
    assert states["broker"] != "ok"


def test_without_a_database_nothing_can_be_served(ask: Any, monkeypatch: Any, caplog: Any) -> None:
    def fail(_check: object) -> None:
        raise ServiceUnavailable("db.internal refused") from OperationalError("no such user")

    monkeypatch.setattr(measures.Database, "run", fail)
    status, states = ask()
    assert (status, states["database"]) == (503, "failed; see the server log")
    assert "db.internal refused" in caplog.text


def test_a_migration_that_is_not_applied_keeps_requests_away(ask: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(measures.MigrationExecutor, "migration_plan", lambda *_: [("0007", False)])
    status, states = ask()
    assert status == 503
    assert "manage.py migrate" in states["migrations"]


def test_measures_are_for_who_holds_the_token(client: Any, settings: Any) -> None:
    def ask(**headers: str) -> Any:
        return client.get("/metrics", headers={"Host": "10.1.2.3", **headers})

    assert ask().status_code == 404
    settings.METRICS_TOKEN = "a long token"
    assert ask().status_code == 401
    assert ask(Authorization="Bearer another").status_code == 401
    assert ask(Authorization="Bearer é").status_code == 401
    answer = ask(Authorization="Bearer a long token")
    assert answer.status_code == 200
    assert "planner_oldest_queued_job_seconds" in answer.content.decode()


def test_a_request_is_measured_by_its_route_and_logged_with_its_id(
    client: Any, settings: Any, caplog: Any
) -> None:
    settings.METRICS_TOKEN = "token"
    settings.SECURE_SSL_REDIRECT = False
    settings.LOG_FORMAT = "json"
    headers = {"Host": "planner.example.com", "X-Request-Id": "asked-1"}
    with caplog.at_level("INFO", "planner.requests"):
        answer = client.get("/join/inv_secret/", headers=headers)
    assert answer["X-Request-Id"] == "asked-1"
    (record,) = [one for one in caplog.records if one.name == "planner.requests"]
    assert (record.route, record.status) == ("/join/<str:secret>/", answer.status_code)
    measures = client.get("/metrics", headers={"Authorization": "Bearer token"}).content.decode()
    assert 'route="/join/<str:secret>/"' in measures
    assert "inv_secret" not in measures + caplog.text


def test_a_job_is_logged_with_the_id_of_its_request(
    client: Any, settings: Any, caplog: Any
) -> None:
    settings.TASKS_INLINE = False
    settings.SECURE_SSL_REDIRECT = False
    market()
    work = Workspace("alpha")
    client.force_login(next(iter(work.users.values())))
    job = Job.objects.create(
        team=work.team, kind="comparison", arguments={"request": REQUEST}, request_id="asked-2"
    )
    with caplog.at_level("INFO", "planner.services.jobs.jobs"):
        jobs.run(job.pk)
    (record,) = [one for one in caplog.records if hasattr(one, "state")]
    assert (OfRequest().filter(record), record.request_id) == (True, "asked-2")
    assert record.state == "succeeded"


@pytest.mark.parametrize("path", ["/livez", "/market/"])
def test_an_answer_to_head_has_no_body(path: str) -> None:
    """Of the test client it never has one."""
    view = RequestLog(Probes(lambda request: HttpResponse(b"page", headers={"Content-Length": 4})))
    answer = view(RequestFactory().head(path))
    assert (answer.status_code, answer.content) == (200, b"")
    assert view(RequestFactory().get(path)).content != b""
