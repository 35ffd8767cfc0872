"""A file as it arrives: unpacked, decoded and bounded, in pieces. PURE.

Nothing is held but the piece at hand, whatever a file declares or unpacks to; what is larger
than it may be, compressed twice or not text is refused by name.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, cast

from planner.usage.json_rows import list_objects, read_object
from planner.usage.text_lines import MAX_LINE, Allowance, read_lines
from pricing.common import strict_json
from pricing.common.bounded import check_nesting
from pricing.common.invalid_input import InvalidInput

MAX_BYTES = 8_000_000_000
"""Most bytes of a file, unpacked."""
MAX_ROWS = 20_000_000
"""Most lines of a file."""
MAX_DOCUMENT = 32_000_000
"""Most characters of a JSON document that is read as a whole."""
MAX_RATIO, RATIO_BYTES = 200, 8_000_000
"""Most bytes that one compressed byte may unpack to, from so many unpacked bytes on: bills pack to
a tenth or a fiftieth, bombs to a thousandth."""
HEAD = 65_536
_OTHER = {
    b"BZh": "is compressed with bzip2; use gzip",
    b"\xfd7zXZ": "is compressed with xz; use gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with Zstandard; use gzip",
    b"7z\xbc\xaf": "is a 7z archive; use gzip or zip",
    b"Rar!": "is a RAR archive; use gzip or zip",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook (.xls); save it as .xlsx or CSV",
    b"%PDF": "is a PDF; bills are read from CSV exports",
}
_DAMAGE = (
    *(EOFError, OSError, zlib.error, zipfile.BadZipFile, struct.error),
    *(NotImplementedError, ValueError, RuntimeError, OverflowError),
)
"""What unpacking raises over a damaged archive."""
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass
class Source:
    """A file opened for reading: its name, and either its text or its worksheet."""

    name: str
    text: io.TextIOWrapper | None
    """Where the file is text, or compressed text."""
    workbook: BinaryIO | None
    """Where the file is a workbook."""
    head: str
    """The first characters of the text."""
    allowance: Allowance
    parquet: BinaryIO | None = None
    """Where the file is Parquet."""

    def lines(self) -> Iterator[str]:
        """The lines with their ends; refused where one is too long, no text, or holds a NUL."""
        assert self.text is not None
        try:
            yield from read_lines(
                cast(BinaryIO, self.text.buffer), self.text.encoding, self.allowance
            )
        except InvalidInput:
            raise
        except _DAMAGE as error:
            raise InvalidInput("file", f"is damaged: {error}") from None

    def document(self, parse_number: Callable[[str], Any] | None = None) -> Any:
        """The whole file as one JSON document of bounded size and depth; numbers as floats, or
        as `parse_number` reads their text."""
        assert self.text is not None
        try:
            text = self.text.read(MAX_DOCUMENT + 1)
        except InvalidInput:
            raise
        except UnicodeDecodeError:
            raise InvalidInput("file", "is not UTF-8 text; save it as UTF-8") from None
        except _DAMAGE as error:
            raise InvalidInput("file", f"is damaged: {error}") from None
        if len(text) > MAX_DOCUMENT:
            problem = f"is a JSON document of more than {MAX_DOCUMENT:,} characters"
            raise InvalidInput("file", f"{problem}; export a shorter time, or a row a line")
        check_nesting(text)
        try:
            if parse_number is None:
                return strict_json.loads(text)
            return json.loads(text, parse_float=parse_number, parse_int=parse_number)
        except (ValueError, RecursionError) as error:
            raise InvalidInput("file", f"is not JSON: {error}") from None

    def objects(self) -> Iterator[dict[str, Any]]:
        """Objects one a line, or of one list, each read as it comes."""
        if self.head.lstrip().startswith("["):
            has_lines = "\n" in self.head.strip()
            yield from (
                list_objects(self.lines(), MAX_LINE) if has_lines else self._objects_of_a_line()
            )
            return
        for number, line in enumerate(self.lines(), 1):
            if line.strip():
                yield read_object(line, number)

    def _objects_of_a_line(self) -> Iterator[dict[str, Any]]:
        for number, value in enumerate(self.document(str), 1):
            if not isinstance(value, dict):
                raise InvalidInput(f"row {number}", "is no JSON object")
            yield value


class _Counted(io.RawIOBase):
    """A stream that refuses to grow beyond what a file may hold, or beyond what its compressed
    bytes may unpack to."""

    def __init__(
        self,
        stream: BinaryIO | IO[bytes] | gzip.GzipFile,
        allowance: Allowance,
        packed: _Counted | None = None,
    ) -> None:
        self._stream = stream
        self.size = 0
        self.allowance = allowance
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self.size += len(data)
        self.allowance.take_bytes(len(data))
        if self._packed is not None:
            check_ratio(self.size, self._packed.size)
        buffer[: len(data)] = data
        return len(data)


def check_ratio(unpacked: int, packed: int) -> None:
    """Refuses what unpacks to more than any bill does."""
    if unpacked > max(RATIO_BYTES, MAX_RATIO * packed):
        problem = f"{packed:,} bytes unpack to {unpacked:,} or more, as those of no bill do"
        raise InvalidInput("file", f"{problem}; unpack it and send the text")


def open_source(stream: BinaryIO, name: str = "", allowance: Allowance | None = None) -> Source:
    """The file behind a stream, unpacked where it is gzip or a zip of one file; refused where it
    is larger than it may be, by its size before a byte is read, else as it is read."""
    if allowance is None:
        allowance = Allowance(MAX_BYTES, MAX_ROWS)
    allowance.files += 1
    _check_size(stream, allowance)
    return _open(stream, name, allowance)


def _check_size(stream: BinaryIO, allowance: Allowance) -> None:
    if not stream.seekable():
        return
    place = stream.tell()
    size = stream.seek(0, io.SEEK_END)
    stream.seek(place)
    most = allowance.bytes_left
    if size > most:
        problem = f"has {size:,} bytes; at most {most:,} are read: split it, such as by month"
        raise InvalidInput("file", problem)


def _open(stream: BinaryIO, name: str, allowance: Allowance) -> Source:
    as_sent = _Counted(stream, Allowance(allowance.bytes_left, 0))
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(as_sent, HEAD)
    magic = buffered.peek(8)[:8]
    if magic.startswith(b"\x1f\x8b"):
        packed = _Counted(buffered, Allowance(allowance.bytes_left, 0))
        return _open_text(_Counted(gzip.GzipFile(fileobj=packed), allowance, packed), name)
    if magic.startswith(b"PAR1"):
        return Source(name, None, None, "", allowance, _seekable(stream, buffered))
    if magic.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _open_zip(stream, buffered, name, allowance)
    return _open_text(_Counted(buffered, allowance), name)


def _open_text(counted: _Counted, name: str) -> Source:
    buffered = io.BufferedReader(counted, HEAD)
    try:
        first = buffered.peek(HEAD)[:HEAD]
    except InvalidInput:
        raise
    except _DAMAGE as error:
        raise InvalidInput("file", f"is damaged: {error}") from None
    for magic, problem in _OTHER.items():
        if first.startswith(magic):
            raise InvalidInput("file", problem)
    if first.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        raise InvalidInput("file", "is compressed twice; unpack it once")
    encoding = next((one for bom, one in _BOMS.items() if first.startswith(bom)), "utf-8")
    head = first.decode(encoding, "replace").lstrip("\ufeff")
    if not head.strip():
        raise InvalidInput("file", "is empty")
    return Source(
        name, io.TextIOWrapper(buffered, encoding, newline=""), None, head, counted.allowance
    )


MAX_MEMBERS = 200
MAX_WORKBOOK = 150_000_000
"""Most bytes that the parts of a workbook may unpack to."""
MAX_SHARED_TEXTS = 50_000_000
"""Most bytes of the texts that its cells share, which are held as a whole."""
MAX_TAGS_OF_A_ROW = 200_000
"""Most tags between the ends of two rows of a sheet; a row is held as a whole."""


def _open_zip(stream: BinaryIO, buffered: Any, name: str, allowance: Allowance) -> Source:
    seekable = _seekable(stream, buffered)
    try:
        archive = zipfile.ZipFile(seekable)
        members = archive.infolist()
    except _DAMAGE as error:
        raise InvalidInput("file", f"is a damaged zip archive: {error}") from None
    if len(members) > MAX_MEMBERS:
        raise InvalidInput("file", f"is a zip archive of {len(members):,} files; send one")
    if any(member.filename == "xl/workbook.xml" for member in members):
        _check_workbook(archive, members)
        allowance.take_bytes(sum(member.file_size for member in members))
        return Source(name, None, seekable, "", allowance)
    return _open_member(archive, members, name, allowance)


def _check_workbook(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
    """Refuses a workbook whose parts, texts or rows are larger than may be held."""
    texts = [one.file_size for one in members if one.filename.endswith("sharedStrings.xml")]
    check_ratio(sum(one.file_size for one in members), sum(one.compress_size for one in members))
    if sum(member.file_size for member in members) > MAX_WORKBOOK:
        raise _large_workbook(f"of more than {MAX_WORKBOOK:,} bytes unpacked")
    if sum(texts) > MAX_SHARED_TEXTS:
        raise _large_workbook(f"with more than {MAX_SHARED_TEXTS:,} bytes of texts")
    try:
        for member in members:
            if member.filename.startswith("xl/worksheets/"):
                _check_rows(archive.open(member))
    except _DAMAGE as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("file", f"is a damaged workbook: {error}; save it as CSV") from None


def _check_rows(sheet: IO[bytes]) -> None:
    tags = 0
    rest = b""
    while piece := sheet.read(HEAD * 4):
        *whole, last = (rest + piece).split(b"row>")
        for row in whole:
            if tags + row.count(b"<") > MAX_TAGS_OF_A_ROW:
                raise _large_workbook("with a row of too many cells")
            tags = 0
        rest = last[-3:]
        tags += last[: len(last) - len(rest)].count(b"<")
        if tags > MAX_TAGS_OF_A_ROW:
            raise _large_workbook("with a row of too many cells")


def _large_workbook(problem: str) -> InvalidInput:
    return InvalidInput("file", f"is a workbook {problem}; save it as CSV")


def _open_member(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], name: str, allowance: Allowance
) -> Source:
    files = [one for one in members if not one.is_dir() and not one.filename.startswith("__MACOSX")]
    if len(files) != 1:
        raise InvalidInput("file", f"is a zip archive of {len(files)} files; send them one by one")
    if files[0].file_size > allowance.bytes_left:
        allowance.take_bytes(files[0].file_size)
    check_ratio(files[0].file_size, files[0].compress_size)
    if files[0].flag_bits & 1:
        raise InvalidInput("file", "is a zip archive with a password; remove it")
    try:
        member = archive.open(files[0])
    except _DAMAGE as error:
        raise InvalidInput("file", f"is a damaged zip archive: {error}") from None
    return _open_text(_Counted(member, allowance), name)


MAX_SPOOLED = 64_000_000


def _seekable(stream: BinaryIO, buffered: Any) -> BinaryIO:
    """The whole file from its start, held in memory where it comes from a pipe."""
    seekable = stream if stream.seekable() else _spool(buffered)
    seekable.seek(0)
    return seekable


def _spool(buffered: Any) -> BinaryIO:
    data = buffered.read(MAX_SPOOLED + 1)
    if len(data) > MAX_SPOOLED:
        problem = f"is an archive of more than {MAX_SPOOLED:,} bytes on standard input"
        raise InvalidInput("file", f"{problem}; give the file's name")
    return io.BytesIO(data)
