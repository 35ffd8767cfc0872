"""Who may do what in a team, what is written down of it, and how much there may be."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import OuterRef, QuerySet, Subquery

from planner.models import Access, ApiToken, AuditEntry, Membership, Role, Scope, Team
from planner.models.team import NAME_LENGTH, Versioned
from pricing.storage.bulk import wait_in_line


class WrongStateError(Exception):
    """The thing is not in a state that allows this (409)."""


class StaleError(Exception):
    """The thing was changed since the caller read it (412)."""

    def __init__(self) -> None:
        super().__init__("It has changed since you read it; reload it and repeat your change.")


@dataclass(frozen=True)
class Need:
    role: Role
    scope: Scope


VIEW = Need(Role.VIEWER, Scope.READ)
TAKE_PART = Need(Role.VIEWER, Scope.WRITE)
"""What every member may change: their own membership and tokens."""
EDIT = Need(Role.EDITOR, Scope.WRITE)
APPROVE = Need(Role.APPROVER, Scope.APPROVE)
OWN = Need(Role.OWNER, Scope.WRITE)


def require(access: Access, team_id: int, need: Need) -> None:
    """Refuses a caller whose role in the team, or whose token's scope, is not enough."""
    require_scope(access, need.scope)
    if not access.has_role(team_id, need.role):
        raise PermissionDenied(f"This needs the role {need.role.value} in the team.")


def team_of(row: models.Model) -> Any:
    """The id of the team that a row belongs to, or is; None of what belongs to the server."""
    return row.pk if isinstance(row, Team) else getattr(row, "team_id", None)


def require_scope(access: Access, scope: Scope) -> None:
    if scope not in access.scopes:
        raise PermissionDenied(f"This needs a token with the scope {scope.value}.")


def require_still(access: Access, team_id: int, need: Need) -> None:
    """`require` with the role of now: since the request began, the member may have been removed or
    given another role, the account closed, or the token revoked."""
    role = access.roles.get(team_id)  # of a job of the team itself
    if access.token_id is not None:
        token = find_token(pk=access.token_id, team=team_id)
        role = token and token[1]
    elif access.user_id is not None:
        members = _members(user=access.user_id, team=team_id)
        role = next((Role(member.role) for member in members), None)
    require(replace(access, roles={team_id: role} if role else {}), team_id, need)


def _members(**which: Any) -> QuerySet[Membership]:
    return Membership.objects.filter(user__is_active=True, **which)


@cache
def _tokens() -> QuerySet[Any]:
    """With what the token's user is in the team today (`own_role`). Made once: to write the query
    anew takes a sixth of the time of a page of offers."""
    own = _members(user=OuterRef("user"), team=OuterRef("team")).values("role")[:1]
    tokens = ApiToken.objects.select_related("user")
    with_roles: QuerySet[Any] = tokens.annotate(own_role=Subquery(own))
    return with_roles


def find_token(**which: Any) -> tuple[ApiToken, Role] | None:
    """A token with its role, cut to what its user is in the team today; None once it has ended."""
    token = _tokens().filter(**which).first()
    if token is None or not token.is_active or (token.user_id and not token.own_role):
        return None
    roles = [Role(role) for role in (token.role, token.own_role) if role]
    return token, min(roles, key=lambda role: role.rank)


Row = TypeVar("Row", bound=Versioned)


def record(
    access: Access,
    action: str,
    row: models.Model,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Writes down that `access` did `action` to `row`, and what changed; what belongs to no team
    is for operators to read."""
    return AuditEntry.objects.create(
        team_id=team_of(row),
        actor=(access.name or "system")[:NAME_LENGTH],
        action=action,
        object_type=row._meta.model_name or "",
        object_id=str(row.pk),
        object_name=str(row)[:NAME_LENGTH],
        before={name: _to_json(value) for name, value in (before or {}).items()},
        after={name: _to_json(value) for name, value in (after or {}).items()},
    )


def _to_json(value: Any) -> Any:
    if isinstance(value, models.Model):
        return str(value.pk)
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value) if isinstance(value, Role | uuid.UUID) else value


@transaction.atomic
def edit(
    access: Access,
    row: Row,
    changes: Mapping[str, Any],
    *,
    seen_version: int | None = None,
    action: str = "",
) -> Row:
    """`row` with `changes`, saved and logged; nothing is written where nothing changed.

    `seen_version` is the version that the caller saw: another one now means `StaleError`.
    """
    model = type(row)
    current = model._default_manager.select_for_update().get(pk=row.pk)
    if seen_version is not None and current.version != seen_version:
        raise StaleError
    before = {name: getattr(current, name) for name in changes}
    changed = {name: value for name, value in changes.items() if before[name] != value}
    if not changed:
        return current
    for name, value in changed.items():
        setattr(current, name, value)
    current.version += 1
    current.save()
    record(
        access,
        action or f"{model._meta.model_name}.changed",
        current,
        before={name: before[name] for name in changed},
        after=changed,
    )
    return current


@transaction.atomic
def remove(
    access: Access, row: models.Model, action: str, before: Mapping[str, Any], need: Need = EDIT
) -> None:
    """Deletes a row of a team and writes down what it was."""
    require(access, team_of(row), need)
    record(access, action, row, before=before)
    row.delete()


LIMITS: dict[str, tuple[int, str]] = {
    "teams": (20, "One person owns at most {:,} teams"),
    "members": (1_000, "A team has at most {:,} members"),
    "projects": (2_000, "A team has at most {:,} projects"),
    "uploads": (1_000, "A project has at most {:,} uploads of actuals"),
    "saved comparisons": (1_000, "A project has at most {:,} saved comparisons"),
    "saved portfolios": (1_000, "A team has at most {:,} saved portfolios"),
    "tokens": (500, "A team has at most {:,} tokens"),  # that still work
    "server quotes": (1_000, "A team has at most {:,} server quotes"),
    "webhooks": (20, "A team has at most {:,} webhooks"),
    "invitations": (500, "A team has at most {:,} invitations"),
}
"""What there may be how many of."""


def require_room(what: str, rows: QuerySet[Any]) -> None:
    """Refuses one row more than `LIMITS` allows (409), within the transaction that adds it."""
    wait_in_line(rows.model._meta.label)
    most, words = LIMITS[what]
    if rows.count() >= most:
        raise WrongStateError(
            f"{words.format(most)}; remove one, or ask the operator of this server for more."
        )


def require_place(access: Access, parent: models.Model, what: str, rows: QuerySet[Any]) -> None:
    """Refuses to add a row to a project or team once more after something took long, as meanwhile
    that may have gone, its room may have been taken and the caller may have left the team."""
    kind = type(parent)
    if not kind._default_manager.select_for_update().filter(pk=parent.pk).exists():
        raise WrongStateError(f"The {kind._meta.model_name} was deleted meanwhile.")
    require_still(access, team_of(parent), EDIT)
    require_room(what, rows)


class DiskFullError(WrongStateError):
    """The server has no room for a file (507)."""

    def __init__(self) -> None:
        super().__init__("The server's disk is full, so nothing was stored; tell its operator.")
