"""Sheets of a workbook with what its figures came from: demand, request, assumptions, offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.labels import cloud_title
from planner.contract.shown_names import (
    accelerator_name,
    choice_name,
    field_name,
    option_name,
    value_name,
)
from planner.exports.list_prices import describe_discounts
from planner.exports.rows import Context
from planner.exports.workbook_sheets import Book, Cell, Column, id_columns, number

DISCOUNT_RATE = "finance.discount_rate_per_year"
DEMAND = "Demand"
_LIMITS = ("constraints", "price_adjustments")


def price_lists(answer: ComparisonAnswer | PortfolioAnswer) -> str:
    """The revisions of the prices that an answer rests on."""
    return ", ".join(
        f"{cloud_title(row.provider)} revision {row.revision} of {row.as_of}"
        for row in answer.catalog
    )


def demand(book: Book, answer: ComparisonAnswer) -> str:
    """Hours and peak of each month; where the hours lie, for formulas, empty where none are."""
    columns = (
        Column("Month", 10, "month"),
        Column("Accelerator-hours", 18, "number"),
        Column("Peak accelerators", 18, "number"),
        Column("Accelerator", 28),
        Column("Method", 60, "wrap"),
        *id_columns("Accelerator"),
    )
    work = answer.demand
    name = accelerator_name(work.accelerator)
    pairs = zip(work.hours_per_month, work.peak_accelerators, strict=True)
    rows: list[list[Cell]] = [
        [answer.month(month), hours, peak, name, work.method, work.accelerator]
        for month, (hours, peak) in enumerate(pairs)
    ]
    book.table(DEMAND, columns, rows)
    return f"{DEMAND}!$B$2:$B${len(rows) + 1}" if rows else ""


def request(book: Book, answer: ComparisonAnswer, context: Context) -> None:
    """What was asked for, field by field: workload, limits, price adjustments and the rest."""
    columns = (
        Column("Section", 20),
        Column("Field", 44),
        Column("Value", 60, "wrap"),
        Column("From", 60, "wrap"),
        *id_columns("Field", "Value"),
    )
    sources = {row.field: row.source for row in answer.inherited}
    shown_request = dict(context.request) | {
        name: context.request.get(name) or "none" for name in _LIMITS if context.request
    }
    rows: list[list[Cell]] = [
        [
            field_name(field.partition(".")[0]),
            field_name(field),
            _value(field, value, answer.labels),
            _source(field, sources),
            field,
            value,
        ]
        for name in shown_request
        for field, value in _fields(name, shown_request[name])
    ]
    book.table("Request", columns, rows)


def _fields(name: str, value: Any) -> Iterator[tuple[str, Cell]]:
    """Every value of a part of the request; a list of plain values is one."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _fields(f"{name}.{key}", inner)
    elif isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value):
        for index, inner in enumerate(value):
            yield from _fields(f"{name}.{index}", inner)
    elif isinstance(value, list | tuple):
        yield name, ", ".join(map(str, value)) or "none"
    elif value is not None:
        yield name, value


def _value(field: str, value: Cell, labels: Mapping[str, str]) -> Cell:
    """A value by the name that people know, servers by what this answer calls them."""
    is_server = field.endswith(".server")
    label = labels.get(f"server:{value}") if is_server else None
    return label or value_name(field, value)


def _source(field: str, sources: Mapping[str, str]) -> str:
    """Where the team's settings gave it, or a whole of which it is part."""
    parts = field.split(".")
    wholes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    whole = next((whole for whole in wholes if whole in sources), "")
    source = sources.get(whole, "")
    return f"{field_name(whole)}: {source}" if source[:1].isdigit() else source


def discount_rate(answer: ComparisonAnswer) -> float:
    """The yearly discount rate; 0 where the answer does not give it."""
    return float(answer.assumption(DISCOUNT_RATE) or 0)


def discount_rate_cell(answer: ComparisonAnswer) -> str:
    """Where the yearly discount rate lies, for formulas; empty where the answer has none."""
    fields = [row.field for row in answer.assumptions]
    return f"Assumptions!$B${fields.index(DISCOUNT_RATE) + 2}" if DISCOUNT_RATE in fields else ""


