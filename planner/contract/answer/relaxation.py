"""The least change of a limit that lets a plan in. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import AnswerModel


class Relaxation(AnswerModel):
    """A limit that leaves a scenario without a plan, and the least that would do."""

    field: str = Field(description="Field of the request, such as `constraints.monthly_budget`.")
    current_value: float = Field(
        description="The limit as it is.", json_schema_extra={"unit": "as the request gives it"}
    )
    required_value: float = Field(
        description="The least with which there is a plan, every other limit as it is.",
        json_schema_extra={"unit": "as the request gives it"},
    )
    is_sufficient: bool = Field(
        description="Whether it is enough alone; otherwise together with the others named."
    )
    change: str = Field(description="What to ask for instead, in words.")
    sentence: str = Field(description="Both values in a sentence.")
