"""Who sells an accelerator and how: the cheapest of each provider by way of paying."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.costing.assumptions.reference_servers import all_servers
from planner.web.common.chart import Chart
from planner.web.common.choices import provider_title
from planner.web.common.views import open_page
from planner.web.market.history import BIG_CLOUDS, draw_lowest
from planner.web.market.offers import cheapest_of, effective_tflops, region_title
from pricing import catalog
from pricing.market.accelerators import Accelerator, get
from pricing.market.offer_table import Rows
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption
from pricing.market.snapshot import Catalog


@dataclass(frozen=True)
class WayToPay:
    """A column: purchase options that are one to whoever pays, and the term of a commitment."""

    title: str
    options: tuple[str, ...]
    term_months: int = 0


_COMMITMENTS = tuple(option.value for option in PurchaseOption if option.is_commitment)
WAYS = (
    WayToPay("On demand", (PurchaseOption.ON_DEMAND.value,)),
    WayToPay("Spot", (PurchaseOption.SPOT.value, PurchaseOption.LOW_PRIORITY.value)),
    WayToPay("One year", _COMMITMENTS, 12),
    WayToPay("Three years", _COMMITMENTS, 36),
)


@dataclass(frozen=True)
class Cell:
    """The cheapest offer of a provider in one way of paying; no offer where none is known."""

    offer: Offer | None = None
    usd_per_accelerator_hour: float | None = None
    place: str = ""
    """The region, as people say it."""
    is_cheapest: bool = False
    """Of all providers in this column."""


@dataclass(frozen=True)
class ProviderRow:
    title: str
    count: int
    """Offers that are sold now."""
    address: str
    """Of these offers on the market page."""
    cells: tuple[Cell, ...]


def list_providers(accelerator: Accelerator, known: Catalog) -> list[ProviderRow]:
    """A row for each provider that sells it now, the cheapest on demand first."""
    offers = known.offers
    sold = offers.select(accelerators=[accelerator.slug])
    names = sorted({offers.provider.names[code] for code in offers.provider.codes[sold]})
    cells = {
        name: [_cheapest(known, accelerator.slug, name, way) for way in WAYS] for name in names
    }
    least = [
        min((c[i] for c in cells.values()), key=_price, default=Cell()) for i in range(len(WAYS))
    ]
    rows = [
        ProviderRow(
            provider_title(name),
            int((offers.provider.codes[sold] == offers.provider.names.index(name)).sum()),
            urlencode({"accelerator": accelerator.slug, "provider": name}),
            tuple(
                replace(one, is_cheapest=one.offer is not None and one is best)
                for one, best in zip(cells[name], least, strict=True)
            ),
        )
        for name in names
    ]
    return sorted(rows, key=lambda row: (_price(row.cells[0]), row.title))


def _price(cell: Cell) -> float:
    price = cell.usd_per_accelerator_hour
    return float("inf") if price is None else price


def _cheapest(known: Catalog, slug: str, provider: str, way: WayToPay) -> Cell:
    offers = known.offers
    rows: Rows = offers.select([provider], accelerators=[slug], purchase_options=way.options)
    if way.term_months:
        rows = rows[offers.term_months[rows] == way.term_months]
    offer, usd = cheapest_of(offers, rows)
    region = known.region(offer.provider, offer.region) if offer else None
    return Cell(offer, usd, region_title(region, offer.region) if offer else "")


DATASHEET = (
    ("bf16, dense TFLOP/s", "bf16_tflops"),
    ("fp16, dense TFLOP/s", "fp16_tflops"),
    ("fp8, dense TFLOP/s", "fp8_tflops"),
    ("fp32, TFLOP/s", "fp32_tflops"),
    ("Cores", "cores"),
    ("Base clock, MHz", "base_clock_mhz"),
    ("Boost clock, MHz", "boost_clock_mhz"),
    ("Power, W", "tdp_w"),
)
"""Rows of the datasheet: title and field."""


@lru_cache(maxsize=64)
def _draw_history(slug: str, today: dt.date, _published: catalog.State) -> list[Chart]:
    """Reading some thousand prices takes half a second; they change with what is published."""
    return draw_lowest(catalog.accelerator_histories(slug, BIG_CLOUDS).values(), today)


@open_page
@require_safe
def accelerator(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        device = get(slug)
    except KeyError:
        raise Http404("No accelerator has this name.") from None
    known = catalog.current()
    rows = list_providers(device, known)
    work = {"workload.kind": "accelerator_hours", "workload.accelerator": device.slug}
    context = {
        "accelerator": device,
        "effective_tflops": effective_tflops(device),
        "plan_address": urlencode(work | {"edit": 1}),
        "alert_address": urlencode(
            {
                "name": f"Price of {device.name}",
                **work,
                "workload.hours_per_month": HOURS_PER_MONTH,
                "horizon_months": 12,
                "inherits": "false",
            }
        ),
        "ways": WAYS,
        "rows": rows,
        "count": sum(row.count for row in rows),
        "charts": _draw_history(device.slug, timezone.now().date(), catalog.version()),
        "servers": sorted(
            (one for one in all_servers() if one.accelerator == device.slug),
            key=lambda one: not one.on_sale,
        ),
        "datasheet": [(title, getattr(device, name)) for title, name in DATASHEET],
    }
    return render(request, "web/accelerator.html", context)
