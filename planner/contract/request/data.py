"""Data that the work holds and moves. PURE."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.contract.validation import Number, RequestModel


class Data(RequestModel):
    """Data kept in the cloud and carried out of it, and the size of one checkpoint."""

    storage_gib: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data kept all the time, GiB."""
    egress_gib_per_month: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data carried out of the cloud in a month, GiB."""
    checkpoint_gib: Annotated[Number, Field(ge=0, le=1e9)] | None = None
    """Size of one checkpoint, GiB: sets what an interruption costs."""
