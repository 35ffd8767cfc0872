"""Amounts as sentences say them. PURE."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor

TO_THE_CENT = 1000
"""Amounts below this are said to the cent, in units of the currency."""
WITHOUT_CENTS = frozenset(
    {
        *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"),
        *("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
    }
)
"""Currencies whose minor unit has no decimals (ISO 4217, list one, 2024). Those
with three (BHD, KWD, TND and others) are counted to the hundredth."""


def decimals_of(currency: str) -> int:
    """Decimals with which amounts of a currency are paid and shown.

    >>> decimals_of("JPY"), decimals_of("EUR")
    (0, 2)
    """
    return 0 if currency in WITHOUT_CENTS else 2


def format_money(amount: Decimal | float, currency: str) -> str:
    """An amount with its currency, in whole units where cents do not matter.

    >>> format_money(1234567.891, "EUR"), format_money(Decimal("0.06"), "USD")
    ('1,234,568 EUR', '0.06 USD')
    >>> format_money(950, "JPY"), format_money(-31000, "EUR")
    ('950 JPY', '−31,000 EUR')
    """
    digits = decimals_of(currency) if abs(float(amount)) < TO_THE_CENT else 0
    return f"{write_figure(amount, digits)} {currency}"


def write_figure(figure: Decimal | float, digits: int) -> str:
    """A figure for readers, thousands separated, below 0 with a minus sign, never `-0`.

    >>> write_figure(-1234.5, 0), write_figure(-0.2, 0)
    ('−1,234', '0')
    """
    return f"{figure:z,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def subtract_as_shown(more: Decimal, less: Decimal) -> Decimal:
    """What the first amount is above the second, as a reader finds it who subtracts both as shown
    in whole units.

    >>> subtract_as_shown(Decimal("43776.64"), Decimal("5472.40"))
    Decimal('38305')
    >>> subtract_as_shown(Decimal("0.40"), Decimal("0.15"))
    Decimal('0.25')
    """
    if max(abs(more), abs(less)) < 1:
        return more - less
    return Decimal(round(more) - round(less))


def whole_parts(amounts: Sequence[Decimal]) -> list[int]:
    """Amounts in whole units that add up to their sum in whole units: those with the largest
    remainders are rounded up, so that each is less than one unit off.

    >>> whole_parts([Decimal("10.40"), Decimal("5.40"), Decimal("5.40")])
    [11, 5, 5]
    >>> whole_parts([Decimal("10.40"), Decimal("-2.70")]), whole_parts([])
    ([11, -3], [])
    """
    wholes = [floor(amount) for amount in amounts]
    missing = round(sum(amounts, Decimal(0))) - sum(wholes)
    by_remainder = sorted(range(len(amounts)), key=lambda i: wholes[i] - amounts[i])
    for i in by_remainder[:missing]:
        wholes[i] += 1
    return wholes


NOISE = 2e-5
"""Fraction of the whole that is left from computing: below it something is nothing, or all; hours
are kept to a millionth, of which work of minutes has few; planning value, 2026."""
_DIGITS_OF_NOISE = 6


def format_shares(fractions: Sequence[float], digits: int = 0) -> list[str]:
    """Fractions of one whole in per cent that add up as shown, none of them rounded to none or to
    all.

    >>> format_shares([0.876, 0.124]), format_shares([0.8749999996, 0.125])
    (['88%', '12%'], ['88%', '12%'])
    >>> format_shares([0.996, 0.004]), format_shares([1.0, 1e-9])
    (['more than 99%', 'less than 1%'], ['100%', '0%'])
    >>> format_shares([1 / 3] * 3, 1), format_shares([])
    (['33.4%', '33.3%', '33.3%'], [])
    """
    wholes = round_shares(fractions, digits)
    return [_describe(*pair, digits) for pair in zip(fractions, wholes, strict=True)]


def format_named_shares(fractions: Mapping[str, float], digits: int = 0) -> dict[str, str]:
    """The same by name: the order in which they are given changes nothing.

    >>> format_named_shares({"b": 0.5, "a": 0.25, "c": 0.25})
    {'a': '25%', 'b': '50%', 'c': '25%'}
    """
    names = sorted(fractions)
    return dict(zip(names, format_shares([fractions[n] for n in names], digits), strict=True))


def round_shares(fractions: Sequence[float], digits: int = 0) -> list[int]:
    """Fractions of one whole in whole units of the last digit of a per cent: those with the largest
    remainders are rounded up, of equals the largest, so that they add up. Where they leave part of
    the whole to nobody named, its rounding is not theirs.

    >>> round_shares([0.125, 0.8749999996]), round_shares([0.334] * 2), round_shares([1 / 3], 1)
    ([12, 88], [34, 33], [333])
    """
    exact = [Decimal(repr(round(float(one), _DIGITS_OF_NOISE))) for one in fractions]
    rest = 1 - sum(exact, Decimal(0))
    if abs(rest) > len(exact) * Decimal(repr(NOISE)):
        exact.append(rest)
    order = sorted(range(len(exact)), key=lambda i: -exact[i])
    rounded = whole_parts([exact[i].scaleb(digits + 2) for i in order])
    wholes = dict(zip(order, rounded, strict=True))
    return [wholes[i] for i in range(len(fractions))]


def fractions_of_whole(amounts: Mapping[str, int], whole: int) -> dict[str, float]:
    """Amounts as fractions of their sum, to a millionth: those with the largest remainders are
    rounded up, of equals the first name, so that as decimals they sum to exactly one.

    >>> fractions_of_whole({"c": 1, "a": 1, "b": 1}, 3)
    {'a': 0.333334, 'b': 0.333333, 'c': 0.333333}
    """
    names = sorted(amounts)
    exact = [Decimal(amounts[name]).scaleb(_DIGITS_OF_NOISE) / whole for name in names]
    pairs = zip(names, whole_parts(exact), strict=True)
    return {name: float(Decimal(part).scaleb(-_DIGITS_OF_NOISE)) for name, part in pairs}


def _describe(fraction: float, whole: int, digits: int) -> str:
    """A share that was rounded to `whole` units, said as less or more where that is none or all."""
    unit, every = Decimal(1).scaleb(-digits), 10 ** (digits + 2)
    half = 0.5 / every
    if fraction > NOISE and (whole <= 0 or fraction < half):
        return f"less than {unit}%"
    if fraction < 1 - NOISE and (whole >= every or fraction > 1 - half):
        return f"more than {100 - unit}%"
    return f"{Decimal(whole).scaleb(-digits):.{digits}f}%"


def number_month(year: int, month: int) -> int:
    """Months from January of year 0: what months are subtracted and sorted by.

    >>> number_month(2026, 5) - number_month(2025, 12)
    5
    """
    return year * 12 + month - 1


def add_months(month: dt.date, count: int) -> dt.date:
    """First day of the month that lies `count` months after `month`, before it if negative.

    >>> add_months(dt.date(2027, 11, 15), 3), add_months(dt.date(2027, 1, 1), -1)
    (datetime.date(2028, 2, 1), datetime.date(2026, 12, 1))
    """
    year, index = divmod(number_month(month.year, month.month) + count, 12)
    return dt.date(year, index + 1, 1)


def count_months(first: dt.date, last: dt.date) -> int:
    """Months from `first` to `last`, days left out; negative where `last` is the earlier.

    >>> count_months(dt.date(2027, 11, 30), dt.date(2028, 2, 1))
    3
    """
    return number_month(last.year, last.month) - number_month(first.year, first.month)


def next_month(day: dt.date) -> dt.date:
    """First day of the month after `day`: the default start of a plan.

    >>> next_month(dt.date(2026, 12, 31))
    datetime.date(2027, 1, 1)
    """
    return add_months(day, 1)


def days_in_month(month: dt.date) -> int:
    """Days of a month.

    >>> days_in_month(dt.date(2028, 2, 1))
    29
    """
    return (add_months(month, 1) - add_months(month, 0)).days


def parse_month(text: str) -> dt.date:
    """First day of a month written YYYY-MM; `ValueError` for anything else.

    >>> parse_month("2027-11")
    datetime.date(2027, 11, 1)
    """
    return dt.datetime.strptime(text, "%Y-%m").date()


def format_month(month: dt.date) -> str:
    """A month as it is written in requests and answers.

    >>> format_month(dt.date(2027, 3, 1))
    '2027-03'
    """
    return f"{month:%Y-%m}"


def name_month(month: str) -> str:
    """A written month in words, as sentences and tables of pages name it.

    >>> name_month("2027-03")
    'March 2027'
    """
    year, _, number = month.partition("-")
    return f"{calendar.month_name[int(number)]} {year}"


def name_day(day: dt.date) -> str:
    """A day in words, as sentences and tables of pages name it.

    >>> name_day(dt.date(2027, 3, 1))
    '1 March 2027'
    """
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


def shorten_month(month: str) -> str:
    """A written month as the axis of a chart and the table beside it name it.

    >>> shorten_month("2027-03")
    'Mar 2027'
    """
    year, _, number = month.partition("-")
    return f"{calendar.month_abbr[int(number)]} {year}"


def shift_month(month: str, count: int = 1) -> str:
    """The written month that lies `count` months after another, of whatever year.

    >>> shift_month("2026-11", 3), shift_month("9999-12")
    ('2027-02', '10000-01')
    """
    year, index = divmod(_number_written(month) + count, 12)
    return f"{year:04d}-{index + 1:02d}"


def months_between(first: str, last: str) -> int:
    """Months from one written month to another; negative where `last` is the earlier.

    >>> months_between("2026-11", "2027-02")
    3
    """
    return _number_written(last) - _number_written(first)


def _number_written(month: str) -> int:
    year, _, number = month.partition("-")
    return number_month(int(year), int(number))


def month_labels(start: dt.date, count: int) -> list[str]:
    """The written form of `count` months from `start`.

    >>> month_labels(dt.date(2027, 12, 1), 2)
    ['2027-12', '2028-01']
    """
    return [format_month(add_months(start, index)) for index in range(count)]


@dataclass(frozen=True)
class FiscalYears:
    """Fiscal years of a plan that starts in month `start`; each is named after the calendar year
    in which it ends."""

    start: dt.date
    first_month: int = 1
    """Month of the calendar in which fiscal years begin."""

    def year_of(self, index: int) -> int:
        """Fiscal year of month `index` of the plan.

        >>> [FiscalYears(dt.date(2027, 8, 1), 10).year_of(index) for index in (0, 1, 2)]
        [2027, 2027, 2028]
        """
        month = add_months(self.start, index)
        return month.year + (self.first_month > 1 and month.month >= self.first_month)

    def months_of(self, year: int) -> tuple[int, int]:
        """First month of a fiscal year, counted from the start, and the first after it.

        >>> FiscalYears(dt.date(2027, 8, 1), 10).months_of(2028)
        (2, 14)
        """
        begins = dt.date(year - (self.first_month > 1), self.first_month, 1)
        first = count_months(self.start, begins)
        return first, first + 12


_MINUTES = 60
_FEW = 10
"""Hours below which a tenth of one counts; a matter of style, 2026."""


def format_duration(hours: float) -> str:
    """Hours with a tenth below ten of them, minutes where there is not one hour.

    >>> format_duration(1676.2), format_duration(1.74), format_duration(1.0)
    ('1,676 hours', '1.7 hours', '1 hour')
    >>> format_duration(0.21), format_duration(1 / 60), format_duration(0.001)
    ('13 minutes', '1 minute', 'less than a minute')
    """
    minutes = round(hours * _MINUTES)
    if minutes < 1:
        return "less than a minute"
    if minutes < _MINUTES:
        return f"{minutes} {'minute' if minutes == 1 else 'minutes'}"
    shown = f"{hours:,.0f}" if round(hours, 1) >= _FEW else f"{hours:.1f}".removesuffix(".0")
    return f"{shown} {'hour' if shown == '1' else 'hours'}"
