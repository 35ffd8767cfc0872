"""Pages of the market: offers by filters, one offer, what the last refresh changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.contract.labels import accelerator_name
from planner.exports.csv_export import csv_bytes
from planner.web.common.choices import list_choices, provider_title
from planner.web.common.formatting import arrange_coverage
from planner.web.common.views import open_page
from planner.web.market import offers
from planner.web.market.history import draw_history
from pricing import catalog
from pricing.catalog import catalog_for, check_known_names, search_coverage
from pricing.common.invalid_input import InvalidInput
from pricing.freshness import freshness
from pricing.market.offer_rows import offer_json
from pricing.market.snapshot import Catalog
from pricing.models import QuarantinedPart

COLUMNS = {
    "accelerator": "Accelerator",
    "accelerator_count": "num:Count",
    "accelerator_memory_gib": "num:Memory GiB",
    "provider": "Provider",
    "region": "Region",
    "purchase_option": "Option",
    "usd_per_accelerator_hour": "num:USD per accelerator-hour",
    "usd_per_tflop_hour": "num:USD per effective TFLOP-hour",
    "usd_per_hour": "num:USD per hour",
    "instance_type": "Machine",
    "term_months": "Term",
    "as_of": "Price as of",
}


def _read(query: QueryDict) -> tuple[offers.MarketQuery, Catalog]:
    market_query = offers.MarketQuery.read(query)
    known = catalog_for(market_query.search, None, catalog.version())
    check_known_names(market_query.search, known)
    return market_query, known


@open_page
@require_safe
def market(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {
        "query": request.GET,
        "sold": offers.SOLD,
        "popular": () if request.GET else offers.lowest_prices(),
        "trains_from": offers.TRAINS_FROM_GIB,
        "typed_accelerator": accelerator_name(request.GET.get("accelerator", "")),
        **{
            name: list_choices(name)
            for name in ("providers", "geographies", "purchase_options", "accelerators")
        },
    }
    try:
        market_query, known = _read(request.GET)
        search_for, rows = market_query.search, offers.find_rows(known, market_query)
        page = Paginator(rows, offers.PAGE_SIZE).get_page(request.GET.get("page"))
        context |= {
            "asked": market_query,
            "page": page,
            "rows": offers.market_rows(known, page, rows),
            # The table of all accelerators would be long.
            "coverage": arrange_coverage(search_coverage(search_for, known))
            if search_for.accelerator
            else None,
        }
    except InvalidInput as refusal:
        context |= {
            "asked": offers.MarketQuery(),
            "refusal": refusal,
            "page": Paginator((), offers.PAGE_SIZE).get_page(1),
        }
    context["headings"] = [*_headings(context["asked"])]
    return render(request, "web/market.html", context, status=400 if "refusal" in context else 200)


@open_page
@require_safe
def market_csv(request: HttpRequest) -> HttpResponse:
    """All offers that the same filters find, in the same order, with the fields of the API."""
    try:
        market_query, known = _read(request.GET)
    except InvalidInput:
        return HttpResponseRedirect(f"{reverse('market')}?{request.GET.urlencode()}")
    revisions = {info.provider: info.revision for info in known.revisions}
    rows = [offer_json(known, int(row), revisions) for row in offers.find_rows(known, market_query)]
    columns = rows[0] if rows else ()
    headers = {"Content-Disposition": 'attachment; filename="offers.csv"'}
    return HttpResponse(csv_bytes(columns, rows), content_type="text/csv", headers=headers)


def _headings(market_query: offers.MarketQuery) -> Iterator[dict[str, Any]]:
    direction = "descending" if market_query.descending else "ascending"
    for name, column in COLUMNS.items():
        kind, _, title = column.rpartition(":")
        active = market_query.order == name
        order = f"-{name}" if active and not market_query.descending else name
        yield {
            "title": title,
            "ordering": order,
            "sort": direction if active else "none",
            "number": bool(kind),
        }


@open_page
@require_safe
def offer(request: HttpRequest) -> HttpResponse:
    current = catalog.current()
    current_offer = current.offers.find(request.GET.get("id", ""))
    if current_offer is None:
        return _gone(request)
    rows = current.offers.select(
        providers=[current_offer.provider],
        regions=[current_offer.region],
        instance_types=[current_offer.instance_type],
        sold_now=None,
    )
    context = {
        "offer": current_offer,
        "row": offers.market_row(current, current.offers.ids[current_offer.id]),
        "region": current.region(current_offer.provider, current_offer.region),
        "options": offers.market_rows(current, current.offers.cheapest(rows)),
        "chart": draw_history(
            current_offer, catalog.price_history(current_offer.id), today=timezone.now().date()
        ),
    }
    return render(request, "web/offer.html", context)


def _gone(request: HttpRequest) -> HttpResponse:
    history = catalog.price_history(request.GET.get("id", ""))
    priced = [(entry.date, entry.offer) for entry in history if entry.offer]
    if not priced:
        raise Http404("This offer is not, and never was, in the catalog.")
    date, last = priced[-1]
    context = {"offer": last, "date": date, "chart": draw_history(last, history)}
    return render(request, "web/offer_gone.html", context)


@open_page
@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    parts = {row.provider: row.parts for row in freshness()}
    providers = [
        {
            "title": provider_title(revision.provider),
            "revision": revision,
            "parts": parts.get(revision.provider, ()),
        }
        for revision in catalog.revisions_in_force()
    ]
    waiting = QuarantinedPart.objects.filter(state=QuarantinedPart.State.WAITING).defer("payload")
    return render(
        request,
        "web/changes.html",
        {"providers": providers, "waiting": waiting.order_by("provider", "reason")},
    )
