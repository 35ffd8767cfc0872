"""Offers by filters as a program gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from planner.contract.validation import Number, RequestModel, Whole, parse
from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_filters import ORDERINGS, OfferSearch, resolve_slugs
from pricing.market.snapshot import Catalog

MOST = 1_000_000
"""Accelerators, or GiB of memory: beyond any machine."""


def _plain(value: Any) -> Any:
    to_list = getattr(value, "tolist", None)
    return float(value) if isinstance(value, Decimal) else to_list() if to_list else value


def _list(names: Any) -> Any:
    is_list = isinstance(names, Iterable) and not isinstance(names, str | Mapping)
    return tuple(names) if is_list else (names,)


Names = Annotated[tuple[str, ...], BeforeValidator(_list)]
Limit = Annotated[Annotated[Number, Field(ge=0, le=MOST)] | None, BeforeValidator(_plain)]


class _Filters(RequestModel):
    provider: Names = ()
    region: Names = ()
    geography: Names = ()
    accelerator: Names = ()
    purchase_option: Names = ()
    instance_type: Names = ()
    min_accelerators: Limit = None
    accelerator_count: Limit = None
    min_accelerator_memory_gib: Limit = None
    sold_now: bool | None = None
    ordering: str = ORDERINGS[0]
    limit: Annotated[Annotated[Whole, Field(ge=1)] | None, BeforeValidator(_plain)] = None


def search_offers(
    catalog: Catalog, names: Mapping[str, str | Sequence[str]], **limits: Any
) -> tuple[tuple[int, ...], int]:
    """(rows of the offers that meet every filter, the cheapest first; how many meet them).

    `names` and `limits` are the fields of `OfferSearch`, and `limit`, the most rows; accelerators
    go by slug or usual name. Raises `InvalidInput` for a name, ordering or limit that is not known.
    """
    filters = parse(_Filters, {**names, **limits}).model_dump()
    most = filters.pop("limit") or len(catalog.offers)
    if filters["ordering"] not in ORDERINGS:
        allowed = ", ".join(ORDERINGS)
        raise InvalidInput("ordering", f"{filters['ordering']!r} is unknown; allowed are {allowed}")
    search = OfferSearch(**filters | {"accelerator": resolve_slugs(filters["accelerator"])})
    search.check_known_names(catalog)
    rows, count = search.page(catalog, 0, most)
    return tuple(int(row) for row in rows), count
