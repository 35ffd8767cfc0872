"""Errors that are ours: 503 where a part of the installation is away, else 500.

The API answers with problem details, pages with a page that needs no database. The request id of
both is that of the log line.
"""

from __future__ import annotations

import logging
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import (
    FileResponse,
    HttpRequest,
    HttpResponse,
    JsonResponse,
    StreamingHttpResponse,
    UnreadablePostError,
)
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from kombu.exceptions import OperationalError as BrokerError
from prometheus_client import CONTENT_TYPE_LATEST
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from planner.contract.typed_numbers import read_length
from planner.services.observability import logs
from planner.services.observability.measures import (
    REQUEST_SECONDS,
    answer_readiness,
    render_measures,
)
from planner.services.teams.access import DiskFullError
from planner.services.work_budget import Budget, spend_from
from pricing.common.bounded import check_storable, check_text
from pricing.common.invalid_input import InvalidInput
from pricing.common.problems import (
    CANNOT_BE_USED,
    INVALID_REQUEST,
    PROBLEM_JSON,
    list_errors,
    problem_body,
)
from pricing.publish.refresh import is_disk_full

RETRY_AFTER_SECONDS = 10
AWAY = (OperationalError, InterfaceError, BrokerError, RedisConnectionError, RedisTimeoutError)
"""Database, broker or cache cannot be reached or take nothing at the moment."""
_DETAILS = {
    HTTPStatus.INTERNAL_SERVER_ERROR: "The error is ours and has been logged.",
    HTTPStatus.SERVICE_UNAVAILABLE: "A part of the service cannot be reached at the moment; "
    "try again in a few seconds.",
}


def server_error(request: HttpRequest) -> HttpResponse:
    is_away = isinstance(sys.exc_info()[1], AWAY)
    status = HTTPStatus.SERVICE_UNAVAILABLE if is_away else HTTPStatus.INTERNAL_SERVER_ERROR
    reference = {"request_id": logs.current_request_id()}
    if request.path.startswith("/api/"):
        response = _answer_problem(problem_body(status, _DETAILS[status]) | reference)
    else:
        page = render_to_string(f"{status.value}.html", reference)
        response = HttpResponse(page, status=status)
    if is_away:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _answer_problem(body: dict[str, Any]) -> HttpResponse:
    return JsonResponse(body, status=body["status"], content_type=PROBLEM_JSON)


MEGABYTE = 1_000_000
View = Callable[[HttpRequest], HttpResponse]


class Middleware:
    def __init__(self, get_response: View) -> None:
        self.get_response = get_response


class UploadLimit(Middleware):
    """Answers 413 to a form larger than `API_MAX_UPLOAD_BYTES`; the API judges its own bodies."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        size = read_length(request.META.get("CONTENT_LENGTH") or "")
        if size > settings.API_MAX_UPLOAD_BYTES and not request.path.startswith("/api/"):
            hint = "Shorten its longest texts."
            if "multipart" in (request.content_type or ""):
                parts = "split it by month and upload the parts separately"
                hint = f"Send it compressed (gzip), or {parts}."
            most = settings.API_MAX_UPLOAD_BYTES / MEGABYTE
            sizes = {"sent": size / MEGABYTE, "most": most, "remedy": hint}
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            return render(request, "too_large.html", sizes, status=status)
        return self.get_response(request)


Pairs = Iterable[tuple[str, str]]


class TypedText(Middleware):
    """Answers 400 to a NUL in path, query, cookie or form, and to what cannot be seen in query and
    form; the API judges its own bodies."""

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
            for handler in request.upload_handlers:
                with suppress(OSError, AttributeError):
                    handler.file.close()  # type: ignore[attr-defined]
            if isinstance(failure, UnreadablePostError):  # the client left in the middle
                return HttpResponse(status=HTTPStatus.BAD_REQUEST)
            if not is_disk_full(failure):
                raise
        return HttpResponse(
            render_to_string("400.html", {"title": "Disk full", "problem": str(DiskFullError())}),
            status=HTTPStatus.INSUFFICIENT_STORAGE,
        )


def _values(form: Any) -> Iterator[tuple[str, str]]:
    for name, values in form.lists():
        yield "form", name
        for value in values:
            yield name, value


def _check_typed(name: str, text: str) -> None:
    check = check_storable if "password" in name else check_text
    check(name, text)


def _refuse(
    request: HttpRequest, pairs: Pairs, check: Callable[[str, str], object] = _check_typed
) -> HttpResponse | None:
    try:
        for name, text in pairs:
            check(name, text)
    except InvalidInput as refusal:
        status = HTTPStatus.BAD_REQUEST
        if not request.path.startswith("/api/"):
            return HttpResponse(
                render_to_string("400.html", {"problem": f"{refusal}."}), status=status
            )
        errors = list_errors(refusal)
        return _answer_problem(problem_body(status, CANNOT_BE_USED, errors, INVALID_REQUEST))
    return None


PARTS = ("HX-Request", "HX-History-Restore-Request", "HX-Target", "HX-Trigger")
"""Headers with which a page asks an address for a part of what it shows."""


class PrivatePages(Middleware):
    """`Cache-Control: no-store` on every answer to somebody with a session or a token."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if is_private(request, response) and "no-store" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "private, no-store"
        if response.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, PARTS)
        return response


