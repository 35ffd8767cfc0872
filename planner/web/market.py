"""The market as a table: filters from the address, rows of the catalog, one page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict
from numpy.typing import NDArray

from planner.web.address import number
from planner.web.choices import choices_of
from pricing.accelerators import Accelerator, get, resolve
from pricing.invalid_input import InvalidInput
from pricing.offers import Offer
from pricing.snapshot import Catalog

PAGE_SIZE = 50
ORDERS = {
    "usd_per_accelerator_hour": "per accelerator-hour",
    "usd_per_hour": "per hour",
    "accelerator": "accelerator",
    "accelerator_count": "accelerators in the machine",
    "accelerator_memory_gib": "memory",
    "provider": "provider",
    "region": "region",
    "purchase_option": "purchase option",
    "usd_per_tflop_hour": "per TFLOP-hour",
}
SOLD = {"": "sold now", "all": "retired ones too", "retired": "retired only"}
_SOLD_NOW: Mapping[str, bool | None] = {"": True, "all": None, "retired": False}

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Filters:
    """What the address asks of the market page."""

    providers: tuple[str, ...] = ()
    geographies: tuple[str, ...] = ()
    purchase_options: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    instance_types: tuple[str, ...] = ()
    accelerator: str = ""
    accelerator_count: float | None = None
    min_memory_gib: float | None = None
    sold: str = ""
    order: str = "usd_per_accelerator_hour"
    descending: bool = False
    page: int = 1

    @classmethod
    def read(cls, query: QueryDict) -> Filters:
        """Raises `InvalidInput` naming the field for a value that no filter takes."""
        order = query.get("ordering") or "usd_per_accelerator_hour"
        if order.lstrip("-") not in ORDERS:
            raise InvalidInput("ordering", f"{order!r} is not one of {', '.join(ORDERS)}")
        sold = query.get("sold", "")
        if sold not in SOLD:
            raise InvalidInput("sold", f"{sold!r} is not one of all, retired")
        return cls(
            providers=_named(query, "provider", "providers"),
            geographies=_named(query, "geography", "geographies"),
            purchase_options=_named(query, "purchase_option", "purchase_options"),
            regions=_words(query, "region"),
            instance_types=_words(query, "instance_type"),
            accelerator=_accelerator(query.get("accelerator", "").strip()),
            accelerator_count=_positive(query, "accelerator_count"),
            min_memory_gib=_positive(query, "min_accelerator_memory_gib"),
            sold=sold,
            order=order.lstrip("-"),
            descending=order.startswith("-"),
            page=max(1, int(_positive(query, "page") or 1)),
        )

    @property
    def sold_now(self) -> bool | None:
        return _SOLD_NOW[self.sold]


def _words(query: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(value.strip() for value in query.getlist(name) if value.strip())


def _named(query: QueryDict, name: str, choices: str) -> tuple[str, ...]:
    values = _words(query, name)
    known = [value for value, _ in choices_of(choices)]
    for value in values:
        if value not in known:
            raise InvalidInput(name, f"{value!r} is not one of {', '.join(known)}")
    return values


def _accelerator(text: str) -> str:
    return resolve(text).slug if text else ""


def _positive(query: QueryDict, name: str) -> float | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    value = number(text)
    if isinstance(value, str) or value <= 0:
        raise InvalidInput(name, f"{text!r} is not a number above 0")
    return float(value)


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


@dataclass(frozen=True)
class MarketPage:
    rows: tuple[MarketRow, ...]
    total: int
    page: int
    pages: int


def search(catalog: Catalog, filters: Filters) -> MarketPage:
    """The page of offers that the filters ask for, in the order asked for."""
    found = rows_of(catalog, filters)
    ordered = found[np.argsort(_keys(catalog, filters.order)[found], kind="stable")]
    if filters.descending:
        ordered = ordered[::-1]
    pages = max(1, -(-len(ordered) // PAGE_SIZE))
    page = min(filters.page, pages)
    shown = ordered[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    best = cheapest_by_provider(catalog, found)
    rows = tuple(market_row(catalog, int(row), int(row) in best) for row in shown)
    return MarketPage(rows, len(found), page, pages)


def rows_of(catalog: Catalog, filters: Filters) -> Rows:
    return catalog.offers.select(
        providers=filters.providers,
        regions=filters.regions,
        geographies=filters.geographies,
        accelerators=[filters.accelerator] if filters.accelerator else [],
        purchase_options=filters.purchase_options,
        instance_types=filters.instance_types,
        accelerator_count=filters.accelerator_count,
        min_accelerator_memory_gib=filters.min_memory_gib,
        sold_now=filters.sold_now,
    )


def market_row(catalog: Catalog, row: int, cheapest: bool = False) -> MarketRow:
    offers = catalog.offers
    offer = offers.offer(row)
    accelerator = get(offer.accelerator)
    rate = _rate(accelerator)
    usd = float(offers.usd_per_accelerator_hour[row])
    return MarketRow(
        offer=offer,
        accelerator=accelerator,
        usd_per_hour=float(offers.effective_usd_per_hour[row]),
        usd_per_accelerator_hour=usd,
        upfront_usd=float(offers.upfront_usd[row]),
        usd_per_tflop_hour=usd / rate if rate else None,
        cheapest_of_provider=cheapest,
    )


def _rate(accelerator: Accelerator) -> float | None:
    """Dense training rate, TFLOP/s: bf16, else fp16, else fp32."""
    return accelerator.bf16_tflops or accelerator.fp16_tflops or accelerator.fp32_tflops


def cheapest_by_provider(catalog: Catalog, rows: Rows) -> frozenset[int]:
    """The cheapest of `rows` for each provider."""
    best: dict[int, int] = {}
    for row in catalog.offers.cheapest(rows):
        best.setdefault(int(catalog.offers.provider.codes[row]), int(row))
    return frozenset(best.values())


def _keys(catalog: Catalog, order: str) -> NDArray[Any]:
    offers = catalog.offers
    if order == "usd_per_tflop_hour":
        rates = np.array([_rate(get(name)) or np.nan for name in offers.accelerator.names])
        return np.asarray(offers.usd_per_accelerator_hour / rates[offers.accelerator.codes])
    if order == "usd_per_hour":
        return offers.effective_usd_per_hour
    column = getattr(offers, order)
    if not hasattr(column, "codes"):
        return np.asarray(column)
    rank = np.argsort(np.argsort(column.names))
    return np.asarray(rank[column.codes])


def with_changes(query: QueryDict, **changes: Any) -> str:
    """The address of the same page with some names changed."""
    pairs = [
        (name, value)
        for name, values in query.lists()
        for value in values
        if name not in changes and value.strip()
    ]
    pairs += [(name, str(value)) for name, value in changes.items() if value is not None]
    return urlencode(pairs)
