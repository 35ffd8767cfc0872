"""A run of one's own in place of an estimate: its log and its rate. PURE.

`calibrate_request` is the one function behind the endpoint; the page and the command read logs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import Field

from planner.contract.answer.estimate import (
    CalibrationAnswer,
    GpuFigures,
    HoursRange,
    PilotFigures,
    PlanChange,
)
from planner.contract.request.workload import (
    Count,
    SizedWorkload,
    Training,
    Workload,
)
from planner.contract.validation import Number, RequestModel, Slug, parse
from planner.sizing.calibration.calibration import Calibration, calibrate
from planner.sizing.estimate import Estimate, EstimateRequest, estimate
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get, resolve

MOST_LOG_CHARACTERS = 4_000_000
"""Longest log in a request: six hours of one line a second from eight GPUs, 60 characters each;
planning value, 2026. The command reads larger ones."""

MEASURED_RATES = ("samples_per_second", "tokens_per_second_per_accelerator")
"""Fields of samples and of a training that hold the rate of a pilot."""
FAR = 2.0
"""Multiple of the range's ends from which a measured rate is doubted; a choice of this project,
2026."""


class Pilot(RequestModel):
    """A short run of a workload, some 15 minutes after its start."""

    workload: Workload
    """The training or the samples that it is a part of."""
    per_second: Annotated[Number, Field(gt=0, le=1e15)]
    """Tokens of a training, or samples, a second of all accelerators together."""
    accelerators: Count
    """Accelerators that it ran on."""
    accelerator: Slug | None = None
    """Absent: the workload's own, else the one kind that the log names."""


class CalibrationRequest(RequestModel):
    """A log, a pilot, or both."""

    log: Annotated[str, Field(min_length=1, max_length=MOST_LOG_CHARACTERS)] | None = None
    """Text of nvidia-smi, dmon, DCGM or Prometheus."""
    pilot: Pilot | None = None
    """What was run, and how fast."""


def calibrate_request(request: Mapping[str, object]) -> CalibrationAnswer:
    """Use of the log's GPUs, and the pilot's rate with the range that it leaves.

    >>> answer = calibrate_request({"pilot": {"workload": {"kind": "training", "parameters": 7e9,
    ...     "tokens": 1e12, "accelerator": "H100"}, "accelerators": 8, "per_second": 80000}})
    >>> answer.pilot.per_accelerator, round(answer.pilot.mfu, 2), answer.pilot.narrower > 2
    (10000.0, 0.42, True)
    """
    calibration_request = parse(CalibrationRequest, request)
    if calibration_request.log is None and calibration_request.pilot is None:
        raise InvalidInput("log", "give a log, a pilot or both")
    calibration = (
        calibrate(calibration_request.log) if calibration_request.log is not None else None
    )
    pilot = _pilot(calibration_request.pilot, calibration) if calibration_request.pilot else None
    if calibration is None:
        return CalibrationAnswer(pilot=pilot)
    return CalibrationAnswer(
        gpus=tuple(
            GpuFigures.model_validate(use, from_attributes=True) for use in calibration.gpus
        ),
        changes=tuple(PlanChange(kind=c.kind, message=c.message) for c in calibration.changes),
        skipped_lines=calibration.skipped_lines,
        pilot=pilot,
    )


