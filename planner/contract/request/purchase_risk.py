"""How far the price and the delivery of a server may be from plan. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, model_validator

from planner.contract.request.fields import MAX_MONEY, Rate, Text
from planner.contract.validation import DECIMAL_TEXT, Month, Number, RequestModel
from pricing.common.invalid_input import InvalidInput

MAX_MONTHS_LATE = 60


class SellerQuote(RequestModel):
    """A price that a seller asks for the server."""

    unit_price: Annotated[Number, Field(gt=0, le=MAX_MONEY), DECIMAL_TEXT]
    """Price of one server."""
    quoted: Month
    """Month of the quote."""
    seller: Text | None = None
    """Who offers the server at this price."""


class LateDelivery(RequestModel):
    """Months by which a server comes later than planned: `months` with a `probability`, or between
    `p10_months` and `p90_months` in 8 of 10 cases. Its work is rented meanwhile, at the prices of
    the plan."""

    probability: Rate | None = None
    """Chance that it comes late."""
    months: Annotated[Number, Field(gt=0, le=MAX_MONTHS_LATE)] | None = None
    """Months late, if so; in whole months."""
    p10_months: Annotated[Number, Field(ge=0, le=MAX_MONTHS_LATE)] | None = None
    """Months late that nine deliveries in ten reach."""
    p90_months: Annotated[Number, Field(ge=0, le=MAX_MONTHS_LATE)] | None = None
    """Months late that one delivery in ten exceeds."""

    @property
    def certain_months(self) -> float:
        """Months by which it comes late whatever happens; 0 where that is not certain."""
        if self.probability is None:
            return self.p90_months or 0.0 if self.p10_months == self.p90_months else 0.0
        return self.months or 0.0 if self.probability >= 1.0 else 0.0

    @model_validator(mode="after")
    def _consistent(self) -> LateDelivery:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        by_chance = ("probability", "months")
        by_range = ("p10_months", "p90_months")
        stated = {name for name in (*by_chance, *by_range) if getattr(self, name) is not None}
        pair = by_range if stated & set(by_range) else by_chance
        for name in pair:
            if name not in stated:
                yield InvalidInput(name, f"is required; give {' and '.join(pair)}")
        for name in sorted(stated - set(pair)):
            yield InvalidInput(name, f"has no meaning with {' and '.join(pair)}")
        low, high = self.p10_months, self.p90_months
        if low is not None and high is not None and low > high:
            yield InvalidInput("p90_months", f"{high:g} is less than p10_months, {low:g}")
