"""How an answer is written as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports import FORMATS, Context, export
from planner.exports.saved_context import offer_file
from planner.services.jobs.jobs import COME_BACK_SECONDS, TooManyJobsError
from planner.services.teams.access import (
    DiskFullError,
    StaleError,
    WrongStateError,
    is_disk_full,
)
from pricing.api import rest

_NOT_JSON = (b"NaN", b"Infinity")
"""What a figure that is no number would be written as, which only names may hold."""


class RenderedJson(str):
    """JSON that was written before, an answer that is kept."""


class AnswerRenderer(JSONRenderer):
    """JSON of plain values, and of an answer at once, without plain values between: an answer of
    3 years has 30,000 of them."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The JSON of `data`; raises `ValueError` where a figure is no number."""
        context = renderer_context or {}
        is_plain = not self.get_indent(accepted_media_type or "", context)
        if isinstance(data, RenderedJson):
            if is_plain:
                return data.encode()
            return super().render(json.loads(data), accepted_media_type, context)
        if not isinstance(data, AnswerModel):
            return super().render(data, accepted_media_type, context)
        if is_plain:
            body = data.model_dump_json().encode()
            if not any(word in body for word in _NOT_JSON):
                return body
        return super().render(data.model_dump(mode="json"), accepted_media_type, context)


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


def download(answer: ComparisonAnswer, context: Context, form: str) -> HttpResponse:
    """The export of an answer, offered to be saved under the comparison's name."""
    return offer_file(export(answer, context, form), context.name, FORMATS[form])


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
    if isinstance(exc, TooManyJobsError):
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
