"""How time, tax and currencies value money. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from planner.contract.validation import (
    DECIMAL_TEXT,
    Currency,
    Deviation,
    Entries,
    Money,
    Month,
    Number,
    Price,
    Rate,
    RequestModel,
    Slug,
    Text,
    Trend,
    Whole,
)
from pricing.common.invalid_input import InvalidInput

CashTiming = Literal["month_start", "month_middle", "month_end", "year_end"]
SupportPlan = Literal[
    "none",
    "aws_business_plus",
    "aws_enterprise",
    "gcp_enhanced",
    "gcp_premium",
    "azure_professional_direct",
]


class Finance(RequestModel):
    """How time and tax value money; absent fields take a default."""

    discount_rate_per_year: Rate | None = None
    """Discount rate, fraction per year."""
    cloud_price_trend_per_year: Trend | None = None
    """Change of rental prices, fraction per year."""
    electricity_trend_per_year: Trend | None = None
    """Change of the electricity price, fraction per year."""
    staff_cost_trend_per_year: Trend | None = None
    """Change of what staff costs, for rented and owned machines, fraction per year."""
    colocation_trend_per_year: Trend | None = None
    """Change of the rent of a kW, fraction per year."""
    support_trend_per_year: Trend | None = None
    """Change of what support of owned servers costs, fraction per year."""
    server_price_trend_per_year: Trend | None = None
    """Change of server prices, fraction per year."""
    cloud_support_rate: Rate | None = None
    """Support plan of the clouds as a fraction of the bill for rented machines."""
    cloud_support_plan: SupportPlan | None = None
    """Support plan whose bands give that fraction at the bill of all hours on demand; a given
    `cloud_support_rate` takes precedence."""
    cloud_staff_fte_per_accelerator: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Full-time equivalents for each accelerator rented around the clock."""
    depreciation: Literal["straight_line", "macrs_5", "none"] | None = None
    """How capital is depreciated."""
    tax_rate: Annotated[Number, Field(ge=0, lt=1), DECIMAL_TEXT] | None = None
    """Tax on profits that costs reduce, fraction."""
    upfront_deduction_spread: Rate | None = None
    """Share of upfront payments that is deducted over the term that they pay for, as the price of
    servers is over their life; the rest is deducted when it is paid."""
    cash_timing: CashTiming = "month_start"
    """When the bills of a month are paid, for present values and for the cash of fiscal years:
    `year_end` pays those of twelve months of the plan at their end, as annual models do.
    Purchases, upfront payments, one-off costs and resale keep their month."""
    payment_terms_days: Annotated[Number, Field(ge=0, le=365)] = 0.0
    """Days from then until the payment."""
    fiscal_year_start_month: Annotated[Whole, Field(ge=1, le=12)] = 1
    """Month of the calendar in which fiscal years begin; a year is named after the calendar year
    in which it ends."""


class ExchangeRate(RequestModel):
    """Units of a currency for one US dollar, and the month of that rate."""

    units_per_usd: Annotated[Number, Field(ge=1e-6, le=1e7), DECIMAL_TEXT]
    """Units of the currency for one US dollar."""
    as_of: Month | None = None
    """Month of the rate."""


def _rate(value: object) -> object:
    is_plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    return {"units_per_usd": value} if is_plain else value


Rates = dict[Currency, Annotated[ExchangeRate, BeforeValidator(_rate)]]


MAX_FINANCING_MONTHS = 120


class Financing(RequestModel):
    """How the price of servers is paid; network, spares and installation are paid at once."""

    method: Literal["purchase", "loan", "hire_purchase", "lease"] = "purchase"
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


ScenarioNames = Annotated[
    Entries[Literal["on_demand", "cloud", "on_prem", "hybrid"]], Field(min_length=1, max_length=6)
]
_AMOUNTS = ("amount", "days", "per_month", "per_accelerator_hour")


class OtherCost(RequestModel):
    """One cost beside machines: one-off, days of people, monthly, or by the hour of work."""

    label: Text
    """Name of its cost lines."""
    amount: Money | None = None
    """Due once, in `month`."""
    days: Annotated[Number, Field(gt=0, le=1_000_000), DECIMAL_TEXT] | None = None
    """Days of people's work, due once, in `month`, at `per_day` each."""
    per_day: Money | None = None
    """What a day costs, in the currency of the request."""
    per_month: Money | None = None
    """Due in `month` and every month after it."""
    per_accelerator_hour: Price | None = None
    """Due for each accelerator-hour of the work, in `month` and after it."""
    month: Annotated[Whole, Field(ge=0, le=119)] = 0
    """Month of the plan, 0 is the first."""
    scenarios: ScenarioNames | None = None
    """Scenarios that have it, whatever their plan buys; absent: all of them."""

    def _refusals(self) -> Iterator[InvalidInput]:
        stated = [name for name in _AMOUNTS if getattr(self, name) is not None]
        names = ", ".join(_AMOUNTS)
        if self.days is not None and self.per_day is None:
            yield InvalidInput("per_day", "is required with days")
        if self.per_day is not None and self.days is None:
            yield InvalidInput("days", "is required with per_day")
        if not stated:
            yield InvalidInput("amount", f"is missing; give one of {names}")
        if len(stated) > 1:
            yield InvalidInput(stated[1], f"is given beside {stated[0]}; give one of {names}")


OtherCosts = Annotated[Entries[OtherCost], Field(max_length=100)]


ON_PREMISES = "on_prem"


