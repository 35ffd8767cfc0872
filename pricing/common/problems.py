"""Refusals as machines read them: problem details (RFC 9457) with a row for each field. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from pricing.common.bounded import shorten
from pricing.common.invalid_input import MAX_REFUSALS, InvalidInput, and_more

PROBLEM_JSON = "application/problem+json"
TYPE = "urn:gpu-cost-planner:problem:"
"""Before the code of a problem; with it, its `type`."""
INVALID_REQUEST = "invalid_request"
CANNOT_BE_USED = "The request cannot be used."
Errors = list[dict[str, Any]]


def error_row(field: str, code: str, message: str, values: object = None) -> dict[str, Any]:
    """One refused field, with its value in `values` and the remedy that the message ends
    with.

    >>> error_row("n", "out_of_range", "5 is too much; allowed are 1 to 4", {"n": 5})["remedy"]
    'allowed are 1 to 4'
    """
    return {
        "field": field,
        "code": code,
        "value": value_at(values, field),
        "message": message,
        "remedy": _end_of(message),
    }


def list_errors(refusal: InvalidInput, values: object = None) -> Errors:
    return [error_row(one.field, one.code, one.message, values) for one in refusal.all()]


def value_at(values: object, field: str) -> str | int | float | bool | None:
    """The plain value at a dotted path, text shortened; None for anything else, and for a secret.

    >>> value_at({"items": [{"key": "a"}]}, "items.0.key"), value_at({}, "items")
    ('a', None)
    """
    for part in field.split("."):
        if part == "secret":
            return None
        if isinstance(values, Mapping):
            values = values.get(part)
        elif isinstance(values, list | tuple) and part.isdecimal() and int(part) < len(values):
            values = values[int(part)]
        else:
            return None
    if isinstance(values, str):
        return values if len(values) < 100 else shorten(values)
    return values if isinstance(values, int | float) and values == values else None


def problem_body(
    status: int, detail: str, errors: Iterable[Mapping[str, Any]] = (), code: str = ""
) -> dict[str, Any]:
    """A refusal; its code is the status's name unless it has one of its own.

    >>> problem_body(404, "There is nothing here.")["type"]
    'urn:gpu-cost-planner:problem:not_found'
    """
    rows = list(errors)
    if len(rows) > MAX_REFUSALS + 1:
        more = error_row("", "more", and_more(len(rows)))
        rows = [*rows[:MAX_REFUSALS], more]
    code = code or HTTPStatus(status).name.lower()
    return {
        "type": f"{TYPE}{code}",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "code": code,
        "detail": detail,
        "remedy": _end_of(detail),
        "errors": rows,
    }


def _end_of(text: str) -> str:
    return text.partition("; ")[2].rstrip(".")
