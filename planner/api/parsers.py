"""Bodies of a bounded length: JSON, and files. Django reads no byte beyond the length that a body
says it has, and none of a body that is too long."""

from __future__ import annotations

import io
from http import HTTPStatus
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.utils.datastructures import MultiValueDict
from rest_framework import exceptions
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser, FileUploadParser
from rest_framework.request import Request

from planner.contract.typed_numbers import check_tree, read_length
from pricing.common import bounded
from pricing.common.invalid_input import InvalidInput

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
