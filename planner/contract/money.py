"""Amounts as sentences say them. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import floor

TO_THE_CENT = 1000
"""Amounts below this are said to the cent, in units of the currency."""
WITHOUT_CENTS = frozenset(
    {
        *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"),
        *("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
    }
)
"""Currencies whose minor unit has no decimals (ISO 4217, list one, 2024). Those
with three (BHD, KWD, TND and others) are counted to the hundredth."""


def decimals_of(currency: str) -> int:
    """Decimals with which amounts of a currency are paid and shown.

    >>> decimals_of("JPY"), decimals_of("EUR")
    (0, 2)
    """
    return 0 if currency in WITHOUT_CENTS else 2


def format_money(amount: Decimal | float, currency: str) -> str:
    """An amount with its currency, in whole units where cents do not matter.

    >>> format_money(1234567.891, "EUR"), format_money(Decimal("0.06"), "USD")
    ('1,234,568 EUR', '0.06 USD')
    >>> format_money(950, "JPY")
    '950 JPY'
    """
    digits = decimals_of(currency) if abs(float(amount)) < TO_THE_CENT else 0
    return f"{amount:,.{digits}f} {currency}"


def format_difference(more: Decimal, less: Decimal, currency: str) -> str:
    """What the first amount is above the second, as a reader finds it who subtracts both as shown.

    >>> format_difference(Decimal("12384.60"), Decimal("5877.40"), "USD")
    '6,508 USD'
    >>> format_difference(Decimal("12.30"), Decimal("5.10"), "USD")
    '7.20 USD'
    """
    if max(abs(more), abs(less)) < TO_THE_CENT:
        return format_money(more - less, currency)
    return f"{round(more) - round(less):,} {currency}"


def subtract_as_shown(more: Decimal, less: Decimal) -> Decimal:
    """The same as an amount, where both stand in whole units.

    >>> subtract_as_shown(Decimal("43776.64"), Decimal("5472.40"))
    Decimal('38305')
    >>> subtract_as_shown(Decimal("0.40"), Decimal("0.15"))
    Decimal('0.25')
    """
    if max(abs(more), abs(less)) < 1:
        return more - less
    return Decimal(round(more) - round(less))


def whole_parts(amounts: Sequence[Decimal]) -> list[int]:
    """Amounts in whole units that add up to their sum in whole units: those with the largest
    remainders are rounded up, so that each is less than one unit off.

    >>> whole_parts([Decimal("10.40"), Decimal("5.40"), Decimal("5.40")])
    [11, 5, 5]
    >>> whole_parts([Decimal("10.40"), Decimal("-2.70")]), whole_parts([])
    ([11, -3], [])
    """
    wholes = [floor(amount) for amount in amounts]
    missing = round(sum(amounts, Decimal(0))) - sum(wholes)
    by_remainder = sorted(range(len(amounts)), key=lambda i: wholes[i] - amounts[i])
    for i in by_remainder[:missing]:
        wholes[i] += 1
    return wholes
