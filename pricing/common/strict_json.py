"""JSON as every interface reads it: ambiguous or meaningless values are refused. PURE."""

from __future__ import annotations

import json
import math

from pricing.common.bounded import MAX_EXPONENT, check_nesting, shorten

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
        parse_int=_parse_integer,
        parse_float=parse_float,
        object_pairs_hook=_reject_duplicate_keys,
    )
    return value


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _parse_integer(digits: str) -> int | str:
    return int(digits) if len(digits.lstrip("-")) <= MAX_EXPONENT + 1 else digits


def parse_float(text: str) -> float | str:
    """A float, or the text itself where it is too long, too large or too small for one."""
    if len(text) > MAX_CHARACTERS:
        return text
    value = float(text)
    is_lost = not value and any(digit in "123456789" for digit in text.lower().split("e")[0])
    return text if is_lost or not math.isfinite(value) else value


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A field given twice means two things; which one was meant is not for us to guess."""
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"{shorten(name)} is given twice; give it once")
        fields[name] = value
    return fields
