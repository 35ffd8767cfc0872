"""What a real run's nvidia-smi log says about the plan. PURE.

Utilisation is the share of time in which any kernel ran (NVIDIA NVML API reference,
nvmlDeviceGetUtilizationRates, 2024): it bounds nothing but idleness and is not MFU.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from planner.sizing.calibration.logs import MIB_PER_GIB, Series, SmiLog, read_log, samples
from planner.sizing.footprint.memory import usable_gib
from planner.sizing.performance.goodput import SERVER_POWER_FACTOR
from pricing.market.accelerators import all_accelerators, find, get

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
    # From the first to the last sample that is not idle; all of them where all are.
    active = [i for i, u in enumerate(utilisation) if u >= IDLE_PERCENT]
    job = utilisation[active[0] : active[-1] + 1] if active else utilisation
    hours, gaps = _hours(series)
    peak, total = (
        None if mib is None else mib / MIB_PER_GIB
        for mib in (_most(series, "memory_used_mib"), _most(series, "memory_total_mib"))
    )
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
        utilisation_p10=float(np.quantile(job, 0.1)) / 100,
        utilisation_p90=float(np.quantile(job, 0.9)) / 100,
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
        # The highest clock a card reports is no measure: no card holds it under load.
        slow_clock_share=sum(clock < THROTTLED_CLOCK * sustained for clock in clocks) / len(clocks)
        if clocks and sustained is not None
        else None,
    )


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
    return [(b - a).total_seconds() for a, b in itertools.pairwise(times)]


def _throttled_share(series: Series, bits: int) -> float | None:
    """Share of the logged samples in which one of the reasons held the clocks back."""
    masks = [mask for mask in series.reasons if mask is not None]
    return sum(bool(mask & bits) for mask in masks) / len(masks) if masks else None


def _busy_clocks(series: Series) -> list[float]:
    used, clocks = (series.values.get(name) for name in ("utilisation_percent", "clock_mhz"))
    pairs = zip(used, clocks, strict=True) if used and clocks else ()
    return [clock for use, clock in pairs if use >= BUSY_PERCENT and math.isfinite(clock)]


def _most(series: Series, name: str) -> float | None:
    return max(samples(series, name), default=None)


STARVED_SHARE = 0.7
"""Mean utilisation of a job below which its input is suspected, planning value, 2026."""
ERRATIC_SHARE = 0.4
"""p90 less p10 of utilisation from which it swings, as a starving GPU's does, 2026."""
FREE_SHARE, HALF = 0.3, 0.5
"""Shares of memory left free from which a bigger batch, or a smaller card, is worth a
try; planning values, 2026."""
THROTTLED_SHARE = 0.05
"""Share of busy samples held back from which throttling is reported; planning value, 2026."""
THROTTLED_CLOCK = 0.9
"""Clock over the card's sustained one below which a busy GPU is held back; the margin is for
heavy matrix products at the limit of power; planning value, 2026."""
UNEVEN_SHARE = 0.15
"""Spread of mean utilisation between GPUs of one job from which it is uneven; 2026."""


@dataclass(frozen=True)
class Change:
    """What the log changes in the plan."""

    kind: str
    """smaller_card, bigger_batch, input_pipeline, throttling, power, idle, uneven or log."""
    message: str


@dataclass(frozen=True)
class GpuUse:
    """One GPU of the log; None where the log is silent."""

    gpu: str
    name: str
    accelerator: str | None
    """Slug, where the name is one we know."""
    samples: int
    hours: float | None
    gap_hours: float | None
    busy_share: float
    """Share of all samples in which the GPU was not idle."""
    sustained_utilisation: float
    """Mean utilisation from the first to the last sample that is not idle, 0 to 1."""
    utilisation_p10: float
    utilisation_p90: float
    memory_peak_gib: float | None
    memory_total_gib: float | None
    memory_headroom: float | None
    """Share of memory that was never used."""
    power_mean_w: float | None
    power_max_w: float | None
    power_share_of_limit: float | None
    temperature_max_c: float | None
    power_capped_share: float | None
    thermally_throttled_share: float | None
    sustained_clock_mhz: float | None
    """Base clock of the card's data sheet, which it holds under any load within its power."""
    clock_median_mhz: float | None
    """Of the busy samples."""
    slow_clock_share: float | None
    """Share of busy samples at less than 90% of the sustained clock."""


def suggest_changes(
    gpus: Sequence[GpuUse], log: SmiLog, silent: Sequence[str]
) -> tuple[Change, ...]:
    """Every change, GPU by GPU, those that say the same of several as one; then those of the log as
    a whole."""
    gpus_by_change: dict[Change, list[str]] = {}
    for use in gpus:
        for change in _gpu_changes(use):
            gpus_by_change.setdefault(change, []).append(use.gpu)
    each = []
    for change, names in gpus_by_change.items():
        named = f"GPU {names[0]}" if len(names) == 1 else f"GPUs {', '.join(names)}"
        if 1 < len(names) == len(gpus):
            named = f"{len(gpus)} GPUs"
        each.append(Change(change.kind, f"{named}: {change.message}"))
    return (*each, *_together(gpus, log, silent))


