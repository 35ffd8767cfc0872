"""Numbers and texts as people type them in forms, files and arguments. PURE."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator

from pricing.common.bounded import (
    INVISIBLE,
    MAX_DEPTH,
    NOT_STORED,
    SHOWN_LENGTH,
    TOO_DEEP,
    check_text,
)
from pricing.common.invalid_input import InvalidInput

MAX_ID_DIGITS = 18
"""Digits of the number of a database row: the columns hold 2^63 - 1, of 19 digits."""
MAX_LINE_LENGTH = 100_000
"""Characters of one line of a file."""
_GROUP = "_ \u00a0\u202f'\u2019"
_ENGLISH = re.compile(rf"[+-]?\d{{1,3}}([,{_GROUP}]\d{{3}})+(\.\d+)?")
_CONTINENTAL = re.compile(rf"[+-]?(\d+|\d{{1,3}}([.{_GROUP}]\d{{3}})+),\d+")
_DOTS = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}")
_ONE_DOT = re.compile(r"\d{1,3}\.\d{3}")
_ROUND_DOT = re.compile(r"[1-9]\d{0,2}\.\d\d0")
_ONE_COMMA = re.compile(r"(\d+),(\d+)")
MAX_LENGTH_DIGITS = 18
"""Digits of a length in bytes."""


def plain_number(text: str) -> str:
    """A number without grouping marks and with a decimal point; any other text as it is.

    >>> plain_number("1,250,000"), plain_number("1.250.000"), plain_number("1'250 000")
    ('1250000', '1250000', '1250000')
    >>> plain_number("1.000,50"), plain_number("1,000.50"), plain_number("0,25")
    ('1000.50', '1000.50', '0.25')
    >>> plain_number("1,500"), plain_number("2.345"), plain_number("many, or few")
    ('1500', '2.345', 'many, or few')
    """
    if _ENGLISH.fullmatch(text):
        return re.sub(rf"[,{_GROUP}]", "", text)
    if _CONTINENTAL.fullmatch(text) or _DOTS.fullmatch(text):
        return re.sub(rf"[.{_GROUP}]", "", text).replace(",", ".")
    return text


def spell_out(text: str) -> str:
    """An amount or a count whose point may be the mark of thousands or of decimals, as a question
    that no number is; any other text as it is. Nobody plans to a tenth of a cent.

    >>> spell_out("300.000"), spell_out("300000"), spell_out("300.50")
    ('300.000: 300 or 300000?', '300000', '300.50')
    """
    if not _ONE_DOT.fullmatch(text):
        return text
    return f"{text}: {text.rstrip('0').rstrip('.')} or {text.replace('.', '')}?"


def spell_out_round(text: str) -> str:
    """The same for figures that may well have three decimals: only those that end in 0, which no
    program writes and hardly anybody types.

    >>> spell_out_round("1.500"), spell_out_round("1.085"), spell_out_round("0.250")
    ('1.500: 1.5 or 1500?', '1.085', '0.250')
    """
    return spell_out(text) if _ROUND_DOT.fullmatch(text) else text


def spell_out_pair(text: str) -> str:
    """Two numbers with a bare comma between them, or one with a decimal comma, as a question.

    >>> spell_out_pair("10,25"), spell_out_pair("1,460"), spell_out_pair("10, 25")
    ('10,25: 10.25, or 10 and 25?', '1,460', '10, 25')
    """
    pair = _ONE_COMMA.fullmatch(text)
    if pair is None or _ENGLISH.fullmatch(text):
        return text
    return f"{text}: {pair[1]}.{pair[2]}, or {pair[1]} and {pair[2]}?"


def write_out(number: float) -> str:
    """A number as `spell_out` has nothing to ask about.

    >>> write_out(123.456), write_out(0.5), write_out(1250000.0)
    ('123.4560', '0.5', '1250000.0')
    """
    text = repr(number)
    return f"{text}0" if _ONE_DOT.fullmatch(text) else text


def read_row_id(text: str) -> int | None:
    """The number of a database row as a page sends it back; None for any other text.

    >>> read_row_id("1234567"), read_row_id("²"), read_row_id("9" * 19)
    (1234567, None, None)
    """
    is_id = len(text) <= MAX_ID_DIGITS and text.isascii() and text.isdecimal()
    return int(text) if is_id else None


def check_lines(lines: Iterable[str], field: str) -> Iterator[str]:
    """The lines as they come; refuses the first one that is longer than `MAX_LINE_LENGTH`."""
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE_LENGTH:
            raise InvalidInput(
                field, f"line {number} is longer than {MAX_LINE_LENGTH:,} characters"
            )
        yield line


def without_invisible(text: str) -> str:
    """A text that was accepted once, without what `check_text` would refuse now.

    >>> without_invisible("Acme\\u202e 9")
    'Acme 9'
    """
    return INVISIBLE.sub("", text)


MOST = 1_000_000_000
"""More than anything that is counted here; every database and calendar can hold it as a count."""
MOST_DAYS = 36_500
"""A hundred years: dates end not far beyond."""
MOST_PORT = 65_535


def whole_number_from(least: int, most: int = MOST) -> Callable[[str], int]:
    """The `type` of an argument that is a whole number from `least` to `most`.

    >>> whole_number_from(0)("12")
    12
    >>> whole_number_from(0)("-3")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: '-3' is no whole number from 0 on
    """

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise ArgumentTypeError(f"{text[:60]!r} is no whole number from {least} on")
        if number > most:
            raise ArgumentTypeError(f"{text[:60]!r} is more than {most:,}")
        return number

    return read


_Link = tuple["_Link | None", object]
"""A step of a path, behind the steps before it."""


def check_tree(value: object) -> None:
    """Refuses nesting beyond `MAX_DEPTH`, and what `check_text` does in any text."""
    level: list[tuple[_Link | None, object]] = [(None, value)]
    for _ in range(MAX_DEPTH + 1):
        children: list[tuple[_Link | None, object]] = []
        for link, item in level:
            if isinstance(item, str):
                _check_leaf(link, item)
            elif isinstance(item, dict):
                for key, below in item.items():
                    _check_leaf(link, str(key))
                    children.append(((link, key), below))
            elif isinstance(item, list):
                children.extend(((link, i), below) for i, below in enumerate(item))
        if not children:
            return
        level = children
    raise InvalidInput("", TOO_DEEP)


def _check_leaf(link: _Link | None, text: str) -> None:
    if text.isascii() and text.isprintable():
        return
    if NOT_STORED.search(text) or INVISIBLE.search(text):
        parts: list[str] = []
        while link is not None:
            link, part = link
            parts.insert(0, str(part)[:SHOWN_LENGTH])
        check_text(".".join(parts), text)


def read_length(declared: str) -> int:
    """Bytes that a header declares; 0 where it declares none, and more than anything may have
    where it has more digits than a length.

    >>> read_length("1000000"), read_length("²"), read_length("")
    (1000000, 0, 0)
    """
    if not (declared.isascii() and declared.isdecimal()):
        return 0
    return int(declared[: MAX_LENGTH_DIGITS + 1])
