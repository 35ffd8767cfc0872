"""What a workload asks of the hardware, month by month: the one object handed to costing. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.request.workload import GivenHours, Run, Serving, SizedWorkload, Workload
from planner.sizing.candidates.candidates import (
    Placement,
    assign_accelerator,
    choose_reference,
    list_accelerators,
    notes_on,
    nothing_fits,
)
from planner.sizing.candidates.other_chips import cpu_note
from planner.sizing.evidence.benchmarks import MIXED
from planner.sizing.performance.levels import throughput_index
from planner.sizing.runs.run_size import RunSize
from planner.sizing.runs.schedule import CERTAINTY, Schedule, schedule_windows
from planner.sizing.runs.served_run import ServingSize
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.accelerators import get, resolve_all
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """An accelerator that can do the work, against the reference accelerator."""

    accelerator: str
    relative_throughput: float
    """r(a): sustained throughput of one accelerator relative to one reference accelerator."""
    min_accelerators: int = 1
    """Least number that holds the work at once (memory), or for which its hours hold."""
    notes: tuple[str, ...] = ()
    range_p10_p90: tuple[float, float] = (1.0, 1.0)
    """Factors on the hours at p10 and p90 on this accelerator."""
    tensor_parallel: int = 1
    """Accelerators that every layer is split over, which a fast interconnect has to join."""


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
    """What to know of the work as the reference does it."""
    cpu_words: tuple[str, ...] = ()
    """That a CPU is enough, where it is."""
    sizes: Mapping[str, tuple[RunSize, ...]] = field(default_factory=dict, compare=False)
    """accelerator → each window's run on it; empty for hours that were given."""
    is_sized: bool = False
    """Whether the hours come from a model or samples rather than from the team."""
    runs: tuple[Run, ...] = ()
    """The runs that the team dates; empty for hours that were given."""
    is_level: bool = False
    """Whether the work is taken to go on evenly for lack of a peak, so that the peak is a mean."""
    replica: int = 0
    """Reference accelerators of one replica of a service, which works all month; 0: other work."""
    runs_at_once: tuple[float, ...] = ()
    """[T] runs of sized work at once; empty for hours that were given."""
    job_width: float | None = None
    """Reference accelerators of the largest job, as runs and the trials of a search are jobs of
    their own; None where the hours were given."""

    def warnings_on(self, kinds: Collection[str]) -> tuple[str, ...]:
        """What to know of the work as some kinds of accelerators do it; as the reference does where
        none of them is sized."""
        used = [one.accelerator for one in self.candidates if one.accelerator in kinds]
        sized = [kind for kind in used if kind in self.sizes]
        if not sized or sized == [self.accelerator]:
            return (*self.cpu_words, *self.warnings)
        return self.cpu_words + _warnings_of([size for kind in sized for size in self.sizes[kind]])

    @property
    def run_width(self) -> float:
        """Reference accelerators that one job keeps busy at once; 0 for given hours, whose jobs are
        not known."""
        if self.job_width is not None:
            return self.job_width
        return float(self.peak_accelerators.max(initial=0.0)) if self.is_sized else 0.0


def compute_demand(
    workload: Workload,
    start: dt.date,
    horizon_months: int,
    accelerators: Sequence[str] | None = None,
    certainty: float | None = CERTAINTY,
) -> Demand:
    """Accelerator-hours and peak of `workload` in each month from `start`.

    `certainty`: share of outcomes in which deadlines are kept; None: on average.

    A workload that names its accelerator is for that one alone; else every accelerator of
    `accelerators` (every known one for None) that fits is a candidate. Fields of a refusal
    begin with `workload.`.

    >>> from planner.contract.request.workload import AcceleratorHours
    >>> hours = AcceleratorHours(kind="accelerator_hours", accelerator="T4", hours_per_month=[800])
    >>> compute_demand(hours, dt.date(2027, 1, 1), 2).peak_accelerators.round(2).tolist()
    [1.1, 1.1]
    """
    try:
        if isinstance(workload, SizedWorkload):
            return _size_workload(workload, start, horizon_months, accelerators, certainty)
        return _given_hours(workload, horizon_months)
    except InvalidInput as error:
        raise error.under("workload") from error


