"""Who is asking and what they may do: the one judge of team membership."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import models


class Role(models.TextChoices):
    """What a member may do in a team; each role includes those before it."""

    VIEWER = "viewer"
    EDITOR = "editor"
    APPROVER = "approver"
    OWNER = "owner"

    @property
    def rank(self) -> int:
        return list(Role).index(self)


class Scope(models.TextChoices):
    """What a token may do, at most; its role in the team limits it further."""

    READ = "read"
    WRITE = "write"
    APPROVE = "approve"
    REFRESH = "refresh"


ALL_SCOPES = frozenset(Scope.values)


@dataclass(frozen=True)
class Access:
    """One request's rights: `roles` by team, cut by the `scopes` of the token it came with."""

    user_id: int | None = None
    name: str = ""
    roles: Mapping[int, Role] = field(default_factory=dict)
    scopes: frozenset[str] = frozenset()
    is_operator: bool = False
    """May start price refreshes: staff, or a token that staff gave the refresh scope."""
    token_id: uuid.UUID | None = None

    @property
    def is_anonymous(self) -> bool:
        return self.user_id is None and self.token_id is None

    @property
    def team_ids(self) -> list[int]:
        return list(self.roles)

    @property
    def key(self) -> str:
        """Identity for idempotency keys and rate limits."""
        return f"token:{self.token_id}" if self.token_id else f"user:{self.user_id}"

    @property
    def person(self) -> str:
        """Who stands behind it: a person whatever token they use, else the token itself."""
        return f"user:{self.user_id}" if self.user_id is not None else f"token:{self.token_id}"

    def has_role(self, team_id: int, role: Role) -> bool:
        own = self.roles.get(team_id)
        return own is not None and own.rank >= role.rank


ANONYMOUS = Access(scopes=frozenset({Scope.READ}))
