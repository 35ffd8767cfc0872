"""Teams and accounts that go, with all that belongs to them alone.

The audit log is append-only and outlives both: of a team its row stays, without name and
settings, for the entries to belong to; the names of people stay where they approved something.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import models, transaction
from django.db.models import Exists, OuterRef

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
    rows = [model._default_manager.filter(team=current) for model in list_models()]
    counts = {one.model._meta.model_name: one.count() for one in rows}
    before = {"name": current.name, "slug": current.slug, "rows": counts}
    record(access, "team.deleted", current, before=before)
    for one in rows:
        one.delete()
    current.name, current.slug = DELETED_NAME, f"deleted-{current.pk}"
    current.price_adjustments, current.custom_offers, current.defaults = [], [], {}
    current.project_rules = []
    current.version += 1
    current.save()


def list_models() -> list[type[models.Model]]:
    """Whose rows go with their team, and with them all that hangs on these: not the audit log."""
    every = [one for one in apps.get_models() if issubclass(one, TeamOwned)]
    return [one for one in every if one is not AuditEntry]


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
