"""The lines of a text, block by block and bounded. PURE."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO

from pricing.common.invalid_input import InvalidInput

MAX_LINE = 1_000_000
"""Most characters of a line."""
_BLOCK = 65_536
"""Bytes that are decoded at once."""


def read_lines(stream: BinaryIO, encoding: str, max_rows: int) -> Iterator[str]:
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
        _check(lines, whole, number, max_rows)
        if len(rest) > MAX_LINE:
            raise _too_long(number + len(lines) + 1)
        number += len(lines)
        yield from lines


def _check(lines: list[str], whole: str, before: int, max_rows: int) -> None:
    if len(whole) > MAX_LINE and max(map(len, lines)) > MAX_LINE:
        place = next(at for at, line in enumerate(lines) if len(line) > MAX_LINE)
        raise _too_long(before + place + 1)
    if "\0" in whole:
        place = next(at for at, line in enumerate(lines) if "\0" in line)
        raise InvalidInput(f"line {before + place + 1}", "holds a NUL; the file is not text")
    if before + len(lines) > max_rows:
        raise too_many_rows(max_rows)


def _too_long(line: int) -> InvalidInput:
    return InvalidInput(f"line {line}", f"is longer than {MAX_LINE:,} characters")


def too_many_rows(most: int) -> InvalidInput:
    problem = f"has more than {most:,} rows; read it in parts, such as months"
    return InvalidInput("file", problem)


def _count_before(rest: str, error: UnicodeDecodeError) -> int:
    """Ends of lines in a block before what cannot be decoded."""
    good = rest + error.object[: error.start].decode(error.encoding, "replace")
    return len(io.StringIO(good, newline="").readlines()) - (not good.endswith(("\n", "\r")))
