"""How servers are paid for: at once, by a loan, by hire purchase or by a lease. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from planner.contract.request.fields import Rate
from planner.contract.validation import RequestModel, Whole
from pricing.common.invalid_input import InvalidInput

FinancingMethod = Literal["purchase", "loan", "hire_purchase", "lease"]
MAX_FINANCING_MONTHS = 120


class Financing(RequestModel):
    """How the price of servers is paid; network, spares and installation are paid at once."""

    method: FinancingMethod = "purchase"
    """`purchase` pays the price when the server is bought. `loan` and `hire_purchase` pay a
    deposit then and the rest in equal instalments; the server is owned, depreciated and resold.
    `lease` pays equal rents while the server serves and gives it back."""
    months: Annotated[Whole, Field(ge=1, le=MAX_FINANCING_MONTHS)] | None = None
    """Months over which it is paid; required unless it is a purchase."""
    interest_rate_per_year: Rate | None = None
    """Yearly rate, of which a twelfth is charged each month; for a lease the rate implicit in
    it."""
    deposit_rate: Rate | None = None
    """Fraction of the price that is paid at the start; absent: 0."""
    balloon_rate: Rate | None = None
    """Fraction of the price that is left at the end: paid with the last instalment of a loan or
    hire purchase, kept by the lessor of a lease, whose rents are lower for it; absent: 0."""
    payments: Literal["in_advance", "in_arrears"] = "in_arrears"
    """Whether instalments and rents fall due at the start or at the end of their month."""

    @model_validator(mode="after")
    def _consistent(self) -> Financing:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.method == "purchase":
            stated = self.model_fields_set - {"method"}
            for field in sorted(field for field in stated if getattr(self, field) is not None):
                yield InvalidInput(field, "has no meaning for a purchase; name another method")
        elif self.months is None:
            yield InvalidInput("months", f"is required of a {self.method.replace('_', ' ')}")
        deposit, balloon = self.deposit_rate or 0.0, self.balloon_rate or 0.0
        if deposit + balloon > 1:
            yield InvalidInput(
                "balloon_rate",
                f"{balloon:g} and a deposit_rate of {deposit:g} are more than the price; "
                f"allowed is at most {1 - deposit:g}",
            )
