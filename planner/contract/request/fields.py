"""Kinds of field that the sections of a request share. PURE."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from planner.contract.request.workload import Slug
from planner.contract.validation import DECIMAL_TEXT, Number, shown
from pricing.market.offers import PurchaseOption

MAX_MONEY = 1e12
"""Most that one amount may be, in any currency."""


def entries(value: object) -> object:
    """A JSON list as the tuple that frozen models hold."""
    return tuple(value) if isinstance(value, list) else value


def _purchase_option(value: object) -> object:
    if isinstance(value, str):
        allowed = [option.value for option in PurchaseOption]
        if value not in allowed:
            known = ", ".join(allowed)
            raise ValueError(f"{shown(value)} is not a purchase option; allowed are {known}")
        return PurchaseOption(value)
    return value


def _currency(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"[A-Z]{3}", value):
        raise ValueError(f"{shown(value)} is not a currency code of three capitals, such as EUR")
    return value


Money = Annotated[Number, Field(ge=0, le=MAX_MONEY), DECIMAL_TEXT]
Price = Annotated[Number, Field(ge=0, le=1e9), DECIMAL_TEXT]
"""Money for an hour, a kW-month or the like."""
Rate = Annotated[Number, Field(ge=0, le=1), DECIMAL_TEXT]
Trend = Annotated[Number, Field(ge=-0.9, le=1), DECIMAL_TEXT]
"""Change per year as a fraction: −0.15 falls by 15 % a year."""
CostRate = Annotated[Number, Field(ge=0, le=10), DECIMAL_TEXT]
"""A cost as a fraction of another one, which it may exceed."""
Deviation = Annotated[Number, Field(ge=0, le=3), DECIMAL_TEXT]
"""A standard deviation, as a fraction."""
Text = Annotated[str, Field(min_length=1, max_length=200)]
Option = Annotated[PurchaseOption, BeforeValidator(_purchase_option)]
Currency = Annotated[str, BeforeValidator(_currency), Field(pattern=r"^[A-Z]{3}$")]
Names = Annotated[
    tuple[Slug, ...], BeforeValidator(entries), Field(strict=False, min_length=1, max_length=200)
]
Options = Annotated[
    tuple[Option, ...], BeforeValidator(entries), Field(strict=False, min_length=1, max_length=20)
]
