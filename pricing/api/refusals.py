"""What a call that is not answered is told: what was asked for, and what may be. PURE."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404
from rest_framework import exceptions

from pricing.common.bounded import shorten

_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_SHORTEN = "shorten its longest texts and lists"
"""What helps where a view does not say better (`too_large_hint`)."""


def explain_call(exc: Exception, context: dict[str, Any]) -> str:
    """What was asked for, and what may be; "" where the refusal says it by itself."""
    request, view = context.get("request"), context.get("view")
    if request is None or view is None:
        return ""
    if isinstance(exc, exceptions.MethodNotAllowed):
        allowed = ", ".join(view.allowed_methods)
        return f"{shorten(str(request.method))} is not answered here; allowed are {allowed}."
    if isinstance(exc, exceptions.NotAcceptable):
        accept = shorten(request.META.get("HTTP_ACCEPT", ""))
        kinds = ", ".join(renderer.media_type for renderer in view.renderer_classes)
        return f"Accept {accept} is not answered here; send {kinds}, or leave it out."
    if isinstance(exc, exceptions.UnsupportedMediaType) and "media type" in str(exc.detail):
        kinds = ", ".join(
            dict.fromkeys(
                k
                for p in view.parser_classes
                for k in getattr(p, "accepted", None) or (p.media_type,)
            )
        )
        return f"Content-Type {shorten(request.content_type or '')} is not read here; send {kinds}."
    if isinstance(exc, exceptions.APIException) and exc.status_code == _TOO_LARGE:
        hint = getattr(view, "too_large_hint", _SHORTEN)
        return f"{str(exc).rstrip('.')}, the most that is read here; {hint}."
    if isinstance(exc, exceptions.NotAuthenticated) and str(exc) == str(exc.default_detail):
        return "Nobody is signed in; send a token as Authorization: Bearer, or sign in."
    if isinstance(exc, Http404) and "format" in request.GET:
        shown = shorten(request.GET["format"])
        return f"There is nothing here in the format {shown}; leave format out."
    return ""
