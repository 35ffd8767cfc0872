"""The market over HTTP: offers, their history, and where every figure comes from. Read only.

Answers carry an ETag that changes with the published revisions alone, so that a client asks
again at no cost. Views parse, ask and render; they decide nothing about money.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any, ClassVar

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from pricing import catalog, models
from pricing.api import schema
from pricing.api.pages import PAGE_PARAMETERS, CursorPages, PlainView
from pricing.api.rest import (
    Filter,
    Query,
    filter_rows,
    is_not_modified,
    make_etag,
    not_modified,
    read_parameter,
    respond,
)
from pricing.api.schema import parameter
from pricing.catalog import (
    PagePosition,
    catalog_for,
    check_known_names,
    from_cursor,
    search_coverage,
    to_cursor,
)
from pricing.common.invalid_input import InvalidInput, check_known_day
from pricing.freshness import freshness
from pricing.market import accelerators
from pricing.market.offer_filters import ORDERINGS, OfferSearch, resolve_slugs
from pricing.market.offer_rows import (
    catalog_json,
    dated_price_json,
    format_amount,
    offer_json,
    to_document,
)
from pricing.market.offers import PurchaseOption
from pricing.storage import reference

_FILTERS = (
    *("provider", "region", "geography", "accelerator", "purchase_option", "instance_type"),
    *("min_accelerators", "accelerator_count", "min_accelerator_memory_gib"),
    *("sold_now", "as_of", "ordering"),
)


class OffersView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="list_offers",
        parameters=schema.OFFER_FILTERS,
        responses=schema.OffersSerializer,
    )
    def get(self, request: Request) -> HttpResponse:
        """Offers that meet every filter, the cheapest first."""
        search = offer_search(Query(request, *_FILTERS, *PAGE_PARAMETERS))
        size = CursorPages().get_page_size(request)
        cursor = read_parameter(request.query_params, "cursor")
        position = from_cursor(search, cursor) if cursor is not None else None
        today = timezone.now().date()
        now = catalog.version()
        etag = make_etag("offers", now, search.key, size, cursor, today)
        if is_not_modified(request, etag):
            return not_modified(etag)
        is_cacheable = size <= CursorPages.page_size and search.as_of is None
        page = _cached_page if is_cacheable else _render_page
        next_cursor, content = page(search, position, size, today, now)
        link = None
        if next_cursor:
            query = request.query_params.copy()
            query["cursor"] = next_cursor
            link = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
        body = b'{"next":' + json.dumps(link).encode() + b"," + content.removeprefix(b"{")
        headers = {"ETag": etag, "Cache-Control": "no-cache"}
        return HttpResponse(body, content_type="application/json", headers=headers)


def _render_page(
    search: OfferSearch,
    position: PagePosition | None,
    size: int,
    today: dt.date,
    now: catalog.State,
) -> tuple[str | None, bytes]:
    """(cursor of the next page, this one's JSON); both change with `now` and `today` alone."""
    published = catalog_for(search, position, now)
    check_known_names(search, published)
    start = position.start if position else 0
    rows, count = search.page(published, start, size)
    revision_by_provider = {info.provider: info.revision for info in published.revisions}
    next_cursor = to_cursor(search, start + size, published) if start + size < count else None
    content = {
        "count": count,
        "catalog": [catalog_json(info, today) for info in published.revisions],
        "results": [offer_json(published, int(row), revision_by_provider) for row in rows],
    }
    return next_cursor, JSONRenderer().render(content)


_cached_page = lru_cache(maxsize=256)(_render_page)
"""What many clients ask for again and again is put together once."""


def offer_search(query: Query) -> OfferSearch:
    """The search that a query string asks for; `InvalidInput` names what it cannot be."""
    options = query.words("purchase_option")
    allowed = tuple(option.value for option in PurchaseOption)
    for option in options:
        if option not in allowed:
            message = f"{option[:60]!r} is unknown; allowed are {', '.join(allowed)}"
            raise InvalidInput("purchase_option", message)
    return OfferSearch(
        provider=query.words("provider"),
        region=query.words("region"),
        geography=query.words("geography"),
        accelerator=resolve_slugs(query.words("accelerator")),
        purchase_option=options,
        instance_type=query.words("instance_type"),
        min_accelerators=query.number("min_accelerators", 0, schema.MAX_ACCELERATORS),
        accelerator_count=query.number("accelerator_count", 0, schema.MAX_ACCELERATORS),
        min_accelerator_memory_gib=query.number(
            "min_accelerator_memory_gib", 0, schema.MAX_MEMORY_GIB
        ),
        sold_now=query.flag("sold_now"),
        as_of=past_day(query, "as_of"),
        ordering=query.choice("ordering", ORDERINGS) or ORDERINGS[0],
    )


def past_day(query: Query, name: str) -> dt.date | None:
    """A day up to today; None when absent."""
    day = query.date(name)
    check_known_day(name, day, timezone.now().date())
    return day


class PriceHistoryView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="get_price_history",
        parameters=[parameter("offer_id", "`id` of an offer.", required=True)],
        responses=schema.PriceHistorySerializer,
    )
    def get(self, request: Request) -> Response:
        """What one offer has cost over time."""
        offer_id = Query(request, "offer_id").text("offer_id")
        if offer_id is None:
            raise InvalidInput("offer_id", "is missing; give the id of an offer")

        def build() -> dict[str, Any]:
            prices = [dated_price_json(price) for price in catalog.price_history(offer_id)]
            if not prices:
                raise Http404
            return {"offer_id": offer_id, "results": prices}

        return respond(request, make_etag("price-history", catalog.version(), offer_id), build)


