"""The database field for money.

A `DecimalField` on SQLite is a float underneath and changes `12345678.1234567891`. Here an
amount is a whole number of 1e-10 units in a `bigint`, on every database: exact, sortable and
indexable, up to ±922,337,203.6854775807.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models

from pricing.common.amounts import from_scaled, to_scaled

if TYPE_CHECKING:
    _WholeNumber = models.BigIntegerField[Decimal, Decimal]
else:
    _WholeNumber = models.BigIntegerField


class ExactMoneyField(_WholeNumber):
    """A `Decimal`, stored as a whole number of 1e-10 units."""

    description = "Exact amount with ten decimal places"

    def from_db_value(self, value: int | None, *_: object) -> Decimal | None:
        return None if value is None else from_scaled(value)

    def to_python(self, value: Any) -> Decimal | None:
        if value is None:
            return None
        try:
            amount = Decimal(str(value))
            to_scaled(amount)
        except (ArithmeticError, ValueError) as error:
            raise ValidationError(f"{value!r} is not an amount: {error}") from None
        return amount

    def get_prep_value(self, value: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return value
        return to_scaled(value if isinstance(value, Decimal) else Decimal(str(value)))
