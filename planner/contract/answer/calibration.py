"""What a run of one's own says: the use of its GPUs, and its rate in place of an estimate. PURE."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Count, Gib, Hours, Share
from planner.contract.answer.estimate import HoursRange


class GpuFigures(AnswerModel):
    """One GPU of a log; null where the log is silent."""

    gpu: str = Field(description="Its number or name, with its host where several are logged.")
    name: str = Field(description="Name of the card as logged.")
    accelerator: str | None = Field(description="Slug, where the name is known.")
    samples: Count = Field(description="Lines of the log.")
    hours: Hours | None = Field(description="Hours that the lines cover.")
    gap_hours: Hours | None = Field(description="Hours of gaps between them.")
    busy_share: Share = Field(description="Share of all lines in which it was not idle.")
    sustained_utilisation: Share = Field(description="Mean utilisation while the job ran.")
    utilisation_p10: Share = Field(description="10th percentile of it.")
    utilisation_p90: Share = Field(description="90th percentile of it.")
    memory_peak_gib: Gib | None = Field(description="Most memory that was used.")
    memory_total_gib: Gib | None = Field(description="Memory of the card.")
    memory_headroom: Share | None = Field(description="Share of memory never used.")
    power_mean_w: float | None = Field(description="Mean power.", json_schema_extra={"unit": "W"})
    power_max_w: float | None = Field(description="Highest power.", json_schema_extra={"unit": "W"})
    power_share_of_limit: Share | None = Field(description="Mean power over its limit.")
    temperature_max_c: float | None = Field(
        description="Highest temperature.", json_schema_extra={"unit": "degree C"}
    )
    power_capped_share: Share | None = Field(description="Share held back by a power limit.")
    thermally_throttled_share: Share | None = Field(description="Share held back by heat.")
    sustained_clock_mhz: float | None = Field(
        description="Base clock of the card, which it holds under load; null where not known.",
        json_schema_extra={"unit": "MHz"},
    )
    clock_median_mhz: float | None = Field(
        description="Clock of the busy lines, in the median.", json_schema_extra={"unit": "MHz"}
    )
    slow_clock_share: Share | None = Field(
        description="Share of busy lines at less than 90% of the sustained clock."
    )


class PlanChange(AnswerModel):
    """What a log changes in a plan."""

    kind: str = Field(description="What it is about, such as bigger_batch or input_pipeline.")
    message: str = Field(description="The change in words, equal ones of several GPUs merged.")


class PilotFigures(AnswerModel):
    """A short run in place of an estimate."""

    accelerator: str = Field(description="Slug of the accelerator that it ran on.")
    per_accelerator: float = Field(
        description="Tokens or samples a second of one accelerator.",
        json_schema_extra={"unit": "1/s"},
    )
    mfu: Share | None = Field(description="Model FLOP/s over dense peak; null for samples.")
    estimated: HoursRange = Field(description="Accelerator-hours without the pilot.")
    measured: HoursRange = Field(description="Accelerator-hours with it.")
    narrower: float = Field(
        description="Width of the range before over that after, in logarithms.",
        json_schema_extra={"unit": "1"},
    )
    workload: dict[str, Any] = Field(
        description="The workload with what was measured, for a comparison or an estimate."
    )
    warnings: tuple[str, ...] = Field(default=(), description="What to check of the pilot.")


class CalibrationAnswer(AnswerModel):
    """The log's GPUs, what they change, and the pilot."""

    gpus: tuple[GpuFigures, ...] = Field(default=(), description="Every GPU of the log.")
    changes: tuple[PlanChange, ...] = Field(default=(), description="What they change.")
    skipped_lines: int = Field(
        default=0, description="Lines that were left out.", json_schema_extra={"unit": "1"}
    )
    pilot: PilotFigures | None = Field(default=None, description="Null where none is given.")

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return self.model_dump(mode="json")
