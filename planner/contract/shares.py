"""Shares of one whole as sentences and tables say them. PURE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from planner.contract.money import whole_parts

NOISE = 2e-5
"""Fraction of the whole that is left from computing: below it something is nothing, or all; hours
are kept to a millionth, of which work of minutes has few; planning value, 2026."""
_DIGITS_OF_NOISE = 6


def format_shares(fractions: Sequence[float], digits: int = 0) -> list[str]:
    """Fractions of one whole in per cent that add up as shown, none of them rounded to none or to
    all.

    >>> format_shares([0.876, 0.124]), format_shares([0.8749999996, 0.125])
    (['88%', '12%'], ['88%', '12%'])
    >>> format_shares([0.996, 0.004]), format_shares([1.0, 1e-9])
    (['more than 99%', 'less than 1%'], ['100%', '0%'])
    >>> format_shares([1 / 3] * 3, 1), format_shares([])
    (['33.4%', '33.3%', '33.3%'], [])
    """
    wholes = round_shares(fractions, digits)
    return [_describe(*pair, digits) for pair in zip(fractions, wholes, strict=True)]


def format_named_shares(fractions: Mapping[str, float], digits: int = 0) -> dict[str, str]:
    """The same by name: the order in which they are given changes nothing.

    >>> format_named_shares({"b": 0.5, "a": 0.25, "c": 0.25})
    {'a': '25%', 'b': '50%', 'c': '25%'}
    """
    names = sorted(fractions)
    return dict(zip(names, format_shares([fractions[n] for n in names], digits), strict=True))


def round_shares(fractions: Sequence[float], digits: int = 0) -> list[int]:
    """Fractions of one whole in whole units of the last digit of a per cent: those with the largest
    remainders are rounded up, of equals the largest, so that they add up. Where they leave part of
    the whole to nobody named, its rounding is not theirs.

    >>> round_shares([0.125, 0.8749999996]), round_shares([0.334] * 2), round_shares([1 / 3], 1)
    ([12, 88], [34, 33], [333])
    """
    exact = [Decimal(repr(round(float(one), _DIGITS_OF_NOISE))) for one in fractions]
    rest = 1 - sum(exact, Decimal(0))
    if abs(rest) > len(exact) * Decimal(repr(NOISE)):
        exact.append(rest)
    order = sorted(range(len(exact)), key=lambda i: -exact[i])
    rounded = whole_parts([exact[i].scaleb(digits + 2) for i in order])
    wholes = dict(zip(order, rounded, strict=True))
    return [wholes[i] for i in range(len(fractions))]


def fractions_of_whole(amounts: Mapping[str, int], whole: int) -> dict[str, float]:
    """Amounts as fractions of their sum, to a millionth: those with the largest remainders are
    rounded up, of equals the first name, so that as decimals they sum to exactly one.

    >>> fractions_of_whole({"c": 1, "a": 1, "b": 1}, 3)
    {'a': 0.333334, 'b': 0.333333, 'c': 0.333333}
    """
    names = sorted(amounts)
    exact = [Decimal(amounts[name]).scaleb(_DIGITS_OF_NOISE) / whole for name in names]
    pairs = zip(names, whole_parts(exact), strict=True)
    return {name: float(Decimal(part).scaleb(-_DIGITS_OF_NOISE)) for name, part in pairs}


def _describe(fraction: float, whole: int, digits: int) -> str:
    """A share that was rounded to `whole` units, said as less or more where that is none or all."""
    unit, every = Decimal(1).scaleb(-digits), 10 ** (digits + 2)
    half = 0.5 / every
    if fraction > NOISE and (whole <= 0 or fraction < half):
        return f"less than {unit}%"
    if fraction < 1 - NOISE and (whole >= every or fraction > 1 - half):
        return f"more than {100 - unit}%"
    return f"{Decimal(whole).scaleb(-digits):.{digits}f}%"
