"""A team's data is taken along whole; teams and accounts go with all that is theirs alone."""

from __future__ import annotations

import io
import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from planner.models import (
    AuditEntry,
    IdempotencyRecord,
    Job,
    Membership,
    Role,
    Scope,
    Team,
    access_of,
)
from planner.services.housekeeping.deletion import (
    delete_account,
    delete_team,
    export_team,
    list_tables,
    outlives_its_team,
)
from planner.services.teams import teams
from planner.services.teams.access import WrongStateError
from tests.planner.api.world import World
from tests.planner.workspace import Workspace, person

pytestmark = pytest.mark.django_db


def rows_of(team: Team) -> dict[str, int]:
    return {table.name: table.rows(team).count() for table in list_tables()}


def read(archive: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        return {
            name.removesuffix(".jsonl"): [json.loads(line) for line in files.open(name)]
            for name in files.namelist()
            if name.endswith(".jsonl")
        }


def test_an_export_holds_every_row_and_no_secret() -> None:
    world = World()
    team = world.alpha.team
    secret = world.alpha.token(Scope.READ)
    file = io.BytesIO()
    counts = export_team(world.alpha.access(), team, file)
    content = read(file.getvalue())
    assert {name: len(rows) for name, rows in content.items()} == counts
    assert counts == {"team": 1} | rows_of(team)
    assert counts["savedcomparison"] > 0
    assert content["team"][0]["fields"]["slug"] == "alpha"
    assert content["savedcomparison"][0]["fields"]["answer"]["scenarios"]
    people = {name for row in content["membership"] for name in row["fields"]["user"]}
    assert people >= {"owner-of-alpha"}
    assert all("digest" not in row["fields"] for rows in content.values() for row in rows)
    assert secret.encode() not in file.getvalue()
    assert len(content["team"]) == 1
    assert AuditEntry.objects.filter(team=team, action="team.exported").exists()


def test_a_deleted_team_leaves_its_audit_log_alone() -> None:
    world = World()
    team, other = world.alpha.team, world.beta.team
    others = rows_of(other)
    Job.objects.filter(team=team, kind="sweep").update(state="succeeded")
    delete_team(world.alpha.access(), team)
    left = {name: count for name, count in rows_of(team).items() if count}
    assert left.keys() == {"auditentry"}
    entry = AuditEntry.objects.filter(team=team, action="team.deleted").get()
    assert (entry.before["slug"], entry.before["rows"]["membership"]) == ("alpha", 4)
    team.refresh_from_db()
    assert (team.name, team.slug, team.defaults) == ("Deleted team", f"deleted-{team.pk}", {})
    assert rows_of(other) == others
    assert outlives_its_team(next(t for t in list_tables() if t.name == "auditentry"))
    again = teams.create_team(access_of(world.alpha.users[Role.OWNER]), "Alpha", slug="alpha")
    assert again.pk != team.pk


def test_only_an_owner_takes_along_or_deletes(work: Workspace) -> None:
    for action in (lambda a: delete_team(a, work.team), lambda a: export_team(a, work.team, None)):
        with pytest.raises(PermissionDenied):
            action(work.access(Role.APPROVER))


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
    archive = browser.get("/team/alpha/settings/export/")
    assert archive["Content-Disposition"].startswith('attachment; filename="alpha-20')
    assert "no-store" in archive["Cache-Control"]
    assert "membership" in read(b"".join(archive.streaming_content))  # type: ignore[attr-defined]
    answer = browser.post("/team/alpha/settings/delete/", {"confirm": "alpine"})
    assert answer.status_code == 400
    assert "is not" in answer.content.decode()
    answer = browser.post("/team/alpha/settings/delete/", {"confirm": "alpha"}, follow=True)
    assert "Alpha is deleted." in answer.content.decode()
    answer = browser.post("/account/", {"confirm": owner.get_username()})
    assert "Your account is deleted" in answer.content.decode()
    assert browser.get("/team/").status_code == 302


def test_the_commands_do_the_same_with_yes(work: Workspace, tmp_path: Path) -> None:
    out = StringIO()
    file = tmp_path / "alpha.zip"
    call_command("export_team", "alpha", str(file), stdout=out)
    assert "project" in read(file.read_bytes())
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match=r"cannot be written: File exists"):
        call_command("export_team", "alpha", str(file))
    with pytest.raises(CommandError, match=r"no team 'none'; teams are alpha"):
        call_command("delete", "team", "none")
    with pytest.raises(CommandError, match=r"export_team alpha FILE.*--yes"):
        call_command("delete", "team", "alpha")
    with pytest.raises(CommandError, match="only owner"):
        call_command("delete", "account", "owner-of-alpha", "--yes")
    call_command("delete", "team", "alpha", "--yes", stdout=out)
    with pytest.raises(CommandError, match=r"go with it: none.*--yes"):
        call_command("delete", "account", "owner-of-alpha")
    call_command("delete", "account", "owner-of-alpha", "--yes", stdout=out)
    with pytest.raises(CommandError, match="no account 'owner-of-alpha'"):
        call_command("delete", "account", "owner-of-alpha")
