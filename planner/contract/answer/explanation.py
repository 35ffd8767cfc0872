"""Why the cheapest plan is as it is. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Factor, Money
from planner.contract.answer.scenario import Purchase


class MarginalValue(AnswerModel):
    """What one limit costs: the saving if it were one step wider."""

    limit: str = Field(description="Which limit.")
    given: float = Field(
        description="The limit as it is.", json_schema_extra={"unit": "as the request gives it"}
    )
    step: float = Field(
        description="How much wider it is made.",
        json_schema_extra={"unit": "as the request gives it"},
    )
    saving: Money = Field(description="Net present cost saved by that step.")
    sentence: str = Field(default="", description="The same in a sentence.")


class SwitchPoint(AnswerModel):
    """A demand at which the advice becomes another."""

    multiplier: Factor = Field(description="Factor on the demand.")
    below: tuple[str, ...] | None = Field(description="Sources of the plan below it; null: none.")
    above: tuple[str, ...] | None = Field(description="Sources of the plan above it; null: none.")
    limits: tuple[str, ...] = Field(default=(), description="Limits that leave no plan.")
    sentence: str = Field(default="", description="The same in a sentence.")


class Explanation(AnswerModel):
    """What the advised plan buys when; with `explain` also its limits and switch points."""

    purchases: tuple[Purchase, ...] = Field(
        default=(), description="Servers and commitments of the advised plan, in order of months."
    )
    marginal_values: tuple[MarginalValue, ...] = Field(
        default=(), description="What each limit costs."
    )
    switch_points: tuple[SwitchPoint, ...] = Field(
        default=(), description="Where the recommendation changes with the demand."
    )
    words: tuple[str, ...] = Field(default=(), description="All of it in sentences.")

    @property
    def limits_and_switches(self) -> tuple[str, ...]:
        """Sentences on what each limit costs and where the recommendation changes."""
        limits = [row.sentence for row in self.marginal_values]
        return (*limits, *(row.sentence for row in self.switch_points))