class AcceleratorsView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="list_accelerators",
        parameters=[parameter("vendor"), parameter("retired", "", OpenApiTypes.BOOL)],
        responses=schema.results_of(schema.AcceleratorSerializer),
    )
    def get(self, request: Request) -> Response:
        """Every accelerator with its datasheet values."""
        query = Query(request, "vendor", "retired")
        vendors = sorted({one.vendor for one in accelerators.all_accelerators()})
        vendor, retired = query.choice("vendor", vendors), query.flag("retired")
        rows = [
            row
            for row in _list_accelerator_rows().values()
            if vendor in (None, row["vendor"]) and retired in (None, row["retired"])
        ]
        return _respond_unchanging(request, {"results": rows}, "accelerators", vendor, retired)


class AcceleratorView(PlainView):
    is_conditional = True

    @extend_schema(responses=schema.AcceleratorSerializer)
    def get(self, request: Request, name: str) -> Response:
        """One accelerator, by slug or usual name."""
        Query(request)
        slug = accelerators.resolve(name).slug
        return _respond_unchanging(request, _list_accelerator_rows()[slug], "accelerator", slug)


@lru_cache(maxsize=1)
def _list_accelerator_rows() -> dict[str, dict[str, Any]]:
    rows = {one.slug: asdict(one) for one in accelerators.all_accelerators()}
    return {slug: {k: v for k, v in row.items() if k != "api_names"} for slug, row in rows.items()}


@lru_cache(maxsize=1)
def _make_accelerators_etag() -> str:
    return make_etag(_list_accelerator_rows())


def _respond_unchanging(request: Request, body: Any, *key: object) -> Response:
    return respond(request, make_etag(_make_accelerators_etag(), *key), lambda: body)


class _PagedList(PlainView, ListAPIView[Any]):
    """A list in pages, the newest first, limited by `filters`."""

    pagination_class = CursorPages
    filters: ClassVar[Mapping[str, Filter]]

    def filter_queryset(self, queryset: Any) -> Any:
        query = Query(self.request, *self.filters, *PAGE_PARAMETERS)
        return filter_rows(queryset, query, self.filters)


