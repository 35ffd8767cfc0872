"""Pages are limited as the API is, and both share the work of a minute."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

from planner.models import Role
from planner.services import fair_use as rates
from planner.services import fair_use as turns
from tests.planner.web.asking import HOURS, get
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.django_db
COMPARISONS = "/api/v1/comparisons/"


@pytest.fixture(autouse=True)
def _one_minute(monkeypatch):
    cache.clear()
    monkeypatch.setattr(rates.time, "time", lambda: 1_800_000_000.0)
    yield
    cache.clear()


def test_a_visitor_may_open_so_many_pages_a_minute(client: Client, settings, monkeypatch):
    settings.PAGES_ANONYMOUS_PER_MINUTE = 2
    assert [client.get("/market/").status_code for _ in range(3)] == [200, 200, 429]
    refused = client.get("/market/")
    assert refused["Retry-After"] == "60"
    assert "Come back in 60 seconds" in refused.content.decode()
    assert client.get("/market/", REMOTE_ADDR="192.0.2.9").status_code == 200
    monkeypatch.setattr(rates.time, "time", lambda: 1_800_000_060.0)
    assert client.get("/market/").status_code == 200


def test_a_person_has_a_limit_of_their_own(client: Client, settings):
    settings.PAGES_ANONYMOUS_PER_MINUTE, settings.PAGES_PER_MINUTE = 1, 2
    client.get("/market/")
    client.force_login(Workspace("alpha").users[Role.VIEWER])
    assert [client.get("/market/").status_code for _ in range(3)] == [200, 200, 429]


def test_work_on_pages_and_in_the_api_counts_together(client: Client, settings):
    market()
    settings.WORK_ANONYMOUS_PER_MINUTE = 1
    assert get(client, "plan", HOURS).status_code == 200
    page = get(client, "plan", HOURS)
    answer = client.post(COMPARISONS, REQUEST, "application/json")
    assert (page.status_code, answer.status_code) == (429, 429)
    assert answer.headers["Retry-After"] == "60"
    assert client.get("/api/v1/servers/").status_code == 200, "nothing is computed for this"


def test_a_token_pays_for_itself(client: Client, settings):
    market()
    settings.WORK_SIGNED_IN_PER_MINUTE = 1
    tokens = [Workspace(slug).token("read") for slug in ("alpha", "beta")]
    statuses = [
        client.post(
            COMPARISONS, REQUEST, "application/json", headers={"Authorization": f"Bearer {token}"}
        ).status_code
        for token in (tokens[0], tokens[0], tokens[1])
    ]
    assert statuses == [200, 429, 200]


@pytest.mark.django_db(transaction=True)
def test_one_question_too_many_at_once_is_told_to_come_back(client: Client, monkeypatch):
    market()
    monkeypatch.setattr(turns, "MOST_IN_LINE", 0)
    page = get(client, "plan", HOURS)
    answer = client.post(COMPARISONS, REQUEST, "application/json")
    assert (page.status_code, answer.status_code) == (429, 429)
    assert (page["Retry-After"], answer["Retry-After"]) == ("10", "10")
    monkeypatch.undo()
    assert [get(client, "plan", HOURS).status_code for _ in range(2)] == [200, 200]
    assert turns._lines == {}
