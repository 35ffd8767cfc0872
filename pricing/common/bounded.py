"""Numbers and texts as people and programs type them, bounded before anything converts them. PURE.

Converting is where a short text becomes a long computation: `int(Decimal("1e999999"))` takes a
minute, a nested list exhausts the stack, half a surrogate pair fits no database. Every interface
therefore reads what it is sent through this module; a refusal is an `InvalidInput` that shows the
value as typed, shortened, and says what is allowed.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from decimal import Decimal

from pricing.common.invalid_input import InvalidInput

MAX_NUMBER_LENGTH = 60
"""Characters of a number: twice what an exact amount needs."""
MAX_EXPONENT = 300
"""Numbers lie between 1e-300 and 1e300, so that a float holds each of them."""
MAX_DEPTH = 24
"""Levels of nesting; the deepest request of the contract has 6."""
MAX_POSITION_DIGITS = 6
"""Digits of a position in a list."""
SHOWN_LENGTH = 60
"""Characters of a value that a message shows."""

NUMBER_PATTERN = r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?"
_NUMBER = re.compile(NUMBER_PATTERN, re.ASCII)
_QUESTION = re.compile(
    r"([\d.,\s+-]{1,60}): ([\d.+-]{1,60}(?: %)?,? or [\d.+-]{1,60}(?: %)?( and \d{1,60})?\?)"
)
"""What `typed_number` makes of a text that may be two figures."""
_ANY_NUMBER = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?", re.ASCII)
"""The same form without bounds: what is a number, if one that is not read."""
NOT_STORED = re.compile("[\0\ud800-\udfff]")
_JOINED = r"\u0600-\u1fff\u2190-\ud7ff\ue000-\U0010ffff"
"""Scripts and signs that joiners stand between: Arabic, Indic ones, emoji."""
INVISIBLE = re.compile(
    "["
    r"\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, but for tab and the ends of lines
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # directions
    r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2028\u2029\u2060-\u2065"
    r"\u206a-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"  # of no width, or blank letters
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    "]"
    rf"|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
    r"|(?<=[a-zA-Z ])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""What nobody sees and what may show a text otherwise than it is (Unicode 16, general category Cf
and property Default_Ignorable_Code_Point). Joiners within a script that needs them stay."""
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def shorten(text: str, length: int = SHOWN_LENGTH) -> str:
    """`text` in quotes, cut to `length` characters.

    >>> shorten("many"), shorten("9" * 5000, 8)
    ("'many'", "'9999999…'")
    """
    return repr(text if len(text) <= length else f"{text[: length - 1]}…")


def read_decimal(text: str, field: str = "") -> Decimal:
    """The number that a text writes, exactly; `InvalidInput` on `field` for any other text.

    >>> read_decimal(" 12.50 "), read_decimal("-7e9")
    (Decimal('12.50'), Decimal('-7E+9'))
    >>> read_decimal("1e999999", "budget")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: budget: '1e999999' cannot be used; allowed are
        numbers between 1e-300 and 1e300 of at most 40 digits before and after the point
    """
    text = text.strip()
    problem = number_problem(text)
    if problem:
        raise InvalidInput(field, problem)
    return Decimal(text)


def number_problem(text: str) -> str:
    """Why a text is no number that can be used; empty where it is one.

    >>> number_problem("12.5"), number_problem("many")
    ('', "'many' is not a number")
    >>> number_problem("300.000: 300 or 300000?")
    "'300.000' can be read in two ways: 300 or 300000?"
    """
    if len(text) <= MAX_NUMBER_LENGTH and _NUMBER.fullmatch(text):
        value = Decimal(text)
        if not value or abs(value.adjusted()) <= MAX_EXPONENT:
            return ""
    elif question := ask_which(text):
        return question
    elif not looks_like_number(text):
        return f"{shorten(text)} is not a number"
    return (
        f"{shorten(text)} cannot be used; allowed are numbers between 1e-{MAX_EXPONENT} and "
        f"1e{MAX_EXPONENT} of at most 40 digits before and after the point"
    )