class RevisionsView(_PagedList):
    queryset = models.Revision.objects.defer("dates")
    serializer_class: type[BaseSerializer[Any]] = schema.RevisionSerializer
    filters: ClassVar = {"provider": Filter("provider")}

    @extend_schema(operation_id="list_revisions", parameters=[parameter("provider")])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Published revisions: what changed in each, and what was not understood."""
        return super().get(request, *args, **kwargs)


class RevisionView(PlainView):
    is_conditional = True

    @extend_schema(responses=schema.RevisionSerializer)
    def get(self, request: Request, provider: str, number: int) -> Response:
        """One revision of one provider."""
        Query(request)
        revision = get_object_or_404(models.Revision, provider=provider, number=number)
        etag = make_etag("revision", provider, number, revision.digest)
        return respond(request, etag, lambda: schema.RevisionSerializer(revision).data)


class RefreshRunsView(_PagedList):
    queryset = models.RefreshRun.objects.select_related("revision")
    serializer_class: type[BaseSerializer[Any]] = schema.RefreshRunSerializer
    filters: ClassVar = {
        "provider": Filter("provider"),
        "outcome": Filter("outcome", tuple(models.RefreshRun.Outcome.values)),
    }

    @extend_schema(
        operation_id="list_refresh_runs",
        parameters=[
            parameter("provider"),
            parameter("outcome", enum=models.RefreshRun.Outcome.values),
        ],
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Every attempt to refresh, whatever came of it."""
        return super().get(request, *args, **kwargs)


class ExchangeRatesView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="list_exchange_rates",
        parameters=[
            parameter("currency", "ISO 4217 code."),
            parameter(
                "on", "The last rate known on this day, today at the latest.", OpenApiTypes.DATE
            ),
        ],
        responses=schema.results_of(schema.ExchangeRateSerializer),
    )
    def get(self, request: Request) -> Response:
        """Dated exchange rates, units of a currency per US dollar."""
        query = Query(request, "currency", "on")
        currency, day = query.text("currency"), past_day(query, "on")
        etag = make_etag("exchange-rates", catalog.version().reference, currency, day)
        if is_not_modified(request, etag):
            return not_modified(etag)
        rates = reference.exchange_rates()
        if day is not None or currency == "USD":
            known = (
                name
                for name, dated in rates.by_currency.items()
                if day is None or dated[0].date <= day
            )
            wanted = [currency] if currency else sorted(known)
            rows = [rates.find(name, day) for name in wanted]
        elif currency is not None:
            rates.find(currency)
            rows = list(rates.by_currency[currency])
        else:
            rows = [rate for dated in rates.by_currency.values() for rate in dated]
        results = [
            asdict(rate) | {"units_per_usd": format_amount(rate.units_per_usd)} for rate in rows
        ]
        return Response({"results": results}, headers={"ETag": etag})


class RegionsView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="list_regions",
        parameters=[parameter("provider"), parameter("geography")],
        responses=schema.results_of(schema.RegionSerializer),
    )
    def get(self, request: Request) -> Response:
        """Where each provider's regions are and how clean their electricity is."""
        query = Query(request, "provider", "geography")
        regions = reference.regions()
        provider = query.choice("provider", sorted({name for name, _ in regions}))
        geography = query.choice("geography", sorted({r.geography for r in regions.values()}))
        rows = [
            {"provider": name, "region": region, **asdict(details)}
            for (name, region), details in regions.items()
            if provider in (None, name) and geography in (None, details.geography)
        ]
        return respond(request, make_etag("regions", rows), lambda: {"results": rows})


COVERAGE_FILTERS = ("provider", "region", "geography", "accelerator", "purchase_option", "as_of")


class FreshnessView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="list_freshness", responses=schema.results_of(schema.FreshnessSerializer)
    )
    def get(self, request: Request) -> Response:
        """How old each provider's prices are, and what the last refresh did."""
        Query(request)
        rows = [asdict(entry) for entry in freshness()]
        return respond(request, make_etag("freshness", rows), lambda: {"results": rows})


class CoverageView(PlainView):
    is_conditional = True

    @extend_schema(
        operation_id="list_coverage",
        parameters=[one for one in schema.OFFER_FILTERS if one.name in COVERAGE_FILTERS],
        responses=schema.results_of(schema.CoverageSerializer),
    )
    def get(self, request: Request) -> Response:
        """What is known of the prices of each accelerator, provider and purchase option: priced,
        sold at a price that is not known, not sold, or not known at all."""
        search = offer_search(Query(request, *COVERAGE_FILTERS))
        now = catalog.version()

        def build() -> dict[str, Any]:
            known = catalog_for(search, None, now)
            check_known_names(search, known)
            rows = search_coverage(search, known)
            return {"results": [asdict(row) for row in rows]}

        return respond(request, make_etag("coverage", now, search.key), build)


class CatalogView(PlainView):
    is_conditional = True
    is_computing = True

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
