"""Shares of one whole as sentences and tables say them. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from planner.contract.money import whole_parts


def format_shares(fractions: Sequence[float], digits: int = 0) -> list[str]:
    """Fractions of one whole in per cent that add up as shown: those with the largest remainders
    are rounded up. Where they leave part of the whole to nobody named, its rounding is not theirs.

    >>> format_shares([0.876, 0.124]), format_shares([0.875, 0.125]), format_shares([0.334] * 2)
    (['88%', '12%'], ['88%', '12%'], ['34%', '33%'])
    >>> format_shares([1 / 3] * 3, 1), format_shares([])
    (['33.4%', '33.3%', '33.3%'], [])
    """
    parts = [Decimal(repr(float(one))).scaleb(digits + 2) for one in fractions]
    rest = Decimal(100).scaleb(digits) - sum(parts, Decimal(0))
    wholes = whole_parts([*parts, rest])[: len(parts)]
    return [f"{Decimal(one).scaleb(-digits):.{digits}f}%" for one in wholes]
