"""What one person sees is kept by no cache: neither on the way nor in the browser. What a page
takes in is not kept in the place of the page itself."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

PARTS = ("HX-Request", "HX-History-Restore-Request", "HX-Target", "HX-Trigger")
"""Headers with which a page asks an address for a part of what it shows."""


class PrivatePages:
    """`Cache-Control: no-store` on every answer to somebody with a session or a token."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if is_private(request, response) and "no-store" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "private, no-store"
        if response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, PARTS)
        return response


def is_private(request: HttpRequest, response: HttpResponse) -> bool:
    """Whether the answer may hold what is for one visitor alone."""
    return (
        settings.SESSION_COOKIE_NAME in request.COOKIES
        or settings.SESSION_COOKIE_NAME in response.cookies
        or "Authorization" in request.headers
    )
