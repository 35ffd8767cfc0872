"""Time from the start of a job to its first step. PURE."""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.footprint.stages import FINE_TUNING, stage_of

START_HOURS = 0.02
"""h from the start of a job to its first step, on every accelerator: processes, data, compilation;
planning value of this project, 2026."""
LOADED_BYTES_PER_S = 2e9
"""Bytes/s at which a node reads weights to start from; planning value of this project, 2026."""


def start_hours(training: Training) -> float:
    """Hours before the first step: processes, compilation, and the weights that fine-tuning reads.

    >>> round(start_hours(Training(kind="training", parameters=7e9, tokens=1e7)), 3)
    0.022
    """
    reads = 2 * training.parameters if stage_of(training) == FINE_TUNING else 0.0
    return START_HOURS + reads / LOADED_BYTES_PER_S / 3600
