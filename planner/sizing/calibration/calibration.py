"""What a real run's nvidia-smi log says about the plan. PURE.

Utilisation is the share of time in which any kernel ran (NVIDIA NVML API reference,
nvmlDeviceGetUtilizationRates, 2024): it bounds nothing but idleness and is not MFU.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from planner.sizing.calibration.plan_changes import (
    THROTTLED_CLOCK,
    Change,
    GpuUse,
    suggest_changes,
)
from planner.sizing.calibration.smi_log import MIB_PER_GIB, Series, read_log, samples
from pricing.market.accelerators import find

IDLE_PERCENT = 5.0
"""Utilisation below which the GPU counts as idle, %; planning value, 2026."""
BUSY_PERCENT = 90.0
"""Utilisation from which the GPU counts as busy, %; planning value, 2026."""
GAP_FACTOR = 5.0
"""Intervals longer than this many usual ones are gaps, not time of the job; planning
value, 2026."""
POWER_CAP, THERMAL, BRAKE = 0x04, 0x08 | 0x20 | 0x40, 0x80
"""Bits of clocks_event_reasons.active (NVIDIA NVML API reference, nvmlClocksEventReasons, 2024):
software power cap; hardware, software thermal and hardware thermal slowdown; power brake."""


@dataclass(frozen=True)
class Calibration:
    """The log's GPUs and what they change."""

    gpus: tuple[GpuUse, ...]
    changes: tuple[Change, ...]
    skipped_lines: int

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def calibrate(text: str) -> Calibration:
    """Use of every GPU in a log, and what it changes; refuses another format on `log`.

    >>> use = calibrate("index, utilization.gpu [%]\\n0, 50 %\\n0, 70 %\\n").gpus[0]
    >>> use.sustained_utilisation
    0.6
    """
    log = read_log(text)
    silent = [series.gpu for series in log.gpus if _most(series, "utilisation_percent") is None]
    gpus = tuple(_use(series) for series in log.gpus if series.gpu not in silent)
    return Calibration(gpus, suggest_changes(gpus, log, silent), log.skipped_lines)


def _use(series: Series) -> GpuUse:
    utilisation = list(samples(series, "utilisation_percent"))
    job = _job(utilisation)
    hours, gaps = _hours(series)
    peak, total = _gib(series, "memory_used_mib"), _gib(series, "memory_total_mib")
    known = find(series.name) if series.name else None
    total = total or (known.memory_gib if known else None)
    sustained, clocks = known.base_clock_mhz if known else None, _busy_clocks(series)
    power, limit = list(samples(series, "power_w")), _most(series, "power_limit_w")
    mean_power = statistics.fmean(power) if power else None
    return GpuUse(
        gpu=series.gpu,
        name=series.name,
        accelerator=known.slug if known else None,
        samples=len(series.times),
        hours=hours,
        gap_hours=gaps,
        busy_share=sum(u >= IDLE_PERCENT for u in utilisation) / len(utilisation),
        sustained_utilisation=statistics.fmean(job) / 100,
        utilisation_p10=_quantile(job, 0.1) / 100,
        utilisation_p90=_quantile(job, 0.9) / 100,
        memory_peak_gib=peak,
        memory_total_gib=total,
        memory_headroom=max(0.0, 1 - peak / total) if peak is not None and total else None,
        power_mean_w=mean_power,
        power_max_w=max(power, default=None),
        power_share_of_limit=mean_power / limit if mean_power and limit else None,
        temperature_max_c=_most(series, "temperature_c"),
        power_capped_share=_throttled_share(series, POWER_CAP | BRAKE),
        thermally_throttled_share=_throttled_share(series, THERMAL),
        sustained_clock_mhz=sustained,
        clock_median_mhz=statistics.median(clocks) if clocks else None,
        slow_clock_share=_slow_clock_share(clocks, sustained),
    )


def _job(utilisation: Sequence[float]) -> Sequence[float]:
    """From the first to the last sample that is not idle; all of them where all are."""
    active = [i for i, u in enumerate(utilisation) if u >= IDLE_PERCENT]
    return utilisation[active[0] : active[-1] + 1] if active else utilisation


def _hours(series: Series) -> tuple[float | None, float | None]:
    """Hours that the samples cover, and hours of gaps between them. The usual step is that
    between different seconds: several GPUs in one series repeat each."""
    times = sorted(t for t in series.times if t is not None)
    steps = _steps(times)
    if not steps:
        return None, None
    seconds = _steps(sorted({t.replace(microsecond=0) for t in times}))
    longest = GAP_FACTOR * max(statistics.median(seconds or steps), 1.0)
    gaps = sum(step for step in steps if step > longest)
    return (sum(steps) - gaps) / 3600, gaps / 3600


def _steps(times: Sequence[dt.datetime]) -> list[float]:
    """Seconds from each time to the next."""
    return [(b - a).total_seconds() for a, b in itertools.pairwise(times)]


def _throttled_share(series: Series, bits: int) -> float | None:
    """Share of the logged samples in which one of the reasons held the clocks back."""
    masks = [mask for mask in series.reasons if mask is not None]
    return sum(bool(mask & bits) for mask in masks) / len(masks) if masks else None


def _busy_clocks(series: Series) -> list[float]:
    """Clocks of the samples in which the GPU was busy; empty where none is logged."""
    used, clocks = (series.values.get(name) for name in ("utilisation_percent", "clock_mhz"))
    pairs = zip(used, clocks, strict=True) if used and clocks else ()
    return [clock for use, clock in pairs if use >= BUSY_PERCENT and math.isfinite(clock)]


def _slow_clock_share(clocks: Sequence[float], sustained: float | None) -> float | None:
    """Share of busy samples clearly below the sustained clock; None where one is not known. The
    highest clock a card reports is no measure: no card holds it under load."""
    if not clocks or sustained is None:
        return None
    return sum(clock < THROTTLED_CLOCK * sustained for clock in clocks) / len(clocks)


def _gib(series: Series, name: str) -> float | None:
    most = _most(series, name)
    return None if most is None else most / MIB_PER_GIB


def _most(series: Series, name: str) -> float | None:
    return max(samples(series, name), default=None)


def _quantile(values: Sequence[float], share: float) -> float:
    """Linear interpolation between the ordered values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
