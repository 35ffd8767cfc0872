"""Teams and accounts that go, with all that belongs to them alone.

The audit log is append-only and outlives both: of a team its row stays, without name and
settings, for the entries to belong to; the names of people stay where they approved something.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import IO, Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core import serializers
from django.db import models, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from planner.models import (
    Access,
    ApiToken,
    AuditEntry,
    IdempotencyRecord,
    Job,
    JobState,
    Membership,
    Role,
    Team,
    access_of,
)
from planner.models.team import TeamOwned
from planner.services.teams.access import OWN, WrongStateError, record, require
from planner.services.teams.teams import remove_member

DELETED_NAME = "Deleted team"


@transaction.atomic
def delete_team(access: Access, team: Team) -> None:
    """Removes everything of `team`; its slug is free again."""
    require(access, team.pk, OWN)
    current = Team.objects.select_for_update().get(pk=team.pk)
    if Job.objects.filter(team=current, state=JobState.RUNNING).exists():
        raise WrongStateError("A job of this team is running; cancel it or wait for its end.")
    counts = {table.name: table.rows(current).count() for table in list_tables()}
    before = {"name": current.name, "slug": current.slug, "rows": counts}
    record(access, "team.deleted", current, before=before)
    for table in list_tables():
        if not outlives_its_team(table):
            table.rows(current).delete()
    current.name, current.slug = DELETED_NAME, f"deleted-{current.pk}"
    current.price_adjustments, current.custom_offers, current.defaults = [], [], {}
    current.project_rules = []
    current.version += 1
    current.save()


def list_sole_member_teams(user: Any) -> list[Team]:
    """Teams whose only member is `user`: they go with the account."""
    others = Membership.objects.filter(team=OuterRef("team")).exclude(user=user)
    alone = Membership.objects.filter(~Exists(others), user=user)
    return [member.team for member in alone.select_related("team")]


@transaction.atomic
def delete_account(user: Any) -> None:
    """Removes a person's account, their tokens and memberships, and teams that are theirs alone.

    Raises `WrongStateError` where a team with other members would be left without an owner, or
    the server without an operator.
    """
    access = access_of(user)
    operators = get_user_model()._default_manager.filter(is_superuser=True, is_active=True)
    if user.is_superuser and not operators.exclude(pk=user.pk).exists():
        raise WrongStateError(
            "This is the only operator account; make another one with manage.py createsuperuser."
        )
    sole_member_team_ids = {team.pk for team in list_sole_member_teams(user)}
    for member in Membership.objects.filter(user=user).select_related("team"):
        if member.team_id in sole_member_team_ids:
            owner = Access(user.pk, access.name, {member.team_id: Role.OWNER}, access.scopes)
            delete_team(owner, member.team)
        else:
            try:
                remove_member(access, member)
            except WrongStateError:
                raise WrongStateError(
                    f"You are the only owner of the team {member.team.name}, which has other "
                    "members; make one of them owner first, or delete the team."
                ) from None
    ApiToken.objects.filter(user=user).delete()
    Job.objects.filter(team=None, created_by=user).delete()
    IdempotencyRecord.objects.filter(owner=access.key).delete()
    get_user_model()._default_manager.filter(pk=user.pk).delete()


SECRET_FIELDS = frozenset({"digest", "secret"})
"""Hashes of secrets, and secrets; the hash of an uploaded file, of no use elsewhere, too."""
_AT_ONCE = 200
READ_ME = """All data of the team {name} ({slug}) as of {moment}.

One file for each kind of thing, one JSON object a line, as Django's serializers write them; people
are named by their user names, other rows by their key. Money is decimal text in the currency beside
it. Secrets and their hashes are left out. manifest.json counts the rows of each file.
"""


def export_team(access: Access, team: Team, file: IO[bytes]) -> dict[str, int]:
    """Writes everything of `team` to `file`; gives the rows of each kind."""
    require(access, team.pk, OWN)
    record(access, "team.exported", team)
    tables = {table.name: table.rows(team).order_by("pk") for table in list_tables()}
    tables["team"] = Team.objects.filter(pk=team.pk)
    counts: dict[str, int] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in tables.items():
            fields = [one for one in rows.model._meta.fields if one.name not in SECRET_FIELDS]
            people = [one.name for one in fields if one.related_model is get_user_model()]
            named = rows.select_related(*people) if people else rows
            with (
                archive.open(f"{name}.jsonl", "w", force_zip64=True) as content,
                io.TextIOWrapper(content, "utf-8") as lines,
            ):
                serializers.serialize(
                    "jsonl",
                    named.iterator(_AT_ONCE),
                    stream=lines,
                    fields=[one.name for one in fields],
                    use_natural_foreign_keys=True,
                )
            counts[name] = rows.count()
        moment = timezone.now().isoformat(timespec="seconds")
        text = READ_ME.format(name=team.name, slug=team.slug, moment=moment)
        archive.writestr("README.txt", text)
        archive.writestr("manifest.json", json.dumps(counts, indent=2))
    return counts


@dataclass(frozen=True)
class TeamTable:
    """A model and the way from its rows to their team."""

    model: type[models.Model]
    lookup: str

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    def rows(self, team: Team) -> models.QuerySet[models.Model]:
        return self.model._default_manager.filter(**{self.lookup: team})


def list_tables() -> list[TeamTable]:
    """Tables whose rows name their team, and those whose rows belong to one of these."""
    every = [model for model in apps.get_models() if issubclass(model, TeamOwned)]
    children = [
        TeamTable(model, f"{field.name}__team")
        for model in apps.get_models()
        if not issubclass(model, TeamOwned)
        for field in model._meta.concrete_fields
        if field.is_relation and field.related_model in every
    ]
    owned = [TeamTable(model, "team") for model in every]
    return sorted(owned + children, key=lambda table: table.name)


def outlives_its_team(table: TeamTable) -> bool:
    """The audit log is written once and never changed: it stays for the operator."""
    return table.model is AuditEntry
