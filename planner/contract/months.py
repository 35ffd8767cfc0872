"""Months: the one arithmetic of all plans. PURE.

A month is the `date` of its first day; in requests, answers and files it is written YYYY-MM.
Month 0 of a plan is its start. Dates end with the year 9999; written months do not.
"""

from __future__ import annotations

import calendar
import datetime as dt
from dataclasses import dataclass


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
