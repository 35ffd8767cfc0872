"""A CSV for people: one row per cost line, with the sources of its price."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from planner.exports.rows import Answer, Context, cost_rows
from planner.exports.spreadsheet_text import text_cell

STANDING = ("saved_comparison", "state", "state_by", "state_at")
"""On every row, since a row is what is copied elsewhere."""
COLUMNS = (
    "scenario",
    "month",
    "category",
    "label",
    "provider",
    "region",
    "instance_type",
    "purchase_option",
    "quantity",
    "unit",
    "unit_price",
    "amount",
    "currency",
    "offer_id",
    "price_as_of",
    "price_source",
    *STANDING,
)


def as_csv(answer: Answer, context: Context) -> bytes:
    """UTF-8 with a byte order mark, so that spreadsheets read every letter."""
    return csv_bytes(COLUMNS, _rows(answer, context), mark=True)


def _rows(answer: Answer, context: Context) -> Iterable[Mapping[str, Any]]:
    offers = answer.get("offers") or {}
    standing = dict(zip(STANDING, context.told, strict=True))
    for row in cost_rows(answer):
        line = row.line
        offer = offers.get(line["offer_id"], {})
        yield {
            **{name: line[name] for name in COLUMNS if name in line},
            "scenario": row.scenario,
            "month": f"{row.month:%Y-%m}",
            "unit_price": row.unit_price,
            "amount": row.amount,
            "currency": answer["currency"],
            "price_as_of": offer.get("as_of") or "",
            "price_source": offer.get("source") or "",
            **standing,
        }


def csv_bytes(
    columns: Iterable[str], rows: Iterable[Mapping[str, Any]], *, mark: bool = False
) -> bytes:
    """Rows as CSV: numbers as they are, text marked where it would run as a formula."""
    buffer = io.StringIO()
    names = tuple(columns)
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in names])
    return buffer.getvalue().encode("utf-8-sig" if mark else "utf-8")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return f"{value:f}"
    return text_cell(value) if isinstance(value, str) else str(value)
