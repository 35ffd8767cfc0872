"""API tokens: personal ones act for their user, service ones have a role of their own."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from collections.abc import Collection
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from planner.models import Access, ApiToken, Role, Scope, Team
from planner.services.teams.access import OWN, TAKE_PART, find_token, record, require, require_room
from pricing.common.invalid_input import InvalidInput

MAX_TOKEN_DAYS = 366
_USE_WRITTEN_EVERY = dt.timedelta(minutes=5)


@transaction.atomic
def create_token(
    access: Access,
    team: Team,
    *,
    name: str,
    scopes: Collection[Scope],
    days: int,
    is_service: bool = False,
    role: Role | None = None,
) -> tuple[ApiToken, str]:
    """A token and its secret, shown only once.

    Nobody gives a role above their own. A token makes no other token.
    """
    require(access, team.pk, OWN if is_service else TAKE_PART)
    if access.user_id is None or access.token_id is not None:
        raise PermissionDenied("Only a signed-in person can create a token.")
    own_role = access.roles[team.pk]
    role = role or own_role
    if role.rank > own_role.rank:
        raise InvalidInput("role", f"{role.value!r} is above your own, {own_role.value!r}")
    if Scope.REFRESH in scopes and not access.is_operator:
        raise InvalidInput("scopes", "only operators of this server can grant refresh")
    working = ApiToken.objects.filter(team=team, revoked_at=None, expires_at__gt=timezone.now())
    require_room("tokens", working)
    secret = new_secret(TOKEN_PREFIX)
    token = ApiToken.objects.create(
        team=team,
        name=name,
        user_id=None if is_service else access.user_id,
        role=role,
        scopes=sorted(scopes),
        digest=hash_secret(secret),
        hint=secret[:8],
        created_by_id=access.user_id,
        expires_at=timezone.now() + dt.timedelta(days=days),
    )
    granted = {"scopes": token.scopes, "role": role, "service": is_service}
    record(access, "token.created", token, after=granted)
    return token, secret


@transaction.atomic
def revoke_token(access: Access, token: ApiToken) -> None:
    """Owners revoke any token of the team, people their own."""
    if token.user_id is None or token.user_id != access.user_id:
        require(access, token.team_id, OWN)
    if token.revoked_at is None:
        end_token(access, token)


def count_service_tokens(team: Team, maker: Any) -> int:
    """Tokens of the team itself that this person made, and so knows, and that still work."""
    working = ApiToken.objects.filter(revoked_at=None, expires_at__gt=timezone.now())
    return working.filter(team=team, user=None, created_by=maker).count()


def end_token(access: Access, token: ApiToken) -> None:
    """Revokes a token, whoever may ask for it has been settled."""
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    record(access, "token.revoked", token)


def access_for_token(secret: str) -> Access | None:
    """The rights of a bearer token; None for an unknown, expired or revoked one."""
    working = find_token(digest=hash_secret(secret))
    if working is None:
        return None
    token, role = working
    name = f"service token {token.name}"
    if token.user is not None:
        name = f"{token.user.get_username()} (token {token.name})"
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > _USE_WRITTEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return Access(
        user_id=token.user_id,
        name=name,
        roles={token.team_id: role},
        scopes=frozenset(token.scopes),
        is_operator=Scope.REFRESH in token.scopes and (not token.user or token.user.is_staff),
        token_id=token.pk,
    )


TOKEN_PREFIX = "gcp_"  # noqa: S105
INVITATION_PREFIX = "inv_"


def new_secret(prefix: str) -> str:
    """256 random bits behind a prefix that leak scanners can find."""
    return prefix + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """SHA-256: enough for 256 random bits, which no dictionary holds."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
