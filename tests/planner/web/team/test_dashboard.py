"""The dashboard: budget, plan, actual, state, what moved; and which team one is in."""

import re

from django.test import Client

from planner.models import Alert, Role
from planner.services.projects import projects
from planner.services.teams import teams
from tests.planner.web.team.texts import text
from tests.planner.workspace import Workspace, person


def dashboard(browser: Client, work: Workspace, query: str = "") -> str:
    return text(browser.get(f"/team/{work.slug}/{query}"))


def test_the_reason_is_asked_for_and_shown_to_the_author(work, signed_in):
    plan = projects.submit(work.access(Role.EDITOR), work.saved())
    assert "Reason, for whoever submitted it" in dashboard(signed_in(Role.APPROVER), work)
    address = f"/c/{plan.pk}/?form=back"
    refused = signed_in(Role.APPROVER).post(address, {"reason": "a" * 501})
    assert refused.status_code == 400
    assert "a" * 501 in text(refused)
    stale = {"reason": "Ask for a <second> quote.", "version": plan.version + 1}
    kept = text(signed_in(Role.APPROVER).post(address, stale))
    assert "Ask for a <second> quote.</textarea>" in kept
    signed_in(Role.APPROVER).post(address, {"reason": "Ask for a <second> quote."})
    told = "“Ask for a <second> quote.”"
    assert f"was sent back to you: {told}" in dashboard(signed_in(Role.EDITOR), work)
    page = text(signed_in(Role.EDITOR).get(f"/c/{plan.pk}/"))
    assert f"Sent back: {told}" in page
    assert "by approver-of-alpha" in page


def test_an_open_alert_is_shown_until_it_was_seen(work, signed_in):
    project = work.project()
    alert = Alert.objects.create(
        team=work.team, project=project, kind="price_move", message="It moved.", currency="USD"
    )
    browser = signed_in(Role.EDITOR)
    assert "It moved." in dashboard(browser, work)
    browser.post(f"/team/alpha/alerts/{alert.pk}/acknowledge/")
    assert "It moved." not in dashboard(browser, work)
    audit = text(signed_in(Role.OWNER).get("/team/alpha/settings/"))
    assert "acknowledged the alert" in audit
    assert re.search(r"<strong>It moved\.</strong>\s", audit)


def test_someone_without_a_team_is_led_to_found_one(client, db):
    client.force_login(person("newcomer"))
    assert client.get("/team/", follow=True).redirect_chain == [("/teams/new/", 302)]
    answer = client.post("/teams/new/", {"name": "Vision", "currency": "USD"}, follow=True)
    assert "you are owner" in text(answer)


def test_the_team_opened_last_is_the_current_one(work, signed_in):
    browser = signed_in()
    teams.create_team(work.access(), "Beta", "beta")
    assert browser.get("/team/")["Location"] == "/team/alpha/"
    assert browser.get("/team/?team=beta")["Location"] == "/team/beta/"
    browser.get("/team/beta/")
    assert browser.get("/team/")["Location"] == "/team/beta/"
