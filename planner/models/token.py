"""API tokens: the secret is shown once, only its hash is kept."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from planner.models.access import Role
from planner.models.team import NAME_LENGTH, TeamOwned


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
