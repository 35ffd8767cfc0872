"""What is known of the prices that an answer asks for, and how old they are. PURE."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Count, Days

PriceStateName = Literal["priced", "sold_price_unknown", "not_sold", "unknown"]


class PriceAge(AnswerModel):
    """How old one part of a provider's prices is; those that are sold now."""

    part: Literal["on_demand", "spot", "commitments"] = Field(description="Which prices.")
    count: Count = Field(description="Prices.")
    undated: Count = Field(description="Prices whose source carries no date.")
    median_age_days: Days | None = Field(description="Age of the median price.")
    oldest_age_days: Days | None = Field(description="Age of the oldest price.")
    last_confirmed: dt.date | None = Field(description="Day of the newest price.")


class PriceCoverage(AnswerModel):
    """What is known of one accelerator at one provider under one purchase option."""

    accelerator: str = Field(description="Slug of the accelerator.")
    provider: str = Field(description="Provider that has a machine with it.")
    purchase_option: str = Field(description="How it is paid for.")
    state: PriceStateName = Field(
        description="Whether it has a price, is sold at a price that is not known, is not sold, or "
        "whether it is sold is not known."
    )
    count: Count = Field(default=0, description="Prices in the places that may be used.")
    oldest: dt.date | None = Field(default=None, description="Day of the oldest dated price.")
    newest: dt.date | None = Field(default=None, description="Day of the newest dated price.")
    undated: Count = Field(default=0, description="Prices whose source carries no date.")
    machines: tuple[str, ...] = Field(
        default=(), description="Families of machines without a known price."
    )
    needs_account: bool = Field(
        default=False, description="Whether missing prices are read with an account alone."
    )
    source: str = Field(default="", description="Who says that it is sold, or is not.")
