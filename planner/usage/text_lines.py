"""The lines of a text, block by block and bounded. PURE."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pricing.common.invalid_input import InvalidInput

MAX_LINE = 1_000_000
"""Most characters of a line."""
_BLOCK = 65_536
"""Bytes that are decoded at once."""


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


def read_lines(stream: BinaryIO, encoding: str, allowance: Allowance) -> Iterator[str]:
    """The lines with their ends, whether these are LF, CR LF or CR; refused where one is too long,
    no text, or holds a NUL."""
    decoder = codecs.getincrementaldecoder(encoding)()
    number, rest = 0, ""
    is_last = False
    while not is_last:
        data = stream.read(_BLOCK)
        is_last = not data
        try:
            block = rest + decoder.decode(data, is_last)
        except UnicodeDecodeError as error:
            line = number + _count_before(rest, error) + 1
            problem = "is not UTF-8 text near here; save the file as UTF-8"
            raise InvalidInput(f"line {line}", problem) from None
        # A CR at the end of the block may be half of a CR LF.
        cut = max(block.rfind("\n"), block.rfind("\r", 0, -1)) + 1
        whole, rest = (block, "") if is_last else (block[:cut], block[cut:])
        lines = io.StringIO(whole, newline="").readlines()
        _check(lines, whole, number)
        allowance.take_rows(len(lines))
        if len(rest) > MAX_LINE:
            raise _too_long(number + len(lines) + 1)
        number += len(lines)
        yield from lines


def _check(lines: list[str], whole: str, before: int) -> None:
    if len(whole) > MAX_LINE and max(map(len, lines)) > MAX_LINE:
        place = next(at for at, line in enumerate(lines) if len(line) > MAX_LINE)
        raise _too_long(before + place + 1)
    if "\0" in whole:
        place = next(at for at, line in enumerate(lines) if "\0" in line)
        raise InvalidInput(f"line {before + place + 1}", "holds a NUL; the file is not text")


def _too_long(line: int) -> InvalidInput:
    return InvalidInput(f"line {line}", f"is longer than {MAX_LINE:,} characters")


def _count_before(rest: str, error: UnicodeDecodeError) -> int:
    """Ends of lines in a block before what cannot be decoded."""
    good = rest + error.object[: error.start].decode(error.encoding, "replace")
    return len(io.StringIO(good, newline="").readlines()) - (not good.endswith(("\n", "\r")))
