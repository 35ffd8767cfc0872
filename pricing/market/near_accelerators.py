"""Accelerators that are not in the table, each with the one to name in its place. PURE.

One row of `near_accelerators.csv` is one name: its device differs from a known one in what
`what_it_is` says, and no training or price of its own is known.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Words = frozenset[str]

_TABLE = Path(__file__).with_name("near_accelerators.csv")
_SIZE_OR_FORM = re.compile(r"\d+gb|sxm|pcie|nvl|oam|hbm3")


@dataclass(frozen=True)
class NearAccelerator:
    """A device that is not known, beside one that is."""

    name: str
    instead: str
    """Slug of the known one."""
    what_it_is: str
    source: str


def find_near(name: str, words_of: Callable[[str], Words]) -> NearAccelerator | None:
    """The row that a name means by its words, in which a size of memory or a form may stand beside
    those of the row; the one with the most words.

    >>> from pricing.market.accelerators import normalize_words
    >>> find_near("NVIDIA H800-SXM5-80GB", normalize_words).instead
    'nvidia-h100-80gb-sxm'
    >>> find_near("RTX 4070 Ti", normalize_words) is None
    True
    """
    words = words_of(name.casefold())
    meant = [
        (of_row, row)
        for of_row, row in ((words_of(row.name.casefold()), row) for row in near_accelerators())
        if of_row <= words and all(_SIZE_OR_FORM.fullmatch(word) for word in words - of_row)
    ]
    return max(meant, key=lambda pair: len(pair[0]))[1] if meant else None


@cache
def near_accelerators() -> tuple[NearAccelerator, ...]:
    """Every row."""
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(NearAccelerator(**row) for row in csv.DictReader(lines))
