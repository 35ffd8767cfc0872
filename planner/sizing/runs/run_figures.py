"""The figures of one run as the estimate shows them. PURE."""

from __future__ import annotations

from dataclasses import asdict

from planner.contract.answer.estimate import MemoryBreakdown, RolloutFigures, RunFigures
from planner.sizing.layout.states import state_bytes
from planner.sizing.performance.goodput import (
    CHECKPOINT_HOURS,
    daly_interval,
    goodput_by_band,
    job_mtbf,
)
from planner.sizing.performance.saving import saving_hours
from planner.sizing.performance.throughput import SMALLEST_CLUSTER, sustained_mfu
from planner.sizing.runs.placed_run import PlacedSize
from planner.sizing.runs.sample_run import SampleSize
from planner.sizing.runs.schedule import RunSize
from planner.sizing.runs.training_run import TrainingSize


def figures(size: RunSize | None) -> RunFigures:
    """Figures of one run; None where one has no meaning for the kind of work."""
    if size is None:
        return RunFigures()
    own = _sample_figures(size) if isinstance(size, SampleSize) else _training_figures(size)
    mtbf = job_mtbf(size.accelerators)
    return own.model_copy(
        update={
            "wall_clock_hours": size.wall_clock_hours,
            "goodput": size.goodput,
            "goodput_source": size.goodput_source,
            "goodput_on_spot": goodput_by_band(size.accelerators),
            "hours_between_failures": mtbf,
            "checkpoint_interval_hours": daly_interval(_saving_hours(size), mtbf),
            "min_accelerators": size.min_accelerators,
            "energy_kwh": size.energy_kwh,
        }
    )


def _saving_hours(size: RunSize) -> float:
    """Hours to save a checkpoint of a run."""
    if not isinstance(size, PlacedSize):
        return CHECKPOINT_HOURS
    states = state_bytes(size.training, size.precision)
    return saving_hours(states, size.accelerators, size.rules)


def scaling_efficiency(size: TrainingSize | PlacedSize) -> float:
    """Rate of one accelerator in this cluster over its rate within one node."""
    if isinstance(size, PlacedSize):
        return size.scaling_efficiency
    one, precision = size.accelerator, size.precision
    alone = sustained_mfu(one, precision, SMALLEST_CLUSTER)
    return sustained_mfu(one, precision, size.accelerators) / alone


def _training_figures(size: TrainingSize | PlacedSize) -> RunFigures:
    memory = size.layout.memory
    return RunFigures(
        precision=size.precision,
        training_flops=size.work.model_flops,
        hardware_flops=size.hardware_flops,
        mfu=size.mfu,
        mfu_source=size.mfu_source,
        hfu=size.hfu,
        memory_per_accelerator_gib=memory.total_gib,
        memory_breakdown=MemoryBreakdown(**asdict(memory)),
        parallelism=size.layout.parallelism,
        scaling_efficiency=scaling_efficiency(size),
        tokens_per_second_per_accelerator=_step_rate(size),
        rollouts=_rollouts(size),
    )


def _step_rate(size: TrainingSize | PlacedSize) -> float | None:
    """Tokens a second of steps; None under rules 1, which know no steps."""
    return size.step_tokens_per_second if isinstance(size, PlacedSize) else None


def _rollouts(size: TrainingSize | PlacedSize) -> RolloutFigures | None:
    if not isinstance(size, PlacedSize) or size.rollouts is None:
        return None
    beside = size.rollouts
    return RolloutFigures(
        steps=beside.steps,
        writing_hours=beside.writing,
        scoring_hours=beside.scoring,
        critic_hours=beside.critic,
    )


def _sample_figures(size: SampleSize) -> RunFigures:
    return RunFigures(
        samples_per_second_per_accelerator=size.samples_per_second,
        scaling_efficiency=size.scaling_efficiency,
    )
