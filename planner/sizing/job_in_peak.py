"""That one job takes no more accelerators at once than the work ever does. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.contract.request.workload import AcceleratorHours, Samples, Training
from pricing.common.invalid_input import InvalidInput

FIELD = "workload.accelerators_per_job"


def refuse_job_above_peak(workload: AcceleratorHours | Training | Samples) -> None:
    """Raise `InvalidInput` for a job of more accelerators than the stated peak of a month with
    hours; asked of new questions only, as answers of before have to replay.

    >>> work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730}
    >>> job = work | {"peak_accelerators": 4, "accelerators_per_job": 8}
    >>> refuse_job_above_peak(AcceleratorHours.model_validate(job))
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: workload.accelerators_per_job: a job of 8
        accelerators at once is more than the peak of 4 (peak_accelerators); allowed are at most 4,
        or give a peak of at least 8
    """
    if not isinstance(workload, AcceleratorHours):
        return
    job, peaks = workload.accelerators_per_job, workload.peak_accelerators
    if job is None or peaks is None:
        return
    hours, months = workload.hours_per_month, max(len(peaks), len(workload.hours_per_month))
    for month in range(months):
        peak = peaks[min(month, len(peaks) - 1)]
        if peak < job and hours[min(month, len(hours) - 1)]:
            raise InvalidInput(FIELD, _message(job, peak, month if len(peaks) > 1 else None))


def _message(job: int, peak: int, month: int | None) -> str:
    where = "" if month is None else f" of month {month + 1}"
    return (
        f"a job of {job:,} accelerators at once is more than the peak of {peak:,}{where} "
        f"(peak_accelerators); allowed are at most {peak:,}, or give a peak of at least {job:,}"
    )


def raise_peak_to_job(workload: Mapping[str, Any]) -> dict[str, Any]:
    """A workload as an earlier request has it, with no stated peak below what one job takes at
    once: what its answer of before rested on, as its machines held the whole job.

    >>> raise_peak_to_job({"peak_accelerators": 4, "accelerators_per_job": 8})
    {'peak_accelerators': 8, 'accelerators_per_job': 8}
    >>> raise_peak_to_job({"peak_accelerators": [4, 0, 16], "accelerators_per_job": 8})
    {'peak_accelerators': [8, 0, 16], 'accelerators_per_job': 8}
    """
    job, peaks = workload.get("accelerators_per_job"), workload.get("peak_accelerators")
    if not isinstance(job, int) or peaks is None:
        return dict(workload)
    if isinstance(peaks, list | tuple):
        return {**workload, "peak_accelerators": [_at_least(one, job) for one in peaks]}
    return {**workload, "peak_accelerators": _at_least(peaks, job)}


def _at_least(peak: Any, job: int) -> Any:
    """A peak of a month with work, raised to a job; anything else as it is."""
    return job if isinstance(peak, int) and 0 < peak < job else peak
