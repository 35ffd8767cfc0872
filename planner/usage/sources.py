"""A file as it arrives: unpacked, decoded and bounded, in pieces. PURE.

Nothing is held but the piece at hand, whatever a file declares or unpacks to; what is larger
than it may be, compressed twice or not text is refused by name.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, cast

from pricing.common import bounded
from pricing.common.bounded import MAX_DEPTH, check_nesting
from pricing.common.invalid_input import InvalidInput

MAX_BYTES = 8_000_000_000
"""Most bytes of a file, unpacked."""
MAX_ROWS = 20_000_000
"""Most lines of a file."""
MAX_LINE = 1_000_000
"""Most characters of a line."""
MAX_DOCUMENT = 32_000_000
"""Most characters of a JSON document that is read as a whole."""
MAX_RATIO, RATIO_BYTES = 200, 8_000_000
"""Most bytes that one compressed byte may unpack to, from so many unpacked bytes on: bills pack to
a tenth or a fiftieth, bombs to a thousandth."""
HEAD = 65_536
MAX_SPOOLED = 64_000_000
"""Most bytes of an archive that comes from a pipe."""
MAX_MEMBERS = 200
MAX_WORKBOOK = 150_000_000
"""Most bytes that the parts of a workbook may unpack to."""
MAX_CELLS = 8_000_000
"""Most cells that a sheet may seem to span, up to four times those it has: all of the rectangle is
held, empty ones too."""
_OTHER = {
    b"BZh": "is compressed with bzip2; use gzip",
    b"\xfd7zXZ": "is compressed with xz; use gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with Zstandard; use gzip",
    b"7z\xbc\xaf": "is a 7z archive; use gzip or zip",
    b"Rar!": "is a RAR archive; use gzip or zip",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook (.xls); save it as .xlsx or CSV",
    b"%PDF": "is a PDF; bills are read from CSV exports",
    b"\x1f\x8b": "is compressed twice; unpack it once",
    b"PK\x03\x04": "is compressed twice; unpack it once",
}
_DAMAGE = (
    *(EOFError, OSError, zlib.error, zipfile.BadZipFile, struct.error),
    *(NotImplementedError, ValueError, RuntimeError, OverflowError),
)
"""What unpacking raises over a damaged archive."""
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass
class Allowance:
    """What may be read, unpacked, of a file, or of all files of a question together."""

    most_bytes: int
    most_rows: int
    taken_bytes: int = 0
    taken_rows: int = 0
    files: int = 0
    """Files that drew on it so far."""

    @property
    def bytes_left(self) -> int:
        return self.most_bytes - self.taken_bytes

    def take_bytes(self, count: int) -> None:
        self.taken_bytes += count
        if self.taken_bytes > self.most_bytes:
            problem = f"unpacks to more than {self.most_bytes:,} bytes"
            raise InvalidInput("file", f"{problem}{self._together()}")

    def take_rows(self, count: int) -> None:
        self.taken_rows += count
        if self.taken_rows > self.most_rows:
            problem = f"has more than {self.most_rows:,} rows{self._together()}"
            raise InvalidInput("file", f"{problem}; read it in parts, such as months")

    def _together(self) -> str:
        return " together with the files before it" if self.files > 1 else ""


@dataclass
class Source:
    """A file opened for reading: text, a workbook or Parquet."""

    text: io.TextIOWrapper | None
    head: str
    """The first characters of the text."""
    allowance: Allowance
    workbook: BinaryIO | None = None
    parquet: BinaryIO | None = None

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
                return bounded.loads(text)
            return json.loads(text, parse_float=parse_number, parse_int=parse_number)
        except (ValueError, RecursionError) as error:
            raise InvalidInput("file", f"is not JSON: {error}") from None

    def objects(self) -> Iterator[dict[str, Any]]:
        """Objects one a line, each read as it comes, or of one list; numbers as their texts."""
        if self.head.lstrip().startswith("["):
            for number, value in enumerate(self.document(str), 1):
                if not isinstance(value, dict):
                    raise InvalidInput(f"row {number}", "is no JSON object")
                yield value
            return
        for number, line in enumerate(self.lines(), 1):
            if line.strip():
                yield _read_object(line, number)


def open_source(stream: BinaryIO, allowance: Allowance | None = None) -> Source:
    """The file behind a stream, unpacked where it is gzip or a zip of one file; refused where it
    is larger than it may be, by its size before a byte is read, else as it is read."""
    if allowance is None:
        allowance = Allowance(MAX_BYTES, MAX_ROWS)
    allowance.files += 1
    if stream.seekable():
        place = stream.tell()
        size = stream.seek(0, io.SEEK_END)
        stream.seek(place)
        if size > allowance.bytes_left:
            problem = f"has {size:,} bytes; at most {allowance.bytes_left:,} are read"
            raise InvalidInput("file", f"{problem}: split it, such as by month")
    as_sent = _Counted(stream, Allowance(allowance.bytes_left, 0))
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(as_sent, HEAD)
    magic = buffered.peek(8)[:8]
    if magic.startswith(b"\x1f\x8b"):
        packed = _Counted(buffered, Allowance(allowance.bytes_left, 0))
        return _open_text(_Counted(gzip.GzipFile(fileobj=packed), allowance, packed))
    if magic.startswith(b"PAR1"):
        return Source(None, "", allowance, parquet=_seekable(stream, buffered))
    if magic.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _open_zip(_seekable(stream, buffered), allowance)
    return _open_text(_Counted(buffered, allowance))


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


def _seekable(stream: BinaryIO, buffered: Any) -> BinaryIO:
    if stream.seekable():
        stream.seek(0)
        return stream
    data = buffered.read(MAX_SPOOLED + 1)
    if len(data) > MAX_SPOOLED:
        problem = f"is an archive of more than {MAX_SPOOLED:,} bytes on standard input"
        raise InvalidInput("file", f"{problem}; give the file's name")
    return io.BytesIO(data)


def _open_text(counted: _Counted) -> Source:
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
    encoding = next((name for bom, name in _BOMS.items() if first.startswith(bom)), "utf-8")
    head = first.decode(encoding, "replace").lstrip("\ufeff")
    if not head.strip():
        raise InvalidInput("file", "is empty")
    return Source(io.TextIOWrapper(buffered, encoding, newline=""), head, counted.allowance)


# Archives ---------------------------------------------------------------------------------


def _open_zip(stream: BinaryIO, allowance: Allowance) -> Source:
    try:
        archive = zipfile.ZipFile(stream)
        members = archive.infolist()
    except _DAMAGE as error:
        raise InvalidInput("file", f"is a damaged zip archive: {error}") from None
    if len(members) > MAX_MEMBERS:
        raise InvalidInput("file", f"is a zip archive of {len(members):,} files; send one")
    if any(member.filename == "xl/workbook.xml" for member in members):
        _check_workbook(archive, members)
        allowance.take_bytes(sum(member.file_size for member in members))
        stream.seek(0)
        return Source(None, "", allowance, workbook=stream)
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
    return _open_text(_Counted(member, allowance))


_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]*)(\d+)""")
_ROW, _CELL = (re.compile(rb"<(?:[\w.-]+:)?" + name + rb"\b") for name in (b"row", b"c"))
_NO_VALUE = re.compile(
    rb"</(?:[\w.-]+:)?f>\s*<(?:/(?:[\w.-]+:)?c>|(?:[\w.-]+:)?v\s*/|(?:[\w.-]+:)?v>\s*</)"
    rb"""|\bt\s*=\s*["']e["']"""
)
_OVERLAP = 200
"""Bytes of a piece that are searched again with the next: a tag may stand across both."""


