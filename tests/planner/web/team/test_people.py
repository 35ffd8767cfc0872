"""Members, their roles, and invitation links."""

import re

import pytest

from planner.models import Invitation, Membership, Role, Scope, access_of
from planner.services.teams import teams
from tests.planner.web.team.texts import text
from tests.planner.workspace import Workspace, person

HERE = "/team/alpha/settings/?form=members"
MEMBERS = "/team/alpha/members/"


def member(work: Workspace, role: Role) -> Membership:
    return Membership.objects.get(team=work.team, user=work.users[role])


@pytest.fixture
def link(work) -> str:
    _, secret = teams.invite(work.access(), work.team, Role.EDITOR)
    return f"/join/{secret}/"


def test_a_member_leaves(work, signed_in):
    target = member(work, Role.VIEWER)
    answer = signed_in(Role.VIEWER).post(f"{MEMBERS}{target.pk}/remove/")
    assert answer["Location"] == "/team/"
    assert not Membership.objects.filter(pk=target.pk).exists()


def test_an_invitation_link_is_shown_once(work, signed_in):
    browser = signed_in()
    page = text(browser.post(HERE, {"role": "editor", "days": "3"}))
    assert re.search(r"http://testserver/join/inv_[\w-]+/", page)
    assert "/join/inv_" not in text(browser.get(HERE))


def test_a_revoked_link_no_longer_works(work, link, signed_in, client):
    invitation = Invitation.objects.get()
    signed_in().post(f"/team/alpha/invitations/{invitation.pk}/revoke/")
    assert not Invitation.objects.exists()
    client.force_login(person("newcomer"))
    assert client.get(link).status_code == 404


def test_whoever_opened_a_link_opens_no_account_once_it_is_revoked(
    work, link, signed_in, client, settings
):
    settings.SIGNUP_OPEN = False
    client.get(link)
    assert "closed" not in text(client.get("/accounts/signup/")).lower()
    invitation = Invitation.objects.get()
    signed_in().post(f"/team/alpha/invitations/{invitation.pk}/revoke/")
    assert "closed" in text(client.get("/accounts/signup/")).lower()


def test_whoever_opens_the_link_signed_in_may_join(work, link, client):
    client.force_login(person("newcomer"))
    assert "Join Alpha" in text(client.get(link))
    answer = client.post(link, follow=True)
    assert "Welcome to Alpha" in text(answer)
    assert Membership.objects.get(user__username="newcomer").role == "editor"


def test_a_link_works_once(work, link, client):
    client.force_login(person("newcomer"))
    client.post(link)
    client.force_login(person("second"))
    answer = client.post(link, follow=True)
    assert "is not a valid invitation" in text(answer)
    assert not Membership.objects.filter(user__username="second").exists()


def test_an_invited_visitor_signs_up_though_sign_up_is_closed(work, link, client, settings):
    settings.SIGNUP_OPEN = False
    assert client.get(link)["Location"].startswith("/accounts/login/")
    values = {"username": "fresh", "password1": "pass word 4711", "password2": "pass word 4711"}
    answer = client.post(f"/accounts/signup/?next={link}", {**values, "next": link})
    assert answer["Location"] == link
    client.post(link)
    assert Membership.objects.filter(user__username="fresh", team=work.team).exists()


def test_service_tokens_of_who_is_removed_are_named(work, signed_in):
    """A service token is the team's: it goes on working for whoever knows it."""
    other = person("other-owner")
    made = Membership.objects.create(team=work.team, user=other, role=Role.OWNER)
    teams.create_token(
        access_of(other), work.team, name="ci", scopes=[Scope.READ], days=9, is_service=True
    )
    answer = signed_in().post(f"{MEMBERS}{made.pk}/remove/", follow=True)
    assert "Still working: 1 service token that other-owner made" in text(answer)