def is_private(request: HttpRequest, response: HttpResponse) -> bool:
    return (
        settings.SESSION_COOKIE_NAME in request.COOKIES
        or settings.SESSION_COOKIE_NAME in response.cookies
        or "Authorization" in request.headers
    )


class Probes(Middleware):
    """Answers `/livez`, `/readyz` and `/metrics`; everything else goes on."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # That the process answers is all that /livez says, so that a database that is away
        # restarts no process.
        views: dict[str, View] = {
            "/livez": lambda _: JsonResponse({"status": "ok"}),
            "/readyz": answer_readiness,
            "/metrics": show_measures,
        }
        view = views.get(request.path_info)
        if view is None:
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            refused = HTTPStatus.METHOD_NOT_ALLOWED
            return _answer_problem(problem_body(refused, "Only GET and HEAD are answered here."))
        response = view(request)
        response.headers["Cache-Control"] = "no-store"
        return response


def show_measures(request: HttpRequest) -> HttpResponse:
    """For who holds `METRICS_TOKEN`; without that setting there is no such address."""
    if not settings.METRICS_TOKEN:
        return _answer_problem(problem_body(HTTPStatus.NOT_FOUND, "METRICS_TOKEN is not set."))
    expected = f"Bearer {settings.METRICS_TOKEN}"
    header = request.headers.get("Authorization", "")
    if not secrets.compare_digest(header.encode(), expected.encode()):
        how = "Send METRICS_TOKEN as the bearer token."
        response = _answer_problem(problem_body(HTTPStatus.UNAUTHORIZED, how))
        response.headers["WWW-Authenticate"] = "Bearer"
        return response
    return HttpResponse(render_measures(), content_type=CONTENT_TYPE_LATEST)


HEADER = "X-Request-Id"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
logger = logging.getLogger("planner.requests")


class RequestLog(Middleware):
    """The id comes from the caller or the proxy where it has a usable one, and goes back with the
    answer."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = logs.accept_request_id(request.headers.get(HEADER, ""))
        # What the framework logs of an answer is logged after all of this.
        request.request_id = request_id  # type: ignore[attr-defined]
        start = time.perf_counter()
        with logs.use_request_id(request_id):
            response = self.get_response(request)
        when_sent(response, partial(_measure, request, response, request_id, start))
        response.headers[HEADER] = request_id
        if request.method == "HEAD" and not response.streaming:
            response.content = b""  # The server warns of a body that it may not send.
        return response


def _measure(request: HttpRequest, response: HttpResponse, request_id: str, start: float) -> None:
    seconds = time.perf_counter() - start
    match = request.resolver_match
    route = f"/{match.route}" if match else ""
    method = request.method if request.method in METHODS else "other"
    status = response.status_code
    REQUEST_SECONDS.labels(method, route, status).observe(seconds)
    if settings.LOG_FORMAT == "json":
        extra = {"method": method, "route": route, "status": status}
        extra["duration_ms"] = round(seconds * 1000, 1)
        with logs.use_request_id(request_id):
            logger.info("%s %s %d", method, route, status, extra=extra)


def when_sent(response: HttpResponseBase, then: Callable[[], object]) -> None:
    """Calls `then` at once; after its last part for an answer that is computed while it is sent."""
    if not isinstance(response, StreamingHttpResponse) or isinstance(response, FileResponse):
        then()
        return

    def parts(content: Any) -> Iterator[bytes]:
        try:
            yield from content
        finally:
            then()

    response.streaming_content = parts(response.streaming_content)


class WorkBudget(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponse:
        budget = Budget(is_signed_in=lambda: bool(request.user.is_authenticated))
        with spend_from(budget):
            response = self.get_response(request)
        when_sent(response, budget.measure)
        return response