def assumptions(book: Book, answer: ComparisonAnswer | PortfolioAnswer) -> None:
    columns = (
        Column("Assumption", 36),
        Column("Value", 16, "number"),
        Column("Unit", 22),
        Column("Given", 8),
        Column("Source", 90, "wrap"),
        *id_columns("Assumption"),
    )
    rows: list[list[Cell]] = [
        [
            field_name(row.field),
            number(choice_name(row.value)),
            row.unit,
            row.given,
            row.source,
            row.field,
        ]
        for row in answer.assumptions
    ]
    book.table("Assumptions", columns, rows)


_OFFER_COLUMNS: tuple[tuple[str, int, Callable[[OfferUsed], Cell]], ...] = (
    ("Provider", 10, lambda offer: cloud_title(offer.provider)),
    ("Region", 16, lambda offer: offer.region),
    ("Zone", 12, lambda offer: offer.zone),
    ("Machine", 22, lambda offer: offer.instance_type),
    ("Accelerator", 24, lambda offer: accelerator_name(offer.accelerator)),
    ("Count", 8, lambda offer: offer.accelerator_count),
    ("Option", 16, lambda offer: option_name(offer.purchase_option)),
    ("Price per hour", 16, lambda offer: number(offer.native_price_per_hour)),
    ("Upfront", 16, lambda offer: number(offer.native_upfront)),
    ("Currency", 10, lambda offer: offer.native_currency),
    ("Units per USD", 14, lambda offer: number(offer.units_per_usd)),
    ("Contract multiplier", 12, lambda offer: _multiplier(offer)),
    ("Seen on", 12, lambda offer: offer.as_of.isoformat() if offer.as_of else None),
    ("SKU", 24, lambda offer: offer.sku),
    ("Source", 70, lambda offer: offer.source),
    ("Contract discounts by month", 40, lambda offer: _by_month(offer)),
    ("Provider (id)", 24, lambda offer: offer.provider),
    ("Accelerator (id)", 24, lambda offer: offer.accelerator),
    ("Option (id)", 24, lambda offer: offer.purchase_option),
)
"""Title, width and cell of each column beside the offer's id."""


def _multiplier(offer: OfferUsed) -> Cell:
    """The contract's discount, where the provider's own price is known."""
    return offer.multiplier if offer.native_currency else None


def _by_month(offer: OfferUsed) -> Cell:
    """When they begin and end within the plan; empty where the multiplier holds throughout."""
    return describe_discounts(offer) if offer.multiplier_changes else None


def offers(book: Book, answer: ComparisonAnswer | PortfolioAnswer) -> None:
    columns = [
        Column("Offer", 52),
        *(Column(title, width) for title, width, _ in _OFFER_COLUMNS),
    ]
    book.table("Offers", columns, offer_rows(answer))


def offer_rows(answer: ComparisonAnswer | PortfolioAnswer) -> list[list[Cell]]:
    """The cells of each offer."""
    return [
        [offer_id, *(cell(offer) for _, _, cell in _OFFER_COLUMNS)]
        for offer_id, offer in answer.offers.items()
    ]


_COVERAGE = (
    Column("Accelerator", 30),
    Column("Provider", 14),
    Column("Option", 20),
    Column("Known", 26),
    Column("Prices", 10, "number"),
    Column("Oldest", 12, "day"),
    Column("Newest", 12, "day"),
    Column("Undated", 10, "number"),
    Column("Machines without a price", 40),
    Column("Source", 60),
    *id_columns("Accelerator", "Provider", "Option"),
)
_STATES = {
    "priced": "priced",
    "sold_price_unknown": "sold, price not known",
    "not_sold": "not sold",
    "unknown": "not known",
}


def coverage(book: Book, answer: ComparisonAnswer) -> None:
    """What is known of the prices that the request asks for."""
    rows: list[list[Cell]] = [
        [
            accelerator_name(row.accelerator),
            cloud_title(row.provider),
            option_name(row.purchase_option),
            _STATES[row.state],
            row.count,
            row.oldest,
            row.newest,
            row.undated,
            ", ".join(row.machines),
            row.source,
            row.accelerator,
            row.provider,
            row.purchase_option,
        ]
        for row in answer.coverage
    ]
    book.table("Price coverage", _COVERAGE, rows)
