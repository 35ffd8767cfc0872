"""Rows of the price lists that a catalog is built from. PURE."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from pricing.common.invalid_input import InvalidInput


@dataclass(frozen=True)
class Row:
    """One line of one file; `row["usd_per_hour"]` is its text, "" where it is absent."""

    file: str
    line: int
    values: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        try:
            return self.values[column].strip()
        except KeyError:
            raise InvalidInput(self.location, f"has no column {column!r}") from None

    @property
    def location(self) -> str:
        """Where it is, for people."""
        return f"{self.file} line {self.line}"

    def amount(self, column: str) -> Decimal | None:
        """Money of a column; None where it is absent. `InvalidInput` for what is no number."""
        text = self[column]
        if not text:
            return None
        try:
            amount = Decimal(text)
        except InvalidOperation:
            raise InvalidInput(self.location, f"{column} {text!r} is not a number") from None
        if not amount.is_finite():
            raise InvalidInput(self.location, f"{column} {text!r} is not a number")
        return amount

    def price(self, column: str) -> Decimal:
        """Money that must be there: `InvalidInput` where it is absent."""
        amount = self.amount(column)
        if amount is None:
            raise InvalidInput(self.location, f"{column} is empty; every price row needs it")
        return amount


def read_rows(folder: Path, file: str) -> Iterator[Row]:
    """Rows of a CSV file under `folder`; `InvalidInput` names a file that is not there."""
    path = folder / file
    if not path.is_file():
        raise InvalidInput("source", f"{path} is missing; it is one of the required price lists")
    with path.open(newline="", encoding="utf-8") as lines:
        for line, values in enumerate(csv.DictReader(lines), start=2):
            yield Row(file, line, {k: v or "" for k, v in values.items() if k})


def parse_day(text: str) -> dt.date | None:
    """A day, the first of a month, or None where the source carries no date.

    >>> parse_day("2026-02"), parse_day("2026-08-20"), parse_day("undated (v8 series)")
    (datetime.date(2026, 2, 1), datetime.date(2026, 8, 20), None)
    """
    for form in (text[:10], f"{text}-01"):
        try:
            return dt.date.fromisoformat(form)
        except ValueError:
            continue
    return None
