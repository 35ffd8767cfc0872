"""How answers are written as JSON or files, and how what cannot be done is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from planner.exports import FORMATS
from planner.services.jobs.jobs import COME_BACK_SECONDS, TooManyJobsError
from planner.services.teams.access import DiskFullError, StaleError, WrongStateError
from pricing.api import rest
from pricing.publish.refresh import is_disk_full


class RenderedJson(str):
    """JSON that is written already."""


class AnswerRenderer(JSONRenderer):
    """JSON of plain values, and of what is written already."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The JSON of `data`; raises `ValueError` where a figure is no number."""
        context = renderer_context or {}
        if isinstance(data, RenderedJson):
            if not self.get_indent(accepted_media_type or "", context):
                return data.encode()
            data = json.loads(data)
        return super().render(data, accepted_media_type, context)


_SCHEMAS = dict.fromkeys(("csv", "focus", "commitments"), OpenApiTypes.STR) | {
    "json": OpenApiTypes.OBJECT
}
EXPORT_SCHEMA = {
    (200, entry.content_type.split(";")[0]): _SCHEMAS.get(form, OpenApiTypes.BINARY)
    for form, entry in FORMATS.items()
}


SCENARIO = OpenApiParameter(
    "scenario", str, description="FOCUS rows of this scenario; of the recommended one when absent."
)


class Refusal(APIException):
    """A refusal with its status and code; `wait`: seconds that Retry-After names."""

    def __init__(self, status: HTTPStatus, code: str, detail: str, wait: int | None = None) -> None:
        super().__init__(detail)
        self.status_code, self.default_code, self.wait = status, code, wait


def require_length(request: Request) -> None:
    """Refuses a body without a length, sent in chunks, which would otherwise count as none."""
    is_chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
    if is_chunked and not request.META.get("CONTENT_LENGTH"):
        detail = "The length of the body is not given; send it whole, with Content-Length."
        raise Refusal(HTTPStatus.LENGTH_REQUIRED, "length_required", detail)


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(exc, TooManyJobsError):
        status = HTTPStatus.TOO_MANY_REQUESTS
        exc = Refusal(status, "too_many_jobs", str(exc), COME_BACK_SECONDS)
    elif isinstance(exc, DiskFullError) or is_disk_full(exc):
        exc = Refusal(HTTPStatus.INSUFFICIENT_STORAGE, "disk_full", str(DiskFullError()))
    elif isinstance(exc, WrongStateError):
        exc = Refusal(HTTPStatus.CONFLICT, "conflict", str(exc))
    elif isinstance(exc, StaleError):
        exc = Refusal(HTTPStatus.PRECONDITION_FAILED, "changed_since", str(exc))
    elif isinstance(exc, PermissionDenied):
        exc = Forbidden(str(exc) or None)
    return rest.exception_handler(exc, context)
