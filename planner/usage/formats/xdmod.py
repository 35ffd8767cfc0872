"""XDMoD: exports of GPU hours as CSV, a time series by month or day. PURE. No real one was seen."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from planner.usage.cells import clip, quantity
from planner.usage.formats.base import ReadOptions, TextFormat
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.sources import Source
from pricing.common.invalid_input import InvalidInput

_GROUP = re.compile(r"\[(.*)\]\s*(.*)")
_MONTH = re.compile(r"([12]\d{3}-(?:0[1-9]|1[0-2]))(?:-\d\d)?", re.ASCII)


def matches(head: str) -> bool:
    start = head[:2_000]
    return start.lstrip('"').startswith("title") and "---------" in start


def read(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    """Reads the table between the rules; its columns are groups of `GPU Hours: Total`."""
    lines = source.lines()
    for line in lines:
        if line.startswith("---"):
            break
    rows = csv.reader(_until_rule(lines))
    header = next(rows, [])
    if not header or header[0].strip().lower() not in ("month", "day"):
        problem = "is no time series; export GPU hours with Month or Day as its first column"
        raise InvalidInput("table", problem)
    groups = [_GROUP.fullmatch(name.strip()) for name in header[1:]]
    if not all("gpu hours" in name.lower() for name in header[1:]):
        raise InvalidInput("table", "holds other figures than GPU Hours: Total; export those")
    for number, row in enumerate(rows, 1):
        try:
            month = _MONTH.fullmatch(row[0].strip())
            if month is None:
                raise InvalidInput(header[0], f"{row[0][:40]!r} is not a month or day")
            for group, cell in zip(groups, row[1:], strict=False):
                account = clip(group[1]) if group else ""
                project = options.projects.choose({}, account)
                key = UseKey(month[1], "", "", "", "", "owned", project, account, "", "", "")
                ledger.use(key, None, quantity(cell, "GPU Hours"), None, None)
            ledger.account(Reason.ACCELERATOR_USE)
        except InvalidInput as refusal:
            ledger.misread(f"row {number}", str(refusal))


def _until_rule(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("---"):
            return
        if line.strip():
            yield line


FORMAT = TextFormat("xdmod", "XDMoD export of GPU hours", matches, read)
