"""What a serializer refuses, in the words of every other refusal. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_WORDS = {
    "This field is required.": "is required",
    "This field may not be blank.": "is empty",
    "This field may not be null.": "is null; leave it out, or give a value",
    "No data provided": "null is not an object",
}
_TOO_FEW = re.compile(r"Ensure this field has at least (\d+) elements?\.")
_TOO_MANY = re.compile(r"Ensure this field has no more than (\d+) elements?\.")


def in_plain_words(message: str) -> str:
    """
    >>> in_plain_words("This field is required.")
    'is required'
    >>> in_plain_words("Ensure this field has no more than 100 elements.")
    'has more than 100 entries'
    >>> in_plain_words("Ensure this field has at least 1 elements.")
    'has fewer entries than the least, which is 1'
    >>> in_plain_words("'x' is not an id")
    "'x' is not an id"
    """
    if match := _TOO_FEW.fullmatch(message):
        return f"has fewer entries than the least, which is {match[1]}"
    if match := _TOO_MANY.fullmatch(message):
        return f"has more than {match[1]} entries"
    return _WORDS.get(message, message)


def flatten(detail: object, field: str) -> Iterator[dict[str, str]]:
    """DRF's nested error lists as one list of dotted fields: `servers.2.unit_price`."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            own = "" if key == "non_field_errors" else str(key)
            yield from flatten(value, ".".join(p for p in (field, own) if p))
    elif isinstance(detail, list) and any(isinstance(item, Mapping) for item in detail):
        for index, item in enumerate(detail):
            yield from flatten(item, f"{field}.{index}" if field else str(index))
    elif isinstance(detail, list):
        for item in detail:
            yield from flatten(item, field)
    else:
        yield {"field": field, "message": in_plain_words(str(detail))}
