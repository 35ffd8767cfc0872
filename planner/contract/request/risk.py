"""How far things may go from plan. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, Field, model_validator

from planner.contract.request.fields import Deviation
from planner.contract.validation import DECIMAL_TEXT, Number, RequestModel, Whole

FORMER_CVAR_WEIGHT = "tail_weight"
"""What `cvar_weight` was called in version 1 of requests."""


class Risk(RequestModel):
    """How outcomes that differ from the plan are simulated. Edition 1 of the rules computes ranges
    only if this is given, even empty; later editions always do."""

    samples: Annotated[Whole, Field(ge=100, le=1_000_000)] | None = None
    """Outcomes simulated."""
    seed: Annotated[Whole, Field(ge=0, le=2**63 - 1)] | None = None
    """Seed of the draws; the same one gives the same figures."""
    demand_growth_sd: Deviation | None = None
    """Standard deviation of the yearly growth of demand, fraction."""
    price_sd: Deviation | None = None
    """Standard deviation of the yearly change of rental prices, fraction; under edition 2 of the
    rules it replaces the fitted price processes."""
    spot_interruptions_per_month: Annotated[Number, Field(ge=0, le=10_000)] | None = None
    """Interruptions of a spot machine in a month."""
    slip_months_sd: Annotated[Number, Field(ge=0, le=60)] | None = None
    """Standard deviation of delay, months."""
    residual_sd: Deviation | None = None
    """Standard deviation of the logarithm of residual values; under edition 2 likewise."""
    cvar_weight: Annotated[Number, Field(ge=0, le=100), DECIMAL_TEXT] | None = Field(
        default=None, validation_alias=AliasChoices("cvar_weight", FORMER_CVAR_WEIGHT)
    )
    """Asks for the plan that holds up across simulated outcomes: least expected cost plus this
    many times the average of the worst 10 % (CVaR 90). `tail_weight` is its former name."""
    spot_goodput: Annotated[Number, Field(gt=0, le=1), DECIMAL_TEXT] | None = None
    """Share of spot hours that is useful at the usual rate of interruptions."""
    checkpoint_save_hours: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Time to save a checkpoint, h."""
    restart_hours: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Time from an interruption to useful work, h."""

    @model_validator(mode="before")
    @classmethod
    def _one_name(cls, data: Any) -> Any:
        """Where a request says both names, as over a team's older defaults, the new one holds."""
        if isinstance(data, Mapping) and "cvar_weight" in data:
            return {name: value for name, value in data.items() if name != FORMER_CVAR_WEIGHT}
        return data
