"""What moves the advice: one figure at a time, and owning against renting by two. PURE."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Factor, Hours, Money, ScenarioKey, Share


class SensitivityRow(AnswerModel):
    """One figure at a low and a high value; totals are of the advised plan, undiscounted."""

    field: str = Field(description="Figure that is changed, as the request names it.")
    unit: str = Field(description="Unit of `low` and `high`.")
    low: float = Field(description="Low value.", json_schema_extra={"unit": "see unit"})
    high: float = Field(description="High value.", json_schema_extra={"unit": "see unit"})
    total_at_low: Money | None = Field(description="Total at the low value.")
    total_at_high: Money | None = Field(description="Total at the high value.")
    net_present_cost_at_low: Money | None = Field(
        default=None, description="Net present cost at the low value."
    )
    net_present_cost_at_high: Money | None = Field(
        default=None, description="Net present cost at the high value."
    )
    cheapest_at_low: ScenarioKey | None = Field(
        default=None, description="Cheapest scenario at the low value."
    )
    cheapest_at_high: ScenarioKey | None = Field(
        default=None, description="Cheapest scenario at the high value."
    )
    break_even_at_low: Hours | None = Field(
        default=None, description="Break-even hours at the low value."
    )
    break_even_at_high: Hours | None = Field(
        default=None, description="Break-even hours at the high value."
    )

    @property
    def effect(self) -> float:
        """How far the total moves between the two values; 0 where one is not known."""
        if self.total_at_low is None or self.total_at_high is None:
            return 0.0
        return abs(float(self.total_at_high) - float(self.total_at_low))


class DefaultEffect(AnswerModel):
    """One default, and what it does to owning less renting; the plans stay as they are."""

    field: str = Field(description="Default, as the request names it.")
    unit: str = Field(description="Unit of `value` and `neutral`.")
    value: float = Field(description="Value in use.", json_schema_extra={"unit": "see unit"})
    neutral: float = Field(
        description="Value at which it does nothing, or treats both alike.",
        json_schema_extra={"unit": "see unit"},
    )
    effect: Money = Field(
        description="How much the default adds, against `neutral`, to the net present cost of the "
        "on-prem plan less that of the cheapest rented one; negative: the default "
        "favours owning."
    )
    gains: Literal["own", "rent"] = Field(description="Side that the default favours.")


class PriceGrid(AnswerModel):
    """Owning less renting a node, by use and by price of renting."""

    server: str = Field(description="Key of the server.")
    against: str = Field(description="Key of the offer.")
    utilisations: tuple[Share, ...] = Field(description="Share of hours in use: the rows.")
    price_factors: tuple[Factor, ...] = Field(description="Factor on the rent: the columns.")
    difference: tuple[tuple[Money | None, ...], ...] = Field(
        description="Net present cost of owning less renting; negative: owning is cheaper."
    )
