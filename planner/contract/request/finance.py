"""How time, tax and currencies value money. PURE."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from planner.contract.request.fields import Currency, Rate, Trend
from planner.contract.validation import DECIMAL_TEXT, Month, Number, RequestModel


class Finance(RequestModel):
    """How time and tax value money; absent fields take a default."""

    discount_rate_per_year: Rate | None = None
    """Discount rate, fraction per year."""
    cloud_price_trend_per_year: Trend | None = None
    """Change of rental prices, fraction per year."""
    electricity_trend_per_year: Trend | None = None
    """Change of the electricity price, fraction per year."""
    depreciation: Literal["straight_line", "macrs_5", "none"] | None = None
    """How capital is depreciated."""
    tax_rate: Annotated[Number, Field(ge=0, lt=1), DECIMAL_TEXT] | None = None
    """Tax on profits that costs reduce, fraction."""


class ExchangeRate(RequestModel):
    """Units of a currency for one US dollar, and the day that it was so."""

    units_per_usd: Annotated[Number, Field(ge=1e-6, le=1e7), DECIMAL_TEXT]
    """Units of the currency for one US dollar."""
    as_of: Month | None = None
    """Month of the rate."""


def _rate(value: object) -> object:
    is_plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    return {"units_per_usd": value} if is_plain else value


Rates = dict[Currency, Annotated[ExchangeRate, BeforeValidator(_rate)]]
