"""Cells of a file of actuals, each read as what it must be; a refusal names the column."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from math import nan
from typing import NamedTuple

from pricing.common.bounded import number_problem, shorten
from pricing.common.invalid_input import InvalidInput

MAX_AMOUNT = Decimal(10) ** 13
MIN_AMOUNT = Decimal("1e-30")
MAX_HOURS = 1e12


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
    """Accelerator-hours in our CSV, hours of machines in FOCUS billing."""
    cost: Decimal
    currency: str
    doubt: str = ""
    """Use that is more than the machines could give in the time."""
    until: float = float("-inf")
    """End of a use of machines, seconds since 1970."""


def text(record: Mapping[str, str], name: str, longest: int) -> str:
    value = (record.get(name) or "").strip()
    if len(value) > longest:
        raise InvalidInput(name, f"is longer than {longest} characters")
    return value


def month(raw: str | None, name: str) -> str:
    value = (raw or "").strip()
    if not re.fullmatch(r"[12]\d{3}-(0[1-9]|1[0-2])", value, re.ASCII):
        raise InvalidInput(name, f"{value[:40]!r} is not a month like 2027-01")
    return value


def month_of_moment(raw: str | None, name: str) -> str:
    """The month of a day or moment, as it is written there."""
    value = (raw or "").strip()
    try:
        if not re.match(r"[12]\d{3}-\d\d-\d\d", value, re.ASCII):
            raise ValueError
        moment = dt.datetime.fromisoformat(value.removesuffix(" UTC"))
    except ValueError:
        problem = f"{value[:40]!r} is not a moment like 2027-01-31T00:00:00Z"
        raise InvalidInput(name, problem) from None
    return f"{moment:%Y-%m}"


def hours(raw: str, name: str, *, least: float = 0.0) -> float:
    text = raw.strip()
    number = nan if number_problem(text) else float(text)
    if not least <= number <= MAX_HOURS:
        problem = f"{shorten(raw, 40)} is not a number of hours from {least:g} to 1e12"
        raise InvalidInput(name, problem)
    return number


def amount(raw: str | None, name: str) -> Decimal:
    text = (raw or "").strip()
    number = Decimal("NaN") if number_problem(text) else Decimal(text)
    if not (number.is_finite() and (not number or MIN_AMOUNT <= abs(number) <= MAX_AMOUNT)):
        problem = f"{shorten(raw or '', 40)} is not an amount between -1e13 and 1e13"
        raise InvalidInput(name, f"{problem}; write it like 1234.56")
    return number
