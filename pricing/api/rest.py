"""What every REST view shares: problem details, guarded JSON, strict queries, pages, ETags.

Both apps' API views stand on it. Errors are RFC 9457 problem details whose `errors` name each
field; `InvalidInput` from the pure core becomes 400 here and nowhere else.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import QueryDict
from rest_framework.request import Request
from rest_framework.response import Response

from pricing.api.refusals import explain_call
from pricing.common.bounded import check_text, read_decimal, shorten
from pricing.common.invalid_input import InvalidInput
from pricing.common.problems import (
    CANNOT_BE_USED,
    INVALID_REQUEST,
    PROBLEM_JSON,
    list_errors,
    problem_body,
)

# Errors -----------------------------------------------------------------------------------


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Every refusal as problem details; None (an ordinary 500) for what is a bug of ours."""
    if isinstance(exc, InvalidInput):
        errors = list_errors(exc, _request_values(context))
        return problem(HTTPStatus.BAD_REQUEST, CANNOT_BE_USED, errors, INVALID_REQUEST)
    # rest_framework.views loads the classes that settings name, this module's among them.
    from rest_framework.views import exception_handler as drf_exception_handler

    response = drf_exception_handler(exc, context)
    if response is None:
        return None
    status = HTTPStatus(response.status_code)
    reason, code = (
        str(getattr(exc, "detail", "") or status.phrase),
        getattr(exc, "default_code", ""),
    )
    if status == HTTPStatus.NOT_FOUND:
        reason, code = "There is nothing here that you may see.", ""
    answer = problem(status, explain_call(exc, context) or reason, code=code)
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if response.has_header(name):
            answer[name] = response[name]
    return answer


def problem(
    status: int, detail: str, errors: Iterable[Mapping[str, Any]] = (), code: str = ""
) -> Response:
    """A problem-details answer: `problem(409, "The key was used for another body.")`."""
    body = problem_body(status, detail, errors, code)
    return Response(body, status=status, content_type=PROBLEM_JSON)


def _request_values(context: Mapping[str, Any]) -> object:
    request = context.get("request")
    body = getattr(request, "_full_data", None)
    query = request.query_params.dict() if request is not None else {}
    return {**query, **body} if isinstance(body, Mapping) else query


def reject_unknown_fields(data: Iterable[object], allowed: Collection[str]) -> None:
    unknown = [str(name) for name in data if name not in allowed]
    if unknown:
        known = ", ".join(sorted(allowed)) or "none"
        message = f"unknown field; allowed are {known}"
        refusals = (InvalidInput(name, message, (), "unknown_field") for name in unknown)
        raise InvalidInput.together(refusals, len(unknown))


# Queries ----------------------------------------------------------------------------------


def read_parameter(values: QueryDict, name: str) -> str | None:
    """The one value of a query parameter; None when absent, refused when empty or repeated."""
    texts = values.getlist(name)
    if not texts:
        return None
    if len(texts) > 1:
        raise InvalidInput(name, f"was given {len(texts)} times; give it once")
    value = check_text(name, texts[0]).strip()
    if not value:
        raise InvalidInput(name, "is empty; leave it out or give a value")
    return value


class Query:
    """Strict reader of the query string: an unknown name or a bad value is refused by name.

    `Query(request, "provider", "sold_now").words("provider")`
    """

    def __init__(self, request: Request, *allowed: str) -> None:
        self._values = request.query_params
        reject_unknown_fields(self._values, allowed)

    def words(self, name: str) -> tuple[str, ...]:
        """All values given, repeated or separated by commas; () when absent."""
        texts = [check_text(name, text) for text in self._values.getlist(name)]
        words = tuple(word.strip() for text in texts for word in text.split(","))
        if any(not word for word in words):
            raise InvalidInput(name, "is empty; leave it out or give a value")
        return words

    def text(self, name: str) -> str | None:
        return read_parameter(self._values, name)

    def choice(self, name: str, allowed: Collection[str]) -> str | None:
        value = self.text(name)
        if value is not None and value not in allowed:
            message = f"{shorten(value)} is unknown; allowed are {', '.join(allowed)}"
            raise InvalidInput(name, message, (), "unknown_value")
        return value

    def flag(self, name: str) -> bool | None:
        value = self.choice(name, FLAGS)
        return None if value is None else value == "true"

    def number(self, name: str, least: float, most: float) -> float | None:
        value = self.text(name)
        if value is None:
            return None
        number = float(read_decimal(value, name))
        if not least <= number <= most:
            message = f"{value} is outside {least:g} to {most:g}"
            raise InvalidInput(name, message, (), "out_of_range")
        return number

    def whole(self, name: str, least: int, most: int) -> int | None:
        number = self.number(name, least, most)
        if number is not None and number != int(number):
            raise InvalidInput(name, f"{number:g} is not a whole number")
        return None if number is None else int(number)

    def date(self, name: str, *, is_month: bool = False) -> dt.date | None:
        """A day; with `is_month` the first day of a month written YYYY-MM."""
        value = self.text(name)
        if value is None:
            return None
        what, rest = ("month like 2026-11", "-01") if is_month else ("date like 2026-11-20", "")
        try:
            return dt.date.fromisoformat(value + rest)
        except ValueError:
            raise InvalidInput(name, f"{shorten(value)} is not a {what}") from None


FLAGS = ("true", "false")


class Filter(NamedTuple):
    """A query parameter of a list: the column it looks at and which values it may have."""

    lookup: str
    allowed: tuple[str, ...] = ()
    is_id: bool = False

    def read(self, query: Query, name: str) -> str | bool | None:
        """The value that is asked for; None where it is absent."""
        if self.allowed == FLAGS:
            return query.flag(name)
        value = query.choice(name, self.allowed) if self.allowed else query.text(name)
        if self.is_id and value is not None:
            try:
                uuid.UUID(value)
            except ValueError:
                raise InvalidInput(name, f"{value[:60]!r} is not an id") from None
        return value


def filter_rows(rows: QuerySet[Any], query: Query, filters: Mapping[str, Filter]) -> QuerySet[Any]:
    """Those that meet every filter that the query names."""
    for name, one in filters.items():
        value = one.read(query, name)
        if value is not None:
            rows = rows.filter(**{one.lookup: value})
    return rows


# Conditional requests ---------------------------------------------------------------------


def make_etag(*parts: object) -> str:
    """A strong ETag of what the answer depends on: `make_etag("offers", revisions)`."""
    text = "\x1f".join(str(part) for part in parts)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def is_not_modified(request: Request, etag: str) -> bool:
    """Whether If-None-Match already names `etag`: answer `not_modified(etag)` then."""
    return matches_etag(request.META.get("HTTP_IF_NONE_MATCH", ""), etag)


def respond(request: Request, etag: str, build: Callable[[], Any]) -> Response:
    """What `build` gives under its ETag, or that it is what the client has already."""
    if is_not_modified(request, etag):
        return not_modified(etag)
    return Response(build(), headers={"ETag": etag})


def not_modified(etag: str) -> Response:
    return Response(status=HTTPStatus.NOT_MODIFIED, headers={"ETag": etag})


def matches_etag(header: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return "*" in tags or etag in tags