def _pilot(pilot: Pilot, calibration: Calibration | None) -> PilotFigures:
    workload = pilot.workload
    if not isinstance(workload, SizedWorkload):
        raise InvalidInput("pilot.workload", "are known hours; allowed is a training or samples")
    slug = _accelerator(pilot, workload, calibration)
    rate = pilot.per_second / pilot.accelerators
    field = MEASURED_RATES[isinstance(workload, Training)]
    measured = {field: rate, "accelerator": slug}
    cleared = dict.fromkeys(workload.replaced_fields)
    stated = workload.model_dump(mode="json", exclude_unset=True)
    plain = _estimate(_without_rate(workload), slug, pilot.accelerators)
    sized = _estimate_with_rate(workload.model_copy(update=cleared | measured), pilot, slug)
    before, after = plain.answer.accelerator_hours, sized.answer.accelerator_hours
    return PilotFigures(
        accelerator=slug,
        per_accelerator=rate,
        mfu=sized.answer.mfu,
        estimated=before,
        measured=after,
        narrower=math.log(before.p90 / before.p10) / math.log(after.p90 / after.p10),
        workload={k: v for k, v in {**stated, **cleared, **measured}.items() if v is not None},
        warnings=(
            *_far_off(before, after),
            *_beside_log(slug, pilot.accelerators, calibration),
            *sized.answer.warnings,
        ),
    )


def _far_off(before: HoursRange, after: HoursRange) -> Iterator[str]:
    """That a rate is beyond all that the estimate takes for possible, as one in another unit is."""
    if before.p10 / FAR <= after.p50 <= before.p90 * FAR:
        return
    is_slow = after.p50 > before.p90
    times = after.p50 / before.p50 if is_slow else before.p50 / after.p50
    than = "longer" if is_slow else "shorter"
    yield (
        f"the rate makes the hours {float(f'{times:.2g}'):,g} times {than} than estimated, far "
        "outside the range: check that it is per second and for all accelerators together, and "
        "that the pilot does the work described"
    )


def _beside_log(slug: str, accelerators: int, calibration: Calibration | None) -> Iterator[str]:
    """What the log says otherwise than the pilot; a log may hold some of its hosts alone."""
    uses = calibration.gpus if calibration else ()
    others = sorted({use.accelerator for use in uses if use.accelerator} - {slug})
    if others:
        names = ", ".join(get(one).name for one in others)
        yield f"the log is of {names}; the rate was taken for that of {get(slug).name}"
    busy = sum(use.busy_share > 0 for use in uses)
    if busy > accelerators:
        yield (
            f"{busy} GPUs are at work in the log and the pilot states {accelerators}, by which its "
            "rate was divided: give the rate and the number of the same accelerators"
        )


def _without_rate(workload: SizedWorkload) -> SizedWorkload:
    """The work as it is estimated without a rate; samples that have nothing but a rate keep it."""
    if isinstance(workload, Training):
        return workload.model_copy(update=dict.fromkeys(workload.replaced_fields))
    if workload.benchmark is None and workload.forward_gflops_per_sample is None:
        return workload
    return workload.model_copy(update={"samples_per_second": None})


def _estimate(workload: SizedWorkload, slug: str, count: int) -> Estimate:
    request = {"workload": workload, "accelerator": slug, "accelerators": count}
    try:
        return estimate(parse(EstimateRequest, request))
    except InvalidInput as error:
        raise error.under("pilot") from error


def _estimate_with_rate(workload: SizedWorkload, pilot: Pilot, slug: str) -> Estimate:
    """The same with the rate, which is refused where it was given."""
    try:
        return _estimate(workload, slug, pilot.accelerators)
    except InvalidInput as refusal:
        if refusal.field.rpartition(".")[2] not in MEASURED_RATES:
            raise
        count = pilot.accelerators
        together = f"; all {count:,} together: {count:,} times that" if count != 1 else ""
        message = f"of one accelerator, {refusal.message}{together}"
        raise InvalidInput("pilot.per_second", message) from refusal


def _accelerator(pilot: Pilot, workload: SizedWorkload, calibration: Calibration | None) -> str:
    named = pilot.accelerator or workload.accelerator
    if named:
        return resolve(named, "pilot.accelerator").slug
    logged = (
        {use.accelerator for use in calibration.gpus if use.accelerator} if calibration else set()
    )
    if len(logged) != 1:
        raise InvalidInput("pilot.accelerator", "is required: where was the rate measured?")
    return str(logged.pop())
