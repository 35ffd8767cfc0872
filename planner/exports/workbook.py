"""An Excel workbook whose totals are live formulas over its own lines.

Text is always written as text, so that nothing a person typed can run; the formulas are ours.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from planner.answer import month_of
from planner.exports.rows import Answer, Context, cost_rows, feasible

_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": False,
}
_MAX_TEXT = 32_000
"""Characters of a cell; Excel takes 32,767."""

Cell = str | float | int | bool | dt.date | Decimal | None


@dataclass(frozen=True)
class Column:
    title: str
    width: int
    style: str = ""


@dataclass
class _Book:
    """A workbook with the few styles that all sheets share."""

    book: Any
    currency: str

    def __post_init__(self) -> None:
        add = self.book.add_format
        self.styles = {
            "": add({"valign": "top"}),
            "head": add({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
            "title": add({"bold": True, "font_size": 15}),
            "wrap": add({"text_wrap": True, "valign": "top"}),
            "month": add({"num_format": "yyyy-mm", "valign": "top"}),
            "money": add({"num_format": "#,##0.00", "valign": "top"}),
            "price": add({"num_format": "#,##0.00######", "valign": "top"}),
            "number": add({"num_format": "#,##0.######", "valign": "top"}),
            "total": add({"num_format": "#,##0.00", "bold": True, "top": 1}),
            "total_text": add({"bold": True, "top": 1}),
        }

    def write(self, sheet: Any, row: int, column: int, value: Cell, style: str = "") -> None:
        """One cell: text as text whatever it says, numbers as numbers."""
        kept = self.styles[style]
        if value is None or value == "":
            sheet.write_blank(row, column, None, kept)
        elif isinstance(value, str):
            sheet.write_string(row, column, value[:_MAX_TEXT], kept)
        elif isinstance(value, bool):
            sheet.write_string(row, column, "yes" if value else "no", kept)
        elif isinstance(value, dt.date):
            sheet.write_datetime(row, column, dt.datetime(value.year, value.month, value.day), kept)
        else:
            sheet.write_number(row, column, float(value), kept)

    def table(self, name: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Any:
        """A sheet with a header that stays in view, a filter, and `rows`."""
        sheet = self.book.add_worksheet(name)
        for index, column in enumerate(columns):
            sheet.set_column(index, index, column.width)
            self.write(sheet, 0, index, column.title, "head")
        for number, row in enumerate(rows, 1):
            for index, value in enumerate(row):
                self.write(sheet, number, index, value, columns[index].style)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, max(1, len(rows)), len(columns) - 1)
        return sheet


def as_workbook(answer: Answer, context: Context) -> bytes:
    """Summary, cash flow, lines, capacity, assumptions, offers with their sources."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, _OPTIONS) as raw:
        book = _Book(raw, answer["currency"])
        summary = raw.add_worksheet("Summary")
        cash = raw.add_worksheet("Cash flow")
        lines = _lines(book, answer)
        _summary(book, summary, answer, context, lines)
        _cash_flow(book, cash, answer, lines)
        _capacity(book, answer)
        _assumptions(book, answer)
        _offers(book, answer)
        raw.set_properties({"title": context.name[:200], "company": context.team[:200]})
    return buffer.getvalue()


@dataclass(frozen=True)
class _Ranges:
    """Where the lines' columns lie, for formulas."""

    scenario: str
    month: str
    amount: str


_LINES = (
    Column("Scenario", 12),
    Column("Month", 10, "month"),
    Column("Category", 16),
    Column("What", 46),
    Column("Provider", 10),
    Column("Region", 16),
    Column("Machine", 22),
    Column("Option", 14),
    Column("Quantity", 14, "number"),
    Column("Unit", 14),
    Column("Unit price", 14, "price"),
    Column("Amount", 16, "money"),
    Column("Offer", 52),
)
_SCENARIO, _MONTH, _AMOUNT = 0, 1, 11


def _lines(book: _Book, answer: Answer) -> _Ranges:
    rows: list[list[Cell]] = [
        [
            row.scenario,
            row.month,
            *(row.line[name] for name in ("category", "label", "provider", "region")),
            row.line["instance_type"],
            row.line["purchase_option"],
            row.line["quantity"],
            row.line["unit"],
            row.unit_price,
            row.amount,
            row.line["offer_id"],
        ]
        for row in cost_rows(answer)
    ]
    book.table("Lines", _LINES, rows)
    last = max(2, len(rows) + 1)

    def column(index: int) -> str:
        name = xl_col_to_name(index)
        return f"Lines!${name}$2:${name}${last}"

    return _Ranges(column(_SCENARIO), column(_MONTH), column(_AMOUNT))


def _summary(book: _Book, sheet: Any, answer: Answer, context: Context, lines: _Ranges) -> None:
    sheet.set_column(0, 0, 26)
    sheet.set_column(1, 5, 20)
    book.write(sheet, 0, 0, context.name or answer.get("name") or "Comparison", "title")
    row = 1
    for title, value in _facts(answer, context):
        book.write(sheet, row, 0, title, "head")
        book.write(sheet, row, 1, value)
        row += 1
    row = _scenarios(book, sheet, row + 1, answer, lines)
    for text in (*answer["recommendation"]["because"], *answer["warnings"]):
        book.write(sheet, row, 0, text)
        row += 1


