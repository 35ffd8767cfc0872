"""What a caller may do in a team at this moment, after a long computation."""

from __future__ import annotations

from dataclasses import replace

from planner.models import Access, ApiToken, Membership, Role
from planner.services.teams.permissions import Need, require
from planner.services.teams.tokens import role_of_token


def require_still(access: Access, team_id: int, need: Need) -> None:
    """`require` with the role of now: since the request began, the member may have been removed or
    given another role, the account closed, or the token revoked."""
    role = _role_now(access, team_id)
    require(replace(access, roles={} if role is None else {team_id: role}), team_id, need)


def _role_now(access: Access, team_id: int) -> Role | None:
    if access.token_id is not None:
        token = ApiToken.objects.select_related("user").filter(pk=access.token_id).first()
        belongs = token is not None and token.is_active and token.team_id == team_id
        return role_of_token(token) if token is not None and belongs else None
    if access.user_id is None:
        return access.roles.get(team_id)  # a job of the team itself
    members = Membership.objects.filter(user__is_active=True, user_id=access.user_id)
    member = members.filter(team_id=team_id).first()
    return None if member is None else Role(member.role)
