"""Amounts as sentences say them. PURE."""

from __future__ import annotations

from decimal import Decimal

TO_THE_CENT = 1000
"""Amounts below this are said to the cent, in units of the currency."""


def format_money(amount: Decimal | float, currency: str) -> str:
    """An amount with its currency, in whole units where cents do not matter.

    >>> format_money(1234567.891, "EUR"), format_money(Decimal("0.06"), "USD")
    ('1,234,568 EUR', '0.06 USD')
    """
    digits = 2 if abs(float(amount)) < TO_THE_CENT else 0
    return f"{amount:,.{digits}f} {currency}"
