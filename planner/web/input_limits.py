"""Requests refused before a view sees them: uploads that are too large, by their declared length,
and text that no database holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote_plus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse

from planner.services.fair_use.disk import DiskFullError, is_disk_full
from pricing.api.rest import PROBLEM_JSON, problem_body
from pricing.common.bounded import check_storable, check_text, read_length
from pricing.common.invalid_input import InvalidInput

MEGABYTE = 1_000_000


class UploadLimit:
    """Answers 413 to a form larger than `API_MAX_UPLOAD_BYTES`; the API judges its own bodies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        size = _declared(request)
        if size > settings.API_MAX_UPLOAD_BYTES and not request.path.startswith("/api/"):
            sizes = {
                "sent": size / MEGABYTE,
                "most": settings.API_MAX_UPLOAD_BYTES / MEGABYTE,
                "remedy": _find_hint(request),
            }
            return render(
                request, "too_large.html", sizes, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            )
        return self.get_response(request)


def _find_hint(request: HttpRequest) -> str:
    """What helps against a form that is too large: a log is no bill of several months."""
    if request.path == reverse("calibrate"):
        return "Record a line every minute, or read the log with the command calibrate."
    if "multipart" in (request.content_type or ""):
        return "Send it compressed (gzip), or split it by month and upload the parts separately."
    return "Shorten its longest texts."


def _declared(request: HttpRequest) -> int:
    return read_length(request.META.get("CONTENT_LENGTH") or "")


_ADDRESSES = frozenset({"plan"})
"""Fields of forms that hold the address of a plan, whose text is encoded once more."""

Pairs = Iterable[tuple[str, str]]


class TypedText:
    """Answers 400 to a NUL in path, query, cookie or form, and to what cannot be seen in query and
    form; the API judges its own bodies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        pairs = (("URL", request.path_info), *request.COOKIES.items())
        refusal = _refuse(request, pairs, check_storable) or _refuse(request, _values(request.GET))
        return refusal or self.get_response(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        if request.method != "POST" or request.path.startswith("/api/"):
            return None
        try:
            return _refuse(request, _values(request.POST))
        except OSError as failure:
            _close_unfinished_files(request)
            if isinstance(failure, UnreadablePostError):  # the client left in the middle
                return HttpResponse(status=HTTPStatus.BAD_REQUEST)
            if not is_disk_full(failure):
                raise
        return HttpResponse(
            render_to_string("400.html", {"title": "Disk full", "problem": str(DiskFullError())}),
            status=HTTPStatus.INSUFFICIENT_STORAGE,
        )


def _close_unfinished_files(request: HttpRequest) -> None:
    """Takes away temporary files of a form that was not read to its end, which Django leaves to
    the garbage collector."""
    for handler in request.upload_handlers:
        with suppress(OSError, AttributeError):
            handler.file.close()  # type: ignore[attr-defined]


def _values(form: Any) -> Iterator[tuple[str, str]]:
    for name, values in form.lists():
        yield "form", name
        for value in values:
            yield name, value
            if name in _ADDRESSES:
                yield name, unquote_plus(value)


def _check_typed(name: str, text: str) -> None:
    """A password may hold anything; its owner types it again as it is."""
    check = check_storable if "password" in name else check_text
    check(name, text)


def _refuse(
    request: HttpRequest, pairs: Pairs, check: Callable[[str, str], object] = _check_typed
) -> HttpResponse | None:
    try:
        for name, text in pairs:
            check(name, text)
    except InvalidInput as refusal:
        return _explain(request, refusal)
    return None


def _explain(request: HttpRequest, refusal: InvalidInput) -> HttpResponse:
    status = HTTPStatus.BAD_REQUEST
    if not request.path.startswith("/api/"):
        return HttpResponse(render_to_string("400.html", {"problem": f"{refusal}."}), status=status)
    body = problem_body(status, "The request cannot be used.", refusal.to_errors())
    return JsonResponse(body, status=status, content_type=PROBLEM_JSON)
