"""The whole catalog in force over HTTP, for programs that compute with it themselves."""

from __future__ import annotations

import json
from functools import lru_cache

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from pricing import catalog
from pricing.api import schema
from pricing.api.plain_view import PlainView
from pricing.api.rest import Query, is_not_modified, make_etag, not_modified
from pricing.market.catalog_document import to_document


class CatalogView(PlainView):
    is_conditional = True
    throttle_cost = 10

    @extend_schema(operation_id="get_catalog", responses=schema.CatalogSerializer)
    def get(self, request: Request) -> HttpResponse:
        """All offers, regions and exchange rates in force, exactly: what the Python library
        computes with. Rows stand under the columns that are named with them."""
        Query(request)
        now = catalog.version()
        etag = make_etag("catalog", now)
        if is_not_modified(request, etag):
            return not_modified(etag)
        headers = {"ETag": etag, "Cache-Control": "no-cache"}
        return HttpResponse(_render(now), content_type="application/json", headers=headers)


@lru_cache(maxsize=1)
def _render(state: catalog.State) -> bytes:
    document = to_document(catalog.current(state))
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
