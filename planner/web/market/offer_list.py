"""The market as a table: the API's filters from the address, one page of the catalog at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
from django.http import QueryDict
from numpy.typing import NDArray
from rest_framework.request import Request

from planner.web.common.query_codec import drop_empty, number, write
from planner.web.market.effective_tflops import effective_tflops
from planner.web.market.lowest_prices import region_title
from pricing import catalog
from pricing.api.rest import Query
from pricing.api.views import offer_search
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get
from pricing.market.offer_filters import OfferSearch
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog
from pricing.offer_search import catalog_for, check_known_names

PAGE_SIZE = 20
TRAINS_FROM_GIB = 40
"""Memory from which on a card stands before smaller ones unless another order is asked for: the
bf16 weights, gradients and states of a model of a few billion parameters take it. Below it are
cards made for inference and graphics, which are the cheapest by the hour."""
ORDERS = {
    "for_training": "cards that hold a model in training first, then per accelerator-hour",
    "usd_per_accelerator_hour": "per accelerator-hour",
    "usd_per_hour": "per hour",
    "accelerator": "accelerator",
    "accelerator_count": "accelerators in the machine",
    "accelerator_memory_gib": "memory",
    "provider": "provider",
    "region": "region",
    "purchase_option": "purchase option",
    "usd_per_tflop_hour": "per effective TFLOP-hour",
}
SOLD = {"": "sold now", "any": "retired ones too", "false": "retired only"}
"""Values of `sold_now` on the page, which shows what is sold now unless asked otherwise."""
_PAGE_PARAMETERS = ("ordering", "page", "sold_now")
_FILTERS = tuple(one.name for one in fields(OfferSearch) if one.name != "ordering")
_SOLD_NOW: Mapping[str, bool | None] = {"": True, "true": True, "any": None, "false": False}

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class _QueryParams:
    """An address in the shape in which the API's reader takes it."""

    query_params: QueryDict


@dataclass(frozen=True)
class MarketQuery:
    """What the address asks of the market page: the API's search, and what only a page has."""

    search: OfferSearch = field(default_factory=lambda: OfferSearch(sold_now=True))
    sold: str = ""
    order: str = "for_training"
    descending: bool = False
    page: int = 1

    @classmethod
    def read(cls, query: QueryDict) -> MarketQuery:
        """Raises `InvalidInput` naming the field for a value that no filter takes."""
        order = query.get("ordering") or "for_training"
        if order.removeprefix("-") not in ORDERS:
            raise InvalidInput("ordering", f"{order[:60]!r} is not one of {', '.join(ORDERS)}")
        sold = query.get("sold_now", "")
        if sold not in _SOLD_NOW:
            raise InvalidInput("sold_now", f"{sold[:60]!r} is not one of true, false, any")
        filters = cast(Request, _QueryParams(drop_empty(query, *_PAGE_PARAMETERS)))
        return cls(
            search=replace(offer_search(Query(filters, *_FILTERS)), sold_now=_SOLD_NOW[sold]),
            sold=sold,
            order=order.removeprefix("-"),
            descending=order.startswith("-"),
            page=_page(query.get("page", "")),
        )

    def catalog(self) -> Catalog:
        """The market that is looked at: today's, or that of the day asked for."""
        known = catalog_for(self.search, None, catalog.version())
        check_known_names(self.search, known)
        return known


def _page(text: str) -> int:
    value = number(text) if text.strip() else 1
    if not isinstance(value, int) or not 1 <= value < 10**6:
        raise InvalidInput("page", f"{text[:20]!r} is not the number of a page")
    return value


@dataclass(frozen=True)
class MarketRow:
    """An offer with what the table shows of it, in US dollars."""

    offer: Offer
    accelerator: Accelerator
    usd_per_hour: float
    usd_per_accelerator_hour: float
    upfront_usd: float
    usd_per_tflop_hour: float | None
    cheapest_of_provider: bool
    place: str
    """What people call its region."""


@dataclass(frozen=True)
class MarketPage:
    rows: tuple[MarketRow, ...]
    total: int
    page: int
    pages: int


def search(known: Catalog, market_query: MarketQuery) -> MarketPage:
    """The page of offers that the address asks for, in the order asked for; what is not known
    stands last either way."""
    matching = market_query.search.rows(known.offers)
    keys = _keys(known, market_query.order)[matching]
    ordered = matching[np.argsort(-keys if market_query.descending else keys, kind="stable")]
    pages = max(1, -(-len(ordered) // PAGE_SIZE))
    page = min(market_query.page, pages)
    shown = ordered[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    best = cheapest_by_provider(known, matching)
    rows = tuple(market_row(known, int(row), int(row) in best) for row in shown)
    return MarketPage(rows, len(matching), page, pages)


@dataclass(frozen=True)
class GeographySummary:
    """A part of the world with what is offered there."""

    name: str
    count: int
    lowest_usd: float
    address: str
    is_chosen: bool


def places(known: Catalog, market_query: MarketQuery, query: QueryDict) -> list[GeographySummary]:
    """Offers and lowest price by part of the world, under the other filters."""
    rows = replace(market_query.search, geography=()).rows(known.offers)
    codes = known.offers.geography.codes[rows]
    matching = []
    for code, name in enumerate(known.offers.geography.names):
        here = rows[codes == code]
        if name and len(here):
            lowest = float(known.offers.usd_per_accelerator_hour[here].min())
            address = write(query, geography=name, page=None)
            chosen = name in market_query.search.geography
            matching.append(GeographySummary(name, len(here), lowest, address, chosen))
    return sorted(matching, key=lambda place: place.lowest_usd)


def market_row(known: Catalog, row: int, cheapest: bool = False) -> MarketRow:
    offers = known.offers
    offer = offers.offer(row)
    accelerator = get(offer.accelerator)
    rate = effective_tflops(accelerator)
    usd = float(offers.usd_per_accelerator_hour[row])
    return MarketRow(
        offer=offer,
        accelerator=accelerator,
        usd_per_hour=float(offers.effective_usd_per_hour[row]),
        usd_per_accelerator_hour=usd,
        upfront_usd=float(offers.upfront_usd[row]),
        usd_per_tflop_hour=usd / rate if rate else None,
        cheapest_of_provider=cheapest,
        place=region_title(known.region(offer.provider, offer.region), offer.region),
    )


def cheapest_by_provider(known: Catalog, rows: Rows) -> frozenset[int]:
    """The cheapest of `rows` for each provider."""
    best: dict[int, int] = {}
    for row in known.offers.cheapest(rows):
        best.setdefault(int(known.offers.provider.codes[row]), int(row))
    return frozenset(best.values())


def _keys(known: Catalog, order: str) -> NDArray[Any]:
    offers = known.offers
    if order == "usd_per_tflop_hour":
        rates = np.array(
            [effective_tflops(get(name)) or np.nan for name in offers.accelerator.names]
        )
        return np.asarray(offers.usd_per_accelerator_hour / rates[offers.accelerator.codes])
    if order == "for_training":
        is_small = offers.accelerator_memory_gib < TRAINS_FROM_GIB
        return np.lexsort((offers.usd_per_accelerator_hour, is_small)).argsort()
    if order == "usd_per_hour":
        return offers.effective_usd_per_hour
    column = getattr(offers, order)
    if not hasattr(column, "codes"):
        return np.asarray(column)
    rank = np.argsort(np.argsort(column.names))
    return np.asarray(rank[column.codes])
