"""What the framework refuses of a field, with the value as it was sent and what would do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rest_framework import exceptions, fields, serializers

from pricing.common.bounded import shorten

_KINDS: tuple[tuple[type[Any], str], ...] = (
    (fields.BooleanField, "is not true or false"),
    (fields.IntegerField, "is not a whole number"),
    (fields.FloatField, "is not a number"),
    (fields.DecimalField, "is not a number"),
    (fields.UUIDField, "is not an id like 8ede26a9-4a3d-40fd-b51c-9d915440dcec"),
    (fields.DateTimeField, "is not a moment like 2026-11-20T03:15:00Z"),
    (fields.DateField, "is not a day like 2026-11-20"),
    (fields.EmailField, "is not an address of mail like ada@example.com"),
    (fields.SlugField, "is not a short name of letters, digits, - and _, like vision-lab"),
    (fields.URLField, "is not an address like https://example.com/hook"),
    (fields.RegexField, "does not have the form that is asked for here"),
    (fields.CharField, "is not text"),
)
"""The first that a field is, and what a value of another kind is not."""
_OF_THE_FRAMEWORK = (
    *("Enter a valid", "A valid", "Must be a valid", "Not a valid", "Invalid data."),
    *("This value does not match", "Date has wrong", "Datetime has wrong"),
)
_WHOLE = {
    "not_a_list": "is not a list",
    "not_a_dict": "is not an object",
    "not_object": "is not an object",
    "not_objects": "is not a list of objects",
    "invalid_choice": "is unknown",
}


def name_values(detail: Any, field: Any, value: object) -> Any:
    """What was refused of `value`, with each message naming the part that it is about.

    A message of ours, which has been told so already, stays as it is.
    """
    if isinstance(detail, Mapping):
        return {
            name: name_values(part, _part(field, name), _value(value, name))
            for name, part in detail.items()
        }
    if isinstance(detail, list):
        if any(isinstance(part, Mapping) for part in detail):
            parts = enumerate(detail)
            return [name_values(p, _part(field, i), _value(value, i)) for i, p in parts]
        return [name_values(part, field, value) for part in detail]
    return _reword(detail, field, value)


def _part(field: Any, name: object) -> Any:
    if name == "non_field_errors":
        return field
    if isinstance(field, serializers.Serializer):
        return field.fields.get(str(name))
    return getattr(field, "child", None)


def _value(value: Any, name: Any) -> object:
    if name == "non_field_errors":
        return value
    if isinstance(value, Mapping):
        return value.get(name)
    if isinstance(value, list) and isinstance(name, int) and name < len(value):
        return value[name]
    return None


def _reword(message: Any, field: Any, value: object) -> Any:
    words = _words(field, value, getattr(message, "code", ""), str(message))
    return exceptions.ErrorDetail(words, "named") if words else message


def _words(field: Any, value: object, code: str, message: str) -> str:
    """What to say instead of the framework's message; "" where it says all."""
    shown = _show(value)
    if code == "max_value":
        return f"{shown} is more than {field.max_value}"
    if code == "min_value":
        return f"{shown} is less than {field.min_value}"
    if code == "max_string_length":
        return f"{shown} is not a number"
    if code == "max_length" and isinstance(value, str):
        return f"has {len(value):,} characters; at most {field.max_length:,} are allowed"
    if code in _WHOLE:
        choices = ", ".join(map(str, getattr(field, "choices", ())))
        return f"{shown} {_WHOLE[code]}" + (f"; allowed are {choices}" if choices else "")
    if code == "invalid" and message.startswith(_OF_THE_FRAMEWORK):
        kinds = (words for kind, words in _KINDS if isinstance(field, kind))
        return f"{shown} {next(kinds, 'is not an object')}"
    return f"{shown} {message}" if message.startswith("is not a ") else ""


def _show(value: object) -> str:
    """A value as JSON would write it, text in single quotes."""
    if isinstance(value, str):
        return shorten(value)
    return shorten(json.dumps(value, default=str)).strip("'")
