"""Small grammar for what people read. PURE."""

from __future__ import annotations


def pluralize(number: int, one: str, many: str = "") -> str:
    """So many of something.

    >>> pluralize(1, "region"), pluralize(1200, "region"), pluralize(0, "family", "families")
    ('1 region', '1,200 regions', '0 families')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
