"""Tokens: secrets shown once, revoked at once; and the audit log of it all."""

import re

import pytest

from planner.models import ApiToken, Role, Scope
from planner.services.teams import teams
from tests.planner.web.team.texts import text

TOKENS = "/team/alpha/settings/?form=tokens"
TOKEN = {"name": "Nightly", "kind": "personal", "scopes": ["read"], "days": "30"}


def test_a_token_is_shown_once_and_works(work, signed_in, client):
    browser = signed_in(Role.EDITOR)
    page = text(browser.post(TOKENS, TOKEN))
    found = re.search(r'id="secret">([^<]+)<', page)
    assert found
    assert found[1] not in text(browser.get(TOKENS))
    me = client.get("/api/v1/me/", headers={"Authorization": f"Bearer {found[1]}"})
    assert me.json()["scopes"] == ["read"]


@pytest.fixture
def token(work) -> ApiToken:
    made, _ = teams.create_token(
        work.access(Role.EDITOR), work.team, name="mine", scopes=[Scope.READ], days=3
    )
    return made


def test_members_see_their_own_tokens_and_owners_all(work, token, signed_in):
    def listed(role: Role) -> str:
        page = text(signed_in(role).get(TOKENS))
        return page.partition('id="tokens"')[2].partition('id="alerts"')[0]

    assert "mine" not in listed(Role.VIEWER)
    assert "mine" in listed(Role.EDITOR)
    assert "mine" in listed(Role.OWNER)


SETTINGS = "/team/alpha/settings/"


def test_the_audit_log_says_from_what_to_what(work, signed_in):
    browser = signed_in()
    browser.post(f"{SETTINGS}?form=team", {"name": "Research", "currency": "USD"})
    page = text(browser.get(SETTINGS))
    assert "name: Alpha → Research" in page
    assert "owner-of-alpha" in page
