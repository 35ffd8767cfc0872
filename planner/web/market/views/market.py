"""The market: every offer, one offer with its history, and what the last refresh changed."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.web.common.access import open_page
from planner.web.common.chart import Chart, Series
from planner.web.common.choices import choices_of, geography_title, provider_title
from planner.web.common.query_codec import write
from planner.web.market.offer_list import (
    SOLD,
    Asked,
    MarketPage,
    cheapest_by_provider,
    market_row,
    places,
    search,
)
from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import Offer
from pricing.models import HeldBatch

COLUMNS = (
    ("accelerator", "Accelerator"),
    ("accelerator_count", "Count"),
    ("accelerator_memory_gib", "Memory GiB"),
    ("provider", "Provider"),
    ("region", "Region"),
    ("purchase_option", "Option"),
    ("usd_per_accelerator_hour", "USD per accelerator-hour"),
    ("usd_per_tflop_hour", "USD per effective TFLOP-hour"),
    ("usd_per_hour", "USD per hour"),
)
_NUMBERS = frozenset(
    {
        "accelerator_count",
        "accelerator_memory_gib",
        "usd_per_accelerator_hour",
        "usd_per_tflop_hour",
        "usd_per_hour",
    }
)


@open_page
@require_safe
def market(request: HttpRequest) -> HttpResponse:
    """The catalog explorer."""
    context: dict[str, Any] = {
        "query": request.GET,
        "sold": SOLD,
        **{
            name: choices_of(name)
            for name in ("providers", "geographies", "purchase_options", "accelerators")
        },
    }
    try:
        context |= _found(request, Asked.read(request.GET))
    except InvalidInput as refusal:
        context |= {"asked": Asked(), "refusal": refusal, "found": MarketPage((), 0, 1, 1)}
    return render(request, "web/market.html", context, status=400 if "refusal" in context else 200)


def _found(request: HttpRequest, asked: Asked) -> dict[str, Any]:
    known = asked.catalog()
    found = search(known, asked)
    query = request.GET
    return {
        "asked": asked,
        "found": found,
        "headings": _headings(request, asked),
        "previous": write(query, page=found.page - 1) if found.page > 1 else None,
        "next": write(query, page=found.page + 1) if found.page < found.pages else None,
        "places": [
            {"title": geography_title(place.name), "place": place}
            for place in places(known, asked, query)
        ],
        "everywhere": write(query, geography=None, page=None),
    }


def _headings(request: HttpRequest, asked: Asked) -> list[dict[str, Any]]:
    headings = []
    for name, title in COLUMNS:
        active = asked.order == name
        order = f"-{name}" if active and not asked.descending else name
        direction = "descending" if asked.descending else "ascending"
        headings.append(
            {
                "title": title,
                "address": write(request.GET, ordering=order, page=None),
                "sort": direction if active else "none",
                "number": name in _NUMBERS,
            }
        )
    return headings


@open_page
@require_safe
def offer(request: HttpRequest) -> HttpResponse:
    """One offer: shape, source, all purchase options of the machine there, price history."""
    current = catalog.current()
    found = current.offers.find(request.GET.get("id", ""))
    if found is None:
        return _gone(request)
    rows = current.offers.select(
        providers=[found.provider],
        regions=[found.region],
        instance_types=[found.instance_type],
        sold_now=None,
    )
    best = cheapest_by_provider(current, rows)
    context = {
        "offer": found,
        "row": market_row(current, current.offers.ids[found.id]),
        "region": current.region(found.provider, found.region),
        "options": [
            market_row(current, int(row), int(row) in best) for row in current.offers.cheapest(rows)
        ],
        "chart": _history(found),
    }
    return render(request, "web/offer.html", context)


def _gone(request: HttpRequest) -> HttpResponse:
    """An offer that is no longer in the catalog: its last price and its history, if known."""
    past = [entry for entry in catalog.price_history(request.GET.get("id", "")) if entry.offer]
    if not past:
        raise Http404("This offer is not in the catalog in force, nor was it ever.")
    last = past[-1].offer
    context = {"offer": last, "date": past[-1].date, "chart": _history(last) if last else None}
    return render(request, "web/offer_gone.html", context)


def _history(found: Offer) -> Chart | None:
    past = catalog.price_history(found.id)
    if not past:
        return None
    prices = [
        None if entry.offer is None else float(entry.offer.effective_price_per_hour)
        for entry in past
    ]
    return Chart(
        key="history",
        title="How has the price moved?",
        kind="points",
        x_label="from",
        y_label=f"{found.currency} per hour",
        x=[entry.date.isoformat() for entry in past],
        series=[Series(found.instance_type, prices, found.purchase_option.value)],
        digits=4,
        summary=f"{len(past)} prices are known, the first of {past[0].date}.",
    )


@open_page
@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    """What the last revision of each provider changed, and what is held for review."""
    providers = [
        {"title": provider_title(revision.provider), "revision": revision}
        for revision in catalog.revisions_in_force()
    ]
    held = HeldBatch.objects.filter(state=HeldBatch.State.WAITING).order_by("provider")
    return render(request, "web/changes.html", {"providers": providers, "held": held})
