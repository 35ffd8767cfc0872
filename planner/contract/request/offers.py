"""Private prices and contract discounts. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, model_validator

from planner.contract.request.fields import Money, Option, Price, Text
from planner.contract.request.workload import Slug
from planner.contract.validation import DECIMAL_TEXT, Month, Number, RequestModel, Whole
from pricing.common.invalid_input import InvalidInput


class CustomOffer(RequestModel):
    """A private or negotiated price; money in US dollars, as its names say."""

    label: Text
    """Name of the offer in the answer, unique."""
    accelerator: Slug
    """Slug or usual name."""
    accelerator_count: Annotated[Number, Field(gt=0, le=100_000)]
    """Accelerators of one node; below 1 for a share of a card."""
    purchase_option: Option
    """How it is paid for."""
    usd_per_hour: Price
    """US dollars per hour of the whole node."""
    upfront_usd: Money = 0.0
    """US dollars due when a commitment begins."""
    term_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """Months of a commitment; required of one, refused for anything else."""
    provider: Slug = "custom"
    """Provider, so that limits on providers hold for it."""
    region: Slug = "custom"
    """Region, so that limits on places and the grid's carbon hold for it."""
    instance_type: Slug | None = None
    """Machine, so that interruptions and quotas hold for it."""
    available_from: Month | None = None
    """First month in which it can be rented (a dated capacity block), or a commitment begun."""
    available_until: Month | None = None
    """Last month in which it can be rented, or a commitment begun."""

    @model_validator(mode="after")
    def _consistent(self) -> CustomOffer:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        if not self.usd_per_hour and not self.upfront_usd:
            yield InvalidInput(
                "usd_per_hour", "is 0 and nothing is due upfront; leave out an unknown price"
            )
        if self.purchase_option.is_commitment and not self.term_months:
            option = self.purchase_option.value
            yield InvalidInput("term_months", f"is required with purchase_option {option}")
        if self.upfront_usd and not self.purchase_option.is_commitment:
            yield InvalidInput(
                "upfront_usd", "is due when a commitment begins; leave it out for other offers"
            )
        if self.term_months and not self.purchase_option.is_commitment:
            option = self.purchase_option.value
            yield InvalidInput("term_months", f"has no meaning with purchase_option {option}")
        first, last = self.available_from, self.available_until
        if first and last and last < first:
            yield InvalidInput("available_until", f"{last:%Y-%m} is before available_from")


class PriceAdjustment(RequestModel):
    """A contract discount: `multiplier` on every catalog price that matches all that is given.

    Several that match one price multiply each other, in whatever order they stand.
    """

    provider: Slug | None = None
    """Only this provider's prices."""
    family: Slug | None = None
    """Beginning of the instance type up to a mark or digit of size: p5, a3-highgpu, ND96."""
    region: Slug | None = None
    """Only prices of this region."""
    purchase_option: Option | None = None
    """Only prices of this option."""
    multiplier: Annotated[Number, Field(gt=0, le=100), DECIMAL_TEXT]
    """Factor on the price: 0.9 is 10 % off."""
