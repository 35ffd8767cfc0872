"""Uploads that are too large are refused by their declared length, before a byte is read."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

MEGABYTE = 1_000_000


class UploadLimit:
    """Answers 413 to a form larger than `API_MAX_UPLOAD_BYTES`; the API judges its own bodies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        size = _declared(request)
        if size > settings.API_MAX_UPLOAD_BYTES and not request.path.startswith("/api/"):
            sizes = {"sent": size / MEGABYTE, "most": settings.API_MAX_UPLOAD_BYTES / MEGABYTE}
            return render(
                request, "too_large.html", sizes, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            )
        return self.get_response(request)


def _declared(request: HttpRequest) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdigit() else 0
