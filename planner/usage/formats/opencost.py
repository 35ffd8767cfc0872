"""Allocation of OpenCost and Kubecost: `gpuHours` by namespace; costs are a model's. PURE.

An allocation over the end of a month is split in proportion to its time.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from planner.usage.cells import Moments, clip, money, quantity
from planner.usage.formats.base import ReadOptions, TextFormat
from planner.usage.formats.slurm_time import split_by_month
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.sources import Source
from pricing.common.invalid_input import InvalidInput


def matches(head: str) -> bool:
    start = head[:8_000]
    return start.lstrip().startswith("{") and '"gpuHours"' in start and '"window"' in start


def read(source: Source, ledger: Ledger, options: ReadOptions) -> None:
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
        key = UseKey(month, "", cluster, "", "", "owned", project, space, "", "", "")
        amount = None if cost == Decimal(0) else cost * Decimal(repr(share))
        ledger.use(key, None, hours * share, None, amount)
    if end.seconds > start.seconds:
        mean = hours * 3600 / (end.seconds - start.seconds)
        ledger.hold("", start.seconds, end.seconds, mean)
    ledger.account(Reason.ACCELERATOR_USE)


FORMAT = TextFormat("opencost", "OpenCost allocation", matches, read)
