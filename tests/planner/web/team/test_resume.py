"""Nothing typed is lost when a session ends; nothing strange is accepted either."""

from __future__ import annotations

import secrets
import time

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from planner.models import Project, Role
from tests.planner.web.team.texts import text

NEW = {"name": "Typed", "budget": "5000", "budget_period": "total", "watch_threshold": "5"}
HERE = "/team/alpha/projects/new/"


def test_a_page_comes_back_after_signing_in(work, client):
    answer = client.get("/team/alpha/settings/audit/?actor=x")
    assert answer["Location"] == "/accounts/login/?next=/team/alpha/settings/audit/%3Factor%3Dx"


def test_a_form_sent_after_the_session_ended_is_kept(work, client):
    answer = client.post(HERE, NEW)
    assert answer["Location"] == "/accounts/login/?next=/resume/"
    login = {"login": "editor-of-alpha", "password": "pass word 4711", "next": "/resume/"}
    page = text(client.post("/accounts/login/", login, follow=True))
    assert "Nothing is lost" in page
    assert 'name="budget" value="5000"' in page
    assert f'action="{HERE}"' in page
    assert not Project.objects.exists()


def test_what_was_kept_is_offered_once(work, client):
    client.post(HERE, NEW)
    client.force_login(work.users[Role.EDITOR])
    assert "Nothing is lost" in text(client.get("/resume/"))
    assert client.get("/resume/")["Location"] == "/team/"


def test_the_token_of_the_old_form_is_not_kept(work, client):
    client.post(HERE, {**NEW, "csrfmiddlewaretoken": "old-token-of-the-form"})
    client.force_login(work.users[Role.EDITOR])
    assert "old-token-of-the-form" not in text(client.get("/resume/"))


def test_a_form_beyond_measure_is_not_kept(work, client):
    client.post(HERE, {**NEW, "description": "x" * 200_000})
    client.force_login(work.users[Role.EDITOR])
    assert client.get("/resume/")["Location"] == "/team/"


def test_visits_of_one_address_are_left_only_so_much_within_a_minute(work, monkeypatch):
    """Forms without an account had filled the disk: each a visit of its own, for two weeks."""
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    for _ in range(9):  # random, since a visit is compressed
        Client().post(HERE, {**NEW, "description": secrets.token_hex(45_000)})
    assert 100_000 < sum(len(one.session_data) for one in Session.objects.all()) < 250_000


def test_a_fragment_sends_the_whole_page_to_sign_in(work, client):
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/c/x/?a=1"}
    answer = client.get("/c/00000000-0000-0000-0000-000000000000/since/", headers=headers)
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == "/accounts/login/?next=/c/x/%3Fa%3D1"


@pytest.fixture
def strict(work) -> Client:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(work.users[Role.EDITOR])
    return browser


def test_an_old_form_of_our_own_is_offered_again(strict):
    answer = strict.post(HERE, NEW, headers={"Origin": "http://testserver"})
    assert answer.status_code == 403
    assert 'name="name" value="Typed"' in text(answer)


def test_fields_go_by_words_and_who_is_signed_out_is_told_so(strict):
    shown = text(strict.post(HERE, NEW, headers={"Origin": "http://testserver"}))
    assert ">Budget period</dt>" in shown
    assert "opened before you signed in" in shown
    nobody = Client(enforce_csrf_checks=True)
    asked = text(nobody.post(HERE, NEW, headers={"Origin": "http://testserver"}))
    assert "You are not signed in" in asked
    assert "Sign in and submit" in asked


@pytest.mark.parametrize("name", ["password", "password1", "oldpassword", "code"])
def test_a_password_is_neither_shown_nor_kept(work, strict, client, name):
    secret = {"login": "editor-of-alpha", name: "pass word 4711"}
    shown = text(strict.post("/accounts/login/", secret, headers={"Origin": "http://testserver"}))
    assert "editor-of-alpha" in shown
    assert "4711" not in shown
    assert "Submit now" not in shown
    assert 'href="/accounts/login/"' in shown
    client.post(HERE, secret)
    assert "4711" not in str(dict(client.session))


@pytest.mark.parametrize("origin", ["https://elsewhere.test", "null"])
def test_a_form_from_elsewhere_is_refused_outright(strict, origin):
    answer = strict.post(HERE, NEW, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "Typed" not in text(answer)


def test_a_form_without_origin_is_refused_outright(strict):
    assert "Typed" not in text(strict.post(HERE, NEW))


def test_an_upload_beyond_the_limit_is_refused_before_it_is_read(work, client, settings):
    settings.API_MAX_UPLOAD_BYTES = 100
    answer = client.post(HERE, {**NEW, "description": "x" * 500})
    assert answer.status_code == 413
    assert "This is too large" in text(answer)
    assert "split it by month" in text(answer)
    plain = client.post(HERE, "description=" + "x" * 500, "application/x-www-form-urlencoded")
    assert "Shorten its longest texts." in text(plain)


def test_the_api_judges_its_own_bodies(work, client, settings):
    settings.API_MAX_UPLOAD_BYTES = 100
    body = '{"name": "%s"}' % ("x" * 500)
    answer = client.post("/api/v1/comparisons/", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer["Content-Type"].startswith("application/problem+json")
