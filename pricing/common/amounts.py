"""Amounts as whole numbers of 1e-10 units: exact, sortable, the same on every database. PURE."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

DECIMAL_PLACES = 10
_SCALE = 10**DECIMAL_PLACES
_LARGEST = 2**63 - 1
MAX_AMOUNT = Decimal(900_000_000)
"""Largest price or upfront that can be kept, in any currency."""
_EXACT = Context(prec=60)


_SMALLEST_STEP = Decimal(1).scaleb(-DECIMAL_PLACES)


def is_exact(amount: Decimal) -> bool:
    """Whether ten decimal places hold the amount.

    >>> is_exact(Decimal("0.1234567891")), is_exact(Decimal("0.12345678912"))
    (True, False)
    """
    return not _EXACT.remainder(amount, _SMALLEST_STEP)


def quantize(amount: Decimal) -> Decimal:
    """`amount` as it can be kept: to ten places, half to even (1/3 → 0.3333333333).

    >>> quantize(Decimal("12345678.1234567891")), quantize(Decimal(2) / 3)
    (Decimal('12345678.1234567891'), Decimal('0.6666666667'))
    """
    return from_scaled(_EXACT.multiply(amount, _SCALE).to_integral_value(ROUND_HALF_EVEN))


def to_scaled(amount: Decimal) -> int:
    """Whole 1e-10 units of `amount`; `ValueError` for what ten places or 64 bits cannot hold.

    >>> to_scaled(Decimal("0.0000000001"))
    1
    """
    scaled = _EXACT.multiply(amount, _SCALE)
    scaled_integer = int(scaled)
    if scaled_integer != scaled:
        raise ValueError(f"{amount} has more than {DECIMAL_PLACES} decimal places")
    if abs(scaled_integer) > _LARGEST:
        raise ValueError(f"{amount} is beyond the largest amount that can be kept")
    return scaled_integer


def from_scaled(scaled: int | Decimal) -> Decimal:
    """The amount of so many 1e-10 units, without needless zeros and never in exponent form.

    >>> from_scaled(550400000000), from_scaled(10**12)
    (Decimal('55.04'), Decimal('100'))
    """
    scaled_integer, fraction_digits = divmod(abs(int(scaled)), _SCALE)
    amount = Decimal(
        f"{scaled_integer}.{fraction_digits:010d}".rstrip("0")
        if fraction_digits
        else scaled_integer
    )
    return amount if scaled >= 0 else -amount
