"""How a team splits its own training. PURE."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.contract.validation import RequestModel, Whole

ParallelSize = Annotated[Whole, Field(ge=1, le=65_536)]


class OwnLayout(RequestModel):
    """How a team splits its own training; replicas fill the accelerators that are left."""

    tensor: ParallelSize = 1
    """Accelerators over which each layer is split."""
    pipeline: ParallelSize = 1
    """Stages into which the layers are split."""
    context: ParallelSize = 1
    """Accelerators over which each sequence is split."""
    expert: ParallelSize = 1
    """Accelerators over which the experts are spread; they are among the replicas."""

    @property
    def parts(self) -> int:
        """Accelerators of one replica."""
        return self.tensor * self.pipeline * self.context
