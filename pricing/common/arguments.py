"""Arguments of commands that have a range."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable


def whole_number_from(least: int) -> Callable[[str], int]:
    """The `type` of an argument that is a whole number of at least `least`.

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
        return number

    return read