def _facts(answer: Answer, context: Context) -> list[tuple[str, Cell]]:
    prices = ", ".join(
        f"{row['provider']} revision {row['revision']} of {row['as_of']}"
        for row in answer["catalog"]
    )
    return [
        ("Team", context.team),
        ("Project", context.project),
        ("Saved on", context.created.isoformat() if context.created else ""),
        ("Start", answer["start"]),
        ("Months", answer["horizon_months"]),
        ("Currency", answer["currency"]),
        ("Prices", prices),
        ("Recommended", answer["recommendation"]["scenario"] or "nothing is feasible"),
    ]


def _scenarios(book: _Book, sheet: Any, row: int, answer: Answer, lines: _Ranges) -> int:
    titles = ("Scenario", "Total cost", "Net present cost", "Per accelerator-hour", "Why not")
    for column, title in enumerate(titles):
        book.write(sheet, row, column, title, "head")
    for scenario in answer["scenarios"]:
        row += 1
        book.write(sheet, row, 0, scenario["key"])
        if not scenario["feasible"]:
            book.write(sheet, row, 4, "; ".join(scenario["why_not"]), "wrap")
            continue
        total = f"=SUMIFS({lines.amount},{lines.scenario},{xl_rowcol_to_cell(row, 0)})"
        sheet.write_formula(row, 1, total, book.styles["money"], float(scenario["total_cost"]))
        book.write(sheet, row, 2, Decimal(scenario["net_present_cost"]), "money")
        per_hour = scenario["levelised_cost_per_accelerator_hour"]
        book.write(sheet, row, 3, Decimal(per_hour) if per_hour else None, "price")
    return row + 2


def _cash_flow(book: _Book, sheet: Any, answer: Answer, lines: _Ranges) -> None:
    """What is due in each month of each scenario, every figure a formula over the lines."""
    scenarios = feasible(answer)
    sheet.set_column(0, len(scenarios), 18)
    sheet.freeze_panes(1, 1)
    book.write(sheet, 0, 0, "Month", "head")
    for column, scenario in enumerate(scenarios, 1):
        book.write(sheet, 0, column, scenario["key"], "head")
    months = max((len(s["cash_per_month"]) for s in scenarios), default=0)
    for month in range(months):
        book.write(sheet, month + 1, 0, month_of(answer, month), "month")
    book.write(sheet, months + 1, 0, "Total", "total_text")
    for column, scenario in enumerate(scenarios, 1):
        _cash_column(book, sheet, column, scenario, lines, months)


def _cash_column(
    book: _Book, sheet: Any, column: int, scenario: Mapping[str, Any], lines: _Ranges, months: int
) -> None:
    head = xl_rowcol_to_cell(0, column, row_abs=True, col_abs=True)
    for month, due in enumerate(scenario["cash_per_month"]):
        when = xl_rowcol_to_cell(month + 1, 0, col_abs=True)
        formula = f"=SUMIFS({lines.amount},{lines.scenario},{head},{lines.month},{when})"
        sheet.write_formula(month + 1, column, formula, book.styles["money"], float(due))
    name = xl_col_to_name(column)
    total = f"=SUM({name}2:{name}{months + 1})"
    value = float(scenario["total_cost"])
    sheet.write_formula(months + 1, column, total, book.styles["total"], value)


def _capacity(book: _Book, answer: Answer) -> None:
    columns = (
        Column("Scenario", 12),
        Column("Month", 10, "month"),
        Column("Source", 60),
        Column("Accelerators", 14, "number"),
        Column("Hours available", 16, "number"),
        Column("Hours used", 16, "number"),
    )
    rows: list[list[Cell]] = [
        [
            scenario["key"],
            month_of(answer, row["month"]),
            row["source"],
            row["accelerators"],
            row["hours_available"],
            row["hours_used"],
        ]
        for scenario in feasible(answer)
        for row in scenario["capacity"]
    ]
    book.table("Capacity", columns, rows)


def _assumptions(book: _Book, answer: Answer) -> None:
    columns = (
        Column("Assumption", 36),
        Column("Value", 16, "number"),
        Column("Unit", 22),
        Column("Given", 8),
        Column("Source", 90, "wrap"),
    )
    rows: list[list[Cell]] = [
        [row["field"], _number(row["value"]), row["unit"], row["given"], row["source"]]
        for row in answer["assumptions"]
    ]
    book.table("Assumptions", columns, rows)


def _number(value: Any) -> Cell:
    """Money is decimal text in the answer; a sheet counts with it."""
    if isinstance(value, str):
        try:
            return Decimal(value)
        except ArithmeticError:
            return value
    return value  # type: ignore[no-any-return]


_OFFERS = (
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


def _offers(book: _Book, answer: Answer) -> None:
    columns = [Column(title, width) for title, width, _ in _OFFERS]
    rows: list[list[Cell]] = []
    for offer_id, offer in (answer.get("offers") or {}).items():
        known = {**offer, "id": offer_id}
        cells = [known.get(name) for _, _, name in _OFFERS]
        rows.append(
            [
                _number(value) if name in _OFFER_NUMBERS else value
                for value, (_, _, name) in zip(cells, _OFFERS, strict=True)
            ]
        )
    book.table("Offers", columns, rows)
