"""What a workload asks of the hardware, month by month: the one object handed to costing. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.sizing.workload import AcceleratorHours, Samples, Training
from pricing.invalid_input import InvalidInput
from pricing.offers import HOURS_PER_MONTH

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


def demand_of(
    workload: AcceleratorHours | Training | Samples,
    start: dt.date,
    horizon_months: int,
    accelerators: Sequence[str] | None = None,
) -> Demand:
    """Accelerator-hours and peak of `workload` in each month from `start`.

    `accelerators` are the slugs that may serve it; None stands for the workload's own
    accelerator, or for every accelerator that fits where it names none. Fields of a refusal
    begin with `workload.`.
    """
    if isinstance(workload, AcceleratorHours):
        return _given_hours(workload, horizon_months)
    raise NotImplementedError(workload.kind)


def _given_hours(workload: AcceleratorHours, horizon_months: int) -> Demand:
    hours = _hours_of_each_month(workload.hours_per_month, horizon_months)
    slug = _slug(workload.accelerator)
    return Demand(
        accelerator=slug,
        hours_per_month=hours,
        peak_accelerators=_peaks(hours, workload.peak_accelerators),
        candidates=(Candidate(slug, 1.0),),
        method="accelerator-hours as given",
    )


def _hours_of_each_month(hours: tuple[float, ...], horizon_months: int) -> Floats:
    if len(hours) not in (1, horizon_months):
        raise InvalidInput(
            "workload.hours_per_month",
            f"{len(hours)} months are given and the horizon is {horizon_months}; "
            f"allowed are one number for every month or a list of {horizon_months}",
        )
    if not any(hours):
        raise InvalidInput(
            "workload.hours_per_month", "is 0 in every month; at least one month must be more"
        )
    return np.broadcast_to(np.asarray(hours, dtype=np.float64), horizon_months).copy()


def _peaks(hours: Floats, given: int | None) -> Floats:
    """Peak of each month: as given, else ⌈H / 730⌉; 0 where there is no work."""
    least = np.ceil(hours / HOURS_PER_MONTH)
    if given is None:
        return least
    if given < least.max():
        month = int(least.argmax())
        raise InvalidInput(
            "workload.peak_accelerators",
            f"{given} accelerators deliver {given * HOURS_PER_MONTH:,} h in a month and month "
            f"{month} asks for {hours[month]:,.0f} h; allowed are {int(least.max())} or more",
        )
    return np.where(hours > 0, float(given), 0.0)


def _slug(name: str) -> str:
    from importlib import import_module

    try:
        return str(import_module("pricing.accelerators").resolve(name).slug)
    except InvalidInput as error:
        raise InvalidInput("workload.accelerator", error.message) from error
    except ModuleNotFoundError:
        return name
