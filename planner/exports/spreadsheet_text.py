"""Text that stays text in a spreadsheet, whatever it begins with and wherever it is split."""

from __future__ import annotations

import re
from functools import lru_cache

_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""What spreadsheets take for the beginning of a formula, the full-width forms included."""
_BEGINS = re.compile(rf"[\t\r\n]|\s*[{_SIGNS}]")
_AFTER_A_SEPARATOR = re.compile(rf'([;\t\r\n][\s"]*)(?=[{_SIGNS}])')
_DIFFERENT_TEXTS = 4096
"""Texts that are remembered: the columns of an export repeat a few of them in every row."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


@lru_cache(_DIFFERENT_TEXTS)
def text_cell(text: str) -> str:
    """`text` for a CSV cell: marked with an apostrophe where it would run as a formula.

    A plain number stays one.

    >>> text_cell("=1+1"), text_cell("-5"), text_cell("p5.48xlarge")
    ("'=1+1", '-5', 'p5.48xlarge')
    >>> text_cell(" =1+1")
    "' =1+1"

    Where a spreadsheet separates by semicolon or tab (Excel does in most of Europe), or breaks a
    line within a cell, the quotes around a cell of our file do not hold it together: a cell
    begins in the midst of the text. So what follows such a sign is marked too, numbers as well,
    since there the rest of our line follows them.

    >>> text_cell("deal;=1+1"), text_cell("deal; -5"), text_cell("a; b = c")
    ("deal;'=1+1", "deal; '-5", 'a; b = c')
    """
    if _NUMBER.fullmatch(text):
        return text
    marked = _AFTER_A_SEPARATOR.sub(r"\1'", text)
    return f"'{marked}" if _BEGINS.match(text) else marked