def _gpu_changes(use: GpuUse) -> Iterator[Change]:
    if use.busy_share > 0:
        yield from _input(use)
        yield from _memory(use)
    # What holds the clock back: heat always counts, a cap of power only where it takes the clock
    # below the sustained one, as cards under full load always run at their limit of power.
    hot, capped = use.thermally_throttled_share, use.power_capped_share
    median, sustained = use.clock_median_mhz, use.sustained_clock_mhz
    clock = ""
    if median is not None and sustained is not None:
        clock = f" (at {median:,.0f} MHz; sustained are {sustained:,.0f} MHz)"
    lost = f"{clock}; expect fewer useful hours than planned"
    if hot is not None and hot >= THROTTLED_SHARE:
        yield Change("throttling", f"thermally throttled in {hot:.0%} of the samples{lost}")
    if capped is not None and capped >= THROTTLED_SHARE:
        words = f"power-capped in {capped:.0%} of the samples"
        is_usual = median is not None and sustained and median >= THROTTLED_CLOCK * sustained
        usual = f"{clock}: usual under full load, no loss to plan for"
        kind = "power" if is_usual else "throttling"
        yield Change(kind, f"{words}{usual if is_usual else lost}")
    if hot is None and capped is None and (use.slow_clock_share or 0.0) >= THROTTLED_SHARE:
        yield Change(
            "throttling",
            f"below 90% of its sustained clock of {sustained:,.0f} MHz in "
            f"{use.slow_clock_share:.0%} of the busy samples; log clocks_event_reasons.active to "
            "see why",
        )
    if use.power_mean_w is not None:
        share = use.power_share_of_limit
        against = f", {share:.0%} of its limit" if share else ""
        server_kw = use.power_mean_w * SERVER_POWER_FACTOR / 1000
        yield Change(
            "power",
            f"drew {use.power_mean_w:.0f} W on average{against}; about {server_kw:.2f} kW of a "
            "server's power for each accelerator",
        )


def _input(use: GpuUse) -> Iterator[Change]:
    if use.sustained_utilisation >= STARVED_SHARE:
        return
    words = f"utilisation of {use.sustained_utilisation:.0%}"
    if use.utilisation_p90 - use.utilisation_p10 >= ERRATIC_SHARE:
        yield Change(
            "input_pipeline",
            f"{words} swings between {use.utilisation_p10:.0%} and {use.utilisation_p90:.0%}: the "
            "input pipeline (loading, augmentation, storage) starves it; fix that before renting "
            "more",
        )
    else:
        yield Change(
            "smaller_card",
            f"{words} is low throughout: a bigger batch or a slower, cheaper card would do",
        )


def _memory(use: GpuUse) -> Iterator[Change]:
    if use.memory_headroom is None or not use.memory_peak_gib:
        return
    free = use.memory_headroom
    if free >= HALF:
        yield Change(
            "smaller_card",
            f"at most {use.memory_peak_gib:.1f} GiB were used and {free:.0%} stayed free: "
            f"{_smaller(use, use.memory_peak_gib)}",
        )
    if free >= FREE_SHARE:
        yield Change(
            "bigger_batch",
            f"{free:.0%} of memory is free: a batch about {1 / (1 - free):.1f} times as big fits, "
            "if the model's own share is small",
        )


def _smaller(use: GpuUse, peak_gib: float) -> str:
    """Cards of the same vendor that hold the peak with less memory, the smallest first."""
    vendor = get(use.accelerator).vendor if use.accelerator else None
    fitting = [
        one
        for one in all_accelerators()
        if one.memory_gib < (use.memory_total_gib or 0.0) * 0.95
        and usable_gib(one.memory_gib) >= peak_gib
        and not one.retired
        and one.accelerator_class == "data_center"
        and one.bf16_tflops
        and vendor in (None, one.vendor)
    ]
    names = [one.name for one in sorted(fitting, key=lambda one: one.memory_gib)[:3]]
    return f"smaller cards such as {', '.join(names)} hold it" if names else "no smaller card does"


def _together(gpus: Sequence[GpuUse], log: SmiLog, silent: Sequence[str]) -> Iterator[Change]:
    idle = ", ".join(use.gpu for use in gpus if use.busy_share < HALF)
    if idle:
        yield Change(
            "idle",
            f"GPU {idle}: idle for more than half of the log, so logged hours are not all work",
        )
    means = [use.sustained_utilisation for use in gpus]
    if means and max(means) - min(means) >= UNEVEN_SHARE:
        yield Change(
            "uneven",
            f"utilisation differs between GPUs from {min(means):.0%} to {max(means):.0%}: the "
            "slowest sets the pace of data-parallel work",
        )
    gap = max((use.gap_hours or 0.0 for use in gpus), default=0.0)
    notes = {
        f"{gap:.2f} h of gaps in the log are not counted": gap > 0,
        f"{log.skipped_lines} lines did not fit the header and were left out": log.skipped_lines,
        f"unreadable timestamps: {log.unread_times} (known are forms such as 2026/11/20 "
        "10:00:00.123 or 2026-11-20T10:00:00Z); hours and gaps leave them out": log.unread_times,
        f"GPU {', '.join(silent)}: no utilisation was logged": silent,
        "no column index or uuid: the lines were taken for one GPU": not log.has_gpu_column,
    }
    yield from (Change("log", words) for words, holds in notes.items() if holds)
