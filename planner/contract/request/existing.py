"""What is there already: commitments signed, servers on lease, credits, minimum spends. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from planner.contract.request.fields import Money, Rate, Text, entries
from planner.contract.request.workload import Slug
from planner.contract.validation import Month, Number, RequestModel, Whole
from pricing.common.invalid_input import InvalidInput

Units = Annotated[Whole, Field(ge=1, le=1_000_000)]


class ExistingCommitment(RequestModel):
    """Reserved machines, a savings plan or committed use already signed: paid to its end, used or
    not, and used first because that costs nothing extra."""

    label: Text
    """Name in the answer, unique."""
    provider: Slug
    """Provider that it is with."""
    region: Slug = "custom"
    """Region, for the prices of data and the carbon of the grid."""
    accelerator: Slug
    """Slug or usual name."""
    accelerator_count: Annotated[Number, Field(gt=0, le=100_000)]
    """Accelerators of one machine."""
    units: Units = 1
    """Machines."""
    price_per_month: Money
    """What one machine is charged each month; what was paid upfront is spent and left out."""
    ends: Month
    """Last month in which it is charged and can be used."""


class LeasedServer(RequestModel):
    """Servers on lease: their rent is owed to its end, and they are operated like owned ones."""

    server: Slug
    """Slug of the reference list, or the label (or `custom`) of one under `on_prem.servers`."""
    units: Units = 1
    """Servers of this kind."""
    rent_per_month: Money
    """Rent of one server."""
    ends: Month
    """Last month of the lease; they go back then."""
    site: Text | None = None
    """Site where they stand; required where `constraints.sites` has several."""


class Credit(RequestModel):
    """A credit with a provider that pays its bills until it expires; what is left is lost."""

    label: Text
    """Name in the cost lines."""
    amount: Annotated[Money, Field(gt=0)]
    """What is left of it at the start."""
    provider: Slug
    """Provider whose bills it pays."""
    expires: Month
    """Last month whose bills it pays."""


class MinimumSpend(RequestModel):
    """A contract to spend a sum with a provider (EDP, MACC); what is not spent is owed."""

    label: Text
    """Name of the cost line of a shortfall."""
    provider: Slug
    """Provider that it is with."""
    amount: Annotated[Money, Field(gt=0)]
    """Amount due from `first` to `last`; for yearly amounts one entry each."""
    first: Month
    """First month that counts."""
    last: Month
    """Last month that counts; the shortfall is due at its end."""
    spent: Money = 0.0
    """Part of it that is spent before the plan starts."""
    discount_rate: Rate = 0.0
    """Discount on the provider's catalog prices that the contract gives in its months, fraction."""

    @model_validator(mode="after")
    def _consistent(self) -> MinimumSpend:
        if self.last < self.first:
            raise InvalidInput("last", f"{self.last:%Y-%m} is before first {self.first:%Y-%m}")
        if self.spent > self.amount:
            raise InvalidInput("spent", f"{self.spent:g} is more than the amount {self.amount:g}")
        return self


class Existing(RequestModel):
    """Existing contracts. Servers that are owned belong under `on_prem.already_owned`."""

    commitments: Annotated[
        tuple[ExistingCommitment, ...],
        BeforeValidator(entries),
        Field(strict=False, max_length=100),
    ] = ()
    """Reservations, savings plans and committed use that are signed."""
    leased_servers: Annotated[
        tuple[LeasedServer, ...], BeforeValidator(entries), Field(strict=False, max_length=100)
    ] = ()
    """Servers on lease."""
    credits: Annotated[
        tuple[Credit, ...], BeforeValidator(entries), Field(strict=False, max_length=20)
    ] = ()
    """Credits, with the month in which they expire."""
    minimum_spend: Annotated[
        tuple[MinimumSpend, ...], BeforeValidator(entries), Field(strict=False, max_length=20)
    ] = ()
    """Minimum-spend contracts; one discount counts for each provider and month, the highest of its
    entries."""

    @model_validator(mode="after")
    def _consistent(self) -> Existing:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        for name in ("commitments", "credits", "minimum_spend"):
            labels = [entry.label for entry in getattr(self, name)]
            for i, label in enumerate(labels):
                if label in labels[:i]:
                    yield InvalidInput(
                        f"{name}.{i}.label", f"{label!r} is given twice; allowed is once"
                    )
