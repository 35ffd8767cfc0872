"""Text that stays text in a spreadsheet, whatever it begins with."""

from __future__ import annotations

import re

_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What spreadsheets take for the beginning of a formula, the full-width forms included."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def text_cell(text: str) -> str:
    """`text` for a CSV cell: marked with an apostrophe where it would run as a formula.

    A plain number stays one.

    >>> text_cell("=1+1"), text_cell("-5"), text_cell("p5.48xlarge")
    ("'=1+1", '-5', 'p5.48xlarge')
    >>> text_cell(" =1+1")
    "' =1+1"
    """
    if text.lstrip().startswith(_RISKY) or text.startswith(_RISKY):
        return text if _NUMBER.fullmatch(text) else f"'{text}"
    return text
