"""What lies between two answers to one question: repriced later, or replayed. PURE."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Money, ScenarioKey, UnitPrice

Cause = Literal["prices", "assumptions", "demand"]


class TotalChange(AnswerModel):
    """One total before and after, and what each cause changed of it."""

    before: Money | None = Field(description="In the saved answer; null if it was not feasible.")
    after: Money | None = Field(description="In the new answer; null if it is not feasible.")
    change: Money | None = Field(description="After less before; the causes add up to it.")
    causes: dict[Cause, Money | None] = Field(description="Share of each cause in the change.")


class ScenarioChange(AnswerModel):
    """The totals of one scenario, before and after."""

    scenario: ScenarioKey = Field(description="Which of the six ways to buy.")
    total_cost: TotalChange = Field(description="Sum of the lines.")
    net_present_cost: TotalChange = Field(description="Lines discounted to the start.")


class PriceMove(AnswerModel):
    """An offer of the saved plans whose price moved or that is gone."""

    offer_id: str = Field(description="Offer of the market.")
    before: UnitPrice = Field(description="Effective price of an hour, in the offer's currency.")
    after: UnitPrice | None = Field(description="The same now; null if it is not listed any more.")


class AlertCause(PriceMove):
    """A price that moved, as an alert names it."""

    currency: str = Field(description="Currency that the provider asks for.")


class RequestChange(AnswerModel):
    """A field of the request that differs from the saved one."""

    field: str = Field(description="Section of the request.")
    cause: Cause = Field(description="Cause that the difference counts under.")
    before: Any = Field(description="As saved, in JSON.")
    after: Any = Field(description="As it is now, in JSON.")


class ReplayDifference(AnswerModel):
    """A figure of a saved answer that comes out otherwise when it is computed again."""

    field: str = Field(description="Path of the figure.")
    kept: Any = Field(description="As saved, in JSON.")
    replayed: Any = Field(description="As it comes out, in JSON.")


class ChangedDefault(AnswerModel):
    """An assumption that nobody gave and that would be made otherwise now."""

    field: str = Field(description="The assumption.")
    kept: Any = Field(description="Value that the saved answer rests on.")
    now: Any = Field(description="Value that a new answer would rest on.")
