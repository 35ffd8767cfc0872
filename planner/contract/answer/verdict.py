"""The advice of an answer. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Money, ScenarioKey


class Recommendation(AnswerModel):
    """The scenario of least net present cost, and what it rests on."""

    scenario: ScenarioKey | None = Field(description="The cheapest; null where none is feasible.")
    saving: Money = Field(description="Net present cost that it saves against `next_best`.")
    next_best: ScenarioKey | None = Field(description="The cheapest scenario with another plan.")
    because: tuple[str, ...] = Field(default=(), description="What to do and why, in sentences.")

    @property
    def headline(self) -> str:
        """What to do, in a sentence."""
        return self.because[0] if self.because else "No feasible plan."

    @property
    def reasons(self) -> tuple[str, ...]:
        """Everything else that is said for it."""
        return self.because[1:]
