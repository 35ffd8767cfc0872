"""Cluster utilisation of Slurm (`sreport cluster utilization -T gres/gpu`), with or without header.
PURE. It counts reserved and planned time too, so that it differs from the sum of the jobs.

A report may hold accelerators of each type (`gres/gpu:h100`) beside all of them (`gres/gpu`): the
types count, and of all of them what the types leave.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from planner.usage.cells import clip, quantity
from planner.usage.formats.base import ReadOptions, TextFormat
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.machines import name_accelerator
from planner.usage.sources import Source
from pricing.common.invalid_input import InvalidInput

_FIELDS = ("cluster", "tres name", "allocated", "down", "plnd down", "idle", "planned", "reported")
_ALIASES = {"planned down": "plnd down", "plnd dow": "plnd down", "reserved": "planned"}
_PERIOD = re.compile(r"(\d{4}-\d\d)-\d\dT\S+\s*-\s*(\d{4}-\d\d)-(\d\d)T(\S+)")
_UNIT = re.compile(r"TRES (Seconds|Minutes|Hours)", re.IGNORECASE)
_HOURS = {"seconds": 1 / 3600, "minutes": 1 / 60, "hours": 1.0}
_ALL = "gres/gpu"


class _Hours(NamedTuple):
    """Accelerator-hours of a row."""

    allocated: float
    idle: float


Reports = dict[tuple[str, str], list[dict[str, _Hours]]]
"""By cluster and month the reports on it, such as one a day: hours by type, an empty text for those
of all types."""


def matches(head: str) -> bool:
    if "Cluster Utilization" in head[:2_000]:
        return True
    first = head.partition("\n")[0].strip().split("|")
    if [name.strip().lower() for name in first[:3]] == ["cluster", "tres name", "allocated"]:
        return True
    return len(first) >= len(_FIELDS) and first[1].startswith("gres/")


def read(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    """Reads allocated and idle hours; unit and month are those of the report's own head, or those
    that whoever reads it says: they are never guessed."""
    fields, unit, month = list(_FIELDS), options.unit.lower(), options.month
    reports: Reports = defaultdict(list)
    for number, line in enumerate(source.lines(), 1):
        text = line.strip()
        if stated := _UNIT.search(text):
            unit = stated[1].lower()
        if period := _PERIOD.search(text):
            month = _month_of(period)
        cells = [cell.strip() for cell in text.split("|")]
        if cells[0].lower() == "cluster":
            fields = _fields_of(cells)
        elif len(cells) >= len(_FIELDS) and not text.startswith("-"):
            row = dict(zip(fields, cells, strict=False))
            try:
                _read_row(row, unit, month, ledger, reports)
            except InvalidInput as refusal:
                if refusal.field in ("unit", "month"):
                    raise
                ledger.misread(f"row {number}", str(refusal))
    for (cluster, of_month), on_it in reports.items():
        for by_type in on_it:
            _add(cluster, of_month, by_type, ledger, options)


def _fields_of(header: list[str]) -> list[str]:
    fields = [_ALIASES.get(cell.lower(), cell.lower()) for cell in header]
    if _FIELDS[1] not in fields:
        raise InvalidInput("column TRES Name", "is missing")
    return fields


def _month_of(period: re.Match[str]) -> str:
    first, last, day, clock = period.groups()
    if first != last and not (day == "01" and clock.startswith("00:00:00")):
        raise InvalidInput("period", f"{first} to {last} is more than a month; report each month")
    return first


def _read_row(row: dict[str, str], unit: str, month: str, ledger: Ledger, reports: Reports) -> None:
    name, _, kind = row["tres name"].partition(":")
    if name != _ALL:
        ledger.account(Reason.NO_ACCELERATOR)
        return
    if unit not in _HOURS:
        problem = "is not stated by the report; name it (--unit seconds, minutes or hours)"
        raise InvalidInput("unit", problem)
    if not re.fullmatch(r"[12]\d{3}-(0[1-9]|1[0-2])", month, re.ASCII):
        raise InvalidInput("month", "is not stated by the report; name it (--month 2026-01)")
    hours = {name: quantity(row.get(name, ""), name) * _HOURS[unit] for name in _FIELDS[2:]}
    on_it = reports[clip(row["cluster"]), month]
    if not on_it or kind in on_it[-1]:
        on_it.append({})
    on_it[-1][kind] = _Hours(hours["allocated"], hours["idle"])
    ledger.account(Reason.ACCELERATOR_USE)
    ledger.note("sreport counts reserved and planned time; the sum of the jobs is less.")


def _add(
    cluster: str, month: str, by_type: dict[str, _Hours], ledger: Ledger, options: ReadOptions
) -> None:
    """The hours of each type, and those that the types leave of all."""
    typed = {kind: hours for kind, hours in by_type.items() if kind}
    if typed and "" in by_type:
        of_types = _Hours(*(sum(hours) for hours in zip(*typed.values(), strict=True)))
        rest = _Hours(*(max(a - b, 0.0) for a, b in zip(by_type[""], of_types, strict=True)))
        by_type = {**typed, "": rest} if rest.allocated or rest.idle else typed
        ledger.note("sreport names types beside all accelerators: an hour counts once.")
    for kind, hours in by_type.items():
        accelerator = name_accelerator(kind) if kind else ""
        project = options.projects.choose({})
        key = UseKey(month, "", cluster, "", accelerator, "owned", project, "", "", "", "")
        ledger.use(key, None, hours.allocated, None, None)
        ledger.add_unused((month, cluster, Reason.IDLE.value), hours.idle)


FORMAT = TextFormat("sreport", "Slurm cluster utilisation (sreport)", matches, read)
