"""Accelerators and servers side by side, with the source of every value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.costing.assumptions.reference_servers import Server, all_servers
from planner.web.common.access import open_page
from planner.web.common.choices import provider_title
from planner.web.market.effective_tflops import effective_tflops
from planner.web.market.lowest_prices import find_lowest_price, name_place
from pricing import catalog
from pricing.market.accelerators import Accelerator, all_accelerators
from pricing.market.offers import Offer, PurchaseOption
from pricing.market.snapshot import Catalog

COMPARED_AT_MOST = 4


@dataclass(frozen=True)
class Row:
    """An accelerator with who rents it and its lowest price on demand."""

    accelerator: Accelerator
    providers: tuple[str, ...]
    offer: Offer | None
    usd_per_hour: float | None
    place: str = ""
    """Where that price is asked, as people call it."""

    @property
    def usd_per_tflop_hour(self) -> float | None:
        """Lowest price over what it sustains in training, USD per effective TFLOP-hour."""
        rate = effective_tflops(self.accelerator)
        return None if self.usd_per_hour is None or not rate else self.usd_per_hour / rate

    @property
    def effective_tflops(self) -> float | None:
        return effective_tflops(self.accelerator)


def _build_row(accelerator: Accelerator, market: Catalog) -> Row:
    offers = market.offers
    sold = offers.select(accelerators=[accelerator.slug])
    names = sorted({offers.provider.names[code] for code in offers.provider.codes[sold]})
    offer, usd = find_lowest_price(offers, accelerator.slug, PurchaseOption.ON_DEMAND)
    titles = tuple(provider_title(name) for name in names)
    return Row(accelerator, titles, offer, usd, name_place(offer, market))


def _servers(chosen: list[str]) -> list[Server]:
    return [server for server in all_servers() if not chosen or server.slug in chosen]


USES: Mapping[str, str] = {
    "data_center": "Data centre",
    "tpu": "Google TPU",
    "workstation": "Workstations",
    "consumer": "Consumer cards",
}
"""Classes of accelerators in the order of the page, and what they are called."""


def _by_use(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The rows of each use, newest first."""
    groups = [
        (title, [row for row in rows if row.accelerator.accelerator_class == name])
        for name, title in USES.items()
    ]
    return [(title, members) for title, members in groups if members]


def _newest_first(one: Accelerator) -> tuple[bool, int, str]:
    return one.retired, -one.year, one.name


@open_page
@require_safe
def hardware(request: HttpRequest) -> HttpResponse:
    """Every accelerator and server; with `compare`, up to four of them in columns."""
    ticked = request.GET.getlist("compare")
    chosen = ticked[:COMPARED_AT_MOST]
    market = catalog.current()
    rows = [_build_row(one, market) for one in sorted(all_accelerators(), key=_newest_first)]
    known = {row.accelerator.slug: row for row in rows}
    context = {
        "groups": _by_use(rows),
        "servers": all_servers(),
        "compared": [known[slug] for slug in chosen if slug in known],
        "compared_servers": _servers(chosen) if chosen else [],
        "chosen": chosen,
        "most": COMPARED_AT_MOST,
        "left_out": len(ticked) - len(chosen),
    }
    return render(request, "web/hardware.html", context)
