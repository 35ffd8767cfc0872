"""One workload on one accelerator, and every other accelerator beside it. PURE.

`estimate` is the one function behind the estimate command, endpoint and page.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.contract.accelerator_names import describe_reading
from planner.contract.amounts import count_months
from planner.contract.answer.estimate import (
    CpuNote,
    EstimateAnswer,
    EstimateCandidate,
    HoursRange,
    RunFigures,
)
from planner.contract.copies import cached_property, replace
from planner.contract.labels import NO_RANGE_HERE
from planner.contract.request.workload import (
    Count,
    GivenHours,
    Samples,
    SizedWorkload,
    Training,
    Workload,
)
from planner.contract.validation import RequestModel, Slug, parse
from planner.sizing.candidates.candidates import (
    PREFERRED,
    TIERS,
    Placement,
    assign_accelerator,
    cards_of,
    choose_reference,
    notes_on,
    nothing_fits,
    rank,
    task_on,
    tier_of,
)
from planner.sizing.candidates.other_chips import cpu_note, list_other_chips
from planner.sizing.demand import compute_demand
from planner.sizing.performance.confidence import has_user_throughput, warn_never_built
from planner.sizing.runs.placed_run import weights_gb
from planner.sizing.runs.run_size import RunSize
from planner.sizing.runs.schedule import Window, schedule_windows
from planner.sizing.runs.served_run import ServingSize
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.accelerators import Accelerator, all_accelerators, get, resolve_all
from pricing.market.offers import HOURS_PER_MONTH

OPEN_START = dt.date(2000, 1, 1)
"""First month where only an estimate is asked for; which one it is changes nothing, 2026."""
OPEN_HORIZON_MONTHS = 240
"""Months over which runs are laid out where only an estimate is asked for; planning value, 2026."""


class EstimateRequest(RequestModel):
    """What is asked: a workload, and where it shall run."""

    workload: Workload
    """What has to be done: known hours, a training, samples or serving."""
    accelerator: Slug | None = None
    """Accelerator to size for; absent: the workload's own, else the usual reference among those
    that fit."""
    accelerators: Count | None = None
    """How many; absent: the fewest that meet the deadline, else the usual number for the work."""


@dataclass(frozen=True)
class Estimate:
    """A workload sized on one accelerator; `answer` is what page, API and command give."""

    workload: Workload
    accelerator: Accelerator
    runs: int
    """Runs of all kinds together."""
    hours: float
    """Accelerator-hours of all runs and experiments, p50."""
    method: str
    size: RunSize | None = None
    """Of the run that needs the most accelerators; None for hours as given."""
    peak: int = 1
    warnings: tuple[str, ...] = ()
    reading: str = ""
    """How the name of its accelerator is read, where several bear it."""

    @cached_property
    def candidates(self) -> tuple[EstimateCandidate, ...]:
        """Every accelerator, ranked for this work; worked out when first asked for."""
        if not isinstance(self.workload, SizedWorkload):
            return ()
        is_bound = isinstance(self.workload, Training) and has_user_throughput(self.workload)
        known = (self.accelerator,) if is_bound else all_accelerators()
        return rank(*_placement(self.workload).everywhere(known))

    @property
    def cpu(self) -> CpuNote:
        """Whether a CPU would do."""
        return cpu_note(self.workload, self.runs, self.hours)

    @cached_property
    def answer(self) -> EstimateAnswer:
        """What page, API and command give; None where a value has no meaning."""
        low, high = self.size.range_p10_p90 if self.size else (1.0, 1.0)
        tier = tier_of(self.size) if self.size and not isinstance(self.size, ServingSize) else None
        training = self.workload if isinstance(self.workload, Training) else None
        plan = self.size.plan if isinstance(self.size, ServingSize) else None
        chips = list_other_chips(self.workload, self.size, self.hours)
        return EstimateAnswer(
            **dict(self.size.figures if self.size else RunFigures()),
            accelerator=self.accelerator.slug,
            accelerators=self.size.accelerators if self.size else self.peak,
            runs=self.runs,
            accelerator_hours=HoursRange(
                p10=self.hours * low,
                p50=self.hours,
                p90=self.hours * high,
                holds=not any(NO_RANGE_HERE in words for words in self.warnings),
            ),
            serving=plan,
            cpu=self.cpu,
            tier=tier,
            chips=chips,
            other_chips=tuple(chip.words for chip in chips),
            tier_cards=TIERS[tier] if tier else None,
            tier_accelerators=cards_of(tier, self.candidates) if tier else (),
            weights_gb=training and weights_gb(training),
            candidates=self.candidates,
            notes=tuple(filter(None, (self.reading, *notes_on(self.accelerator)))),
            method=self.method,
            warnings=self.warnings,
        )


def estimate(request: Mapping[str, object] | EstimateRequest) -> Estimate:
    """Hours, memory, layout and ranking of a workload; refuses by field what cannot be.

    >>> answer = estimate({"workload": {"kind": "training", "parameters": 7e9, "tokens": 1e12},
    ...                    "accelerator": "A100-80GB", "accelerators": 256}).answer
    >>> answer.training_flops, answer.min_accelerators, answer.accelerators
    (4.2e+22, 2, 256)
    """
    parsed = request if isinstance(request, EstimateRequest) else parse(EstimateRequest, request)
    try:
        workload = parsed.workload
        in_workload = None
        if workload.accelerator:
            in_workload = resolve_all(workload.accelerator, "workload.accelerator")[0]
        in_request = resolve_all(parsed.accelerator)[0] if parsed.accelerator else None
        moves = isinstance(workload, Samples) and workload.samples_per_second is not None
        if in_request and in_workload and in_request.slug != in_workload.slug and not moves:
            raise InvalidInput(
                "accelerator",
                f"{in_request.name} is asked for and the workload names {in_workload.name}",
            )
        accelerator = in_request or in_workload
        if isinstance(workload, SizedWorkload):
            sized = _size_workload(parsed, workload, accelerator)
        else:
            sized = _stated_hours(parsed, workload, accelerator)
    except InvalidInput as error:
        own = ("accelerator", "accelerators")
        is_own = error.field in own or error.field.startswith("workload.")
        raise (error if is_own else error.under("workload")) from error
    name = parsed.accelerator or parsed.workload.accelerator
    return replace(sized, reading=describe_reading(name) if name else "")


def _stated_hours(
    request: EstimateRequest, workload: GivenHours, accelerator: Accelerator | None
) -> Estimate:
    hours = workload.hours_per_month
    demand = compute_demand(workload, OPEN_START, len(hours))
    least = math.ceil(max(hours) / HOURS_PER_MONTH)
    if request.accelerators and request.accelerators < least:
        raise InvalidInput(
            "accelerators",
            f"{request.accelerators} deliver {request.accelerators * HOURS_PER_MONTH:,} h in a "
            f"month and the work asks for {max(hours):,.0f} h; allowed are {least} or more",
        )
    peak = request.accelerators or math.ceil(demand.peak_accelerators.max())
    return Estimate(
        workload=workload,
        accelerator=accelerator or resolve_all(workload.accelerator)[0],
        runs=1,
        hours=sum(hours),
        method="accelerator-hours as given" + (", of one month" if len(hours) == 1 else ""),
        peak=peak,
        warnings=tuple(warn_never_built(peak)),
    )


def _size_workload(
    request: EstimateRequest, workload: SizedWorkload, accelerator: Accelerator | None
) -> Estimate:
    workload = assign_accelerator(workload, [accelerator.slug] if accelerator else None)
    placement = _placement(workload)
    windows = placement.windows
    chosen = accelerator or _reference(replace(placement, is_whole=False))
    schedule = placement.on(chosen)
    size = schedule.largest
    if request.accelerators:
        size = task_on(workload, chosen).at(request.accelerators)
    runs = sum(window.count for window in windows)
    is_served = isinstance(size, ServingSize)  # hours of a month
    same_count = schedule.hours.sum() if size is schedule.largest and not is_served else None
    return Estimate(
        workload=workload,
        accelerator=chosen,
        runs=runs,
        hours=float(same_count or size.hours * runs * workload.attempts_factor),
        method=size.method + _times_over(runs, workload.attempts_factor),
        size=size,
        warnings=(*size.warnings, *_late(windows, size, workload.attempts_factor)),
    )


def _times_over(runs: int, factor: float) -> str:
    if runs == 1 and factor == 1:
        return ""
    over = f"{factor:.4g} times over for attempts and trials"
    if runs == 1:
        return f"; the accelerator-hours are of the run {over}"
    each = "" if factor == 1 else f", each {over}"
    return f"; the accelerator-hours are of {runs:,} runs{each}"


def _reference(placement: Placement) -> Accelerator:
    eligible, excluded = placement.everywhere([get(slug) for slug in PREFERRED])
    if not eligible:
        eligible, excluded = placement.everywhere(all_accelerators())
    if not eligible:
        raise InvalidInput("accelerator", nothing_fits(excluded))
    return get(choose_reference(eligible))


def _placement(workload: SizedWorkload) -> Placement:
    start, horizon, runs = OPEN_START, OPEN_HORIZON_MONTHS, workload.runs
    if runs:
        start = min(run.start for run in runs)
        last = max(run.deadline or run.start for run in runs)
        horizon += count_months(start, last)
    windows = schedule_windows(runs, start, horizon)
    return Placement(workload, windows, horizon, is_whole=True)


def _late(windows: Sequence[Window], size: RunSize, experiments_factor: float) -> tuple[str, ...]:
    wall_clock = size.wall_clock_hours * experiments_factor
    deadlines = [w.months * HOURS_PER_MONTH for w in windows if w.has_deadline]
    if not deadlines or wall_clock <= min(deadlines):
        return ()
    take = "take" if size.accelerators > 1 else "takes"
    return (
        f"{pluralize(size.accelerators, 'accelerator')} {take} {wall_clock:,.0f} h and the "
        f"deadline leaves {min(deadlines):,} h",
    )
