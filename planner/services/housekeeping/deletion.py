"""Teams and accounts that go, with all that belongs to them alone.

The audit log is append-only and outlives both: of a team its row stays, without name and
settings, for the entries to belong to; the names of people stay where they approved something.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Exists, OuterRef

from planner.models import (
    Access,
    ApiToken,
    IdempotencyRecord,
    Job,
    JobState,
    Membership,
    Role,
    Team,
    access_of,
)
from planner.services.housekeeping.team_tables import list_tables, outlives_its_team
from planner.services.teams.audit import record
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import OWN, require
from planner.services.teams.teams import remove_member

DELETED_NAME = "Deleted team"


@transaction.atomic
def delete_team(access: Access, team: Team) -> None:
    """Removes everything of `team`; its slug is free again."""
    require(access, team.pk, OWN)
    current = Team.objects.select_for_update().get(pk=team.pk)
    _require_no_running_job(current)
    counts = {table.name: table.rows(current).count() for table in list_tables()}
    before = {"name": current.name, "slug": current.slug, "rows": counts}
    record(access, "team.deleted", current, before=before)
    for table in list_tables():
        if not outlives_its_team(table):
            table.rows(current).delete()
    _forget_settings(current)


def _require_no_running_job(team: Team) -> None:
    if Job.objects.filter(team=team, state=JobState.RUNNING).exists():
        raise WrongStateError("A job of this team is running; cancel it or wait for its end.")


def _forget_settings(team: Team) -> None:
    team.name, team.slug = DELETED_NAME, f"deleted-{team.pk}"
    team.price_adjustments, team.custom_offers, team.defaults = [], [], {}
    team.project_rules = []
    team.version += 1
    team.save()


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
    _require_other_operator(user)
    sole_member_team_ids = {team.pk for team in list_sole_member_teams(user)}
    for member in Membership.objects.filter(user=user).select_related("team"):
        if member.team_id in sole_member_team_ids:
            owner = Access(user.pk, access.name, {member.team_id: Role.OWNER}, access.scopes)
            delete_team(owner, member.team)
        else:
            _leave(access, member)
    ApiToken.objects.filter(user=user).delete()
    Job.objects.filter(team=None, created_by=user).delete()
    IdempotencyRecord.objects.filter(owner=access.key).delete()
    get_user_model()._default_manager.filter(pk=user.pk).delete()


def _leave(access: Access, member: Membership) -> None:
    """As a member leaves; a team that would have no owner is named."""
    try:
        remove_member(access, member)
    except WrongStateError:
        raise WrongStateError(
            f"You are the only owner of the team {member.team.name}, which has other members; "
            "make one of them owner first, or delete the team."
        ) from None


def _require_other_operator(user: Any) -> None:
    operators = get_user_model()._default_manager.filter(is_superuser=True, is_active=True)
    if user.is_superuser and not operators.exclude(pk=user.pk).exists():
        raise WrongStateError(
            "This is the only operator account; make another one with manage.py createsuperuser."
        )
