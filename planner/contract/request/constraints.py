"""What an answer must keep to. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from planner.contract.validation import (
    DECIMAL_TEXT,
    Entries,
    Money,
    Month,
    Names,
    Number,
    Option,
    Options,
    Price,
    Rate,
    RequestModel,
    Slug,
    Text,
    Whole,
)
from pricing.common.invalid_input import InvalidInput

EQUAL_PART = 0.5
"""Least part of an equal share of a month's work by which a provider counts: one that does less is
one in name only; assumption, 2026."""


class Quota(RequestModel):
    """Most accelerators of a kind that a provider lets the team run at once."""

    provider: Slug
    """Provider that sets the quota."""
    region: Slug | None = None
    """Region that it holds in; absent: all regions together."""
    accelerator: Slug
    """Accelerator that it counts, by slug or usual name."""
    max_accelerators: Annotated[Number, Field(ge=0, le=1e8)]
    """Most accelerators at once."""


class FiscalYearBudget(RequestModel):
    """Most capital in one fiscal year."""

    fiscal_year: Annotated[Whole, Field(ge=1900, le=2200)]
    """Year in which it ends."""
    amount: Money
    """Most capital of the servers bought in it, with network, spares and installation."""


class ProviderMonths(RequestModel):
    """Months in which a provider may be used."""

    provider: Slug
    """Provider that is used in these months alone."""
    first: Month | None = None
    """First of them; absent: from the start."""
    last: Month | None = None
    """Last of them, by which commitments have ended; absent: to the end."""

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.first is None and self.last is None:
            yield InvalidInput("first", "is missing; give first, last or both")
        elif self.first and self.last and self.last < self.first:
            yield InvalidInput("last", f"{self.last:%Y-%m} is before first {self.first:%Y-%m}")


class Constraints(RequestModel):
    """What an answer must keep to; an absent field limits nothing."""

    providers: Names | None = None
    """Providers that may be used."""
    provider_months: Annotated[Entries[ProviderMonths], Field(max_length=20)] = ()
    """Providers that may be used in some months alone; named twice, in either."""
    regions: Names | None = None
    """Regions that may be used, by the provider's code."""
    geographies: Names | None = None
    """Parts of the world that may be used, such as north-america, eu, eea, uk or switzerland:
    any of them, within `countries` and `regions`."""
    countries: Names | None = None
    """Countries that may be used, by ISO 3166-1 code such as DE."""
    partitions: Names | None = None
    """Parts of the clouds that may be used, such as commercial; absent: as the rules say."""
    allow_partial_nodes: bool | None = None
    """Whether a part of a machine may be rented by the hour; absent: as the rules say."""
    allow_mixed_accelerators: bool | None = None
    """Whether work may run on several kinds of accelerator at once; absent: sized work may not,
    stated hours may."""
    allow_any_node: bool | None = None
    """Whether jobs may run on nodes of any size, interconnect and network; absent: as the rules
    say."""
    allow_consumer_in_datacentre: bool | None = None
    """Whether consumer cards may be owned in servers of a data centre; absent: as the rules say."""
    accelerators: Names | None = None
    """Accelerators that may do the work, by slug or usual name."""
    purchase_options: Options | None = None
    """Ways of paying that may be used."""
    min_accelerator_memory_gib: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    """Least memory of one accelerator, GiB."""
    min_accelerators_per_node: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    """Least accelerators of a node; below 1 admits shares of a card."""
    interconnect: Slug | None = None
    """Fast interconnect that a node must have, such as nvlink."""
    max_spot_share: Rate | None = None
    """Most of each month's hours that may be spot, 0 to 1."""
    quotas: Annotated[Entries[Quota], Field(max_length=50)] = ()
    """Most accelerators at once, by provider, region and kind."""
    max_term_months: Annotated[Whole, Field(ge=1, le=120)] | None = None
    """Longest term of a commitment that may be signed, months."""
    max_provider_share: Annotated[Rate, Field(gt=0)] | None = None
    """Most of each month's work that one provider may do, 0 to 1: machines by the hour count by
    their hours, commitments by what is in service. Your own servers are not limited by it."""
    min_providers: Annotated[Whole, Field(ge=1, le=10)] | None = None
    """Least number of providers used side by side in every month with work; your own servers count
    as one."""
    min_provider_share: Annotated[Rate, Field(gt=0)] | None = None
    """Least share of each month's work that a provider must do to count, 0 to 1; absent: half of
    an equal share, 0.25 of two providers."""
    power_kw: Annotated[Number, Field(ge=0, le=1e7)] | None = None
    """Most nameplate power of all your own servers in service, existing ones too, in kW, without
    cooling."""
    rack_units: Annotated[Number, Field(ge=0, le=1e7)] | None = None
    """Most height of all your own servers in service, rack units; workstations take none."""
    capex_budget: Money | None = None
    """Most capital over the whole horizon."""
    capex_by_fiscal_year: Annotated[Entries[FiscalYearBudget], Field(max_length=20)] = ()
    """Most capital in each fiscal year; a year that is not named has no limit of its own. What is
    leased is no capital."""
    capex_months: Annotated[Entries[Month], Field(max_length=120)] = ()
    """Months in which servers may be bought; none named: any. What is leased is no capital."""
    monthly_budget: Money | None = None
    """Most cash in any month, after tax where there is a tax rate."""
    total_budget: Money | None = None
    """Most that all payments of the plan together come to, those owed after the horizon too, after
    tax where there is a tax rate; resale does not count."""

    @property
    def least_provider_share(self) -> float:
        """Share of each month's work by which a provider counts."""
        return self.min_provider_share or EQUAL_PART / (self.min_providers or 1)

    def _refusals(self) -> Iterator[InvalidInput]:
        count, share = self.min_providers, self.least_provider_share
        if self.min_provider_share is not None and count is None:
            yield InvalidInput("min_provider_share", "has no meaning without min_providers")
        if count is not None and count * share > 1 + 1e-9:
            yield InvalidInput(
                "min_provider_share",
                f"{share:g} of the work for each of {count} providers is more than all of it; "
                f"allowed is at most {1 / count:.4g}",
            )


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

    def _refusals(self) -> Iterator[InvalidInput]:
        if not self.usd_per_hour and not self.upfront_usd:
            yield InvalidInput(
                "usd_per_hour", "is 0 and nothing is due upfront; leave out an unknown price"
            )
        option, is_commitment = self.purchase_option.value, self.purchase_option.is_commitment
        if is_commitment and not self.term_months:
            yield InvalidInput("term_months", f"is required with purchase_option {option}")
        if self.upfront_usd and not is_commitment:
            yield InvalidInput(
                "upfront_usd", "is due when a commitment begins; leave it out for other offers"
            )
        if self.term_months and not is_commitment:
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
