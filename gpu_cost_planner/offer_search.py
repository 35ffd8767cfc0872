"""Offers by filters as a program gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_filters import ORDERINGS, OfferSearch, resolve_slugs
from pricing.market.snapshot import Catalog

MOST = 1_000_000
"""Accelerators, or GiB of memory: beyond any machine."""


def search_offers(
    catalog: Catalog,
    names: Mapping[str, str | Sequence[str]],
    *,
    limit: int | None = None,
    **limits: Any,
) -> tuple[tuple[int, ...], int]:
    """(rows of the offers that meet every filter, the cheapest first; how many meet them).

    `names` and `limits` are the fields of `OfferSearch`; accelerators go by slug or usual name.
    At most `limit` rows. Raises `InvalidInput` for a name, ordering or limit that is not known.
    """
    ordering = limits.get("ordering", ORDERINGS[0])
    if ordering not in ORDERINGS:
        allowed = ", ".join(ORDERINGS)
        raise InvalidInput("ordering", f"{ordering!r} is unknown; allowed are {allowed}")
    _check_limits(limit, limits)
    limits |= {name: float(limits[name]) for name in _NUMBERS if limits.get(name) is not None}
    fields_by_name = {name: _as_names(name, values) for name, values in names.items()}
    fields_by_name["accelerator"] = resolve_slugs(fields_by_name.get("accelerator", ()))
    search = OfferSearch(**fields_by_name, **limits)  # type: ignore[arg-type]
    search.check_known_names(catalog)
    rows, count = search.page(catalog, 0, limit or len(catalog.offers))
    return tuple(int(row) for row in rows), count


_NUMBERS = ("min_accelerators", "accelerator_count", "min_accelerator_memory_gib")


def _check_limits(limit: Any, limits: Mapping[str, Any]) -> None:
    if limit is not None:
        if isinstance(limit, bool) or not isinstance(limit, Integral):
            raise InvalidInput("limit", f"{limit!r} is not a whole number; write one such as 3")
        if limit < 1:
            raise InvalidInput("limit", f"{limit} is not allowed; must be at least 1")
    for name in _NUMBERS:
        value: Any = limits.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (Real, Decimal)) or value != value:
            raise InvalidInput(name, f"{value!r} is not a number; write one such as 8")
        if value < 0 or value > MOST:  # type: ignore[operator]
            raise InvalidInput(name, f"must be from 0 to {MOST:,}")
    if (sold_now := limits.get("sold_now")) not in (None, True, False):
        raise InvalidInput("sold_now", f"{sold_now!r} is unknown; allowed are True, False, None")


def _as_names(field: str, values: Any) -> tuple[str, ...]:
    names = (values,) if isinstance(values, str) or not isinstance(values, Iterable) else values
    names = tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise InvalidInput(field, f"{name!r} is not a name; write text, or a list of texts")
    return names
