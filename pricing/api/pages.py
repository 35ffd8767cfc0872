"""Pages of long lists: opaque cursors that only our own `next` and `previous` links hold."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from pricing.api.rest import read_parameter
from pricing.common.bounded import read_position, shorten
from pricing.common.invalid_input import InvalidInput

PAGE_PARAMETERS = ("cursor", "page_size")
"""Query parameters of every list that comes in pages, and of nothing else."""


class CursorPages(CursorPagination):
    """Opaque cursors over a stable order: the view's `page_order`, which ends in a unique column,
    or the newest first."""

    page_size = 50
    max_page_size = 500
    page_size_query_param = "page_size"
    ordering = "-pk"

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        return tuple(getattr(view, "page_order", (self.ordering,)))

    def get_page_size(self, request: Request) -> int:
        value = read_parameter(request.query_params, self.page_size_query_param)
        if value is None:
            return self.page_size
        size = read_position(value) or 0
        if not 1 <= size <= self.max_page_size:
            raise InvalidInput("page_size", f"{shorten(value)} is not 1 to {self.max_page_size}")
        return size

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValidationError, DataError, ValueError) as error:
            if isinstance(error, InvalidInput) or not request.query_params.get("cursor"):
                raise
            raise _foreign_cursor() from None

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """As OpenAPI 3.1 says what may be null."""
        document = super().get_paginated_response_schema(schema)
        for link in (document["properties"][name] for name in ("next", "previous")):
            del link["nullable"]
            link["type"] = ["string", "null"]
        return document

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The position that a link of ours names; what no link of ours holds is refused, since
        the framework reads text that it does not know as the first page."""
        text = read_parameter(request.query_params, self.cursor_query_param)
        if text is None:
            return None
        try:
            cursor = super().decode_cursor(request)
        except (NotFound, ValueError):
            raise _foreign_cursor() from None
        link = replace_query_param(str(self.base_url), self.cursor_query_param, text)
        if cursor is None or self.encode_cursor(cursor) != link:
            raise _foreign_cursor()
        return cursor


def _foreign_cursor() -> InvalidInput:
    return InvalidInput("cursor", "is not one of ours; follow `next` links")


METHODS = ("get", "post", "patch", "delete", "head")
"""What a route may be asked; OPTIONS is not answered, so that `Allow` does not name it."""


class RateLimited(APIView):
    """Says in every answer what a throttle left of the caller's requests (`request.rate_limit`)."""

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(request, "rate_limit", {}).items():
            answer.headers[name] = value
        return answer


class PlainView(RateLimited):
    """One route of the API."""

    http_method_names = METHODS
