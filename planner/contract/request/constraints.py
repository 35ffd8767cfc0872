"""What an answer must keep to. PURE."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from planner.contract.request.fields import Money, Names, Options, Rate, entries
from planner.contract.request.workload import Slug
from planner.contract.validation import Number, RequestModel


class Quota(RequestModel):
    """Most accelerators of a kind that a provider lets the team run at once."""

    provider: Slug
    region: Slug | None = None
    accelerator: Slug
    max_accelerators: Annotated[Number, Field(ge=0, le=1e8)]


class Constraints(RequestModel):
    """What an answer must keep to; an absent field limits nothing."""

    providers: Names | None = None
    regions: Names | None = None
    geographies: Names | None = None
    accelerators: Names | None = None
    purchase_options: Options | None = None
    min_accelerator_memory_gib: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    min_accelerators_per_node: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    interconnect: Slug | None = None
    max_spot_share: Rate | None = None
    quotas: Annotated[
        tuple[Quota, ...], BeforeValidator(entries), Field(strict=False, max_length=50)
    ] = ()
    capex_budget: Money | None = None
    monthly_budget: Money | None = None
