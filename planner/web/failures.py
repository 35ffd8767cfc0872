"""Errors that are ours: 503 where a part of the installation is away, else 500.

The API answers with problem details, pages with a page that needs no database. The request id of
both is that of the log line.
"""

from __future__ import annotations

import sys
from http import HTTPStatus

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from planner.services.observability.request_id import current_request_id
from pricing.api.rest import PROBLEM_JSON, problem_body

RETRY_AFTER_SECONDS = 10
AWAY = (OperationalError, InterfaceError, BrokerError, RedisConnectionError, RedisTimeoutError)
"""Database, broker or cache cannot be reached or take nothing at the moment."""
_DETAILS = {
    HTTPStatus.INTERNAL_SERVER_ERROR: "The error is ours and has been logged.",
    HTTPStatus.SERVICE_UNAVAILABLE: "A part of the service cannot be reached at the moment; "
    "try again in a few seconds.",
}


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler of what no view caught."""
    is_away = isinstance(sys.exc_info()[1], AWAY)
    status = HTTPStatus.SERVICE_UNAVAILABLE if is_away else HTTPStatus.INTERNAL_SERVER_ERROR
    response = _explain(request, status)
    if is_away:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _explain(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    request_id = current_request_id()
    if request.path.startswith("/api/"):
        body = problem_body(status, _DETAILS[status]) | {"request_id": request_id}
        return JsonResponse(body, status=status, content_type=PROBLEM_JSON)
    page = render_to_string(f"{status.value}.html", {"request_id": request_id})
    return HttpResponse(page, status=status)
