"""Energy and carbon of a scenario as the answer gives them. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import AnswerModel, KgCo2e, Kwh


class SourceEnergy(AnswerModel):
    """Energy and carbon of one offer or server over the horizon."""

    source: str = Field(description="Key of the offer or server.")
    kwh: Kwh = Field(description="Energy at the meter.")
    kg_co2e: KgCo2e | None = Field(description="Carbon; null where the grid is not known.")
    g_co2e_per_kwh: float | None = Field(
        description="Carbon of the grid.", json_schema_extra={"unit": "g CO2e/kWh"}
    )
    carbon_source: str = Field(description="Where the figure of the grid comes from.")
    method: str = Field(default="", description="How the energy was worked out.")


class ScenarioEnergy(AnswerModel):
    """Energy and carbon of a scenario; null where a figure is not known, with the reasons."""

    kwh: Kwh | None = Field(description="Energy of the sources whose power is known.")
    kg_co2e: KgCo2e | None = Field(
        description="Carbon of all of it; null unless every power and every grid is known."
    )
    kg_co2e_of_known_grid: KgCo2e | None = Field(
        default=None, description="Carbon of the grids that are known; null where none is."
    )
    why_not: tuple[str, ...] = Field(default=(), description="What is not known, in sentences.")
    kwh_of_unknown_grid: Kwh = Field(default=0.0, description="Energy whose grid is not known.")
    unknown_power: tuple[str, ...] = Field(
        default=(), description="Sources whose power is not known."
    )
    sources: tuple[SourceEnergy, ...] = Field(default=(), description="Source by source.")
