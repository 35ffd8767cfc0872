"""What to do at each date on which something may be decided, and what to watch until then. PURE."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Money, Months, Share

MONTH = r"^\d{4}-\d{2}$"
Unit = Literal["per accelerator-hour", "per server"]
Action = Literal["buy", "lease", "sign", "sell"]


class TriggerPrice(AnswerModel):
    """Where a trigger lies at one date."""

    month: str = Field(description="Date of a decision, YYYY-MM.", pattern=MONTH)
    price: float | None = Field(
        description="Price at which the move is made; null where it does not turn on this price.",
        json_schema_extra={"unit": "see unit"},
    )
    p10: float | None = Field(
        default=None,
        description="10th percentile of the price itself in the outcomes.",
        json_schema_extra={"unit": "see unit"},
    )
    p50: float | None = Field(
        default=None, description="Its median.", json_schema_extra={"unit": "see unit"}
    )
    p90: float | None = Field(
        default=None, description="Its 90th percentile.", json_schema_extra={"unit": "see unit"}
    )


class Trigger(AnswerModel):
    """A price to watch, and what to do when it is crossed, all else as today."""

    action: Action = Field(description="What to do then.")
    what: str = Field(description="Units and machine.")
    source: str = Field(description="Key of the offer or server whose price is watched.")
    price_of: str = Field(description="What price it is, in words.")
    is_above: bool = Field(description="Whether to act above the price; else below it.")
    unit: Unit = Field(description="Unit of the prices, in the currency of the answer.")
    today: float = Field(description="Price now.", json_schema_extra={"unit": "see unit"})
    at: float = Field(
        description="Price at the first date at which it turns the decision.",
        json_schema_extra={"unit": "see unit"},
    )
    month: str = Field(description="That date, YYYY-MM.", pattern=MONTH)
    by_date: tuple[TriggerPrice, ...] = Field(description="The same at every date.")
    chance: Share = Field(description="Share of the outcomes in which the move is ever made.")

    def at_month(self, month: str) -> float | None:
        """Price at the last date up to a month, YYYY-MM; before the first one at that."""
        passed = [row.price for row in self.by_date if row.month <= month]
        return passed[-1] if passed else self.by_date[0].price

    def is_crossed(self, price: float, month: str) -> bool:
        """Whether a price calls for the move in a month."""
        at = self.at_month(month)
        return at is not None and (price > at if self.is_above else price < at)


class EarlyStop(AnswerModel):
    """What the advised plan leaves if its work ends early; amounts are nominal, before tax."""

    months: Months = Field(description="Months of work that are done.")
    owed: Money = Field(
        description="What falls due later of what was signed by then: commitments, leases, loans."
    )
    resale: Money = Field(description="What the servers bought by then fetch on that day.")
    paid_ahead: Money = Field(
        default=Decimal(0), description="What was paid upfront for the months after it."
    )


class PolicyAnswer(AnswerModel):
    """What to do where plans may be changed every few months; amounts are net present. Saved plans
    are read by it: fields may be added, with defaults."""

    sentence: str = Field(description="What to do now, what to watch, what waiting is worth.")
    every_months: Months = Field(description="Months between two decisions.")
    expected: Money = Field(description="Mean cost, on outcomes that it was not fitted on.")
    best_fixed: Money = Field(description="Mean cost of the best plan that is decided today.")
    worth: Money = Field(description="What being able to wait, and to sell, saves of that.")
    bound: Money = Field(
        description="Mean cost that neither a policy of these moves, by information relaxation and "
        "up to the error of its regressions, nor the best plan decided today goes below."
    )
    triggers: tuple[Trigger, ...] = Field(
        default=(), description="At most three; none where waiting is worth too little."
    )
    prices: dict[str, float] = Field(
        default_factory=dict,
        description="Prices that decisions turn on, by what they are of, as they are today.",
        json_schema_extra={"unit": "currency of the answer, see price_of"},
    )