def _given_hours(workload: GivenHours, horizon_months: int) -> Demand:
    _refuse_job_above_peak(workload)
    hours = _by_month("hours_per_month", workload.hours_per_month, horizon_months)
    if not hours.any():
        raise InvalidInput("hours_per_month", "is 0 in every month; at least one must be more")
    # Who asks for eight of a family means eight of any of it.
    members = [one.slug for one in resolve_all(workload.accelerator)]
    stated = workload.peak_accelerators
    is_level = stated is None
    level = np.where(
        hours > 0,
        np.maximum(hours / HOURS_PER_MONTH, float(workload.accelerators_per_job or 1)),
        0.0,
    )
    return Demand(
        accelerator=members[0],
        hours_per_month=hours,
        peak_accelerators=level if stated is None else _peaks(hours, stated),
        candidates=tuple(Candidate(slug, 1.0) for slug in members),
        method="accelerator-hours as given"
        + (", evenly over the month as no peak is given" if is_level else ""),
        is_level=is_level,
    )


def _by_month(field: str, values: tuple[float, ...], horizon_months: int) -> Floats:
    months = len(values)
    if months not in (1, horizon_months):
        change = (
            f"add the {pluralize(horizon_months - months, 'month')} missing (0 where there is no "
            "work)"
            if months < horizon_months
            else f"take out the {pluralize(months - horizon_months, 'month')} too many"
        )
        raise InvalidInput(
            field,
            f"is of {pluralize(months, 'month')}, and the plan lasts {horizon_months}: {change}, "
            f"plan for {pluralize(months, 'month')}, or give one number that holds in every month",
        )
    return np.broadcast_to(np.asarray(values, dtype=np.float64), horizon_months).copy()


def _refuse_job_above_peak(workload: GivenHours) -> None:
    """Raises `InvalidInput` for a job of more accelerators than the peak of a month with hours."""
    job, peaks = workload.accelerators_per_job or 0, workload.peak_accelerators or ()
    hours = workload.hours_per_month
    for month in range(max(len(peaks), len(hours)) if peaks else 0):
        peak = peaks[min(month, len(peaks) - 1)]
        if peak < job and hours[min(month, len(hours) - 1)]:
            where = f" of month {month + 1}" if len(peaks) > 1 else ""
            raise InvalidInput(
                "accelerators_per_job",
                f"a job of {job:,} accelerators at once is more than the peak of {peak:,}{where} "
                f"(peak_accelerators); allowed are at most {peak:,}, or give a peak of at least "
                f"{job:,}",
            )


def _peaks(hours: Floats, stated: tuple[int, ...]) -> Floats:
    """Peak of each month as given, at least ⌈H / 730⌉; 0 where there is no work."""
    least = np.ceil(hours / HOURS_PER_MONTH)
    peaks = _by_month("peak_accelerators", stated, hours.size)
    short = np.flatnonzero(peaks < least)
    if short.size:
        month = int(least.argmax()) if len(stated) == 1 else int(short[0])
        raise InvalidInput(
            "peak_accelerators",
            f"{int(peaks[month])} accelerators deliver {int(peaks[month]) * HOURS_PER_MONTH:,} h "
            f"in a month and month {month + 1} of {hours.size} asks for {hours[month]:,.0f} h; "
            f"allowed are {int(least[month])} or more",
        )
    return np.where(hours > 0, peaks, 0.0)


