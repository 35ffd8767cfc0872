"""A run of one's own in place of an estimate: its log and its rate. PURE.

`calibrate_request` is the one function behind the endpoint; the page and the command read logs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from planner.contract.answer.calibration import (
    CalibrationAnswer,
    GpuFigures,
    PilotFigures,
    PlanChange,
)
from planner.contract.request.comparison import CURRENT_RULES
from planner.contract.request.workload import (
    RATES,
    SAMPLE_FACTS,
    Count,
    Samples,
    Slug,
    Training,
    Workload,
)
from planner.contract.validation import Number, RequestModel, parse
from planner.sizing.calibration.calibration import Calibration, calibrate
from planner.sizing.estimate import Estimate, EstimateRequest, estimate
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve

MOST_LOG_CHARACTERS = 4_000_000
"""Longest log in a request: six hours of one line a second from eight GPUs, 60 characters each;
planning value, 2026. The command reads larger ones."""


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
    """Text of nvidia-smi, dmon, its XML, DCGM or Prometheus."""
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
    if not isinstance(workload, Training | Samples):
        raise InvalidInput("pilot.workload", "are known hours; allowed is a training or samples")
    slug = _accelerator(pilot, workload, calibration)
    rate = pilot.per_second / pilot.accelerators
    field = "samples_per_second"
    if isinstance(workload, Training):
        field = "tokens_per_second_per_accelerator"
    measured = {field: rate, "accelerator": slug}
    cleared = dict.fromkeys(replaced_by_rate(workload.kind))
    plain = _estimate(_without_rate(workload), slug, pilot.accelerators)
    sized = _estimate(workload.model_copy(update=cleared | measured), slug, pilot.accelerators)
    before, after = plain.answer.accelerator_hours, sized.answer.accelerator_hours
    return PilotFigures(
        accelerator=slug,
        per_accelerator=rate,
        mfu=sized.answer.mfu,
        estimated=before,
        measured=after,
        narrower=math.log(before.p90 / before.p10) / math.log(after.p90 / after.p10),
        workload=_as_json(workload, cleared | measured),
    )


def replaced_by_rate(kind: str) -> tuple[str, ...]:
    """Fields of a kind of work that its measured rate replaces, as it holds what they say.

    >>> replaced_by_rate("samples")
    ('samples_per_second', 'loader', 'architecture', 'code')
    """
    return ("samples_per_second", *SAMPLE_FACTS) if kind == "samples" else (*RATES, "mfu_of")


def _without_rate(workload: Training | Samples) -> Training | Samples:
    """The work as it is estimated without a rate; samples that have nothing but a rate keep it."""
    if isinstance(workload, Training):
        return workload.model_copy(update=dict.fromkeys(replaced_by_rate(workload.kind)))
    if workload.benchmark is None and workload.forward_gflops_per_sample is None:
        return workload
    return workload.model_copy(update={"samples_per_second": None})


def _estimate(workload: Training | Samples, slug: str, count: int) -> Estimate:
    request = {"workload": workload, "accelerator": slug, "accelerators": count}
    try:
        return estimate(parse(EstimateRequest, {**request, "rules": CURRENT_RULES}))
    except InvalidInput as error:
        raise error.under("pilot") from error


def _accelerator(
    pilot: Pilot, workload: Training | Samples, calibration: Calibration | None
) -> str:
    """As given; else the one kind of accelerator that the log names."""
    named = pilot.accelerator or workload.accelerator
    if named:
        return resolve(named, "pilot.accelerator").slug
    logged = (
        {use.accelerator for use in calibration.gpus if use.accelerator} if calibration else set()
    )
    if len(logged) != 1:
        raise InvalidInput("pilot.accelerator", "is required: where was the rate measured?")
    return str(logged.pop())


def _as_json(workload: Training | Samples, changes: Mapping[str, object]) -> dict[str, Any]:
    """The workload as requested, with what was measured in it."""
    stated = workload.model_dump(mode="json", exclude_unset=True)
    left = {name: value for name, value in stated.items() if changes.get(name, value) is not None}
    return {**left, **{name: value for name, value in changes.items() if value is not None}}