def _check_workbook(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
    """Refuses a workbook whose parts are larger than may be held, whatever they are called: the
    workbook itself says which of them is a sheet."""
    check_ratio(sum(one.file_size for one in members), sum(one.compress_size for one in members))
    if sum(member.file_size for member in members) > MAX_WORKBOOK:
        raise _large_workbook(f"of more than {MAX_WORKBOOK:,} bytes unpacked")
    try:
        for member in members:
            _check_part(archive.open(member))
    except InvalidInput:
        raise
    except _DAMAGE as error:
        raise InvalidInput("file", f"is a damaged workbook: {error}; save it as CSV") from None


def _check_part(part: IO[bytes]) -> None:
    """Refuses a part that would span too many cells, or has a formula without its value. A cell
    stands where it says, or beside the one before it."""
    row = column = rows = cells = widest = 0
    rest = b""
    while piece := part.read(HEAD * 4):
        text = rest + piece
        for letters, number in _PLACE.findall(text):
            if letters:
                column = max(column, _column_number(letters))
            row = max(row, int(number[:9]))
        first, *more = _ROW.split(text)
        rows += len(more)
        for of_row in (first, *more):
            cells = len(_CELL.findall(of_row)) + (cells if of_row is first else 0)
            widest = max(widest, cells)
        if (row + rows) * max(column + widest, 1) > MAX_CELLS:
            raise _large_workbook("with too many cells")
        if _NO_VALUE.search(text):
            problem = "is a workbook with formulas whose values it does not hold, or with errors"
            raise InvalidInput("file", f"{problem}; save the sheet as values")
        rest = text[-_OVERLAP:]


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters[:6].upper():
        number = number * 26 + letter - 64
    return number


def _large_workbook(problem: str) -> InvalidInput:
    return InvalidInput("file", f"is a workbook {problem}; save it as CSV")


# Lines ------------------------------------------------------------------------------------


def read_lines(stream: BinaryIO, encoding: str, allowance: Allowance) -> Iterator[str]:
    """The lines with their ends, whether these are LF, CR LF or CR; refused where one is too long,
    no text, or holds a NUL."""
    decoder = codecs.getincrementaldecoder(encoding)()
    number, rest = 0, ""
    is_last = False
    while not is_last:
        data = stream.read(HEAD)
        is_last = not data
        try:
            block = rest + decoder.decode(data, is_last)
        except UnicodeDecodeError as error:
            good = rest + error.object[: error.start].decode(error.encoding, "replace")
            place = number + len(io.StringIO(good, newline="").readlines())
            place += good.endswith(("\n", "\r")) or not good
            problem = "is not UTF-8 text near here; save the file as UTF-8"
            raise InvalidInput(f"line {place}", problem) from None
        # A CR at the end of the block may be half of a CR LF.
        cut = max(block.rfind("\n"), block.rfind("\r", 0, -1)) + 1
        whole, rest = (block, "") if is_last else (block[:cut], block[cut:])
        lines = io.StringIO(whole, newline="").readlines()
        if "\0" in whole or len(whole) > MAX_LINE:
            for index, line in enumerate(lines, number + 1):
                _check_line(line, index)
        allowance.take_rows(len(lines))
        number += len(lines)
        _check_line(rest, number + 1)
        yield from lines


def _check_line(line: str, number: int) -> None:
    if len(line) > MAX_LINE:
        raise InvalidInput(f"line {number}", f"is longer than {MAX_LINE:,} characters")
    if "\0" in line:
        raise InvalidInput(f"line {number}", "holds a NUL; the file is not text")


# JSON -------------------------------------------------------------------------------------


def _read_object(text: str, number: int) -> dict[str, Any]:
    if text.count("{") + text.count("[") > MAX_DEPTH:  # fewer brackets cannot nest deeper
        check_nesting(text)
    try:
        value = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"row {number}", f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"row {number}", "is no JSON object")
    return value
