"""The market: every offer, one offer with its history, and what the last refresh changed."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.web import charts
from planner.web.access import open_page
from planner.web.choices import choices_of, provider_title
from planner.web.market import (
    ORDERS,
    SOLD,
    Filters,
    MarketPage,
    cheapest_by_provider,
    market_row,
    rows_of,
    search,
    with_changes,
)
from pricing import catalog
from pricing.invalid_input import InvalidInput
from pricing.models import HeldBatch
from pricing.offers import Offer

COLUMNS = (
    ("accelerator", "Accelerator"),
    ("accelerator_count", "Count"),
    ("accelerator_memory_gib", "Memory GiB"),
    ("provider", "Provider"),
    ("region", "Region"),
    ("purchase_option", "Option"),
    ("usd_per_accelerator_hour", "USD per accelerator-hour"),
    ("usd_per_tflop_hour", "USD per TFLOP-hour"),
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
    try:
        filters, refusal = Filters.read(request.GET), None
        found = search(catalog.current(), filters)
    except InvalidInput as error:
        filters, refusal = Filters(), error
        found = MarketPage((), 0, 1, 1)
    context = {
        "filters": filters,
        "refusal": refusal,
        "query": request.GET,
        "found": found,
        "headings": _headings(request, filters),
        "previous": with_changes(request.GET, page=found.page - 1) if found.page > 1 else None,
        "next": with_changes(request.GET, page=found.page + 1)
        if found.page < found.pages
        else None,
        "geography_counts": _geographies(request) if not refusal else [],
        "orders": ORDERS,
        "sold": SOLD,
        **{
            name: choices_of(name)
            for name in ("providers", "geographies", "purchase_options", "accelerators")
        },
    }
    return render(request, "web/market.html", context, status=400 if refusal else 200)


def _headings(request: HttpRequest, filters: Filters) -> list[dict[str, Any]]:
    headings = []
    for name, title in COLUMNS:
        active = filters.order == name
        order = f"-{name}" if active and not filters.descending else name
        direction = "descending" if filters.descending else "ascending"
        headings.append(
            {
                "title": title,
                "address": with_changes(request.GET, ordering=order, page=None),
                "sort": direction if active else "none",
                "number": name in _NUMBERS,
            }
        )
    return headings


def _geographies(request: HttpRequest) -> list[dict[str, Any]]:
    """Offers and lowest price by part of the world, under the other filters."""
    current = catalog.current()
    others = request.GET.copy()
    others.pop("geography", None)
    rows = rows_of(current, Filters.read(others))
    found = []
    for name, title in choices_of("geographies"):
        here = rows[current.offers.geography.wanted([name])[current.offers.geography.codes[rows]]]
        if len(here):
            lowest = float(current.offers.usd_per_accelerator_hour[here].min())
            address = with_changes(request.GET, geography=name, page=None)
            found.append({"title": title, "count": len(here), "lowest": lowest, "address": address})
    return found


@open_page
@require_safe
def offer(request: HttpRequest) -> HttpResponse:
    """One offer: shape, source, all purchase options of the machine there, price history."""
    current = catalog.current()
    found = current.offers.find(request.GET.get("id", ""))
    if found is None:
        raise Http404("This offer is not in the catalog in force.")
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


def _history(found: Offer) -> charts.Chart | None:
    past = catalog.price_history(found.id)
    if not past:
        return None
    prices = [
        None if entry.offer is None else float(entry.offer.effective_price_per_hour)
        for entry in past
    ]
    return charts.Chart(
        key="history",
        title="How has the price moved?",
        kind="points",
        x_label="from",
        y_label=f"{found.currency} per hour",
        x=[entry.date.isoformat() for entry in past],
        series=[charts.Series(found.instance_type, prices, found.purchase_option.value)],
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
