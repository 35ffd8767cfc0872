"""Who may come in at all; what they may do to a team's things is judged by the services."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from planner.api.authentication import access_of_request
from planner.models import Scope
from planner.services.teams.permissions import require_scope


class MarketAccess(BasePermission):
    """Prices, estimates and comparisons: open to all, unless LOGIN_REQUIRED; tokens read."""

    def has_permission(self, request: Request, view: Any) -> bool:
        access = access_of_request(request)
        if access.is_anonymous:
            return not settings.LOGIN_REQUIRED
        require_scope(access, Scope.READ)
        return True


class SignedIn(BasePermission):
    """Everything that belongs to a team."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return not access_of_request(request).is_anonymous
