"""The figures of one run as the estimate shows them. PURE."""

from __future__ import annotations

from dataclasses import asdict

from planner.sizing.performance.goodput import (
    CHECKPOINT_HOURS,
    daly_interval,
    goodput_by_band,
    job_mtbf,
)
from planner.sizing.performance.throughput import SMALLEST_CLUSTER, sustained_mfu
from planner.sizing.runs.sample_run import SampleSize
from planner.sizing.runs.schedule import RunSize
from planner.sizing.runs.training_run import TrainingSize

NAMES = (
    "precision",
    "wall_clock_hours",
    "training_flops",
    "hardware_flops",
    "samples_per_second_per_accelerator",
    "mfu",
    "mfu_source",
    "hfu",
    "goodput",
    "goodput_source",
    "goodput_on_spot",
    "hours_between_failures",
    "checkpoint_interval_hours",
    "memory_per_accelerator_gib",
    "memory_breakdown",
    "min_accelerators",
    "parallelism",
    "scaling_efficiency",
    "energy_kwh",
)
"""Every figure; None stands for one that has no meaning for the kind of work."""


def figures(size: RunSize | None) -> dict[str, object]:
    """Figures of one run by name, every name present."""
    values: dict[str, object] = dict.fromkeys(NAMES)
    if size is not None:
        values |= _common(size)
        values |= (
            _training_figures(size) if isinstance(size, TrainingSize) else _sample_figures(size)
        )
    return values


def scaling_efficiency(size: TrainingSize) -> float:
    """Rate of one accelerator in this cluster over its rate within one node."""
    one, precision = size.accelerator, size.precision
    alone = sustained_mfu(one, precision, SMALLEST_CLUSTER)
    return sustained_mfu(one, precision, size.accelerators) / alone


def _common(size: RunSize) -> dict[str, object]:
    mtbf = job_mtbf(size.accelerators)
    return {
        "wall_clock_hours": size.wall_clock_hours,
        "goodput": size.goodput,
        "goodput_source": size.goodput_source,
        "goodput_on_spot": goodput_by_band(size.accelerators),
        "hours_between_failures": mtbf,
        "checkpoint_interval_hours": daly_interval(CHECKPOINT_HOURS, mtbf),
        "min_accelerators": size.min_accelerators,
        "energy_kwh": size.energy_kwh,
    }


def _training_figures(size: TrainingSize) -> dict[str, object]:
    memory = size.layout.memory
    return {
        "precision": size.precision,
        "training_flops": size.work.model_flops,
        "hardware_flops": size.hardware_flops,
        "mfu": size.mfu,
        "mfu_source": size.mfu_source,
        "hfu": size.hfu,
        "memory_per_accelerator_gib": memory.total_gib,
        "memory_breakdown": asdict(memory),
        "parallelism": size.layout.as_dict(),
        "scaling_efficiency": scaling_efficiency(size),
    }


def _sample_figures(size: SampleSize) -> dict[str, object]:
    return {
        "samples_per_second_per_accelerator": size.samples_per_second,
        "scaling_efficiency": size.scaling_efficiency,
    }
