"""JSON as every interface reads it: ambiguous or meaningless values are refused. PURE."""

from __future__ import annotations

import json

MAX_DIGITS = 1000
"""Digits of a whole number: more than any figure of a request can need."""


def loads(text: str) -> object:
    """The value of a JSON text; `ValueError` in words for what is not JSON, for NaN and
    Infinity, for whole numbers beyond `MAX_DIGITS` and for a field given twice.

    >>> loads('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: 'a' is given twice; give it once
    """
    value: object = json.loads(
        text,
        parse_constant=_reject_constant,
        parse_int=_parse_integer,
        object_pairs_hook=_reject_duplicate_keys,
    )
    return value


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _parse_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number of more than {MAX_DIGITS:,} digits")
    return int(digits)


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A field given twice means two things; which one was meant is not for us to guess."""
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"{name[:60]!r} is given twice; give it once")
        fields[name] = value
    return fields
