"""Days that a question may ask about: what was known on one of them. PURE."""

from __future__ import annotations

import datetime as dt

from pricing.common.invalid_input import InvalidInput


def check_known_day(field: str, day: dt.date | None, today: dt.date) -> None:
    """Refuses a day of which nothing can be known yet, and names the last one that can be asked.

    >>> check_known_day("as_of", dt.date(2026, 11, 20), dt.date(2026, 11, 20))
    >>> check_known_day("as_of", dt.date(2027, 1, 1), dt.date(2026, 11, 20))
    Traceback (most recent call last):
    ...
    pricing.common.invalid_input.InvalidInput: as_of: 2027-01-01 is in the future, of which \
nothing is known; the latest day is 2026-11-20, today in UTC
    """
    if day is not None and day > today:
        raise InvalidInput(
            field,
            f"{day} is in the future, of which nothing is known; the latest day is {today}, "
            "today in UTC",
        )
