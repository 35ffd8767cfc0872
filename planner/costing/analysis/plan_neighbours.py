"""Plans that differ from a plan by one unit. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

UnitsStarted = Mapping[str, NDArray[np.int64]]

START_MONTHS_TRIED = 12
"""Months over the horizon in which one more unit is tried."""
SHIFTS_MONTHS = (-6, -3, -2, -1, 1, 2, 3, 6)
"""Months by which a unit is started earlier or later."""


def signature(units_started: UnitsStarted) -> tuple[tuple[str, bytes], ...]:
    """What tells plans apart: the units started of each source by month."""
    return tuple(
        (key, units.astype(np.int64).tobytes())
        for key, units in sorted(units_started.items())
        if units.any()
    )


def neighbours(
    units_started: UnitsStarted, keys: Sequence[str], months: int
) -> Iterator[UnitsStarted]:
    """Plans with one unit more, fewer, earlier, later or of another source."""
    for key in keys:
        for month in range(0, months, max(1, months // START_MONTHS_TRIED)):
            yield apply_changes(units_started, months, (key, month, 1))
    for key, units in sorted(units_started.items()):
        for month in np.flatnonzero(units).tolist():
            yield apply_changes(units_started, months, (key, month, -1))
            for new_month in (month + shift for shift in SHIFTS_MONTHS):
                if 0 <= new_month < months:
                    yield apply_changes(
                        units_started, months, (key, month, -1), (key, new_month, 1)
                    )
            for other in keys:
                if other != key:
                    yield apply_changes(units_started, months, (key, month, -1), (other, month, 1))


def apply_changes(
    units_started: UnitsStarted, months: int, *changes: tuple[str, int, int]
) -> UnitsStarted:
    """`units_started` with (key, month, units) added.

    >>> apply_changes({"a": np.array([1, 0])}, 2, ("a", 0, -1), ("b", 1, 1))
    {'a': array([0, 0]), 'b': array([0, 1])}
    """
    changed = {key: units.copy() for key, units in units_started.items()}
    for key, month, units in changes:
        changed.setdefault(key, np.zeros(months, np.int64))[month] += units
    return changed
