"""What goes over the wire: bodies and their length, answers as JSON or files, refusals."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone
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

from planner.api.callers import access_of_request
from planner.contract.typed_numbers import check_tree, read_length
from planner.exports import FORMATS
from planner.models import IdempotencyRecord
from planner.services.housekeeping.retention import IDEMPOTENCY_RETENTION
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


def check_length(parser_context: Any, limit_bytes: int) -> None:
    """Refuses a body that says it is longer, or compressed, before a byte of it is read."""
    meta = parser_context["request"].META
    if read_length(str(meta.get("CONTENT_LENGTH") or "")) > limit_bytes:
        detail = f"The body is larger than {limit_bytes:,} bytes."
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body_too_large", detail)
    encoding = meta.get("HTTP_CONTENT_ENCODING", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        raise exceptions.UnsupportedMediaType(
            encoding, f"Content-Encoding {encoding!r} is not accepted; send the body as it is."
        )


# Idempotency ------------------------------------------------------------------------------

HEADER = "Idempotency-Key"
_ABANDONED_AFTER = dt.timedelta(seconds=45)
"""A request that is not answered after so long may be sent again; should it end after all, it
finds that its key is another's, and nothing of it is written."""
_STORED_HEADERS = ("Location", "ETag", "Retry-After")

Write = Callable[[], Response]
"""Writes what a request asks for and gives the answer; short, since others wait meanwhile."""
View = Callable[..., Response]


def idempotent(method: Callable[..., Response | Write]) -> View:
    """Makes a creation that is sent twice with an `Idempotency-Key` happen once: the stored answer
    to a repeated key and body, 409 to the key with another body. Only successes are stored.

    The key is taken first, then the view prepares, however long it computes, with the database free
    for others. What it gives back writes and answers (`Write`), in one transaction with the answer
    that is stored: a process that is killed leaves both or neither.
    """

    @wraps(method)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is not None and not (1 <= len(key) <= 200 and key.isascii() and key.isprintable()):
            raise InvalidInput(HEADER, "is not 1 to 200 printable ASCII characters")
        access = access_of_request(request)
        if key is None or access.is_anonymous:
            return _finish(method(view, request, *args, **kwargs))
        record, is_new = _claim(access.key, key, _digest(request))
        if not is_new:
            return Response(RenderedJson(record.body), status=record.status, headers=record.headers)
        try:
            prepared = method(view, request, *args, **kwargs)
            with transaction.atomic():
                response = _finish(prepared)
                _store(record, response)
        except BaseException:
            record.delete()
            raise
        return response

    answer.is_idempotent = True  # type: ignore[attr-defined]
    return answer


def _finish(prepared: Response | Write) -> Response:
    return prepared if isinstance(prepared, Response) else prepared()


def _digest(request: Request) -> str:
    file = request.FILES.get(FILE)
    if file is None:
        body = json.dumps(request.data, sort_keys=True, default=str)
    else:
        body = hashlib.file_digest(file.file, "sha256").hexdigest()
        file.seek(0)
    text = f"{request.method} {request.get_full_path()}\n{body}"
    return hashlib.sha256(text.encode()).hexdigest()


def _claim(owner: str, key: str, digest: str) -> tuple[IdempotencyRecord, bool]:
    now = timezone.now()
    rows = IdempotencyRecord.objects.filter(owner=owner)
    rows.filter(created_at__lt=now - IDEMPOTENCY_RETENTION).delete()
    rows.filter(status=None, created_at__lt=now - _ABANDONED_AFTER).delete()
    try:
        with transaction.atomic():
            return IdempotencyRecord.objects.create(owner=owner, key=key, digest=digest), True
    except IntegrityError:
        record = rows.filter(key=key).first()
    if record is None:
        raise WrongStateError(
            f"The first request with this {HEADER} has just failed; send it again."
        )
    if record.digest != digest:
        raise WrongStateError(f"This {HEADER} was used for another request; choose a new one.")
    if record.status is None:
        raise WrongStateError(f"The first request with this {HEADER} is still being answered.")
    return record, False


def _store(record: IdempotencyRecord, response: Response) -> None:
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        record.delete()
        return
    body = AnswerRenderer().render(response.data).decode()
    headers = {n: response[n] for n in _STORED_HEADERS if response.has_header(n)}
    is_ours = IdempotencyRecord.objects.filter(pk=record.pk, status=None).update(
        status=response.status_code, body=body, headers=headers
    )
    if not is_ours:
        taken = f"It took so long that another request took this {HEADER}; nothing is done."
        raise WrongStateError(taken)
