"""Bodies that are files, read as streams of a bounded length."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, cast

from django.conf import settings
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request

from pricing.api.rest import PayloadTooLarge, check_length
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
