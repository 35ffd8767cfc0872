"""The least change of a limit that lets a plan in. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import Field

from planner.contract.answer.common import AnswerModel, ScenarioKey

_RENTING = (ScenarioKey.ON_DEMAND, ScenarioKey.COMMITTED, ScenarioKey.CLOUD_MIX)


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


class _HasRelaxations(Protocol):
    @property
    def relaxations(self) -> tuple[Relaxation, ...]: ...


def least_changes(scenarios: Mapping[ScenarioKey, _HasRelaxations]) -> tuple[Relaxation, ...]:
    """What lets a plan in where there is none: what the widest scenario takes, or less of the same
    limit if that is enough for one that rents alone, which may have costs of its own left out."""
    widest = scenarios[ScenarioKey.HYBRID].relaxations
    if len(widest) != 1 or not widest[0].is_sufficient:
        return widest
    others = (scenarios[key].relaxations for key in _RENTING if key in scenarios)
    known = [one for (one, *more) in filter(None, others) if one.is_sufficient and not more]
    same = [one for one in known if one.field == widest[0].field]
    return (min((*widest, *same), key=lambda one: abs(one.required_value - one.current_value)),)
