"""The demand that every plan serves, as the answer gives it. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import (
    AcceleratorHours,
    Accelerators,
    AnswerModel,
    Count,
    Factor,
)


class DemandRange(AnswerModel):
    """Factors on the hours: how sure the estimate is."""

    p10: Factor = Field(description="Hours at the 10th percentile over those of the demand.")
    p90: Factor = Field(description="Hours at the 90th percentile over those of the demand.")
    holds: bool = Field(
        default=True, description="False where the work is far from every published run."
    )


class DemandCandidate(AnswerModel):
    """An accelerator that can do the work."""

    accelerator: str = Field(description="Slug of the accelerator.")
    relative_throughput: Factor = Field(
        description="Sustained throughput relative to the reference accelerator."
    )
    min_accelerators: Count = Field(description="Fewest that hold the work at once.")
    notes: tuple[str, ...] = Field(default=(), description="What to know about it.")


class DemandAnswer(AnswerModel):
    """Hours and peak of each month, in reference accelerators."""

    accelerator: str = Field(description="Slug of the reference accelerator.")
    hours_per_month: tuple[AcceleratorHours, ...] = Field(description="Hours of each month.")
    peak_accelerators: tuple[Accelerators, ...] = Field(
        description="Accelerators needed at once in each month."
    )
    total_hours: AcceleratorHours = Field(description="Hours of all months together.")
    total_hours_p10: AcceleratorHours = Field(description="The same at the 10th percentile.")
    total_hours_p90: AcceleratorHours = Field(description="The same at the 90th percentile.")
    highest_peak: Accelerators = Field(description="Highest peak of any month.")
    method: str = Field(description="How the hours were worked out.")
    range: DemandRange = Field(description="How sure the hours are.")
    candidates: tuple[DemandCandidate, ...] = Field(
        default=(), description="Accelerators that may serve it."
    )
    excluded: dict[str, str] = Field(
        default_factory=dict, description="Accelerator → why it cannot do the work."
    )
