"""Cluster utilisation of Slurm (`sreport cluster utilization -T gres/gpu`), with or without header.
PURE. It counts reserved and planned time too, so that it differs from the sum of the jobs.
"""

from __future__ import annotations

import re

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
    for number, line in enumerate(source.lines(), 1):
        text = line.strip()
        if stated := _UNIT.search(text):
            unit = stated[1].lower()
        if period := _PERIOD.search(text):
            month = _month_of(period)
        cells = [cell.strip() for cell in text.split("|")]
        if cells[0].lower() == "cluster":
            fields = [_ALIASES.get(cell.lower(), cell.lower()) for cell in cells]
        elif len(cells) >= len(_FIELDS) and not text.startswith("-"):
            row = dict(zip(fields, cells, strict=False))
            try:
                _read_row(row, unit, month, ledger, options)
            except InvalidInput as refusal:
                if refusal.field in ("unit", "month"):
                    raise
                ledger.misread(f"row {number}", str(refusal))


def _month_of(period: re.Match[str]) -> str:
    first, last, day, clock = period.groups()
    if first != last and not (day == "01" and clock.startswith("00:00:00")):
        raise InvalidInput("period", f"{first} to {last} is more than a month; report each month")
    return first


def _read_row(
    row: dict[str, str], unit: str, month: str, ledger: Ledger, options: ReadOptions
) -> None:
    if not row["tres name"].startswith("gres/gpu"):
        ledger.account(Reason.NO_ACCELERATOR)
        return
    if unit not in _HOURS:
        problem = "is not stated by the report; name it (--unit seconds, minutes or hours)"
        raise InvalidInput("unit", problem)
    if not re.fullmatch(r"[12]\d{3}-(0[1-9]|1[0-2])", month, re.ASCII):
        raise InvalidInput("month", "is not stated by the report; name it (--month 2026-01)")
    kind = row["tres name"].partition(":")[2]
    accelerator = name_accelerator(kind) if kind else ""
    hours = {name: quantity(row.get(name, ""), name) * _HOURS[unit] for name in _FIELDS[2:]}
    cluster = clip(row["cluster"])
    key = UseKey(
        month, "", cluster, "", accelerator, "owned", options.projects.choose({}), "", "", "", ""
    )
    ledger.use(key, None, hours["allocated"], None, None)
    ledger.add_unused((month, cluster, Reason.IDLE.value), hours["idle"])
    ledger.account(Reason.ACCELERATOR_USE)
    ledger.note("sreport counts reserved and planned time; the sum of the jobs is less.")


FORMAT = TextFormat("sreport", "Slurm cluster utilisation (sreport)", matches, read)
