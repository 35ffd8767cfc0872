"""Every request gets an id, is measured, and leaves a line in a log that is read by machines."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from planner.services.observability.measures import REQUEST_SECONDS
from planner.services.observability.request_id import accept_request_id, use_request_id

HEADER = "X-Request-Id"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
logger = logging.getLogger("planner.requests")


class RequestLog:
    """The id comes from the caller or the proxy where it has a usable one, and goes back with the
    answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = accept_request_id(request.headers.get(HEADER, ""))
        # What the framework logs of an answer is logged after all of this.
        request.request_id = request_id  # type: ignore[attr-defined]
        start = time.perf_counter()
        with use_request_id(request_id):
            response = self.get_response(request)
            _note(request, response, time.perf_counter() - start)
        response.headers[HEADER] = request_id
        if request.method == "HEAD" and not response.streaming:
            response.content = b""  # The server warns of a body that it may not send.
        return response


def _note(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    """The route stands for the address, whose path may hold an invitation's secret."""
    match = request.resolver_match
    route = f"/{match.route}" if match else ""
    method = request.method if request.method in METHODS else "other"
    REQUEST_SECONDS.labels(method, route, response.status_code).observe(seconds)
    if settings.LOG_FORMAT == "json":
        logger.info(
            "%s %s %d",
            method,
            route,
            response.status_code,
            extra={
                "method": method,
                "route": route,
                "status": response.status_code,
                "duration_ms": round(seconds * 1000, 1),
            },
        )
