"""Small grammar for what people read. PURE."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """So many of something.

    >>> counted(1, "region"), counted(1200, "region"), counted(0, "family", "families")
    ('1 region', '1,200 regions', '0 families')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
