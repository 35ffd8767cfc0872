"""What is known of the prices over HTTP: how old they are, and which are missing. Read only."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from pricing import catalog
from pricing.api import schema
from pricing.api.plain_view import PlainView
from pricing.api.rest import Query, is_not_modified, make_etag, not_modified
from pricing.api.views import offer_search
from pricing.freshness import freshness
from pricing.market.coverage import CoverageRow
from pricing.offer_search import catalog_for, check_known_names, search_coverage

COVERAGE_FILTERS = ("provider", "region", "geography", "accelerator", "purchase_option", "as_of")


class FreshnessView(PlainView):
    is_conditional = True

    @extend_schema(operation_id="list_freshness", responses=schema.FreshnessListSerializer)
    def get(self, request: Request) -> Response:
        """How old each provider's prices are, and what the last refresh did."""
        Query(request)
        rows = [asdict(entry) for entry in freshness()]
        etag = make_etag("freshness", rows)
        if is_not_modified(request, etag):
            return not_modified(etag)
        return Response({"results": rows}, headers={"ETag": etag})


class CoverageView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="list_coverage",
        parameters=[one for one in schema.OFFER_FILTERS if one.name in COVERAGE_FILTERS],
        responses=schema.CoverageListSerializer,
    )
    def get(self, request: Request) -> Response:
        """What is known of the prices of each accelerator, provider and purchase option: priced,
        sold at a price that is not known, not sold, or not known at all."""
        search = offer_search(Query(request, *COVERAGE_FILTERS))
        now = catalog.version()
        etag = make_etag("coverage", now, search.key)
        if is_not_modified(request, etag):
            return not_modified(etag)
        known = catalog_for(search, None, now)
        check_known_names(search, known)
        rows = [coverage_json(row) for row in search_coverage(search, known.offers)]
        return Response({"results": rows}, headers={"ETag": etag})


def coverage_json(row: CoverageRow) -> dict[str, Any]:
    """A row with the fields of the contract."""
    return {**asdict(row), "state": row.state.value}