class DataHome(RequestModel):
    """Where the data set lives: it is kept there all the time, and taken to work done elsewhere."""

    provider: Slug
    """Provider, or `on_prem` for one's own premises."""
    region: Slug | None = None
    """Region of the provider."""

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.provider == ON_PREMISES and self.region is not None:
            yield InvalidInput("region", f"has no meaning with provider {ON_PREMISES}")
        if self.provider != ON_PREMISES and self.region is None:
            yield InvalidInput("region", f"is required with provider {self.provider}")

    @property
    def place(self) -> tuple[str, str]:
        """Provider and region, both empty for one's own premises."""
        return ("", "") if self.region is None else (self.provider, self.region)


class Data(RequestModel):
    """Data kept where the work is done and carried out of the cloud, its prices, and where it
    lives."""

    storage_gib: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data kept all the time, GiB."""
    egress_gib_per_month: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data transferred out of the cloud in a month, GiB."""
    checkpoint_gib: Annotated[Number, Field(ge=0, le=1e9)] | None = None
    """Size of one checkpoint, GiB: sets what an interruption costs."""
    storage_per_gib_month: Price | None = None
    """Price of a GiB kept for a month in any cloud; absent: the price lists of each place."""
    egress_per_gib: Price | None = None
    """Price of a GiB transferred out of any cloud; absent: the price lists of each place."""
    on_prem_storage_per_tib_month: Price | None = None
    """Cost of a TiB kept for a month on one's own premises."""
    home: DataHome | None = None
    """Where the data lives; absent: it is stored wherever the work is done and moved for free."""
    transfer_gib_per_month: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data that work away from `home` takes there in a month, GiB; absent: all of `storage_gib`, as
    a burst needs the whole set."""

    @property
    def moved_gib_per_month(self) -> float:
        """Data that work away from the home takes there in a month."""
        if self.transfer_gib_per_month is not None:
            return self.transfer_gib_per_month
        return self.storage_gib or 0.0

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.home is None:
            if self.transfer_gib_per_month is not None:
                words = "has no meaning without home; say where data lives"
                yield InvalidInput("transfer_gib_per_month", words)
        elif not self.storage_gib:
            yield InvalidInput("storage_gib", "is required where the data has a home")


class Choice(RequestModel):
    """What is asked of a plan before it is advised; absent fields take a default."""

    certainty: Annotated[Number, Field(ge=0, le=1), DECIMAL_TEXT] | None = None
    """Share of outcomes in which a total budget is kept and machines are there in time."""
    hurdle_share: Rate | None = None
    """Share of the money that a plan binds to, beyond another plan, that it saves against it in
    expectation."""
    hurdle_chance: Annotated[Number, Field(ge=0, le=1), DECIMAL_TEXT] | None = None
    """Share of outcomes in which what it binds to is cheaper than a plan without it."""
    effort_cost: Money | None = None
    """What anything bought, signed or added to a plan saves at least."""
    simplicity_share: Rate | None = None
    """Share of its expected cost that each further machine, of a place, in a plan saves."""


class Risk(RequestModel):
    """How outcomes that differ from the plan are simulated."""

    samples: Annotated[Whole, Field(ge=100, le=1_000_000)] | None = None
    """Outcomes simulated."""
    seed: Annotated[Whole, Field(ge=0, le=2**63 - 1)] | None = None
    """Seed of the draws; the same one gives the same figures."""
    hours_spread: Annotated[Number, Field(ge=0, lt=1), DECIMAL_TEXT] | None = None
    """Share by which hours that the request states may be lower or higher in 8 of 10 cases; 0 takes
    them as exact. Hours that are sized keep the range of their estimate."""
    demand_growth_sd: Deviation | None = None
    """Standard deviation of the yearly growth of demand, fraction."""
    price_sd: Deviation | None = None
    """Standard deviation of the yearly change of rental prices, fraction; it replaces
    the fitted price processes."""
    spot_interruptions_per_month: Annotated[Number, Field(ge=0, le=10_000)] | None = None
    """Interruptions of a spot machine in a month."""
    slip_months_sd: Annotated[Number, Field(ge=0, le=60)] | None = None
    """Standard deviation of delay, months."""
    residual_sd: Deviation | None = None
    """Standard deviation of the logarithm of residual values; likewise."""
    spot_goodput: Annotated[Number, Field(gt=0, le=1), DECIMAL_TEXT] | None = None
    """Share of spot hours that is useful at the usual rate of interruptions."""
    checkpoint_save_hours: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Time to save a checkpoint, h."""
    restart_hours: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Time from an interruption to useful work, h."""
    on_demand_unavailable_probability: Annotated[Number, Field(ge=0, lt=1), DECIMAL_TEXT] | None = (
        None
    )
    """Chance that machines by the hour, on demand or spot, are not there in the month from which
    they are rented, and again in each month that the work waits; absent: they are there."""
    end_probability: Rate | None = None
    """Chance that the project ends before the plan does: after `end_after_months`, or without them
    at the end of each quarter. What is signed is then paid to its end, and what was bought sold."""
    end_after_months: Annotated[Whole, Field(ge=1, le=119)] | None = None
    """Months of the plan after which the project may end; absent: every three."""

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.end_after_months is not None and self.end_probability is None:
            yield InvalidInput("end_after_months", "has no meaning without end_probability")
        if self.end_probability == 1:
            yield InvalidInput("end_probability", "1 is certain; give fewer horizon_months instead")
