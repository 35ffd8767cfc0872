"""Teams, their members and what each comparison of a team inherits."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

NAME_LENGTH = 120


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


class TeamQuerySet(models.QuerySet[Any]):
    """The only place where one team's rows are told from another's."""

    team_lookup = "team_id"

    def for_access(self, access: Access) -> Self:
        return self.filter(**{f"{self.team_lookup}__in": access.team_ids})


class OwnTeamQuerySet(TeamQuerySet):
    team_lookup = "pk"


class Versioned(models.Model):
    """Rows that people edit: `version` is the ETag that a stale edit fails on."""

    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class Team(Versioned):
    """A workspace: people, projects and the prices and assumptions that they share."""

    name = models.CharField(max_length=NAME_LENGTH)
    slug = models.SlugField(max_length=60, unique=True)
    currency = models.CharField(max_length=3, default="USD")
    price_adjustments = models.JSONField(default=list, blank=True)
    """Contract discounts, in the form of the comparison request."""
    custom_offers = models.JSONField(default=list, blank=True)
    """Private or negotiated prices, in the form of the comparison request."""
    defaults = models.JSONField(default=dict, blank=True)
    """Assumptions that a request leaves out: {"finance": {…}, "on_prem": {…}, "data": {…}}."""
    project_rules = models.JSONField(
        default=list, blank=True, db_default=models.Value([], models.JSONField())
    )
    """Which tag, account, user or partition of a bill or log belongs to which project, each as
    `SOURCE:PATTERN=PROJECT`; the first that matches holds."""

    objects = OwnTeamQuerySet.as_manager()

    class Meta:
        ordering = ("name", "pk")

    def __str__(self) -> str:
        return self.name


class TeamOwned(models.Model):
    """A row of one team, seen by its members alone through `objects.for_access`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")

    objects = TeamQuerySet.as_manager()

    class Meta:
        abstract = True


class Membership(TeamOwned, Versioned):
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        ordering = ("created_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("team", "user"), name="one_membership_per_team"),
        )

    def __str__(self) -> str:
        return f"{self.user} as {self.role}"


class InvitationQuerySet(TeamQuerySet):
    def open(self) -> Self:
        """Those whose link still works."""
        waiting = self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
        return waiting.exclude(invited_by__is_active=False)


class Invitation(TeamOwned):
    """A link that makes whoever opens it a member, once. Only its hash is kept."""

    role = models.CharField(max_length=10, choices=Role.choices)
    email = models.EmailField(blank=True)
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return f"as {self.role}"

    @property
    def is_open(self) -> bool:
        if self.accepted_at or self.revoked_at or self.expires_at <= timezone.now():
            return False
        return self.invited_by is None or self.invited_by.is_active


class ServerQuote(TeamOwned, Versioned):
    """A supplier's price for a server, used as `{"server": slug}` in the team's requests."""

    slug = models.SlugField(max_length=60)
    label = models.CharField(max_length=NAME_LENGTH)
    server = models.JSONField(default=dict)
    """The server in the form of `on_prem.servers` of the comparison request."""
    supplier = models.CharField(max_length=NAME_LENGTH, blank=True)
    quoted_on = models.DateField(null=True, blank=True)
    valid_until = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ("slug", "id")
        constraints = (models.UniqueConstraint(fields=("team", "slug"), name="one_quote_per_slug"),)

    def __str__(self) -> str:
        return self.label


def access_of(user: Any) -> Access:
    """The rights of a signed-in person: their role in each of their teams, every scope."""
    if not user.is_authenticated:
        return ANONYMOUS
    rows = Membership.objects.filter(user_id=user.pk).values_list("team_id", "role")
    return Access(
        user_id=user.pk,
        name=user.get_username(),
        roles={team_id: Role(role) for team_id, role in rows},
        scopes=ALL_SCOPES,
        is_operator=user.is_staff,
    )


class ApiToken(TeamOwned):
    """A personal token acts as `user` within one team; a service token has a role of its own."""

    name = models.CharField(max_length=NAME_LENGTH)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="api_tokens"
    )
    """Whom a personal token acts for; None for a service token."""
    role = models.CharField(max_length=10, choices=Role.choices)
    """Most that the token may do in the team; a personal one never exceeds its user's role."""
    scopes = models.JSONField(default=list)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)
    """First letters of the secret, to tell tokens apart."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @property
    def is_active(self) -> bool:
        return self.revoked_at is None and self.expires_at > timezone.now()