def ask_which(text: str) -> str:
    """What to ask about a text that `typed_number` found to be two figures; empty for any other.

    >>> ask_which("300.000: 300 or 300000?"), ask_which("many")
    ("'300.000' can be read in two ways: 300 or 300000?", '')
    """
    question = _QUESTION.fullmatch(text)
    return f"{shorten(question[1])} can be read in two ways: {question[2]}" if question else ""


def looks_like_number(text: str) -> bool:
    """Whether a text has the form of a number, however long.

    >>> looks_like_number("1e999999"), looks_like_number("many"), looks_like_number("²")
    (True, False, False)
    """
    return _ANY_NUMBER.fullmatch(text) is not None


def read_position(text: str) -> int | None:
    """A position in a list or another small count, ASCII digits alone; None for any other text.

    >>> read_position("12"), read_position("²"), read_position("-1"), read_position("9" * 7)
    (12, None, None, None)
    """
    is_position = len(text) <= MAX_POSITION_DIGITS and text.isascii() and text.isdecimal()
    return int(text) if is_position else None


def check_text(field: str, text: str) -> str:
    """`text`, unless it holds what no database text can, or what nobody sees: a name with a change
    of direction reads otherwise to whoever signs it.

    >>> check_text("name", "Acme\\u202e000.9")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: name: holds U+202E (right-to-left override), which
        cannot be seen, after 'Acme'; remove it
    """
    check_storable(field, text)
    if hidden := INVISIBLE.search(text):
        name = unicodedata.name(hidden[0], "a control character").lower()
        before = text[max(0, hidden.start() - SHOWN_LENGTH) : hidden.start()]
        where = f"after {shorten(before)}" if before else "at its beginning"
        raise InvalidInput(
            field,
            f"holds U+{ord(hidden[0]):04X} ({name}), which cannot be seen, {where}; remove it",
        )
    return text


def check_storable(field: str, text: str) -> str:
    """`text`, unless it holds what no database text can: NUL or half a surrogate pair."""
    if NOT_STORED.search(text):
        raise InvalidInput(field, "holds a NUL or an incomplete surrogate pair; remove it")
    return text


TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


def check_nesting(text: str) -> None:
    """Refuses a JSON text nested deeper than `MAX_DEPTH` before a parser follows it."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        first = match[0][0]
        if first in "[{":
            depth += 1
        elif first in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise InvalidInput("", TOO_DEEP)


MAX_CHARACTERS = 1_000
"""Longest number that is converted."""


def loads(text: str) -> object:
    """The value of a JSON text; `ValueError` in words for what is not JSON, for NaN and
    Infinity, for a field given twice and for nesting beyond `bounded.MAX_DEPTH`.

    A number beyond what a float holds stays the text it is, so that the field which takes no
    text refuses it by name and as it was typed.

    >>> loads('{"a": [1, 2.5]}'), loads('[1e999, 1e-999]')
    ({'a': [1, 2.5]}, ['1e999', '1e-999'])
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: 'a' is given twice; give it once
    """
    check_nesting(text)
    value: object = json.loads(
        text,
        parse_constant=_reject_constant,
        parse_int=lambda digits: (
            int(digits) if len(digits.lstrip("-")) <= MAX_EXPONENT + 1 else digits
        ),
        parse_float=parse_float,
        object_pairs_hook=_reject_duplicate_keys,
    )
    return value


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def parse_float(text: str) -> float | str:
    """A float, or the text itself where it is too long, too large or too small for one."""
    if len(text) > MAX_CHARACTERS:
        return text
    value = float(text)
    is_lost = not value and any(digit in "123456789" for digit in text.lower().split("e")[0])
    return text if is_lost or not math.isfinite(value) else value


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"{shorten(name)} is given twice; give it once")
        fields[name] = value
    return fields
