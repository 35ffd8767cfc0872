"""An `Offer` as a row of text: the one form for the bundled catalog, histories, quarantine. PURE.

Columns are the fields of `Offer` in their order; an absent number or date is empty text, a
fraction of an accelerator is written `1/6`.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypedDict

import zstandard

from pricing.common.amounts import quantize
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_row
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog, DatedPrice, Region, RevisionInfo

OFFER_COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(Offer))
_REQUIRED = OFFER_COLUMNS[:7]


def to_row(offer: Offer) -> dict[str, str]:
    """The offer as text by column.

    >>> from fractions import Fraction
    >>> from pricing.market.offers import PurchaseOption
    >>> row = to_row(Offer("azure", "westeurope", "Standard_NV6ads_A10_v5", "nvidia-a10",
    ...                    Fraction(1, 6), PurchaseOption.ON_DEMAND, Decimal("0.590")))
    >>> row["accelerator_count"], row["price_per_hour"], row["as_of"], row["sold_now"]
    ('1/6', '0.590', '', 'true')
    """
    return {name: format_value(getattr(offer, name)) for name in OFFER_COLUMNS}


def from_row(row: Mapping[str, str | None], where: str = "") -> Offer:
    """The offer of a row; absent optional columns take the field's default.

    Raises `InvalidInput` naming the column; `where` ("line 12") goes before it.
    """
    empty = next((name for name in _REQUIRED if not row.get(name)), "")
    if empty:
        label = f"{where}, {empty}" if where else empty
        raise InvalidInput(label, "is empty; every offer needs it")
    return read_row(Offer, row, where)


def format_value(value: object) -> str:
    """A value of an offer as text that `from_row` reads; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def read_csv(path: Path) -> Iterator[Offer]:
    """The offers of a CSV file with the columns of `OFFER_COLUMNS`, compressed or not.

    Raises `InvalidInput` naming file, line and column.
    """
    with _open(path) as lines:
        reader = csv.DictReader(lines)
        unknown = set(reader.fieldnames or ()) - set(OFFER_COLUMNS)
        if unknown or not reader.fieldnames:
            raise InvalidInput(
                path.name,
                f"column {min(unknown, default='')!r} is unknown; allowed are "
                + ", ".join(OFFER_COLUMNS),
            )
        for row in reader:
            yield from_row(row, f"{path.name} line {reader.line_num}")


def _open(path: Path) -> io.TextIOBase:
    opener = zstandard.open if path.suffix == ".zst" else open
    try:
        return opener(path, "rt", encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput(str(path), f"cannot be read: {error.strerror or error}") from None


def format_amount(amount: Decimal) -> str:
    return f"{quantize(amount):f}"


Money = Annotated[str, "decimal"]
"""An amount as decimal text."""


class OfferRow(TypedDict):
    """An offer as the API gives it; the API's document and the columns of its frame follow."""

    id: str
    provider: str
    region: str
    zone: str
    instance_type: str
    accelerator: str
    accelerator_count: float
    accelerator_memory_gib: float | None
    vcpus: float | None
    memory_gib: float | None
    purchase_option: str
    term_months: int
    payment_option: str
    usd_per_hour: Money
    """Recurring, with the upfront payment spread over the term."""
    recurring_usd_per_hour: Money
    usd_per_accelerator_hour: Money
    upfront_usd: Money
    currency: str
    native_price: Money
    sku: str
    sold_now: bool
    absent_since: dt.date | None
    as_of: dt.date | None
    source: str
    revision: int | None


def offer_json(published: Catalog, row: int, revision_by_provider: Mapping[str, int]) -> OfferRow:
    """The offer of a row of the catalog, with the fields of the contract."""
    offer = published.offers.offer(row)
    memory = float(published.offers.accelerator_memory_gib[row])
    units = published.exchange_rates.find(offer.currency).units_per_usd
    return {
        "id": offer.id,
        "provider": offer.provider,
        "region": offer.region,
        "zone": offer.zone,
        "instance_type": offer.instance_type,
        "accelerator": offer.accelerator,
        "accelerator_count": float(offer.accelerator_count),
        "accelerator_memory_gib": None if math.isnan(memory) else memory,
        "vcpus": offer.vcpus,
        "memory_gib": offer.memory_gib,
        "purchase_option": offer.purchase_option.value,
        "term_months": offer.term_months,
        "payment_option": offer.payment_option,
        "usd_per_hour": format_amount(offer.effective_price_per_hour / units),
        "recurring_usd_per_hour": format_amount(offer.price_per_hour / units),
        "usd_per_accelerator_hour": format_amount(offer.price_per_accelerator_hour / units),
        "upfront_usd": format_amount(offer.upfront / units),
        "currency": offer.currency,
        "native_price": format_amount(offer.price_per_hour),
        "sku": offer.sku,
        "sold_now": offer.sold_now,
        "absent_since": offer.absent_since,
        "as_of": offer.as_of,
        "source": offer.source,
        "revision": revision_by_provider.get(offer.provider),
    }


def catalog_json(info: RevisionInfo, today: dt.date) -> dict[str, Any]:
    """The revision behind an answer, with the age of its oldest price."""
    return {
        "provider": info.provider,
        "revision": info.revision,
        "as_of": info.as_of,
        "oldest_price_as_of": info.oldest_price_as_of,
        "age_days": info.age_days(today),
    }


def dated_price_json(price: DatedPrice) -> dict[str, Any]:
    """A price from a day on; without amounts from the day on which the offer was gone."""
    offer = price.offer
    return {
        "date": price.date,
        "revision": price.revision,
        "price_per_hour": format_amount(offer.price_per_hour) if offer else None,
        "upfront": format_amount(offer.upfront) if offer else None,
        "currency": offer.currency if offer else None,
        "sold_now": offer.sold_now if offer else False,
        "source": offer.source if offer else "",
    }


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
            {
                name: value.isoformat() if isinstance(value, dt.date) else value
                for name in _REVISION_COLUMNS
                for value in (getattr(info, name),)
            }
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
        columns = document["offer_columns"]
        offers = [
            from_row(dict(zip(columns, row, strict=True)), f"offer {number}")
            for number, row in enumerate(document["offers"], start=1)
        ]
        rates = ExchangeRates.of(
            ExchangeRate(currency, dt.date.fromisoformat(day), Decimal(units), source)
            for currency, day, units, source in document["exchange_rates"]
        )
        columns = document["region_columns"]
        regions = [dict(zip(columns, row, strict=True)) for row in document["regions"]]
        return Catalog.of(
            offers,
            revisions=[_read_revision(values) for values in document["revisions"]],
            regions={(one.pop("provider"), one.pop("region")): Region(**one) for one in regions},
            exchange_rates=rates,
        )
    except (TypeError, ValueError, KeyError) as error:
        raise InvalidInput("catalog", f"cannot be read: {error}") from None


def _read_revision(values: Mapping[str, Any]) -> RevisionInfo:
    day, moment = dt.date.fromisoformat, dt.datetime.fromisoformat
    readers = {"as_of": day, "oldest_price_as_of": day, "published_at": moment}
    typed: dict[str, Any] = {
        name: readers[name](value) if value and name in readers else value
        for name, value in values.items()
    }
    return RevisionInfo(**typed)
