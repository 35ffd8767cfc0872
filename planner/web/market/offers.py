"""Today's lowest price of the accelerators that people ask for most."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict
from django.utils import timezone
from numpy.typing import NDArray
from rest_framework.request import Request

from planner.contract.labels import join_place, name_region
from planner.sizing.performance.levels import node_mfu
from planner.web.common.query_codec import drop_empty
from pricing import catalog
from pricing.api.rest import Query
from pricing.api.views import offer_search
from pricing.common.invalid_input import InvalidInput
from pricing.freshness import age_limits
from pricing.market.accelerators import Accelerator, get
from pricing.market.clouds import is_local_zone, place_of_zone
from pricing.market.offer_filters import OfferSearch
from pricing.market.offer_table import OfferTable, Rows
from pricing.market.offers import Offer, PurchaseOption
from pricing.market.snapshot import Catalog, Region, part_of

POPULAR = (
    "nvidia-h100-80gb-sxm",
    "nvidia-h200-141gb-sxm",
    "nvidia-b200",
    "nvidia-a100-80gb-sxm",
    "nvidia-l40s",
    "nvidia-l4",
    "amd-mi300x",
    "google-tpu-v5e",
)
"""The eight accelerators that matter most to teams that train, newest generations first."""


@dataclass(frozen=True)
class Lowest:
    """The cheapest accelerator-hour of one accelerator in some places, under one option."""

    title: str
    usd: float | None
    """None where no price is known."""
    as_of: dt.date | None
    address: str
    """Of these offers on the market page, the cheapest first."""


def name_place(offer: Offer | None, known: Catalog) -> str:
    """`AWS US East (N. Virginia)`; empty where there is no offer."""
    if offer is None:
        return ""
    place = place_of_zone(offer.region, offer.zone)
    return join_place(offer.provider, region_title(known.region(offer.provider, place), place))


def region_title(region: Region | None, name: str) -> str:
    return name_region(name, region.name, region.city) if region else name_region(name)


def cheapest_of(offers: OfferTable, rows: Rows) -> tuple[Offer | None, float | None]:
    """The cheapest of some offers, in a region rather than a zone beside one, and its USD per
    accelerator-hour."""
    best = offers.cheapest(rows, 1)
    if not len(best):
        return None, None
    price = float(offers.usd_per_accelerator_hour[best[0]])
    cheapest = rows[offers.usd_per_accelerator_hour[rows] <= price]
    equally_cheap = [offers.offer(int(row)) for row in cheapest]
    return min(equally_cheap, key=lambda offer: is_local_zone(offer.region)), price


WAYS_TO_RENT: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("On demand", "on_demand", ()),
    ("Spot", "spot", ()),
    ("On demand, EU", "on_demand", ("eu",)),
    ("Spot, EU", "spot", ("eu",)),
)
"""Title, purchase option and geographies of each column of lowest prices."""


def lowest_prices() -> list[tuple[Accelerator, list[Lowest]]]:
    """Of each popular accelerator the lowest price under each of `WAYS_TO_RENT`."""
    known = catalog.current()

    def lowest(slug: str, title: str, option: str, places: tuple[str, ...]) -> Lowest:
        filters = OfferSearch(
            accelerator=(slug,), purchase_option=(option,), geography=places, sold_now=True
        )
        address = {
            "accelerator": get(slug).name,
            "purchase_option": option,
            **({"geography": places[0]} if places else {}),
            "ordering": "usd_per_accelerator_hour",
        }
        offer, usd = cheapest_of(known.offers, filters.rows(known))
        return Lowest(title, usd, offer.as_of if offer else None, urlencode(address))

    return [(get(slug), [lowest(slug, *way) for way in WAYS_TO_RENT]) for slug in POPULAR]


PRECISIONS = ("bf16", "fp16", "fp32")
"""In the order in which training uses them."""


@lru_cache(maxsize=256)
def effective_tflops(one: Accelerator) -> float | None:
    """Dense TFLOP/s × the calibrated MFU within one node; None where no rate is known."""
    for precision in PRECISIONS:
        dense = one.dense_tflops(precision)
        if dense:
            return dense * node_mfu(one, precision)
    return None


PAGE_SIZE = 20
TRAINS_FROM_GIB = 40
"""Memory from which on a card stands before smaller ones unless another order is asked for: the
bf16 weights, gradients and states of a model of a few billion parameters take it. Below it are
cards made for inference and graphics, which are the cheapest by the hour."""
ORDERS = (
    *("for_training", "usd_per_accelerator_hour", "usd_per_hour", "usd_per_tflop_hour", "as_of"),
    *("accelerator", "accelerator_count", "accelerator_memory_gib", "provider", "region"),
    *("purchase_option", "instance_type", "term_months"),
)
SOLD = {"": "sold now", "any": "retired ones too", "false": "retired only"}
"""Values of `sold_now` on the page, which shows what is sold now unless asked otherwise."""
_PAGE_PARAMETERS = ("ordering", "page", "sold_now")
_FILTERS = tuple(one.name for one in fields(OfferSearch) if one.name != "ordering")
_SOLD_NOW: Mapping[str, bool | None] = {"": True, "true": True, "any": None, "false": False}


@dataclass(frozen=True)
class _QueryParams:
    query_params: QueryDict


@dataclass(frozen=True)
class MarketQuery:
    search: OfferSearch = field(default_factory=lambda: OfferSearch(sold_now=True))
    sold: str = ""
    order: str = "for_training"
    descending: bool = False

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
        )


@dataclass(frozen=True)
class MarketRow:
    offer: Offer
    accelerator: Accelerator
    usd_per_hour: float
    usd_per_accelerator_hour: float
    upfront_usd: float
    usd_per_tflop_hour: float | None
    cheapest_of_provider: bool
    place: str
    """What people call its region."""


def find_rows(known: Catalog, market_query: MarketQuery) -> Rows:
    """Rows of the offers that the address asks for, in the order asked for; what is not known
    stands last either way."""
    matching = market_query.search.rows(known)
    keys = _keys(known, market_query.order)[matching]
    return matching[np.argsort(-keys if market_query.descending else keys, kind="stable")]


def market_rows(
    known: Catalog, shown: Iterable[Any], matching: Rows | None = None
) -> list[MarketRow]:
    """The rows shown of those that match, the cheapest of each provider marked."""
    best: dict[int, int] = {}
    for row in () if matching is None else known.offers.cheapest(matching):
        best.setdefault(int(known.offers.provider.codes[row]), int(row))
    return [market_row(known, int(row), int(row) in best.values()) for row in shown]


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


def _are_too_old(offers: OfferTable) -> NDArray[np.bool_]:
    """[offer] whether its price is undated, or so old that its part would be red."""
    limits = [
        age_limits(part_of(PurchaseOption(name))).red for name in offers.purchase_option.names
    ]
    age_days = timezone.now().date().toordinal() - offers.as_of_day
    return age_days >= np.array(limits)[offers.purchase_option.codes]


def _keys(known: Catalog, order: str) -> NDArray[Any]:
    offers = known.offers
    if order == "usd_per_tflop_hour":
        rates = np.array(
            [effective_tflops(get(name)) or np.nan for name in offers.accelerator.names]
        )
        return np.asarray(offers.usd_per_accelerator_hour / rates[offers.accelerator.codes])
    if order == "for_training":
        is_small = offers.accelerator_memory_gib < TRAINS_FROM_GIB
        keys = offers.usd_per_accelerator_hour, _are_too_old(offers), is_small
        return np.lexsort(keys).argsort()
    if order == "usd_per_hour":
        return offers.effective_usd_per_hour
    if order == "as_of":
        return np.where(offers.as_of_day > 0, offers.as_of_day, np.nan)
    column = getattr(offers, order)
    if not hasattr(column, "codes"):
        return np.asarray(column)
    rank = np.argsort(np.argsort(column.names))
    return np.asarray(rank[column.codes])
