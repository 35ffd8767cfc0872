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
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
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
DAMAGE = (
    *(EOFError, OSError, zlib.error, zipfile.BadZipFile, tarfile.TarError, struct.error),
    *(NotImplementedError, ValueError, RuntimeError, OverflowError),
)
"""What unpacking raises over a damaged archive."""
_NEXT, _LAST = re.compile(r"[\s,]*\{"), re.compile(r"[\s,]*\]")
_SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=.\"?\s*(\n|\Z)", re.IGNORECASE)
"""By which spreadsheets are told the sign between cells."""
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

    @property
    def is_spent(self) -> bool:
        return self.bytes_left < 0 or self.taken_rows > self.most_rows

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
        number = 0

        def place(error: UnicodeDecodeError) -> str:
            before = error.object[: error.start]
            ends = max(before.count(end) for end in (b"\n", b"\r"))
            return f"line {number + 1 + ends}"

        with _readable(line=place):
            while line := self.text.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    problem = f"is longer than {MAX_LINE:,} characters"
                    raise InvalidInput(f"line {number}", problem)
                if "\0" in line:
                    raise InvalidInput(f"line {number}", "holds a NUL; the file is not text")
                self.allowance.take_rows(1)
                if number > 1 or not _SEPARATOR_LINE.match(line):
                    yield line

    def whole_text(self) -> str:
        """All characters of a file that is read as a whole."""
        assert self.text is not None
        with _readable():
            text = self.text.read(MAX_DOCUMENT + 1)
        if len(text) > MAX_DOCUMENT:
            problem = f"is read as a whole and has more than {MAX_DOCUMENT:,} characters"
            raise InvalidInput("file", f"{problem}; export a shorter time or fewer columns")
        return text

    def document(self, parse_number: Callable[[str], Any] | None = None) -> Any:
        """The whole file as one JSON document of bounded size and depth; numbers as floats, or
        as `parse_number` reads their text."""
        return _read_json(self.whole_text(), "file", parse_number)

    def listed(self, name: str) -> Iterator[dict[str, Any]]:
        """Objects of the list of this name in a JSON document, each read as it comes."""
        assert self.text is not None
        text, begin = "", re.compile(rf'"{name}"\s*:\s*\[')
        decoder, place = json.JSONDecoder(), None
        with _readable():
            while piece := self.text.read(MAX_LINE):
                text += piece
                if place is None and (match := begin.search(text)):
                    place = match.end()
                while place is not None and (start := _NEXT.match(text, place)):
                    try:
                        value, place = decoder.raw_decode(text, start.end() - 1)
                    except (ValueError, RecursionError):
                        break
                    self.allowance.take_rows(1)
                    yield value
                text, place = (text, None) if place is None else (text[place:], 0)
                if len(text) > MAX_DOCUMENT:
                    raise InvalidInput("file", f"lists no {name} that can be read")
        if place is None or not _LAST.match(text):
            raise InvalidInput("file", f"is not JSON to its end, or lists no {name}")

    def objects(self) -> Iterator[dict[str, Any]]:
        """Objects one a line, each read as it comes, or of one list; numbers as their texts."""
        is_list = self.head.lstrip().startswith("[")
        for number, value in enumerate(self.document(str) if is_list else self.lines(), 1):
            if isinstance(value, str) and not is_list:
                if not value.strip():
                    continue
                value = _read_json(value, f"row {number}", str)
            if not isinstance(value, dict):
                raise InvalidInput(f"row {number}", "is no JSON object")
            yield value


def _read_json(text: str, place: str, parse_number: Callable[[str], Any] | None) -> Any:
    if text.count("{") + text.count("[") > MAX_DEPTH:  # fewer brackets cannot nest deeper
        check_nesting(text)
    try:
        if parse_number is None:
            return bounded.loads(text)
        return json.loads(text, parse_float=parse_number, parse_int=parse_number)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(place, f"is not JSON: {error}") from None


