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

_NO_DATE = -(2**31)


def encode(days: Sequence[dt.date | None], as_of: dt.date) -> bytes:
    """Bytes for `days`; empty when every day is `as_of`.

    >>> day = dt.date(2026, 9, 1)
    >>> encode([day, day], day), decode(encode([None, day], day), 2, day)
    (b'', [None, datetime.date(2026, 9, 1)])
    """
    if all(day == as_of for day in days):
        return b""
    numbers = [_NO_DATE if day is None else day.toordinal() for day in days]
    return zlib.compress(np.array(numbers, dtype="<i4").tobytes())


def decode(stored: bytes, count: int, as_of: dt.date) -> list[dt.date | None]:
    """The `count` days that `encode` stored; `ValueError` when they are not that many."""
    if not stored:
        return [as_of] * count
    numbers = np.frombuffer(zlib.decompress(stored), dtype="<i4").tolist()
    if len(numbers) != count:
        raise ValueError(f"{len(numbers)} dates are kept for {count} prices")
    days = {n: None if n == _NO_DATE else dt.date.fromordinal(n) for n in set(numbers)}
    return [days[n] for n in numbers]
