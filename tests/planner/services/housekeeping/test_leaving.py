"""Teams and accounts go with all that is theirs alone."""

from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from planner.models import AuditEntry, IdempotencyRecord, Job, Membership, Role, Team, access_of
from planner.services.housekeeping.retention import delete_account, delete_team, list_models
from planner.services.teams import teams
from planner.services.teams.access import WrongStateError
from tests.planner.api.world import World
from tests.planner.workspace import Workspace, person

pytestmark = pytest.mark.django_db


def rows_of(team: Team) -> dict[str, int]:
    return {one.__name__: one._default_manager.filter(team=team).count() for one in list_models()}


def test_a_deleted_team_leaves_its_audit_log_alone() -> None:
    world = World()
    team, other = world.alpha.team, world.beta.team
    others = rows_of(other)
    Job.objects.filter(team=team, kind="sweep").update(state="succeeded")
    delete_team(world.alpha.access(), team)
    assert not any(rows_of(team).values())
    entry = AuditEntry.objects.filter(team=team, action="team.deleted").get()
    assert (entry.before["slug"], entry.before["rows"]["membership"]) == ("alpha", 4)
    team.refresh_from_db()
    assert (team.name, team.slug, team.defaults) == ("Deleted team", f"deleted-{team.pk}", {})
    assert rows_of(other) == others
    again = teams.create_team(access_of(world.alpha.users[Role.OWNER]), "Alpha", slug="alpha")
    assert again.pk != team.pk


def test_only_an_owner_deletes(work: Workspace) -> None:
    with pytest.raises(PermissionDenied):
        delete_team(work.access(Role.APPROVER), work.team)


def test_a_team_at_work_is_not_deleted(work: Workspace) -> None:
    Job.objects.create(team=work.team, kind="comparison", state="running")
    with pytest.raises(WrongStateError, match="running"):
        delete_team(work.access(), work.team)
    assert Membership.objects.filter(team=work.team).count() == 4


def test_an_account_goes_with_its_tokens_and_what_it_approved_stays(work: Workspace) -> None:
    editor = work.users[Role.EDITOR]
    saved = work.saved()
    name = editor.get_username()
    type(saved).objects.filter(pk=saved.pk).update(submitted_by=editor, submitted_as=name)
    IdempotencyRecord.objects.create(owner=f"user:{editor.pk}", key="k", digest="d")
    delete_account(editor)
    assert not get_user_model().objects.filter(username=name).exists()
    assert not IdempotencyRecord.objects.exists()
    saved.refresh_from_db()
    assert (saved.submitted_by, saved.submitter) == (None, name)
    entry = AuditEntry.objects.filter(action="member.removed").get()
    assert entry.before["user"] == name


def test_the_only_owner_of_others_and_the_only_operator_stay(work: Workspace) -> None:
    with pytest.raises(WrongStateError, match=r"only owner of the team Alpha.*or delete the team"):
        delete_account(work.users[Role.OWNER])
    operator = person("operator", is_superuser=True, is_staff=True)
    with pytest.raises(WrongStateError, match="createsuperuser"):
        delete_account(operator)
    person("another", is_superuser=True, is_staff=True)
    delete_account(operator)


def test_a_team_without_other_members_goes_with_its_person() -> None:
    alone = person("alone")
    team = teams.create_team(access_of(alone), "Mine")
    delete_account(alone)
    team.refresh_from_db()
    assert team.name == "Deleted team"


def test_the_pages_ask_for_the_name_first(work: Workspace) -> None:
    browser = Client()
    owner = work.users[Role.OWNER]
    browser.force_login(owner)
    answer = browser.post("/team/alpha/settings/?form=delete", {"confirm": "alpine"})
    assert answer.status_code == 400
    assert "is not" in answer.content.decode()
    answer = browser.post("/team/alpha/settings/?form=delete", {"confirm": "alpha"}, follow=True)
    assert "Alpha is deleted." in answer.content.decode()
    answer = browser.post("/account/", {"confirm": owner.get_username()})
    assert "Your account is deleted" in answer.content.decode()
    assert browser.get("/team/").status_code == 302


def test_the_commands_do_the_same_with_yes(work: Workspace) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match=r"no team 'none'; teams are alpha"):
        call_command("delete", "team", "none")
    with pytest.raises(CommandError, match=r"goes with it but its audit log.*--yes"):
        call_command("delete", "team", "alpha")
    with pytest.raises(CommandError, match="only owner"):
        call_command("delete", "account", "owner-of-alpha", "--yes")
    call_command("delete", "team", "alpha", "--yes", stdout=out)
    with pytest.raises(CommandError, match=r"go with it: none.*--yes"):
        call_command("delete", "account", "owner-of-alpha")
    call_command("delete", "account", "owner-of-alpha", "--yes", stdout=out)
    with pytest.raises(CommandError, match="no account 'owner-of-alpha'"):
        call_command("delete", "account", "owner-of-alpha")
