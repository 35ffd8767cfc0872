"""Cost report of SkyPilot (`sky cost-report`, as JSON). PURE.

Hours are nodes × accelerators × up time; costs are catalogue prices × up time, so that they are
estimates. The report states no day: its month has to be named.
"""

from __future__ import annotations

import re
from typing import Any

from planner.usage.cells import clip, money, quantity
from planner.usage.formats.base import ReadOptions, TextFormat
from planner.usage.ledger import ChargeKey, Ledger, Reason, UseKey
from planner.usage.machines import find_machine, name_accelerator
from planner.usage.sources import Source
from pricing.common.invalid_input import InvalidInput

MAX_NODES = 100_000
UNDATED = "undated"
"""Month of a report that states none."""


def matches(head: str) -> bool:
    start = head[:4_000]
    return '"num_nodes"' in start and '"duration"' in start and '"resources"' in start


def read(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    month = options.month or UNDATED
    if options.month and not re.fullmatch(r"[12]\d{3}-(0[1-9]|1[0-2])", options.month):
        raise InvalidInput("month", f"{options.month[:40]!r} is not a month like 2026-01")
    if not options.month:
        ledger.note("The report states no month; name one (--month 2026-01) to plan on it.")
    ledger.note("SkyPilot's costs are catalogue prices × up time, which is an estimate.")
    for number, cluster in enumerate(source.objects(), 1):
        try:
            _read_cluster(cluster, month, ledger, options)
        except InvalidInput as refusal:
            ledger.misread(f"cluster {number}", str(refusal))


def _read_cluster(
    cluster: dict[str, Any], month: str, ledger: Ledger, options: ReadOptions
) -> None:
    resources = cluster.get("resources") or {}
    wanted = resources.get("accelerators") or {}
    cost = money(str(cluster.get("total_cost", 0)), "total_cost")
    provider = clip(str(resources.get("cloud", ""))).lower()
    charge = ChargeKey(month, provider, "Estimate", "SkyPilot", "", "USD", month)
    if not wanted:
        ledger.charge(charge, None, cost)
        ledger.account(Reason.NO_ACCELERATOR)
        return
    nodes = quantity(str(cluster.get("num_nodes", 1)), "num_nodes")
    hours = quantity(str(cluster.get("duration", 0)), "duration") / 3600
    if not 0 <= nodes <= MAX_NODES or hours < 0:
        raise InvalidInput("num_nodes", "is no number of nodes")
    machine = clip(str(resources.get("instance_type") or ""))
    slug = find_machine(provider, machine).accelerator if machine else ""
    option = "spot" if resources.get("use_spot") is True else "on_demand"
    workspace = clip(str(cluster.get("workspace") or ""))
    project = options.projects.choose({}, workspace) or workspace
    for name, count in wanted.items():
        key = UseKey(
            month,
            provider,
            clip(str(resources.get("region") or "")),
            machine,
            slug or name_accelerator(name),
            option,
            project,
            workspace,
            "",
            "",
            "USD",
        )
        accelerators = quantity(str(count), "accelerators")
        ledger.use(key, nodes * hours, nodes * hours * accelerators, None, cost)
    ledger.charge(charge, None, cost)
    ledger.account(Reason.ACCELERATOR_USE)


FORMAT = TextFormat("skypilot", "SkyPilot cost report", matches, read)
