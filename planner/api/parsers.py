"""Bodies of a bounded length: JSON, and files that are read as streams."""

from __future__ import annotations

import io
from http import HTTPStatus
from typing import Any, BinaryIO, cast

from django.conf import settings
from rest_framework import exceptions
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request

from planner.contract.typed_numbers import check_tree, read_length
from pricing.common import bounded
from pricing.common.invalid_input import InvalidInput

FILE = "file"
"""Field of each file of a request in parts."""
STREAM = "stream"
"""Where the body of a file is found in `request.data`."""


class FileParser(BaseParser):
    """Hands the body on as a stream; its length is judged before a byte of it is read."""

    media_type = "*/*"
    accepted: tuple[str, ...] = ("text/csv", "application/octet-stream")

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        check_length((parser_context or {}).get("request"), settings.API_MAX_UPLOAD_BYTES)
        return {STREAM: io.BufferedReader(_Limited(stream, settings.API_MAX_UPLOAD_BYTES))}

    @classmethod
    def stream_of(cls, request: Request) -> BinaryIO:
        """The file of the request; 415 for a body of any other kind."""
        content_type = request.content_type or "nothing"
        if content_type.split(";")[0].strip().lower() not in cls.accepted:
            raise UnsupportedMediaType(content_type)
        body: Any = request.data
        stream: BinaryIO = body.get(STREAM) or io.BytesIO()
        return stream


class FilesParser(MultiPartParser):
    """Several files in parts of one body, each in the field `file`; the body's length is judged
    before a byte of it is read."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        check_length((parser_context or {}).get("request"), settings.API_MAX_UPLOAD_BYTES)
        limited = io.BufferedReader(_Limited(stream, settings.API_MAX_UPLOAD_BYTES))
        return super().parse(limited, media_type, parser_context)

    @classmethod
    def files_of(cls, request: Request, most: int) -> list[tuple[str, BinaryIO]]:
        """Name and stream of each file of a request in parts; refused where there is none, too
        many, or a part that is no file."""
        fields = [*request.POST, *(name for name in request.FILES if name != FILE)]
        if fields:
            problem = "is no part of this request; questions stand in its address"
            raise InvalidInput(fields[0], f"{problem}, files in parts named {FILE}")
        files = request.FILES.getlist(FILE)
        if not files:
            raise InvalidInput(FILE, f"is missing; each part named {FILE} is one")
        if len(files) > most:
            raise InvalidInput(FILE, f"are {len(files)}; at most {most} are read at once")
        return [(file.name or "", cast(BinaryIO, file.file)) for file in files]


class _Limited(io.RawIOBase):
    """A stream that ends with `PayloadTooLarge` where it says more than it declared."""

    def __init__(self, stream: Any, limit_bytes: int) -> None:
        self._stream = stream
        self._left = self._limit = limit_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise PayloadTooLarge(self._limit)
        buffer[: len(data)] = data
        return len(data)


class PayloadTooLarge(exceptions.APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "body_too_large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"The body is larger than {limit_bytes:,} bytes.")
        self.limit_bytes = limit_bytes


class GuardedJSONParser(BaseParser):
    """JSON of a bounded size and depth, with text that every database can hold.

    Of a `JSONParser` the framework reads the whole body itself, up to a limit of its own.
    """

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        raw = read_body(stream, parser_context, settings.API_MAX_BODY_BYTES)
        try:
            value = bounded.loads(raw.decode("utf-8"))
        except InvalidInput:
            raise
        except ValueError as error:
            raise exceptions.ParseError(f"The body is not JSON: {error}") from None
        check_tree(value)
        return value


def read_body(stream: Any, parser_context: Any, limit_bytes: int) -> bytes:
    """The body, refused before it is read when it says it is larger than the limit."""
    request = (parser_context or {}).get("request")
    check_length(request, limit_bytes)
    raw: bytes = stream.read(limit_bytes + 1)
    if len(raw) > limit_bytes:
        raise PayloadTooLarge(limit_bytes)
    return raw


def check_length(request: Any, limit_bytes: int) -> None:
    declared = str(getattr(request, "META", {}).get("CONTENT_LENGTH") or "")
    if read_length(declared) > limit_bytes:
        raise PayloadTooLarge(limit_bytes)
    encoding = getattr(request, "META", {}).get("HTTP_CONTENT_ENCODING", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        raise exceptions.UnsupportedMediaType(
            encoding, f"Content-Encoding {encoding!r} is not accepted; send the body as it is."
        )
