"""Who calls: a bearer token, or the session of a page."""

from __future__ import annotations

import math
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from planner.models import Access, Scope, access_of
from planner.services.teams.access import require_scope
from planner.services.teams.teams import access_for_token
from planner.services.work_budget import client_address, recognise_token

COMPUTING_SHARE = 10
"""What a request that computes takes of the requests of a minute."""


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer gcp_…`; the caller's `Access` becomes `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Any, Access] | None:
        scheme, _, secret = str(request.META.get("HTTP_AUTHORIZATION", "")).partition(" ")
        if scheme.lower() != "bearer":
            return None
        access = access_for_token(secret.strip())
        if access is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked.")
        recognise_token()
        return AnonymousUser(), access

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


def access_of_request(request: Request) -> Access:
    """The caller's rights, looked up once per request."""
    if isinstance(request.auth, Access):
        return request.auth
    held = getattr(request, "planner_access", None)
    if held is None:
        held = access_of(request.user)
        request.planner_access = held  # type: ignore[attr-defined]
    return held


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "planner.api.callers.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A personal or service token."}


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


class PerMinute(SimpleRateThrottle):
    """Requests of a token, a person or an address in a minute; 0 in the settings means no limit.

    A view that computes (`is_computing`) has a tenth of them, counted by itself. The headers
    RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10) say what is left.
    """

    def __init__(self) -> None:
        self.counted_as = ""

    def allow_request(self, request: Request, view: Any) -> bool:
        access = access_of_request(request)
        most = (
            settings.API_ANONYMOUS_REQUESTS_PER_MINUTE
            if access.is_anonymous
            else settings.API_REQUESTS_PER_MINUTE
        )
        if not most:
            return True
        is_computing = getattr(view, "is_computing", False)
        self.num_requests = max(1, most // COMPUTING_SHARE) if is_computing else most
        self.duration = 60
        who = client_address(request.META) if access.is_anonymous else access.key
        self.counted_as = f"throttle:{'computing' if is_computing else 'all'}:{who}"
        self.rate = f"{self.num_requests}/min"
        is_allowed = super().allow_request(request, view)
        oldest = self.history[-1] if self.history else self.now
        left = max(0, self.num_requests - len(self.history))
        reset = math.ceil(oldest + self.duration - self.now)
        name = "computing" if is_computing else "all"
        request.rate_limit = {  # type: ignore[attr-defined]
            "RateLimit-Policy": f'"{name}";q={self.num_requests};w={self.duration}',
            "RateLimit": f'"{name}";r={left};t={reset}',
        }
        return is_allowed

    def get_cache_key(self, request: Request, view: Any) -> str:
        return self.counted_as
