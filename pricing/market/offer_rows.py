"""An `Offer` as a row of text: the one form for the bundled catalog, histories, held batches. PURE.

Columns are the fields of `Offer` in their order; an absent number or date is empty text, a
fraction of an accelerator is written `1/6`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import fields
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import Offer, PurchaseOption

OFFER_COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(Offer))
_REQUIRED = OFFER_COLUMNS[:7]
_TRUE_FALSE = {"true": True, "false": False}


def to_row(offer: Offer) -> dict[str, str]:
    """The offer as text by column.

    >>> row = to_row(Offer("azure", "westeurope", "Standard_NV6ads_A10_v5", "nvidia-a10",
    ...                    Fraction(1, 6), PurchaseOption.ON_DEMAND, Decimal("0.590")))
    >>> row["accelerator_count"], row["price_per_hour"], row["as_of"], row["sold_now"]
    ('1/6', '0.590', '', 'true')
    """
    return {name: _format_value(getattr(offer, name)) for name in OFFER_COLUMNS}


def from_row(row: Mapping[str, str | None], where: str = "") -> Offer:
    """The offer of a row; absent optional columns take the field's default.

    Raises `InvalidInput` naming the column; `where` ("line 12") goes before it.
    """
    values: dict[str, Any] = {}
    for name in OFFER_COLUMNS:
        text = row.get(name) or ""
        if text:
            values[name] = _parse_value(name, text, where)
        elif name in _REQUIRED:
            raise InvalidInput(_field_label(where, name), "is empty; every offer needs it")
    return Offer(**values)


def _format_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def _parse_value(name: str, text: str, where: str) -> Any:
    read = _PARSERS.get(name)
    if read is None:
        return text
    try:
        return read(text)
    except (ValueError, KeyError, InvalidOperation, ZeroDivisionError):
        raise InvalidInput(_field_label(where, name), f"{text[:60]!r} cannot be read") from None


_PARSERS: dict[str, Callable[[str], Any]] = {
    "accelerator_count": Fraction,
    "purchase_option": PurchaseOption,
    "price_per_hour": Decimal,
    "upfront": Decimal,
    "term_months": int,
    "vcpus": float,
    "memory_gib": float,
    "network_gbps": float,
    "as_of": dt.date.fromisoformat,
    "sold_now": _TRUE_FALSE.__getitem__,
}


def _field_label(where: str, name: str) -> str:
    return f"{where}, {name}" if where else name
