"""The sheets of a workbook: text always as text, so that nothing a person typed can run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.money import decimals_of

OPTIONS = {
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


def id_columns(*titles: str) -> tuple[Column, ...]:
    """Columns at the end of a sheet with what other systems match, where it shows names."""
    return tuple(Column(f"{title} (id)", 24) for title in titles)


@dataclass
class Book:
    """A workbook with the few styles that all sheets share."""

    book: Any
    currency: str

    def __post_init__(self) -> None:
        add = self.book.add_format
        money = "#,##0.00" if decimals_of(self.currency) else "#,##0"
        self.styles = {
            "": add({"valign": "top"}),
            "head": add({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
            "title": add({"bold": True, "font_size": 15}),
            "wrap": add({"text_wrap": True, "valign": "top"}),
            "month": add({"num_format": "yyyy-mm", "valign": "top"}),
            "day": add({"num_format": "yyyy-mm-dd", "valign": "top"}),
            "share": add({"num_format": "0%", "valign": "top"}),
            "money": add({"num_format": money, "valign": "top"}),
            "price": add({"num_format": "#,##0.00######", "valign": "top"}),
            "number": add({"num_format": "#,##0.######", "valign": "top"}),
            "total": add({"num_format": money, "bold": True, "top": 1}),
            "total_text": add({"bold": True, "top": 1}),
        }

    def write(self, sheet: Any, row: int, column: int, value: Cell, style: str = "") -> None:
        """One cell: text as text whatever it says, numbers as numbers."""
        cached = self.styles[style]
        if value is None or value == "":
            sheet.write_blank(row, column, None, cached)
        elif isinstance(value, str):
            sheet.write_string(row, column, value[:_MAX_TEXT], cached)
        elif isinstance(value, bool):
            sheet.write_string(row, column, "yes" if value else "no", cached)
        elif isinstance(value, dt.date):
            sheet.write_datetime(
                row, column, dt.datetime(value.year, value.month, value.day), cached
            )
        else:
            sheet.write_number(row, column, float(value), cached)

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


def number(value: Any) -> Cell:
    """Money is decimal text in the answer; a sheet counts with it."""
    if isinstance(value, str):
        try:
            return Decimal(value)
        except ArithmeticError:
            return value
    return value  # type: ignore[no-any-return]
