"""What goes over the wire: bodies and their length, answers as JSON or files, refusals."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.utils.datastructures import MultiValueDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import exceptions
from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.parsers import BaseParser, FileUploadParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from planner.contract.typed_numbers import check_tree, read_length
from planner.exports import FORMATS
from planner.services.jobs.jobs import COME_BACK_SECONDS, TooManyJobsError
from planner.services.teams.access import DiskFullError, StaleError, WrongStateError
from pricing.api import rest
from pricing.common import bounded
from pricing.common.invalid_input import InvalidInput
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


# Bodies -----------------------------------------------------------------------------------

FILE = "file"
"""Where the body of a file stands in `request.FILES`."""


class FileParser(FileUploadParser):
    """A body that is one file."""

    accepted: tuple[str, ...] = ("text/csv", "application/octet-stream")

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        check_length(parser_context, settings.API_MAX_UPLOAD_BYTES)
        parsed = super().parse(stream, media_type, parser_context)
        # Closed with the request, and so removed: the framework does it for forms alone.
        files = MultiValueDict({name: [file] for name, file in parsed.files.items()})
        parser_context["request"]._request._files = files
        return parsed

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        return FILE

    @classmethod
    def stream_of(cls, request: Request) -> BinaryIO:
        """The file of the request; 415 for a body of any other kind."""
        content_type = request.content_type or "nothing"
        if content_type.split(";")[0].strip().lower() not in cls.accepted:
            raise UnsupportedMediaType(content_type)
        file = request.FILES.get(FILE)
        return io.BytesIO() if file is None else cast(BinaryIO, file.file)


class GuardedJSONParser(BaseParser):
    """JSON of a bounded size and depth, with text that every database can hold.

    Of a `JSONParser` the framework reads the whole body itself, up to a limit of its own.
    """

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        check_length(parser_context, settings.API_MAX_BODY_BYTES)
        try:
            value = bounded.loads(stream.read().decode("utf-8"))
        except InvalidInput:
            raise
        except ValueError as error:
            raise exceptions.ParseError(f"The body is not JSON: {error}") from None
        check_tree(value)
        return value


class PayloadTooLarge(exceptions.APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "body_too_large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"The body is larger than {limit_bytes:,} bytes.")
        self.limit_bytes = limit_bytes


def check_length(parser_context: Any, limit_bytes: int) -> None:
    """Refuses a body that says it is longer, or compressed, before a byte of it is read."""
    meta = parser_context["request"].META
    if read_length(str(meta.get("CONTENT_LENGTH") or "")) > limit_bytes:
        raise PayloadTooLarge(limit_bytes)
    encoding = meta.get("HTTP_CONTENT_ENCODING", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        raise exceptions.UnsupportedMediaType(
            encoding, f"Content-Encoding {encoding!r} is not accepted; send the body as it is."
        )
