"""The one error by which the pure core refuses what it was given.

Every interface translates it: the page puts the message beside the field, the API answers
400 with the field's name, a command prints it and exits with status 2.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from itertools import islice
from typing import Self

MAX_REFUSALS = 20
"""Most refusals that one answer lists; how many more there are is the last of them."""
MAX_FIELD_LENGTH = 200
"""Characters of a field's name that a refusal repeats."""


class InvalidInput(ValueError):  # noqa: N818 - it is refused, not broken
    """A value that cannot be used: `field` (dotted path), what is wrong, what is allowed.

    >>> raise InvalidInput("horizon_months", "200 is more than 120; allowed are 1 to 120")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: horizon_months: 200 is more than 120; allowed are
        1 to 120
    """

    def __init__(
        self, field: str, message: str, others: tuple[InvalidInput, ...] = (), code: str = "invalid"
    ) -> None:
        if len(field) > MAX_FIELD_LENGTH:
            field = f"{field[: MAX_FIELD_LENGTH - 1]}…"
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message
        self.others = others
        self.code = code
        """For machines: required, unknown_field, unknown_value, out_of_range, wrong_type, else
        invalid."""

    @classmethod
    def together(cls, refusals: Iterable[Self], count: int) -> Self:
        """`count` refusals as one, of which the first `MAX_REFUSALS` are read and listed."""
        first, *rest = islice(refusals, MAX_REFUSALS)
        if count > MAX_REFUSALS:
            rest.append(cls("", and_more(count), (), "more"))
        return cls(first.field, first.message, tuple(rest), first.code)

    def all(self) -> tuple[InvalidInput, ...]:
        """This refusal and those found together with it, in the order of the request."""
        return (self, *self.others)

    def under(self, prefix: str) -> InvalidInput:
        """The same refusal with its field inside `prefix`: `tokens` → `workload.tokens`."""
        field = f"{prefix}.{self.field}" if self.field else prefix
        others = tuple(one.under(prefix) for one in self.others)
        return InvalidInput(field, self.message, others, self.code)


def and_more(count: int) -> str:
    """What stands for the refusals beyond `MAX_REFUSALS` of so many.

    >>> and_more(60_020)
    'and 60,000 more'
    """
    return f"and {count - MAX_REFUSALS:,} more"


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
