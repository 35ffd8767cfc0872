"""Costs that no price list knows: engineers who move, licences, consultants, links. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.contract.request.fields import Money, Price, Text, entries
from planner.contract.validation import DECIMAL_TEXT, Number, RequestModel, Whole
from pricing.common.invalid_input import InvalidInput

ScenarioName = Literal["on_demand", "spot", "committed", "cloud_mix", "on_prem", "hybrid"]
ScenarioNames = Annotated[
    tuple[ScenarioName, ...],
    BeforeValidator(entries),
    Field(strict=False, min_length=1, max_length=6),
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

    @model_validator(mode="after")
    def _consistent(self) -> OtherCost:
        for refusal in self._refusals():
            raise refusal
        return self

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


OtherCosts = Annotated[
    tuple[OtherCost, ...], BeforeValidator(entries), Field(strict=False, max_length=100)
]
