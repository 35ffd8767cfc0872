"""What a workload asks of the hardware, month by month: the one object handed to costing. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """An accelerator that can do the work, against the reference accelerator."""

    accelerator: str
    relative_throughput: float
    """r(a): sustained throughput of one accelerator relative to one reference accelerator."""
    min_accelerators: int = 1
    """Least number that holds the work at once (memory)."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Demand:
    """Accelerator-hours and peak per month, in reference accelerators."""

    accelerator: str
    """Slug of the reference accelerator."""
    hours_per_month: Floats
    """[T] reference accelerator-hours of each month."""
    peak_accelerators: Floats
    """[T] reference accelerators needed at once in each month."""
    candidates: tuple[Candidate, ...]
    """Every accelerator that may serve it, the reference first with throughput 1."""
    method: str
    range_p10_p90: tuple[float, float] = (1.0, 1.0)
    """Factors on the hours at p10 and p90; (1, 1) where the hours were given."""
    excluded: Mapping[str, str] = field(default_factory=dict)
    """accelerator → why it cannot do the work."""
    warnings: tuple[str, ...] = ()
    training_flops: float | None = None
    """FLOPs of all runs together; None where the workload gives no FLOPs."""
