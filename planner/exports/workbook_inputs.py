"""Sheets of a workbook with what its figures came from: demand, request, assumptions, offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.answer import month_of
from planner.exports.rows import Answer, Context
from planner.exports.workbook_sheets import Book, Cell, Column, number

DISCOUNT_RATE = "finance.discount_rate_per_year"
DEMAND = "Demand"
_LIMITS = ("constraints", "price_adjustments")


def demand(book: Book, answer: Answer) -> str:
    """Hours and peak of each month; where the hours lie, for formulas, empty where none are."""
    columns = (
        Column("Month", 10, "month"),
        Column("Accelerator-hours", 18, "number"),
        Column("Peak accelerators", 18, "number"),
        Column("Accelerator", 28),
        Column("Method", 60, "wrap"),
    )
    told = answer["demand"]
    pairs = zip(told["hours_per_month"], told["peak_accelerators"], strict=True)
    rows: list[list[Cell]] = [
        [month_of(answer, month), hours, peak, told["accelerator"], told["method"]]
        for month, (hours, peak) in enumerate(pairs)
    ]
    book.table(DEMAND, columns, rows)
    return f"{DEMAND}!$B$2:$B${len(rows) + 1}" if rows else ""


def request(book: Book, answer: Answer, context: Context) -> None:
    """What was asked for, field by field: workload, limits, price adjustments and the rest."""
    columns = (
        Column("Section", 20),
        Column("Field", 44),
        Column("Value", 60, "wrap"),
        Column("From", 60, "wrap"),
    )
    sources = {row["field"]: row["source"] for row in answer.get("inherited") or ()}
    asked = dict(context.request) | {
        name: context.request.get(name) or "none" for name in _LIMITS if context.request
    }
    rows: list[list[Cell]] = [
        [field.partition(".")[0], field, value, _source(field, sources)]
        for name in asked
        for field, value in _fields(name, asked[name])
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


def _source(field: str, sources: Mapping[str, str]) -> str:
    """Where the team's settings gave it, or a whole of which it is part."""
    parts = field.split(".")
    wholes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((sources[whole] for whole in wholes if whole in sources), "")


def discount_rate(answer: Answer) -> float:
    """The yearly discount rate; 0 where it is not told."""
    rows = answer["assumptions"]
    return next((float(row["value"]) for row in rows if row["field"] == DISCOUNT_RATE), 0.0)


def discount_rate_cell(answer: Answer) -> str:
    """Where the yearly discount rate lies, for formulas; empty where it is not told."""
    fields = [row["field"] for row in answer["assumptions"]]
    return f"Assumptions!$B${fields.index(DISCOUNT_RATE) + 2}" if DISCOUNT_RATE in fields else ""


def assumptions(book: Book, answer: Answer) -> None:
    columns = (
        Column("Assumption", 36),
        Column("Value", 16, "number"),
        Column("Unit", 22),
        Column("Given", 8),
        Column("Source", 90, "wrap"),
    )
    rows: list[list[Cell]] = [
        [row["field"], number(row["value"]), row["unit"], row["given"], row["source"]]
        for row in answer["assumptions"]
    ]
    book.table("Assumptions", columns, rows)


_OFFER_COLUMNS = (
    ("Offer", 52, "id"),
    ("Provider", 10, "provider"),
    ("Region", 16, "region"),
    ("Zone", 12, "zone"),
    ("Machine", 22, "instance_type"),
    ("Accelerator", 24, "accelerator"),
    ("Count", 8, "accelerator_count"),
    ("Option", 16, "purchase_option"),
    ("Price per hour", 16, "native_price_per_hour"),
    ("Upfront", 16, "native_upfront"),
    ("Currency", 10, "native_currency"),
    ("Units per USD", 14, "units_per_usd"),
    ("Contract multiplier", 12, "multiplier"),
    ("Seen on", 12, "as_of"),
    ("SKU", 24, "sku"),
    ("Source", 70, "source"),
)
_OFFER_NUMBERS = ("native_price_per_hour", "native_upfront", "units_per_usd")


def offers(book: Book, answer: Answer) -> None:
    columns = [Column(title, width) for title, width, _ in _OFFER_COLUMNS]
    rows: list[list[Cell]] = []
    for offer_id, offer in (answer.get("offers") or {}).items():
        known = {**offer, "id": offer_id}
        cells = [known.get(name) for _, _, name in _OFFER_COLUMNS]
        rows.append(
            [
                number(value) if name in _OFFER_NUMBERS else value
                for value, (_, _, name) in zip(cells, _OFFER_COLUMNS, strict=True)
            ]
        )
    book.table("Offers", columns, rows)
