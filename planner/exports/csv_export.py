"""A CSV for people: one row per cost line, with the sources of its price."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.months import format_month
from planner.exports.rows import Context, Row, cost_rows
from planner.exports.spreadsheet_text import text_cell

APPROVAL_COLUMNS = ("saved_comparison", "state", "state_by", "state_at")
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
    *APPROVAL_COLUMNS,
)


def as_csv(answer: ComparisonAnswer, context: Context) -> bytes:
    """UTF-8 with a byte order mark, so that spreadsheets read every letter."""
    return csv_bytes(COLUMNS, _rows(answer, context), mark=True)


def _rows(answer: ComparisonAnswer, context: Context) -> Iterable[Mapping[str, Any]]:
    approval = dict(zip(APPROVAL_COLUMNS, context.approval_columns, strict=True))
    for row in cost_rows(answer):
        yield {**_cells(answer, row), **approval}


def _cells(answer: ComparisonAnswer, row: Row) -> Mapping[str, Any]:
    line = row.line
    offer = answer.offers.get(line.offer_id)
    return {
        "scenario": row.scenario,
        "month": format_month(row.month),
        "category": line.category.value,
        "label": line.label,
        "provider": line.provider,
        "region": line.region,
        "instance_type": line.instance_type,
        "purchase_option": line.purchase_option,
        "quantity": line.quantity,
        "unit": line.unit,
        "unit_price": line.unit_price,
        "amount": line.amount,
        "currency": answer.currency,
        "offer_id": line.offer_id,
        "price_as_of": offer.as_of.isoformat() if offer and offer.as_of else "",
        "price_source": offer.source if offer else "",
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
