"""Data that the work holds and moves. PURE."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.contract.validation import Number, RequestModel


class Data(RequestModel):
    """Data kept in the cloud and carried out of it, and the size of one checkpoint."""

    storage_gib: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    egress_gib_per_month: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    checkpoint_gib: Annotated[Number, Field(ge=0, le=1e9)] | None = None
