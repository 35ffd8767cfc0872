"""Months: the one arithmetic of all plans. PURE.

A month is the `date` of its first day; in requests and answers it is written YYYY-MM. Month 0
of a plan is its start.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


def add_months(month: dt.date, count: int) -> dt.date:
    """First day of the month that lies `count` months after `month`, before it if negative.

    >>> add_months(dt.date(2027, 11, 15), 3), add_months(dt.date(2027, 1, 1), -1)
    (datetime.date(2028, 2, 1), datetime.date(2026, 12, 1))
    """
    years, index = divmod(month.month - 1 + count, 12)
    return dt.date(month.year + years, index + 1, 1)


def count_months(first: dt.date, last: dt.date) -> int:
    """Months from `first` to `last`, days left out; negative where `last` is the earlier.

    >>> count_months(dt.date(2027, 11, 30), dt.date(2028, 2, 1))
    3
    """
    return (last.year - first.year) * 12 + last.month - first.month


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
