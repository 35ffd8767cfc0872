"""Rows of what was really used and paid, read from a stream: our own CSV or FOCUS 1.2 billing.

Memory does not grow with the file: rows are summed by month and what was bought as they come.
Our own CSV counts accelerator-hours; hours of machines become such as they are read, or are
refused where the machine is not known. FOCUS counts hours of machines, which are kept as billed.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from planner.services.actuals import cells, focus_rows
from planner.services.actuals.cells import Group, Row
from planner.usage.sums import DoubtfulRows
from pricing.common.invalid_input import MAX_REFUSALS, InvalidInput
from pricing.common.typed_number import plain_number, spell_out_round

MAX_LINE_BYTES = 100_000
MAX_ROWS = 1_000_000
MAX_GROUPS = 200_000
_BEYOND = "more columns than the header"
_COMPRESSED = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")

OWN_COLUMNS = (
    "month",
    "cost",
    "hours",
    "provider",
    "region",
    "instance_type",
    "purchase_option",
    "category",
    "currency",
)
_OWN_REQUIRED = ("month", "cost")
_HOURS = ("hours", "accelerator_hours")
_MACHINE_HOURS = ("instance_hours", "node_hours")
"""Hours of whole machines; `hours` are those of accelerators."""
KNOWN_COLUMNS = (*OWN_COLUMNS, "accelerator_hours", *_MACHINE_HOURS)

_EITHER_MARK = re.compile(r"[+-]?\d{1,3}[.,]\d{3}")
"""A point or comma that may part thousands or decimals."""

Plain = Callable[[str, str], str]
"""What a cell says as a number and its column → the number with a decimal point."""
Counts = Callable[[str], float | None]
"""Name of a machine → the accelerators in it; None where it is not known."""


@dataclass
class Sums:
    """A file read to its end: hours and cost by group, and what the file was."""

    format: str
    currency: str
    rows: int = 0
    digest: str = ""
    """Of what the rows say, however the file writes them."""
    file_digest: str = ""
    """Of its bytes, by which uploads were told apart before."""
    hours: dict[Group, float] = field(default_factory=dict)
    """Accelerator-hours of our CSV, hours of machines of FOCUS billing."""
    cost: dict[Group, Decimal] = field(default_factory=dict)
    doubtful: DoubtfulRows = field(default_factory=DoubtfulRows)
    until: float = float("-inf")
    """End of the last use of machines of a bill, seconds since 1970."""

    def add(self, row: Row) -> None:
        self.rows += 1
        self.hours[row.group] = self.hours.get(row.group, 0.0) + row.hours
        self.cost[row.group] = self.cost.get(row.group, Decimal(0)) + row.cost
        self.until = max(self.until, row.until)

    def content_digest(self) -> str:
        """The same for the same sums, in whatever order, quotes and line ends they came."""
        sha = hashlib.sha256(f"{self.format} {self.currency}".encode())
        for group in sorted(self.cost):
            sums = (f"{self.hours[group]:.9g}", f"{self.cost[group].normalize():f}")
            sha.update(repr((*group, *sums)).encode())
        return sha.hexdigest()


def _no_counts(name: str) -> None:
    return None


def read_actuals(stream: BinaryIO, currency: str, counts: Counts = _no_counts) -> Sums:
    """The sums of a file whose amounts are in `currency`; refusals name row and column.

    `counts` turns hours of machines in our CSV into accelerator-hours.
    """
    sha = hashlib.sha256()
    reader = _open_table(_lines(stream, sha))
    read_row, sums = _choose_reader(reader, currency, counts)
    refusals: list[InvalidInput] = []
    for record in _records(reader):
        try:
            _refuse_extra_cells(record)
            row = _checked(read_row(record), sums)
            sums.add(row)
            if row.doubt:
                sums.doubtful.add(f"row {reader.line_num} with {row.doubt}")
        except InvalidInput as refusal:
            refusals.extend(refusal.under(f"row {reader.line_num}").all())
        if len(refusals) >= MAX_REFUSALS:
            break
    if refusals:
        raise InvalidInput.together(refusals, len(refusals))
    if not sums.rows:
        raise InvalidInput("", "the file holds a header and no rows")
    sums.digest, sums.file_digest = sums.content_digest(), sha.hexdigest()
    return sums


def _open_table(lines: Iterator[str]) -> csv.DictReader[str]:
    """The table of a file, whose header says by which sign its cells are parted."""
    header = next(lines, "")
    delimiter = next((sign for sign in ";\t" if sign in header and "," not in header), ",")
    whole = chain([header], lines)
    return csv.DictReader(whole, restkey=_BEYOND, strict=True, delimiter=delimiter)


def _lines(stream: BinaryIO, sha: hashlib._Hash) -> Iterator[str]:
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        sha.update(line)
        if number == 1:
            if line.startswith(_COMPRESSED):
                raise InvalidInput("", "the file is compressed; send the CSV as it is")
            if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise InvalidInput("", "the file is in UTF-16; save the table as CSV in UTF-8")
            line = line.removeprefix(codecs.BOM_UTF8)
        if len(line) > MAX_LINE_BYTES:
            raise InvalidInput(f"row {number}", f"is longer than {MAX_LINE_BYTES:,} bytes")
        if b"\0" in line:
            raise InvalidInput(f"row {number}", "holds a NUL; the file is not text")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(f"row {number}", "is not UTF-8 text") from None


def _records(reader: csv.DictReader[str]) -> Iterator[Mapping[str, str]]:
    try:
        for number, record in enumerate(reader, 1):
            if number > MAX_ROWS:
                raise InvalidInput("", f"the file holds more than {MAX_ROWS:,} rows; split it")
            if _has_values(record):
                yield record
    except csv.Error as error:
        raise InvalidInput(f"row {reader.line_num + 1}", f"is not CSV: {error}") from None


def _has_values(record: Mapping[str, Any]) -> bool:
    """Spreadsheets end a table with rows of nothing but commas."""
    cells = (c for v in record.values() for c in (v if isinstance(v, list) else (v,)))
    return any(cell and not cell.isspace() for cell in cells)


def _refuse_extra_cells(record: Mapping[str, Any]) -> None:
    """An amount such as 5,60 without quotes must not be read as 5."""
    beyond = record.get(_BEYOND, ())
    if any(cell.strip() for cell in beyond):
        columns = len(record) - 1
        problem = f"has {columns + len(beyond)} cells under {columns} columns"
        raise InvalidInput("", f"{problem}; quote a cell that holds a comma")


def _choose_reader(
    reader: csv.DictReader[str], currency: str, counts: Counts
) -> tuple[Callable[[Mapping[str, str]], Row], Sums]:
    try:
        columns = list(reader.fieldnames or [])
        if not {"ChargePeriodStart", "BilledCost"} & set(columns):
            columns = [_own_name(name) for name in columns]
            reader.fieldnames = columns
    except csv.Error as error:
        raise InvalidInput("row 1", f"is not CSV: {error}") from None
    if "ChargePeriodStart" in columns or "BilledCost" in columns:
        _require(columns, focus_rows.REQUIRED)
        return focus_rows.focus_row, Sums("focus", currency)
    _require(columns, _OWN_REQUIRED)
    for name in columns:
        if name not in KNOWN_COLUMNS:
            known = ", ".join(KNOWN_COLUMNS)
            raise InvalidInput(f"column {name[:60]}", f"is unknown; allowed are {known}")
    if len(set(columns)) < len(columns):
        raise InvalidInput("row 1", "names a column twice")
    plain = _continental if reader.reader.dialect.delimiter == ";" else _english
    read_row = partial(_own_row, hours_in=_hours_column(columns), counts=counts, plain=plain)
    return read_row, Sums("csv", currency)


def _own_name(column: str) -> str:
    """A column of our own CSV however its name is written: `Month`, ` Instance Type`."""
    tidy = column.strip().lower().replace(" ", "_")
    return tidy if tidy in KNOWN_COLUMNS else column


def _hours_column(columns: list[str]) -> str:
    """The one column of hours, whose name says what they are hours of."""
    named = [name for name in columns if name in (*_HOURS, *_MACHINE_HOURS)]
    if len(named) > 1:
        problem = f"says the same as column {named[0]}; keep one of them"
        raise InvalidInput(f"column {named[1]}", problem)
    return named[0] if named else "hours"


def _require(columns: list[str], required: tuple[str, ...]) -> None:
    missing = [name for name in required if name not in columns]
    if missing:
        problem = f"is missing; required are {', '.join(required)}"
        raise InvalidInput(f"column {missing[0]}", problem)


def _checked(row: Row, sums: Sums) -> Row:
    if row.currency and row.currency != sums.currency:
        column = "BillingCurrency" if sums.format == "focus" else "currency"
        raise InvalidInput(column, f"{row.currency[:10]!r} is not the project's {sums.currency}")
    if row.group not in sums.cost and len(sums.cost) >= MAX_GROUPS:
        raise InvalidInput("", f"more than {MAX_GROUPS:,} different things were bought; split it")
    return row


def _english(text: str, column: str) -> str:
    """A number of a table parted by commas or tabs, whose point is the decimal mark.

    >>> _english("1234.56", "cost"), _english("5.841", "hours")
    ('1234.56', '5.841')
    """
    tidy = text.strip()
    if spell_out_round(tidy) != tidy:
        raise _ambiguous(tidy, column)
    return text


def _continental(text: str, column: str) -> str:
    """A number of a table parted by semicolons, whose comma is the decimal mark.

    >>> _continental("1.000,50", "cost"), _continental("12", "cost")
    ('1000.50', '12')
    """
    tidy = text.strip()
    if _EITHER_MARK.fullmatch(tidy):
        raise _ambiguous(tidy, column)
    return plain_number(tidy)


def _ambiguous(tidy: str, column: str) -> InvalidInput:
    problem = f"{tidy!r} may be read in two ways"
    return InvalidInput(column, f"{problem}; write it like 1234.56, without marks of thousands")


def _own_row(record: Mapping[str, str], hours_in: str, counts: Counts, plain: Plain) -> Row:
    group = Group(
        month=cells.month(record["month"], "month"),
        provider=cells.text(record, "provider", 60).lower(),
        region=cells.text(record, "region", 60),
        instance_type=cells.text(record, "instance_type", 120),
        purchase_option=cells.text(record, "purchase_option", 30),
        category=cells.text(record, "category", 30) or "compute",
    )
    hours = cells.hours(plain(record.get(hours_in) or "0", hours_in), hours_in)
    if hours and hours_in in _MACHINE_HOURS:
        hours *= _accelerators(group.instance_type, hours_in, counts)
    amount = cells.amount(plain(record["cost"] or "", "cost"), "cost")
    return Row(group, hours, amount, cells.text(record, "currency", 10))


def _accelerators(machine: str, hours_in: str, counts: Counts) -> float:
    count = counts(machine) if machine else None
    if count is None:
        what = f"the machine {machine[:40]!r}" if machine else "a machine without a name"
        problem = f"how many accelerators {what} has is not known"
        hint = "name one of the catalog or the plan in instance_type, or give accelerator_hours"
        raise InvalidInput(hours_in, f"{problem}; {hint}")
    return count
