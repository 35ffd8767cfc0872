"""Reports of Slurm (`sreport cluster …`): hours of a period by account, or of a cluster. PURE.

Of a report by user the rows of users count, as those of accounts hold their users and children.
"""

from __future__ import annotations

import re
from collections import defaultdict

from planner.usage.formats import LogFormat, ReadOptions
from planner.usage.formats.sacct import name_parts, read_moment
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.sources import Source
from planner.usage.tables import clip, quantity, read_table, split_by_month
from pricing.common.invalid_input import InvalidInput

COMMAND = (
    "sreport -P -t hours -T gres/gpu cluster AccountUtilizationByUser start=2026-01-01 "
    "end=2026-02-01"
)
_PERIOD = re.compile(r"(\d{4}-\d\d-\d\dT[\d:]{8}) - (\d{4}-\d\d-\d\dT[\d:]{8})")
_UNIT = re.compile(r"reported in (?:\w+ )*?(Hours|Minutes|Seconds|Percent)", re.IGNORECASE)
_HOURS = {"hours": 1.0, "minutes": 1 / 60, "seconds": 1 / 3600}
_TITLE = re.compile(r"\n(Top \d+ Users|.* Utilization) [\d-]+T")
_ROW = re.compile(r"[^|\n]+\|(?:[^|\n]*\|){0,4}(?:cpu|mem|billing|gres/[\w:.-]+)\|\d")


def _read(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    period, unit = _PERIOD.search(source.head), _UNIT.search(source.head)
    if period is None or unit is None:
        raise InvalidInput("header", f"is missing; run without -n: {COMMAND}")
    if unit[1].lower() not in _HOURS:
        raise InvalidInput("header", f"states percents and no hours; run: {COMMAND}")
    start = read_moment(period[1], "start")
    end = read_moment(period[2], "end") + period[2].endswith("59")
    table = read_table(source)
    names = [name.lower() for name in table.header]
    rows = [dict(zip(names, map(str.strip, row), strict=True)) for row in table.rows]
    by_name = _sum_rows(rows, _HOURS[unit[1].lower()], ledger)
    if not by_name:
        raise InvalidInput("TRES Name", f"names no gres/gpu, only processors; run: {COMMAND}")
    for (place, account, user), resources in by_name.items():
        project = options.projects.choose({}, account, user)
        for accelerator, hours in name_parts(resources):
            for month, share in split_by_month(start, end):
                key = (month, "", place, "", accelerator, "owned", project)
                use = UseKey(*key, account or place, user)
                ledger.use(use, None, hours * share, None, None)
    ledger.hourly.cover(start, end)
    ledger.note("sreport states the hours of a period and no peak: that is taken as its mean.")


def _sum_rows(
    rows: list[dict[str, str]], unit_hours: float, ledger: Ledger
) -> dict[tuple[str, ...], dict[str, float]]:
    """Hours by cluster, account and user, of `gres/gpu` and each of its types."""
    sums = defaultdict[tuple[str, ...], dict[str, float]](dict)
    has_users = any(row.get("login") for row in rows)
    for number, row in enumerate(rows, 1):
        names = tuple(clip(row.get(name, "")) for name in ("cluster", "account", "login"))
        used, resource = row.get("used", row.get("allocated")), row.get("tres name", "")
        if not resource.startswith("gres/gpu") or used is None:
            ledger.account(Reason.NO_ACCELERATOR)
        elif not names[2] and (has_users or names[1] == "root"):
            ledger.account(Reason.DUPLICATE)
        else:
            try:
                sums[names][resource] = quantity(used.partition("(")[0], "Used") * unit_hours
                ledger.account(Reason.ACCELERATOR_USE)
            except InvalidInput as refusal:
                ledger.misread(f"row {number}", str(refusal))
    return sums


FORMAT = LogFormat(
    "sreport",
    "Slurm report (sreport)",
    lambda head: bool(_TITLE.search(head[:400]) or _ROW.match(head)),
    _read,
)
