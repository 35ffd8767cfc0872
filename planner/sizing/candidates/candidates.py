"""A work laid out on every accelerator that can do it, and why the others cannot. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

from planner.contract.request.workload import MEASURED, Samples, Training
from planner.sizing.candidates.fitness import PREFERRED, exclusion
from planner.sizing.runs.placed_run import PlacedTask, placed_on
from planner.sizing.runs.sample_run import size_samples
from planner.sizing.runs.schedule import RunSize, Schedule, SizeAt, Window, lay_out
from planner.sizing.runs.training_run import TrainingTask, training_on
from planner.sizing.runs.whole_machines import on_whole_machines
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator

OF_THE_ACCELERATOR = ("accelerator", "accelerators", "precision", "layout")
"""Fields whose refusal says that one accelerator cannot do the work."""


def assign_accelerator(
    workload: Training | Samples, accelerators: Sequence[str] | None
) -> Training | Samples:
    """The workload with the accelerator that its measured rate belongs to.

    A rate without a place is that of the only accelerator there is to choose from; with several
    it is refused.
    """
    fields = MEASURED if isinstance(workload, Training) else ("samples_per_second",)
    measured = [field for field in fields if getattr(workload, field) is not None]
    if not measured or workload.accelerator is not None:
        return workload
    if accelerators is None or len(accelerators) != 1:
        raise InvalidInput("accelerator", f"is required with {measured[0]}: where was it measured?")
    return workload.model_copy(update={"accelerator": accelerators[0]})


def lay_out_everywhere(
    workload: Training | Samples,
    windows: Sequence[Window],
    horizon: int,
    accelerators: Sequence[Accelerator],
    rules: int = 1,
    is_whole: bool = False,
) -> tuple[dict[str, Schedule], dict[str, str]]:
    """slug → schedule, and slug → reason for those that cannot do the work; `is_whole` on machines
    as they are rented, which a comparison looks for itself."""
    eligible: dict[str, Schedule] = {}
    excluded: dict[str, str] = {}
    for one in accelerators:
        outcome = _try(workload, windows, horizon, one, rules, is_whole)
        if isinstance(outcome, Schedule):
            eligible[one.slug] = outcome
        else:
            excluded[one.slug] = outcome
    return eligible, excluded


def lay_out_on(
    workload: Training | Samples,
    windows: Sequence[Window],
    horizon: int,
    one: Accelerator,
    rules: int = 1,
    is_whole: bool = False,
) -> Schedule:
    """The runs on one kind of accelerator; refuses where it cannot do the work."""
    factor = workload.attempts_factor
    if isinstance(workload, Training):
        return _lay_out_task(task_on(workload, one, rules), windows, horizon, factor, is_whole)
    sized = partial(size_samples, workload, one, rules=rules)
    return lay_out(windows, horizon, sized, 1, factor)


def _lay_out_task(
    task: TrainingTask | PlacedTask,
    windows: Sequence[Window],
    horizon: int,
    factor: float,
    is_whole: bool,
) -> Schedule:
    size_at: SizeAt = task.at_least
    if is_whole and isinstance(task, PlacedTask):
        size_at = partial(on_whole_machines, task)
    return lay_out(windows, horizon, size_at, task.min_accelerators, factor, task.fewest_hours)


def task_on(training: Training, one: Accelerator, rules: int = 1) -> TrainingTask | PlacedTask:
    """A run on one kind of accelerator under an edition of the rules: 1 sizes by the calibrated
    share of peak, later ones by the layout and what teams reach."""
    return training_on(training, one) if rules == 1 else placed_once(training, one, rules)


@lru_cache(maxsize=256)
def placed_once(training: Training, one: Accelerator, rules: int) -> PlacedTask:
    """The same task for the same run, which keeps each number of accelerators that it was sized on:
    runs over fewer months, or under other limits, are sized on many of the same numbers."""
    return placed_on(training, one, rules)


def choose_reference(eligible: dict[str, Schedule]) -> str:
    """The accelerator in whose hours the demand is stated: an A100 or H100 where one fits, the
    one with the fewest hours else."""
    preferred = (slug for slug in PREFERRED if slug in eligible)
    return next(preferred, None) or min(eligible, key=lambda slug: eligible[slug].hours.sum())


def size_run(
    workload: Training | Samples, one: Accelerator, count: int | None, rules: int = 1
) -> RunSize:
    """One run on n accelerators, or on the usual number for None."""
    if isinstance(workload, Training):
        return task_on(workload, one, rules).at(count)
    return size_samples(workload, one, count, rules)


def _try(
    workload: Training | Samples,
    windows: Sequence[Window],
    horizon: int,
    one: Accelerator,
    rules: int,
    is_whole: bool,
) -> Schedule | str:
    """The schedule, or the reason why there is none."""
    reason = exclusion(one)
    if reason:
        return reason
    try:
        if rules > 1 and isinstance(workload, Training):
            task = task_on(workload, one, rules)
            reason = exclusion(one, task.min_accelerators)
            factor = workload.attempts_factor
            return reason or _lay_out_task(task, windows, horizon, factor, is_whole)
        schedule = lay_out_on(workload, windows, horizon, one, rules)
    except InvalidInput as error:
        if error.field in OF_THE_ACCELERATOR or error.field.split(".")[0] == "runs":
            return error.message
        raise
    return exclusion(one, schedule.largest.min_accelerators) or schedule
