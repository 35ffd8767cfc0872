"""What one person sees is kept by no cache: neither on the way nor in the browser."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse


class PrivatePages:
    """`Cache-Control: no-store` on every answer to somebody with a session or a token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if is_private(request, response) and "no-store" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "private, no-store"
        return response


def is_private(request: HttpRequest, response: HttpResponse) -> bool:
    """Whether the answer may hold what is for one visitor alone."""
    return (
        settings.SESSION_COOKIE_NAME in request.COOKIES
        or settings.SESSION_COOKIE_NAME in response.cookies
        or "Authorization" in request.headers
    )