def _size_workload(
    workload: SizedWorkload,
    start: dt.date,
    horizon: int,
    accelerators: Sequence[str] | None,
    certainty: float | None,
) -> Demand:
    workload = assign_accelerator(workload, accelerators)
    windows = schedule_windows(workload.runs, start, horizon, certainty)
    undated = workload.model_copy(update={"runs": None}) if workload.runs else workload
    placement = Placement(undated, windows, horizon)
    eligible, excluded = _laid_out(placement, accelerators)
    named = workload.accelerator
    reference = resolve_all(named)[0].slug if named is not None else choose_reference(eligible)
    sizes = {slug: laid.sizes for slug, laid in eligible.items()}
    schedule = eligible.pop(reference)
    cpu = cpu_note(workload, sum(w.count for w in windows), float(schedule.hours.sum()))
    others = (_candidate(slug, laid, schedule) for slug, laid in eligible.items())
    return Demand(
        accelerator=reference,
        hours_per_month=schedule.hours,
        peak_accelerators=schedule.peak,
        candidates=(_candidate(reference, schedule, schedule), *others),
        method=schedule.largest.method,
        range_p10_p90=schedule.largest.range_p10_p90,
        excluded=excluded,
        warnings=_warnings_of(schedule.sizes),
        cpu_words=(f"{cpu.note} ({cpu.hours:,.2g} h of 16 virtual CPUs)",) if cpu.is_enough else (),
        sizes=sizes,
        is_sized=True,
        runs=workload.runs or (),
        runs_at_once=tuple(schedule.runs.tolist()),
        replica=(
            schedule.largest.replica.accelerators
            if isinstance(schedule.largest, ServingSize)
            else 0
        ),
        # The largest run, less its trials, whose hours are spread over the months of the run too;
        # replicas work each for itself.
        job_width=0.0
        if isinstance(workload, Serving)
        else schedule.largest.accelerators
        * (workload.experiments_factor / workload.attempts_factor),
    )


def _warnings_of(sizes: Sequence[RunSize]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words for size in sizes for words in size.warnings))


def _laid_out(
    placement: Placement, accelerators: Sequence[str] | None
) -> tuple[dict[str, Schedule], dict[str, str]]:
    """Schedules of the accelerators that fit, at least one, and the reasons of the others. Beside a
    named one those of servers and offers in hand are sized too, each by the memory that it has,
    unless hours go by a rate of the team's own, which holds for one accelerator."""
    workload = placement.workload
    if workload.accelerator is not None:
        one = resolve_all(workload.accelerator)[0]
        own = {one.slug: placement.on(one)}
        has_rate = any(getattr(workload, name) is not None for name in workload.rate_fields)
        if accelerators is None or has_rate:
            return own, {}
        free = replace(placement, workload=workload.model_copy(update={"accelerator": None}))
        others = [other for other in list_accelerators(accelerators) if other.slug != one.slug]
        schedules, excluded = free.everywhere(others)
        return own | schedules, excluded
    schedules, excluded = placement.everywhere(list_accelerators(accelerators))
    if not schedules:
        raise InvalidInput("accelerator", nothing_fits(excluded))
    return schedules, excluded


def _candidate(slug: str, laid: Schedule, reference: Schedule) -> Candidate:
    """r = hours of the whole work on the reference over its hours here; the least number is what
    memory asks for, or the larger one that its hours hold for."""
    size = laid.largest
    return Candidate(
        accelerator=slug,
        relative_throughput=float(reference.hours.sum() / laid.hours.sum()),
        min_accelerators=size.accelerators if size.count_words else size.min_accelerators,
        notes=notes_on(size.accelerator),
        range_p10_p90=size.range_p10_p90,
        tensor_parallel=size.tensor_parallel,
    )


WORKLOAD_CLASS = "nlp"
"""Class of work by which bare accelerator-hours are converted: transformers in mixed precision."""


def with_equivalents(demand: Demand, accelerators: Iterable[str]) -> Demand:
    """`demand` with candidates for the other `accelerators`, each by its measured throughput.

    Those whose throughput cannot be placed are listed in `excluded` with the reason.
    """
    known = {c.accelerator for c in demand.candidates}
    candidates, excluded = list(demand.candidates), dict(demand.excluded)
    for slug in sorted(set(accelerators) - known - set(excluded)):
        ratio = throughput_index().ratio(get(slug), get(demand.accelerator), MIXED, WORKLOAD_CLASS)
        if ratio is None:
            excluded[slug] = f"its throughput against {demand.accelerator} is not known"
            continue
        note = f"{ratio:.2f} of {demand.accelerator}: measured training throughputs"
        candidates.append(Candidate(slug, ratio, notes=(note,)))
    return replace(demand, candidates=tuple(candidates), excluded=excluded)
