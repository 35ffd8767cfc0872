"""Cells of bills and logs: amounts, hours and moments, in the forms that exports write. PURE."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import NamedTuple

from pricing.common.bounded import read_decimal, shorten
from pricing.common.invalid_input import InvalidInput

MAX_AMOUNT = Decimal(10) ** 13
MAX_QUANTITY = 1e24
"""Byte-seconds of a month are the largest."""
_SIMPLE = re.compile(r"-?\d{1,15}(?:\.\d{1,25})?", re.ASCII).fullmatch
_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:[.\s]\d{3})+|\d*),\d+(?:[eE][+-]?\d+)?", re.ASCII)
EMPTY = frozenset(("", "NULL", "null", "None", "N/A", "n/a"))
"""Cells that say nothing."""
_ZERO = Decimal(0)
_CACHED_MOMENTS = 50_000
MAX_NAME_LENGTH = 120
"""Characters of a name in a sum; longer ones are cut."""


def amount(text: str, column: str) -> Decimal | None:
    """An amount of money, exactly; None for a cell that says nothing.

    >>> amount("55.04", "Cost"), amount("NULL", "Cost"), amount("6.2E-12", "Cost")
    (Decimal('55.04'), None, Decimal('6.2E-12'))
    """
    if _SIMPLE(text):
        return Decimal(text)
    text = text.strip()
    if text in EMPTY:
        return None
    number = read_decimal(text, column)
    if abs(number) > MAX_AMOUNT:
        raise InvalidInput(column, f"{shorten(text, 40)} is not an amount between -1e13 and 1e13")
    return number


def money(text: str, column: str) -> Decimal:
    """An amount where an empty cell is no charge."""
    number = amount(text, column)
    return _ZERO if number is None else number


def quantity(text: str, column: str) -> float:
    """Hours or another quantity; an empty cell is none."""
    if _SIMPLE(text):
        return float(text)
    text = text.strip()
    number = None if text in EMPTY else read_decimal(text, column)
    value = float(number or 0)
    if abs(value) > MAX_QUANTITY:
        raise InvalidInput(column, f"{shorten(text, 40)} is not a quantity up to 1e24")
    return value


def to_point(text: str) -> str:
    """A number with a decimal comma, written with a point.

    >>> to_point("1.234,56"), to_point(",075"), to_point("12")
    ('1234.56', '.075', '12')
    """
    text = text.strip()
    if not _COMMA.fullmatch(text):
        return text
    return re.sub(r"[.\s]", "", text).replace(",", ".")


class Moment(NamedTuple):
    """A moment as it is written: its month, and seconds since 1970 by the same clock."""

    month: str
    seconds: float


_EPOCH = dt.datetime(1970, 1, 1)


class Moments:
    """Reads moments; those of a bill repeat, so each text is read once.

    >>> Moments()("2026-02-04T01:00:00Z", "UsageStartDate")
    Moment(month='2026-02', seconds=1770166800.0)
    """

    def __init__(self, *, utc_only: bool = True, day_first: bool = False) -> None:
        self._utc_only = utc_only
        self._day_first = day_first
        self._known: dict[str, Moment] = {}

    def __call__(self, text: str, column: str) -> Moment:
        known = self._known.get(text)
        if known is None:
            known = self._read(text.strip(), column)
            if len(self._known) >= _CACHED_MOMENTS:
                self._known.clear()
            self._known[text] = known
        return known

    def _read(self, text: str, column: str) -> Moment:
        moment = _parse(text, self._day_first)
        if moment is None or not 1990 <= moment.year <= 2200:
            problem = f"{shorten(text, 40)} is not a moment like 2026-01-31T00:00:00Z"
            raise InvalidInput(column, problem)
        offset = moment.utcoffset()
        if offset and self._utc_only:
            problem = f"{shorten(text, 40)} is not in UTC, in which this bill counts its months"
            raise InvalidInput(column, f"{problem}; export it with times in UTC")
        plain = moment.replace(tzinfo=None)
        return Moment(f"{plain:%Y-%m}", (plain - _EPOCH).total_seconds())


def check_period(start: Moment, end: Moment, column: str) -> None:
    """Refuses a row that ends before it starts."""
    if end.seconds < start.seconds:
        raise InvalidInput(column, "is before the start of the row's period")


_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?:[ T].*)?", re.ASCII)
_DOTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ T].*)?", re.ASCII)


def _parse(text: str, day_first: bool) -> dt.datetime | None:
    if len(text) > 40:
        return None
    try:
        if slashes := _SLASHES.fullmatch(text):
            first, second, year = (int(part) for part in slashes.groups())
            day, month = (first, second) if day_first else (second, first)
            return dt.datetime(year if year > 99 else 2000 + year, month, day)
        if dots := _DOTS.fullmatch(text):
            day, month, year = (int(part) for part in dots.groups())
            return dt.datetime(year, month, day)
        if not re.match(r"[12]\d{3}-\d\d-\d\d", text, re.ASCII):
            return None
        return dt.datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None


def clip(text: str, length: int = MAX_NAME_LENGTH) -> str:
    """A name without blanks around it, cut to `length`; a cell that says nothing is empty."""
    text = text.strip()
    return "" if text in EMPTY else text[:length]


_TRANSLATED = re.compile(r".*\(([\w/]+)\)\s*", re.ASCII)


def plain_name(name: str) -> str:
    """A column's name for comparing: `Kosten (PreTaxCost)` and `pre_tax_cost` are one.

    >>> plain_name("Kosten (PreTaxCost)"), plain_name("pre_tax_cost")
    ('pretaxcost', 'pretaxcost')
    """
    translated = _TRANSLATED.fullmatch(name)
    return re.sub(r"[^a-z0-9]", "", (translated[1] if translated else name).lower())
