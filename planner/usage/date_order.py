"""Whether 05/31 or 31/05 is written, by all dates that say it. PURE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from planner.usage.ledger import UnusableFile

MAX_WAITING_ROWS = 5_000
"""Most rows that are held until a date says which of its numbers is the month."""
_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/\d", re.ASCII)
Row = Sequence[str]


class DateOrder(NamedTuple):
    """How dates with slashes are written in a file."""

    day_first: bool
    example: str
    """A date of which only others say how to read it; empty where one says it, or none has
    slashes."""

    def check(self, text: str) -> None:
        """Refuses a file of which one date says that the day is first and another the month."""
        match = _SLASHES.match(text.strip())
        if match is None:
            return
        first, second = int(match[1]), int(match[2])
        if (second if self.day_first else first) > 12 >= (first if self.day_first else second):
            raise UnusableFile(
                f"holds dates with the day first and with the month first, such as {match[0]}…; "
                "export it with dates like 2026-01-31"
            )

    def note(self) -> str:
        """What a reader has to know of dates that could mean either."""
        if not self.example:
            return ""
        order = "day/month" if self.day_first else "month/day"
        return (
            f"Dates such as {self.example[:20]} are read as {order}/year: no date says which of "
            "its numbers is the month."
        )


def find_date_order(
    rows: Iterable[Row], period_of: Callable[[Row], str], date_of: Callable[[Row], str]
) -> tuple[DateOrder, Iterator[Row]]:
    """The order, and all rows again. Azure writes the month first unless a date says no, or one
    number changes from row to row and the other, which is then the month, does not."""
    rest = iter(rows)
    held: list[Row] = []
    firsts: set[str] = set()
    seconds: set[str] = set()
    example = ""
    for row in rest:
        held.append(row)
        for text in (period_of(row), date_of(row)):
            match = _SLASHES.match(text.strip())
            if match and (int(match[1]) > 12) != (int(match[2]) > 12):
                return DateOrder(int(match[1]) > 12, ""), chain(held, rest)
        if match:
            example = example or date_of(row).strip()
            firsts.add(match[1])
            seconds.add(match[2])
        elif date_of(row).strip():
            break
        if len(held) >= MAX_WAITING_ROWS:
            break
    return DateOrder(len(seconds) == 1 < len(firsts), example), chain(held, rest)
