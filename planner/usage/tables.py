"""Tables: rows under a header, from CSV of any separator or from a worksheet. PURE."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from planner.usage.cells import plain_name
from planner.usage.sources import Source
from pricing.common.invalid_input import InvalidInput

MAX_COLUMNS = 2_000
_SEPARATORS = ",;\t|"


@dataclass
class Table:
    """A table that is read row by row."""

    header: list[str]
    rows: Iterator[Sequence[str]]
    first_row: int = 2
    """Number of the first row below the header, as a spreadsheet counts."""
    decimal_comma: bool = False
    """Whether 3,5 is a number, as in tables whose cells semicolons separate; 3.5 is one too."""
    separator: str = ""

    def columns(self) -> Columns:
        return Columns(self.header)


class Columns:
    """Finds columns by name: as written, then without case, blanks, signs and translations.

    >>> Columns(["lineItem/UsageType", "Zone (AvailabilityZone)"]).find("line_item_usage_type")
    0
    >>> Columns(["lineItem/UsageType", "Zone (AvailabilityZone)"]).find("availabilityZone")
    1
    """

    def __init__(self, header: Iterable[str]) -> None:
        self.header = list(header)
        self._exact: dict[str, int] = {}
        self._plain: dict[str, int] = {}
        for index, name in enumerate(self.header):
            self._exact.setdefault(name.strip(), index)
            self._plain.setdefault(plain_name(name), index)

    def find(self, *names: str) -> int | None:
        """Position of the first of these columns that there is."""
        for name in names:
            index = self._exact.get(name)
            if index is None:
                index = self._plain.get(plain_name(name))
            if index is not None:
                return index
        return None

    def has(self, *names: str) -> bool:
        """Whether there is a column for each of these names."""
        return all(self.find(name) is not None for name in names)

    def require(self, *names: str) -> int:
        """Position of the first of these columns that there is; refused where there is none."""
        index = self.find(*names)
        if index is None:
            raise InvalidInput(f"column {names[0]}", "is missing")
        return index

    def getter(self, *names: str) -> Callable[[Sequence[str]], str]:
        """What reads the first of these columns that there is; an empty text where none is."""
        index = self.find(*names)
        return no_cell if index is None else itemgetter(index)


def no_cell(row: Sequence[str]) -> str:
    """What is read of a column that there is not."""
    return ""


def read_table(source: Source, mapping: Mapping[str, str] | None = None) -> Table:
    """The table in a file; `mapping` renames columns: name in the file → name to read it by."""
    table = _read_binary(source) if source.workbook or source.parquet else _read_csv(source)
    if len(table.header) > MAX_COLUMNS:
        problem = f"has {len(table.header):,} columns; at most {MAX_COLUMNS:,} are read"
        raise InvalidInput("row 1", problem)
    if mapping:
        table.header = [mapping.get(name.strip(), name) for name in table.header]
    return table


def choose_separator(line: str) -> str:
    """The sign that separates the cells of a header; commas where none does.

    >>> choose_separator("Datum;Kosten;Menge"), choose_separator("month,cost")
    (';', ',')
    """
    unquoted = re.sub(r'"[^"]*"', "", line)
    return max(_SEPARATORS, key=lambda sign: (unquoted.count(sign), sign == ","))


def first_line(head: str) -> str:
    """The first line of a file, without its end.

    >>> first_line("month;cost\\r\\n2027-01;5,60")
    'month;cost'
    """
    return head.split("\n", 1)[0].rstrip("\r")


def _read_csv(source: Source) -> Table:
    separator = choose_separator(first_line(source.head))
    lines = source.lines()
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        header = next(reader)
    except (csv.Error, StopIteration) as error:
        raise InvalidInput("row 1", f"is not CSV: {error}") from None
    header = [name.removeprefix("\ufeff").strip() for name in header]
    return Table(
        header,
        _checked(reader, len(header)),
        decimal_comma=separator == ";",
        separator=separator,
    )


def _checked(reader: Any, columns: int) -> Iterator[Sequence[str]]:
    """Rows of as many cells as there are columns; empty rows are passed over."""
    try:
        for row in reader:
            if len(row) != columns:
                if not any(cell.strip() for cell in row):
                    continue
                row = _fit(row, columns, reader.line_num)
            yield row
    except csv.Error as error:
        raise InvalidInput(f"line {reader.line_num}", f"is not CSV: {error}") from None


def _fit(row: list[str], columns: int, line: int) -> list[str]:
    """An amount such as 5,60 without quotes must not be read as 5."""
    if len(row) > columns and any(cell.strip() for cell in row[columns:]):
        problem = f"has {len(row)} cells under {columns} columns"
        raise InvalidInput(f"line {line}", f"{problem}; quote a cell that holds the separator")
    return (row + [""] * columns)[:columns]


def _read_binary(source: Source) -> Table:
    from planner.usage.parquet import parquet_rows
    from planner.usage.worksheets import worksheet_rows

    rows = parquet_rows(source) if source.parquet else worksheet_rows(source)
    header = next(rows, [])
    if not header:
        empty = (
            "Parquet without columns" if source.parquet else "a workbook whose first sheet is empty"
        )
        raise InvalidInput("file", f"is {empty}")
    return Table([name.strip() for name in header], _padded(rows, len(header)))


def _padded(rows: Iterator[list[str]], columns: int) -> Iterator[Sequence[str]]:
    for number, row in enumerate(rows, 2):
        if any(row):
            yield _fit(row, columns, number)
