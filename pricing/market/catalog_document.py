"""A catalog as JSON and back, exactly: what one process hands another. PURE.

Amounts are decimal text and fractions of an accelerator are written 1/6, as in the bundled files
(`offer_rows`), so that a catalog that was carried over gives the same figures to the cent.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from decimal import Decimal
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offer_rows import OFFER_COLUMNS, from_row, to_row
from pricing.market.snapshot import Catalog, Region, RevisionInfo

FORM = 1
"""Version of the document; another one is refused."""
_REGION_COLUMNS = ("provider", "region", *(f.name for f in fields(Region)))
_REVISION_COLUMNS = tuple(f.name for f in fields(RevisionInfo))
_PARTS = ("offer_columns", "offers", "region_columns", "regions", "exchange_rates", "revisions")


def to_document(catalog: Catalog) -> dict[str, Any]:
    """The catalog as plain JSON values: lists of rows under their columns."""
    rates = catalog.exchange_rates.by_currency.values()
    return {
        "form": FORM,
        "offer_columns": list(OFFER_COLUMNS),
        "offers": [list(to_row(offer).values()) for offer in catalog.offers.offers],
        "region_columns": list(_REGION_COLUMNS),
        "regions": [[*key, *astuple(region)] for key, region in catalog.regions.items()],
        "exchange_rates": [
            [rate.currency, rate.date.isoformat(), f"{rate.units_per_usd:f}", rate.source]
            for dated in rates
            for rate in dated
        ],
        "revisions": [
            {name: _plain(getattr(info, name)) for name in _REVISION_COLUMNS}
            for info in catalog.revisions
        ],
    }


def from_document(document: Mapping[str, Any]) -> Catalog:
    """The catalog that `to_document` was given. `InvalidInput` for a document of another form."""
    if document.get("form") != FORM or any(part not in document for part in _PARTS):
        raise InvalidInput(
            "catalog",
            f"is a document of form {document.get('form')!r}; form {FORM} can be read: "
            "use the same version of the planner on both sides",
        )
    try:
        return _read(document)
    except (TypeError, ValueError, KeyError) as error:
        raise InvalidInput("catalog", f"cannot be read: {error}") from None


def _read(document: Mapping[str, Any]) -> Catalog:
    columns = document["offer_columns"]
    offers = [
        from_row(dict(zip(columns, row, strict=True)), f"offer {number}")
        for number, row in enumerate(document["offers"], start=1)
    ]
    rates = ExchangeRates.of(
        ExchangeRate(currency, dt.date.fromisoformat(day), Decimal(units), source)
        for currency, day, units, source in document["exchange_rates"]
    )
    return Catalog.of(
        offers,
        revisions=[_read_revision(values) for values in document["revisions"]],
        regions=dict(_read_region(document["region_columns"], row) for row in document["regions"]),
        exchange_rates=rates,
    )


def _read_region(columns: Sequence[str], row: Sequence[Any]) -> tuple[tuple[str, str], Region]:
    values = dict(zip(columns, row, strict=True))
    return (values.pop("provider"), values.pop("region")), Region(**values)


def _read_revision(values: Mapping[str, Any]) -> RevisionInfo:
    day, moment = dt.date.fromisoformat, dt.datetime.fromisoformat
    readers = {"as_of": day, "oldest_price_as_of": day, "published_at": moment}
    typed: dict[str, Any] = {
        name: readers[name](value) if value and name in readers else value
        for name, value in values.items()
    }
    return RevisionInfo(**typed)


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, dt.date) else value
