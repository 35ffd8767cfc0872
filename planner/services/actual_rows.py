"""Rows of what was really used and paid, read from a stream: our own CSV or FOCUS 1.2 billing.

Memory does not grow with the file: rows are summed by month and what was bought as they come.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any, BinaryIO, NamedTuple

from pricing.invalid_input import InvalidInput

MAX_LINE_BYTES = 100_000
MAX_ROWS = 1_000_000
MAX_GROUPS = 200_000
MAX_AMOUNT = Decimal(10) ** 13
_MAX_ERRORS = 20
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
_FOCUS_REQUIRED = ("ChargePeriodStart", "BilledCost", "BillingCurrency", "ChargeCategory")
_PROVIDERS = {
    "amazon web services": "aws",
    "aws": "aws",
    "microsoft": "azure",
    "microsoft azure": "azure",
    "azure": "azure",
    "google cloud": "gcp",
    "google": "gcp",
    "gcp": "gcp",
}
_PRICING_CATEGORIES = {"Standard": "on_demand", "Dynamic": "spot", "Committed": "committed"}
_SERVICE_CATEGORIES = {"Storage": "storage", "Networking": "egress"}


class Group(NamedTuple):
    """What rows are summed by."""

    month: str
    provider: str
    region: str
    instance_type: str
    purchase_option: str
    category: str


class Row(NamedTuple):
    group: Group
    hours: float
    cost: Decimal
    currency: str


@dataclass
class Sums:
    """A file read to its end: hours and cost by group, and what the file was."""

    format: str
    currency: str
    rows: int = 0
    digest: str = ""
    hours: dict[Group, float] = field(default_factory=dict)
    cost: dict[Group, Decimal] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        self.rows += 1
        self.hours[row.group] = self.hours.get(row.group, 0.0) + row.hours
        self.cost[row.group] = self.cost.get(row.group, Decimal(0)) + row.cost


def read_actuals(stream: BinaryIO, currency: str) -> Sums:
    """The sums of a file whose amounts are in `currency`; refusals name row and column."""
    sha = hashlib.sha256()
    reader = csv.DictReader(_lines(stream, sha), restkey=_BEYOND, strict=True)
    read_row, sums = _reader_of(reader, currency)
    refusals: list[InvalidInput] = []
    for record in _records(reader):
        try:
            _refuse_more_cells(record)
            sums.add(_checked(read_row(record), sums))
        except InvalidInput as refusal:
            refusals.extend(refusal.under(f"row {reader.line_num}").all())
        if len(refusals) >= _MAX_ERRORS:
            break
    if refusals:
        raise InvalidInput(refusals[0].field, refusals[0].message, tuple(refusals[1:]))
    if not sums.rows:
        raise InvalidInput("", "the file holds a header and no rows")
    sums.digest = sha.hexdigest()
    return sums


def _lines(stream: BinaryIO, sha: hashlib._Hash) -> Iterator[str]:
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        sha.update(line)
        if number == 1:
            if line.startswith(_COMPRESSED):
                raise InvalidInput("", "the file is compressed; send the CSV as it is")
            line = line.removeprefix(b"\xef\xbb\xbf")
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
            if _holds_anything(record):
                yield record
    except csv.Error as error:
        raise InvalidInput(f"row {reader.line_num + 1}", f"is not CSV: {error}") from None


def _holds_anything(record: Mapping[str, Any]) -> bool:
    """Spreadsheets end a table with rows of nothing but commas."""
    cells = (c for v in record.values() for c in (v if isinstance(v, list) else (v,)))
    return any(cell and not cell.isspace() for cell in cells)


def _refuse_more_cells(record: Mapping[str, Any]) -> None:
    """An amount such as 5,60 without quotes must not be read as 5."""
    beyond = record.get(_BEYOND, ())
    if any(cell.strip() for cell in beyond):
        columns = len(record) - 1
        told = f"has {columns + len(beyond)} cells under {columns} columns"
        raise InvalidInput("", f"{told}; quote a cell that holds a comma")


def _reader_of(
    reader: csv.DictReader[str], currency: str
) -> tuple[Callable[[Mapping[str, str]], Row], Sums]:
    try:
        columns = list(reader.fieldnames or [])
    except csv.Error as error:
        raise InvalidInput("row 1", f"is not CSV: {error}") from None
    if "ChargePeriodStart" in columns or "BilledCost" in columns:
        _require(columns, _FOCUS_REQUIRED)
        return _focus_row, Sums("focus", currency)
    _require(columns, _OWN_REQUIRED)
    for name in columns:
        if name not in OWN_COLUMNS:
            known = ", ".join(OWN_COLUMNS)
            raise InvalidInput(f"column {name[:60]}", f"is unknown; allowed are {known}")
    if len(set(columns)) < len(columns):
        raise InvalidInput("row 1", "names a column twice")
    return _own_row, Sums("csv", currency)


def _require(columns: list[str], required: tuple[str, ...]) -> None:
    missing = [name for name in required if name not in columns]
    if missing:
        told = f"is missing; required are {', '.join(required)}"
        if len(columns) == 1 and re.search("[;\t]", columns[0]):
            told += "; the columns are separated by commas"
        raise InvalidInput(f"column {missing[0]}", told)


def _checked(row: Row, sums: Sums) -> Row:
    if row.currency and row.currency != sums.currency:
        raise InvalidInput(
            "currency", f"{row.currency[:10]!r} is not the project's {sums.currency}"
        )
    if row.group not in sums.cost and len(sums.cost) >= MAX_GROUPS:
        raise InvalidInput("", f"more than {MAX_GROUPS:,} different things were bought; split it")
    return row


def _own_row(record: Mapping[str, str]) -> Row:
    group = Group(
        month=_month(record["month"], "month"),
        provider=_text(record, "provider", 60).lower(),
        region=_text(record, "region", 60),
        instance_type=_text(record, "instance_type", 120),
        purchase_option=_text(record, "purchase_option", 30),
        category=_text(record, "category", 30) or "compute",
    )
    hours = _hours(record.get("hours") or "0", "hours")
    return Row(group, hours, _amount(record["cost"], "cost"), _text(record, "currency", 10))


def _focus_row(record: Mapping[str, str]) -> Row:
    name = _text(record, "ProviderName", 120).lower()
    group = Group(
        month=_month((record["ChargePeriodStart"] or "")[:7], "ChargePeriodStart"),
        provider=_PROVIDERS.get(name, name[:60]),
        region=_text(record, "RegionId", 60),
        instance_type=_focus_instance_type(record),
        purchase_option=_PRICING_CATEGORIES.get(record.get("PricingCategory") or "", ""),
        category=_focus_category(record),
    )
    is_hours = (record.get("ConsumedUnit") or "").lower() in ("hours", "hour", "hrs")
    quantity = record.get("ConsumedQuantity") if is_hours else None
    return Row(
        group,
        _hours(quantity or "0", "ConsumedQuantity"),
        _amount(record["BilledCost"], "BilledCost"),
        _text(record, "BillingCurrency", 10),
    )


def _focus_instance_type(record: Mapping[str, str]) -> str:
    if given := _text(record, "x_InstanceType", 120):
        return given
    try:
        details = json.loads(record.get("SkuPriceDetails") or "{}")
    except (ValueError, RecursionError):
        raise InvalidInput("SkuPriceDetails", "is not JSON") from None
    found = details.get("InstanceType") if isinstance(details, dict) else None
    return found[:120] if isinstance(found, str) else ""


def _focus_category(record: Mapping[str, str]) -> str:
    """Our word for a FOCUS row's charge and service."""
    charge = record["ChargeCategory"] or ""
    if own := _text(record, "x_Category", 30):
        return own
    if charge == "Tax":
        return "tax"
    if record.get("CommitmentDiscountId"):
        return "commitment"
    return _SERVICE_CATEGORIES.get(record.get("ServiceCategory") or "", "compute")


def _text(record: Mapping[str, str], name: str, longest: int) -> str:
    value = (record.get(name) or "").strip()
    if len(value) > longest:
        raise InvalidInput(name, f"is longer than {longest} characters")
    return value


def _month(text: str | None, name: str) -> str:
    value = (text or "").strip()
    if not re.fullmatch(r"[12]\d{3}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise InvalidInput(name, f"{value[:40]!r} is not a month like 2027-01")
    return value


def _hours(text: str, name: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = float("nan")
    if not (isfinite(hours) and 0 <= hours <= 1e12):
        raise InvalidInput(name, f"{text[:40]!r} is not a number of hours from 0 to 1e12")
    return hours


def _amount(text: str | None, name: str) -> Decimal:
    try:
        amount = Decimal((text or "").strip())
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or abs(amount) > MAX_AMOUNT or len(text or "") > 40:
        told = f"{(text or '')[:40]!r} is not an amount between -1e13 and 1e13"
        raise InvalidInput(name, f"{told}; write it like 1234.56")
    return amount
