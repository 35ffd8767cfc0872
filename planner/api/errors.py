"""The services' refusals about state, as the problem details of every other refusal."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework.exceptions import APIException
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.request import Request
from rest_framework.response import Response

from planner.services.fair_use.disk import DiskFullError, is_disk_full
from planner.services.fair_use.turns import TooBusyError
from planner.services.jobs.limits import COME_BACK_SECONDS, TooManyJobsError
from planner.services.teams.errors import StaleError, WrongStateError
from pricing.api import rest


class LengthRequired(APIException):
    status_code = HTTPStatus.LENGTH_REQUIRED
    default_detail = "The length of the body is not given; send it whole, with Content-Length."


class TooBusy(APIException):
    status_code = HTTPStatus.TOO_MANY_REQUESTS
    wait = COME_BACK_SECONDS
    """Seconds that Retry-After names."""


class InsufficientStorage(APIException):
    status_code = HTTPStatus.INSUFFICIENT_STORAGE


def require_length(request: Request) -> None:
    """Refuses a body without a length, sent in chunks or in parts, which would otherwise count as
    none at all."""
    is_chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
    has_parts = (request.content_type or "").lower().startswith("multipart/")
    if (is_chunked or has_parts) and not request.META.get("CONTENT_LENGTH"):
        raise LengthRequired


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(exc, TooManyJobsError | TooBusyError):
        exc = TooBusy(str(exc))
    elif isinstance(exc, DiskFullError) or is_disk_full(exc):
        exc = InsufficientStorage(str(DiskFullError()))
    elif isinstance(exc, WrongStateError):
        exc = rest.Conflict(str(exc))
    elif isinstance(exc, StaleError):
        exc = rest.PreconditionFailed()
    elif isinstance(exc, PermissionDenied):
        exc = Forbidden(str(exc) or None)
    return rest.exception_handler(exc, context)
