"""How time, tax and currencies value money. PURE."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from planner.contract.request.fields import Currency, Rate, Trend
from planner.contract.validation import DECIMAL_TEXT, Month, Number, RequestModel, Whole

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
