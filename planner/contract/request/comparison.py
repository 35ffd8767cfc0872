"""What a team asks to have compared: the comparison request as strict models. PURE.

Shape and range of each value are judged here; what the market and the hardware can do is
judged by `planner.comparison`. Rates are fractions per year, months are written YYYY-MM,
money is in the request's `currency` unless the field's name says otherwise. Money and rates are
JSON numbers or decimal strings, so that any figure of an answer can be sent back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from planner.contract.amounts import format_month
from planner.contract.request.constraints import Constraints, CustomOffer, PriceAdjustment
from planner.contract.request.finance import Choice, Data, Finance, OtherCosts, Rates, Risk
from planner.contract.request.on_prem import Existing, OnPrem
from planner.contract.request.workload import DEFAULT_MONTHS, Workload, months_to_last_deadline
from planner.contract.validation import (
    Currency,
    Entries,
    Month,
    RequestModel,
    Whole,
    in_plain_words,
)
from pricing.common.invalid_input import InvalidInput

MAX_HORIZON_MONTHS = 120


class ComparisonRequest(RequestModel):
    """What a comparison is asked; the same for page, API and command line."""

    name: Annotated[str, Field(max_length=200)] = ""
    """Title of the comparison."""
    start: Month | None = None
    """Month 0, this month or later; absent: the month after today."""
    horizon_months: Annotated[Whole, Field(ge=1, le=MAX_HORIZON_MONTHS)] = DEFAULT_MONTHS
    """T, months of the plan; absent: to the last deadline, where every run has one, else 36."""
    currency: Currency = "USD"
    """Currency of every amount of the request and the answer."""
    workload: Workload
    """What has to be done: known hours, a training, or samples."""
    constraints: Constraints = Constraints()
    """Limits; an absent one limits nothing."""
    custom_offers: Annotated[Entries[CustomOffer], Field(max_length=1000)] = ()
    """Private or negotiated prices beside those of the catalog."""
    price_adjustments: Annotated[Entries[PriceAdjustment], Field(max_length=100)] = ()
    """Contract discounts on catalog prices."""
    use_catalog: bool = True
    """Whether published prices are used; false without `custom_offers`: only servers."""
    inherits: bool = True
    """Whether the team's prices, quotes and defaults are added; false if already in it."""
    exchange_rates: Rates = Field(default_factory=dict)
    """Currency code → units per US dollar; replaces the dated rate of the catalog."""
    term_end: Literal["full", "within"] | None = None
    """How a commitment that ends after the horizon is treated: all of it counts (`full`), or it
    may not be made (`within`); absent: `full`, and `within` for a plan of less than a year."""
    on_prem: OnPrem = OnPrem()
    """Servers to buy, servers already owned, and what owning costs."""
    existing: Existing = Existing()
    """Existing contracts, credits and leases."""
    finance: Finance = Finance()
    """Discount rate, trends, depreciation and tax."""
    data: Data = Data()
    """Data stored in the cloud and transferred out of it."""
    other_costs: OtherCosts = ()
    """Costs beside machines: one-off, monthly or by the accelerator-hour, of all or of some
    scenarios."""
    choice: Choice = Choice()
    """What is asked of a plan."""
    risk: Risk | None = None
    """How outcomes are simulated; absent: by default."""
    break_even: Literal["first", "all"] = "first"
    """Servers whose break-even is given: the five that pay back first, each against the cheapest
    rent, or `all` against every way of renting."""
    cheaper_if: bool = True
    """Whether the answer says what would be cheaper if a limit nobody asked for were lifted."""
    sensitivity: bool = True
    """Whether the answer says which figures change it most."""
    decide_every_months: Annotated[Whole, Field(ge=0, le=60)] = 3
    """Months after which it may be decided again what to buy, sign or sell: the answer says what
    to wait for; 0: all is decided now."""

    @model_validator(mode="before")
    @classmethod
    def _absent_sections(cls, data: Any) -> Any:
        sections = ("constraints", "on_prem", "existing", "finance", "data", "choice")
        if isinstance(data, Mapping):
            return {k: v for k, v in data.items() if v is not None or k not in sections}
        return data

    @model_validator(mode="before")
    @classmethod
    def _horizon_of_runs(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        months = months_to_last_deadline(data)
        if months is None or data.get("horizon_months") is not None:
            return data
        return {**data, "horizon_months": min(months, MAX_HORIZON_MONTHS)}

    @model_validator(mode="after")
    def _consistent(self) -> ComparisonRequest:
        own = self.on_prem
        has_servers = own.servers != () or own.already_owned or self.existing.leased_servers
        if not self.use_catalog and not self.custom_offers and not has_servers:
            raise InvalidInput(
                "use_catalog", "is false and there are no custom_offers and no servers; give one"
            )
        for i, cost in enumerate(self.other_costs):
            if cost.month >= self.horizon_months:
                last = self.horizon_months - 1
                raise InvalidInput(
                    f"other_costs.{i}.month",
                    f"{cost.month} is after the last month of the plan; allowed are 0 to {last}",
                )
        dollar = self.exchange_rates.get("USD")
        if dollar is not None and dollar.units_per_usd != 1:
            raise InvalidInput(
                "exchange_rates.USD", f"{dollar.units_per_usd:g} dollars in a dollar; allowed is 1"
            )
        labels = [offer.label for offer in self.custom_offers]
        for i, label in enumerate(labels):
            if label in labels[:i]:
                raise InvalidInput(
                    f"custom_offers.{i}.label", f"{label!r} is given twice; allowed is once"
                )
        return self


def begin_in(month: dt.date, request: ComparisonRequest) -> ComparisonRequest:
    """The request, beginning in `month` where it names no start: its deadlines then say how long
    it is, where it does not."""
    if request.start is not None or "horizon_months" in request.model_fields_set:
        return request
    dated = {**request.model_dump(mode="json", exclude_unset=True), "start": format_month(month)}
    return request if months_to_last_deadline(dated) is None else read_request(dated)


def read_request(data: object) -> ComparisonRequest:
    """`data` as a request, or `InvalidInput` naming each field refused; a request is one already.

    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    >>> read_request({"workload": hours}).horizon_months
    36
    >>> read_request({"workload": hours, "horizon_months": 200})
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: horizon_months: 200 is not allowed; must be at
        most 120
    """
    if isinstance(data, ComparisonRequest):
        return data
    if not isinstance(data, Mapping):
        raise InvalidInput("", "a request is an object of fields; see the README for an example")
    try:
        return ComparisonRequest.model_validate(data)
    except ValidationError as error:
        raise in_plain_words(error, ComparisonRequest, data) from None
