"""The day on which each price of a revision was seen, kept apart from the prices. PURE.

When only the retrieval date moves, no price row is written: the days travel with the revision.
They are stored only where they are not all the revision's own day, as compressed 32-bit day
numbers in the order of the listings.
"""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WholeNumbers = NDArray[np.int64]
_NO_DATE = -(2**31)


def to_day_numbers(days: Sequence[dt.date | None]) -> list[int]:
    """Each day as a number, 0 for none.

    >>> to_day_numbers([None, dt.date(1, 1, 1), dt.date(1, 1, 2)])
    [0, 1, 2]
    """
    number_by_day = {day: day.toordinal() if day else 0 for day in set(days)}
    return [number_by_day[day] for day in days]


def encode(days: WholeNumbers, as_of: dt.date) -> bytes:
    """Bytes for days given as `to_day_numbers`; empty when every day is `as_of`.

    >>> day = dt.date(2026, 9, 1)
    >>> both, one = np.array(to_day_numbers([day, day])), np.array(to_day_numbers([None, day]))
    >>> encode(both, day), decode(encode(one, day), 2, day)
    (b'', [None, datetime.date(2026, 9, 1)])
    """
    if (days == as_of.toordinal()).all():
        return b""
    return zlib.compress(np.where(days == 0, _NO_DATE, days).astype("<i4").tobytes())


def decode(stored: bytes, count: int, as_of: dt.date) -> list[dt.date | None]:
    """The `count` days that `encode` stored; `ValueError` when they are not that many."""
    if not stored:
        return [as_of] * count
    try:
        stored_numbers = np.frombuffer(zlib.decompress(stored), dtype="<i4").tolist()
    except zlib.error as error:
        raise ValueError(f"the stored dates cannot be read ({error})") from None
    if len(stored_numbers) != count:
        raise ValueError(f"{len(stored_numbers)} dates are kept for {count} prices")
    days = {n: None if n == _NO_DATE else dt.date.fromordinal(n) for n in set(stored_numbers)}
    return [days[n] for n in stored_numbers]
