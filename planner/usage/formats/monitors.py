"""What monitors of clusters saw: ranges of Prometheus over DCGM, allocations of OpenCost. PURE.

DCGM: an accelerator is allocated while a pod is named and a sample is there: samples × step. A
missing sample and NaN are unknown, never 0; values near 2^63 are blanks. OpenCost: `gpuHours` by
namespace, whose costs are a model's; an allocation over the end of a month is split by time.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from decimal import Decimal
from typing import Any

from planner.usage.formats import LogFormat, ReadOptions
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.machines import is_slice, name_accelerator
from planner.usage.sources import Source
from planner.usage.tables import Moments, clip, money, quantity, split_by_month
from pricing.common.invalid_input import InvalidInput

# Prometheus -------------------------------------------------------------------------------

_BLANK = 9e18
_UTILISATION = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE")
_EXPORTER = re.compile(r"(nvidia-)?dcgm-exporter")
"""Pod of the exporter itself, where it is not told from the pod that holds the accelerator."""


def _read_prometheus(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    document = source.document()
    try:
        data = document["data"]
        if data["resultType"] != "matrix":
            raise InvalidInput("resultType", "is no range; ask query_range, not query")
        series = [(one["metric"], one["values"]) for one in data["result"]]
    except (KeyError, TypeError):
        raise InvalidInput("data", "is no answer of Prometheus to query_range") from None
    step = _step(series)
    measured = (
        {_gpu(metric) for metric, _ in series if metric.get("__name__") == name}
        for name in _UTILISATION
    )
    of_both = set.intersection(*measured)
    for metric, values in series:
        if metric.get("__name__") == _UTILISATION[1] and _gpu(metric) in of_both:
            for _ in values:
                ledger.account(Reason.DUPLICATE)
            continue
        _read_series(metric, values, step, ledger, options)
    ledger.note(
        f"Samples every {step:g} s: hours are samples × step, and a missing sample is unknown."
    )


def _gpu(metric: dict[str, str]) -> tuple[str, ...]:
    places = [metric.get(name, "") for name in ("Hostname", "instance", "gpu", "device")]
    return (metric.get("UUID", ""), *places, metric.get("GPU_I_ID", ""))


def _step(series: list[tuple[dict[str, Any], list[Any]]]) -> float:
    gaps: Counter[float] = Counter()
    for _, values in series:
        times = [_time(pair) for pair in values]
        gaps.update(b - a for a, b in itertools.pairwise(times))
    if not gaps or max(gaps) <= 0:
        raise InvalidInput("values", "hold fewer than two samples; no step is known")
    return max(gaps.items(), key=lambda item: (item[1], -item[0]))[0]


def _time(pair: Any) -> float:
    try:
        moment = float(pair[0])
    except (TypeError, ValueError, IndexError):
        raise InvalidInput("values", "hold a sample that is no pair of time and value") from None
    if not 6e8 < moment < 8e9:
        raise InvalidInput("values", f"{moment:g} is no time in seconds")
    return moment


def _read_series(
    metric: dict[str, str], values: list[Any], step: float, ledger: Ledger, options: ReadOptions
) -> None:
    name = metric.get("__name__", _UTILISATION[0])
    if name not in _UTILISATION:
        raise InvalidInput("__name__", f"{name[:60]!r} is not read; query {_UTILISATION[0]}")
    if metric.get("GPU_I_ID") or is_slice(metric.get("GPU_I_PROFILE", "")):
        for _ in values:
            ledger.account(Reason.UNKNOWN_SAMPLE)
        return
    accelerator = name_accelerator(metric.get("modelName", ""))
    pod = metric.get("exported_pod") or metric.get("pod") or ""
    if _EXPORTER.match(pod):
        pod = ""
    space = metric.get("exported_namespace") or metric.get("namespace") or ""
    host = metric.get("Hostname", "")
    full = 1.0 if "_PROF_" in name else 100.0
    for time, following in itertools.pairwise(map(_time, values)):
        if following - time > 1.5 * step:
            month = split_by_month(time, time)[0][0]
            ledger.monitor(month).unknown_hours += (following - time - step) / 3600
    for pair in values:
        start, value = _time(pair), _value(pair)
        month = split_by_month(start, start)[0][0]
        if value is None:
            ledger.account(Reason.UNKNOWN_SAMPLE)
            continue
        if not pod:
            ledger.add_unused((month, host, Reason.IDLE.value), step / 3600)
            ledger.account(Reason.IDLE)
            continue
        tags = options.projects.pick(metric) | {"namespace": space}
        project = options.projects.choose(tags, space) or space
        key = UseKey(month, "", host, "", accelerator, "owned", project, space)
        ledger.use(key, None, step / 3600, None, None)
        ledger.hold(accelerator, start, start + step, 1.0, project)
        seen = ledger.monitor(month)
        seen.hours += step / 3600
        seen.busy_hours += step / 3600 if value > 0 else 0.0
        seen.utilised_hours += step / 3600 * min(value / full, 1.0)
        ledger.account(Reason.ACCELERATOR_USE)


def _value(pair: Any) -> float | None:
    try:
        value = float(pair[1])
    except (TypeError, ValueError, IndexError):
        return None
    return value if -1 < value < _BLANK else None


# OpenCost ---------------------------------------------------------------------------------


def _read_opencost(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    document = source.document()
    sets = document.get("data") if isinstance(document, dict) else None
    if not isinstance(sets, list):
        raise InvalidInput("data", "is no list of allocations of OpenCost")
    moments = Moments()
    for window in sets:
        for name, allocation in (window or {}).items():
            try:
                _read_allocation(name, allocation, ledger, options, moments)
            except InvalidInput as refusal:
                ledger.misread(f"allocation {name[:60]}", str(refusal))
    ledger.note("OpenCost's costs are those of its price model, not of a bill.")


def _read_allocation(
    name: str, allocation: dict[str, Any], ledger: Ledger, options: ReadOptions, moments: Moments
) -> None:
    hours = quantity(str(allocation.get("gpuHours", 0)), "gpuHours")
    start = moments(str(allocation.get("start", "")), "start")
    end = moments(str(allocation.get("end", "")), "end")
    properties = allocation.get("properties") or {}
    space = clip(str(properties.get("namespace", "")))
    cluster = clip(str(properties.get("cluster", "")))
    months = split_by_month(start.seconds, end.seconds)
    if "__idle__" in name or "__unallocated__" in name:
        for month, share in months if hours else ():
            idle = (month, cluster or name[:60], Reason.IDLE.value)
            ledger.add_unused(idle, hours * share)
        ledger.account(Reason.IDLE if hours else Reason.NO_ACCELERATOR)
        return
    if not hours:
        ledger.account(Reason.NO_ACCELERATOR)
        return
    tags = options.projects.pick(properties.get("labels") or {})
    project = options.projects.choose(tags, space) or space
    cost = money(str(allocation.get("gpuCost", 0)), "gpuCost")
    cost += money(str(allocation.get("gpuCostAdjustment", 0)), "gpuCostAdjustment")
    for month, share in months:
        key = UseKey(month, "", cluster, "", "", "owned", project, space)
        amount = None if cost == Decimal(0) else cost * Decimal(repr(share))
        ledger.use(key, None, hours * share, None, amount)
    if end.seconds > start.seconds:
        mean = hours * 3600 / (end.seconds - start.seconds)
        ledger.hold("", start.seconds, end.seconds, mean, project)
    ledger.account(Reason.ACCELERATOR_USE)


PROMETHEUS = LogFormat(
    "prometheus",
    "Prometheus range of DCGM",
    lambda head: '"resultType"' in head[:4_000] and head.lstrip().startswith("{"),
    _read_prometheus,
)
OPENCOST = LogFormat(
    "opencost",
    "OpenCost allocation",
    lambda head: head.lstrip().startswith("{") and '"gpuHours"' in head and '"window"' in head,
    _read_opencost,
)
