"""What a serializer refuses, in the words of every other refusal. PURE."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.http import Http404
from rest_framework import exceptions, fields, serializers

from pricing.common.bounded import shorten
from pricing.common.problems import error_row

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


_CODES = {
    **dict.fromkeys(("required", "blank", "null", "empty"), "required"),
    **dict.fromkeys(("invalid_choice",), "unknown_value"),
    **dict.fromkeys(("max_value", "min_value", "max_length", "min_length"), "out_of_range"),
    **dict.fromkeys(("not_a_list", "not_a_dict", "not_object", "not_objects"), "wrong_type"),
}
"""The framework's codes as refusals name them; any other is invalid."""


def flatten(detail: object, field: str, values: object = None) -> Iterator[dict[str, Any]]:
    """DRF's nested error lists as one list of dotted fields: `servers.2.unit_price`."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            own = "" if key == "non_field_errors" else str(key)
            yield from flatten(value, ".".join(p for p in (field, own) if p), values)
    elif isinstance(detail, list) and any(isinstance(item, Mapping) for item in detail):
        for index, item in enumerate(detail):
            yield from flatten(item, f"{field}.{index}" if field else str(index), values)
    elif isinstance(detail, list):
        for item in detail:
            yield from flatten(item, field, values)
    else:
        code = _CODES.get(getattr(detail, "code", ""), "invalid")
        yield error_row(field, code, in_plain_words(str(detail)), values)


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
    if isinstance(detail, _Named):
        return detail
    code = getattr(detail, "code", "")
    words = _words(field, value, code, str(detail))
    return _Named(words, code) if words else detail


class _Named(exceptions.ErrorDetail):
    """A message of ours, which names the value."""


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
    if isinstance(value, str):
        return shorten(value)
    return shorten(json.dumps(value, default=str)).strip("'")


_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_SHORTEN = "shorten its longest texts and lists"
"""What helps where a view does not say better (`too_large_hint`)."""


def explain_call(exc: Exception, context: dict[str, Any]) -> str:
    """What was asked for, and what may be; "" where the refusal says it by itself."""
    request, view = context.get("request"), context.get("view")
    if request is None or view is None:
        return ""
    if isinstance(exc, exceptions.MethodNotAllowed):
        allowed = ", ".join(view.allowed_methods)
        return f"{shorten(str(request.method))} is not answered here; allowed are {allowed}."
    if isinstance(exc, exceptions.NotAcceptable):
        accept = shorten(request.META.get("HTTP_ACCEPT", ""))
        kinds = ", ".join(renderer.media_type for renderer in view.renderer_classes)
        return f"Accept {accept} is not answered here; send {kinds}, or leave it out."
    if isinstance(exc, exceptions.UnsupportedMediaType) and "media type" in str(exc.detail):
        kinds = ", ".join(
            dict.fromkeys(
                k
                for p in view.parser_classes
                for k in getattr(p, "accepted", None) or (p.media_type,)
            )
        )
        return f"Content-Type {shorten(request.content_type or '')} is not read here; send {kinds}."
    if isinstance(exc, exceptions.APIException) and exc.status_code == _TOO_LARGE:
        hint = getattr(view, "too_large_hint", _SHORTEN)
        return f"{str(exc).rstrip('.')}, the most that is read here; {hint}."
    if isinstance(exc, exceptions.NotAuthenticated) and str(exc) == str(exc.default_detail):
        return "Nobody is signed in; send a token as Authorization: Bearer, or sign in."
    if isinstance(exc, Http404) and "format" in request.GET:
        shown = shorten(request.GET["format"])
        return f"There is nothing here in the format {shown}; leave format out."
    return ""