@contextmanager
def _readable(
    what: str = "is damaged", line: Callable[[UnicodeDecodeError], str] = lambda error: "file"
) -> Iterator[None]:
    """Says of a file that cannot be unpacked or decoded what is wrong with it."""
    try:
        yield
    except InvalidInput:
        raise
    except UnicodeDecodeError as error:
        problem = "is not UTF-8 text near here; save the file as UTF-8"
        raise InvalidInput(line(error), problem) from None
    except DAMAGE as error:
        raise InvalidInput("file", f"{what}: {error}") from None


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


def open_members(
    name: str, stream: BinaryIO, allowance: Allowance | None
) -> Iterator[tuple[str, BinaryIO, bool]]:
    """The files of a tar archive or of a zip archive of several, each as it is reached, else the
    file itself; and whether it is one of several. A zip is refused by what it declares before one
    is unpacked."""
    if _is_tar(stream):
        with _readable("is a damaged tar archive"):
            for path, size, member in _tar_members(stream):
                yield f"{name}/{path}", _part(member, size), True
        return
    archive = _find_archive(stream)
    listed = archive.infolist() if archive else []
    members = [one for one in listed if not (one.is_dir() or is_hidden(one.filename))]
    if archive is None or len(members) < 2 or "xl/workbook.xml" in archive.namelist():
        yield name, stream, False
        return
    _check_members(members, allowance.bytes_left if allowance else MAX_BYTES)
    for one in members:
        with _readable(), archive.open(one) as part:
            yield f"{name}/{one.filename}", _part(part, one.file_size), True


def _part(member: IO[bytes], size: int) -> BinaryIO:
    """A file of an archive, which cannot be read twice and is no longer than the archive says."""
    return cast(BinaryIO, io.BufferedReader(_Counted(member, Allowance(size, 0)), HEAD))


def _unpack(stream: BinaryIO) -> _Counted:
    is_packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    as_sent = _Counted(stream, Allowance(MAX_BYTES, 0))
    if not is_packed:
        return as_sent
    return _Counted(gzip.GzipFile(fileobj=as_sent), Allowance(MAX_BYTES, 0), as_sent)


def _is_tar(stream: BinaryIO) -> bool:
    if not stream.seekable():
        return False
    header = b""
    with suppress(InvalidInput, *DAMAGE):
        header = io.BufferedReader(_unpack(stream)).read(512)
    stream.seek(0)
    return header[257:262] == b"ustar"


def _tar_members(stream: BinaryIO) -> Iterator[tuple[str, int, IO[bytes]]]:
    with tarfile.open(fileobj=_unpack(stream), mode="r|") as archive:
        members = (one for one in archive if one.isfile() and not is_hidden(one.name))
        for count, one in enumerate(members, 1):
            if count > MAX_MEMBERS:
                problem = f"is a tar archive of more than {MAX_MEMBERS} files; split it"
                raise InvalidInput("file", problem)
            if (member := archive.extractfile(one)) is not None:
                yield one.name, one.size, member


def _check_members(members: list[zipfile.ZipInfo], most: int) -> None:
    if len(members) > MAX_MEMBERS:
        problem = f"is a zip archive of {len(members):,} files; at most {MAX_MEMBERS} are read"
        raise InvalidInput("file", problem)
    if sum(one.file_size for one in members) > most:
        raise InvalidInput("file", f"unpacks to more than {most:,} bytes")
    for one in members:
        check_ratio(one.file_size, one.compress_size)
        if one.flag_bits & 1:
            raise InvalidInput("file", "is a zip archive with a password; remove it")


def _find_archive(stream: BinaryIO) -> zipfile.ZipFile | None:
    if not stream.seekable():
        return None
    is_zip = stream.read(4) == b"PK\x03\x04"
    stream.seek(0)
    with _readable("is a damaged zip archive"):
        archive = zipfile.ZipFile(stream) if is_zip else None
    stream.seek(0)
    return archive


