"""Arguments of commands that have a range."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable

MOST = 1_000_000_000
"""More than anything that is counted here; every database and calendar can hold it as a count."""
MOST_DAYS = 36_500
"""A hundred years: dates end not far beyond."""
MOST_PORT = 65_535


def whole_number_from(least: int, most: int = MOST) -> Callable[[str], int]:
    """The `type` of an argument that is a whole number from `least` to `most`.

    >>> whole_number_from(0)("12")
    12
    >>> whole_number_from(0)("-3")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: '-3' is no whole number from 0 on
    """

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise ArgumentTypeError(f"{text[:60]!r} is no whole number from {least} on")
        if number > most:
            raise ArgumentTypeError(f"{text[:60]!r} is more than {most:,}")
        return number

    return read
