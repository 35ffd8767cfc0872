"""What each operation asks of the caller: a role in the team and, with a token, a scope."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied

from planner.models import Access, Role, Scope


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


def require_scope(access: Access, scope: Scope) -> None:
    if scope not in access.scopes:
        raise PermissionDenied(f"This needs a token with the scope {scope.value}.")
