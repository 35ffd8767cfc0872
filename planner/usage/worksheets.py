"""The first sheet of an Excel workbook as rows of text. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any
from zipfile import BadZipFile

from planner.usage.sources import Source
from pricing.common.invalid_input import InvalidInput

MAX_CELLS_IN_ROW = 2_000
MAX_EMPTY_ROWS = 1_000
"""Most empty rows in a row; a sheet may declare a million of them."""


def worksheet_rows(source: Source) -> Iterator[list[str]]:
    """Rows of the first sheet, empty ones left out; a formula is refused by its cell."""
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError:
        problem = "is a workbook, which needs the extra `server`; save it as CSV"
        raise InvalidInput("file", problem) from None
    assert source.workbook is not None
    try:
        workbook = load_workbook(source.workbook, read_only=True, data_only=False)
        sheet = workbook.worksheets[0]
        sheet.reset_dimensions()
        for row in _rows(sheet):
            source.allowance.take_rows(1)
            yield row
    except InvalidInput:
        raise
    except (BadZipFile, KeyError, ValueError, IndexError, TypeError, SyntaxError) as error:
        problem = f"is a damaged workbook: {type(error).__name__}"
        raise InvalidInput("file", f"{problem}; save it as CSV") from None


def _rows(sheet: Any) -> Iterator[list[str]]:
    empty = 0
    for number, row in enumerate(sheet.iter_rows(max_col=MAX_CELLS_IN_ROW), 1):
        texts = [_text(cell, number) for cell in row]
        while texts and not texts[-1]:
            texts.pop()
        empty = 0 if texts else empty + 1
        if empty > MAX_EMPTY_ROWS:
            return
        if texts:
            yield texts


def _text(cell: Any, row: int) -> str:
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        problem = "holds a formula, whose value is not read; save the sheet as values"
        raise InvalidInput(f"cell {getattr(cell, 'coordinate', f'in row {row}')}", problem)
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)
    return str(value)