def is_hidden(path: str) -> bool:
    """Whether a part of a path is none of the files that people put there.

    >>> is_hidden("bills/.DS_Store"), is_hidden("__MACOSX/a.csv"), is_hidden("bills/a.csv")
    (True, True, False)
    """
    return any(part.startswith((".", "__MACOSX")) and part != "." for part in path.split("/"))


def _open_text(counted: _Counted) -> Source:
    buffered = io.BufferedReader(counted, HEAD)
    with _readable():
        first = buffered.peek(HEAD)[:HEAD]
    for magic, problem in _OTHER.items():
        if first.startswith(magic):
            raise InvalidInput("file", problem)
    encoding = next((name for bom, name in _BOMS.items() if first.startswith(bom)), "utf-8")
    head = _SEPARATOR_LINE.sub("", first.decode(encoding, "replace"), 1).lstrip("\ufeff")
    if not head.strip():
        raise InvalidInput("file", "is empty")
    errors = _WINDOWS if encoding == "utf-8" else "strict"
    text = io.TextIOWrapper(buffered, encoding, errors, newline="")
    return Source(text, head, counted.allowance)


def _decode_as_windows(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    try:
        return error.object[error.start : error.end].decode(_WINDOWS), error.end
    except UnicodeDecodeError:
        raise error from None


_WINDOWS = "cp1252"
"""What spreadsheets of Windows write in the West where they do not write UTF-8."""
codecs.register_error(_WINDOWS, _decode_as_windows)


# Archives ---------------------------------------------------------------------------------


def _open_zip(stream: BinaryIO, allowance: Allowance) -> Source:
    with _readable("is a damaged zip archive"):
        archive = zipfile.ZipFile(stream)
        members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise InvalidInput("file", f"is a zip archive of {len(members):,} files; send one")
    if any(member.filename == "xl/workbook.xml" for member in members):
        _check_workbook(archive, members)
        allowance.take_bytes(sum(member.file_size for member in members))
        stream.seek(0)
        return Source(None, "", allowance, workbook=stream)
    files = [one for one in members if not (one.is_dir() or is_hidden(one.filename))]
    if len(files) != 1:
        raise InvalidInput("file", f"is a zip archive of {len(files)} files; send them one by one")
    _check_members(files, allowance.bytes_left)
    with _readable():
        member = archive.open(files[0])
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
    workbook itself says which of them is a sheet. A part may not span too many cells, or have a
    formula without its value."""
    unpacked = sum(member.file_size for member in members)
    check_ratio(unpacked, sum(member.compress_size for member in members))
    if unpacked > MAX_WORKBOOK:
        problem = f"is a workbook of more than {MAX_WORKBOOK:,} bytes unpacked"
        raise InvalidInput("file", f"{problem}; save it as CSV")
    for member in members:
        row = column = rows = cells = widest = 0
        rest = b""
        with _readable("is a damaged workbook"):
            part = archive.open(member)
            while piece := part.read(HEAD * 4):
                text = rest + piece
                for letters, number in _PLACE.findall(text):
                    places = (ord(one) - 64 for one in letters[:6].decode().upper())
                    column = max(column, reduce(lambda sum_, place: sum_ * 26 + place, places, 0))
                    row = max(row, int(number[:9]))
                first, *more = (len(_CELL.findall(of_row)) for of_row in _ROW.split(text))
                rows += len(more)
                widest = max(widest, cells + first, *more)
                cells = more[-1] if more else cells + first
                if (row + rows) * max(column + widest, 1) > MAX_CELLS:
                    problem = "is a workbook with too many cells; save it as CSV"
                    raise InvalidInput("file", problem)
                if _NO_VALUE.search(text):
                    problem = "is a workbook with formulas whose values it does not hold, or with"
                    raise InvalidInput("file", f"{problem} errors; save the sheet as values")
                rest = text[-_OVERLAP:]
