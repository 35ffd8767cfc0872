"""Who calls: a bearer token, or the session of a page."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from planner.models import Access, access_of
from planner.services.teams.tokens import access_for_token
from planner.services.work_budget import recognise_token


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer gcp_…`; the caller's `Access` becomes `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Any, Access] | None:
        scheme, _, secret = str(request.META.get("HTTP_AUTHORIZATION", "")).partition(" ")
        if scheme.lower() != "bearer":
            return None
        access = access_for_token(secret.strip())
        if access is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked.")
        recognise_token(access.key)
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
    target_class = "planner.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A personal or service token."}
