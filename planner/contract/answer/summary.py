"""What lists show of an answer, kept beside it so that no list reads whole answers. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Money, ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer


class AnswerSummary(AnswerModel):
    """The recommendation of an answer with its totals; None where nothing is feasible."""

    recommended: ScenarioKey | None = Field(description="The recommended scenario.")
    total_cost: Money | None = Field(description="Its total, undiscounted.")
    net_present_cost: Money | None = Field(description="Its net present cost.")
    currency: str = Field(description="Currency of the amounts (ISO 4217).")
    uses_catalog: bool = Field(
        default=True,
        description="Whether market prices were among those compared; older ones do not say.",
    )


def summarize_answer(answer: ComparisonAnswer) -> AnswerSummary:
    """The summary of an answer."""
    best = answer.recommended
    return AnswerSummary(
        recommended=best.key if best else None,
        total_cost=best.require_total() if best else None,
        net_present_cost=best.require_present_cost() if best else None,
        currency=answer.currency,
        uses_catalog=bool(answer.catalog),
    )
