"""Files of usage, whatever they are, into one sum. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import BinaryIO

from planner.usage.bills import Bill, sum_bill
from planner.usage.formats import (
    LogFormat,
    ReadOptions,
    declared,
    monitors,
    own_table,
    sacct,
    sreport,
)
from planner.usage.formats.aws import AwsCur, cost_explorer_table
from planner.usage.formats.azure import AzureCosts
from planner.usage.formats.focus import Focus
from planner.usage.formats.gcp import GcpBilling, is_json_export, json_table
from planner.usage.gpu_logs import LOG_COMMAND
from planner.usage.ledger import Ledger, Reason, UnusableFile
from planner.usage.projects import ProjectRules
from planner.usage.sources import Allowance, Source, open_members, open_source
from planner.usage.tables import Table, read_table
from pricing.common.invalid_input import InvalidInput

BILLS: tuple[type[Bill], ...] = (Focus, AwsCur, GcpBilling, AzureCosts)
LOGS: tuple[LogFormat, ...] = (
    *(monitors.PROMETHEUS, monitors.OPENCOST, monitors.GPU_LOG),
    *(sacct.TEXT, sacct.JSON, sreport.FORMAT, declared.TERRAFORM, declared.KUBERNETES),
)


@dataclass(frozen=True)
class FileRead:
    """A file that was read: what it was, and how many rows it had; without a format one that was
    left out, and why."""

    name: str
    format: str
    title: str
    rows: int


def read_file(
    stream: BinaryIO,
    name: str,
    ledger: Ledger,
    options: ReadOptions | None = None,
    allowance: Allowance | None = None,
) -> FileRead:
    """Reads a file into the ledger; refused by `InvalidInput` where it cannot be used."""
    options = options or ReadOptions()
    before = ledger.rows
    try:
        source = open_source(stream, allowance)
        form, title = _read(source, ledger, options)
    except UnusableFile as refusal:
        raise InvalidInput("file", str(refusal)) from None
    rows = ledger.rows - before
    if not rows:
        raise InvalidInput("file", "holds a header and no rows; export a time of use")
    return FileRead(name, form, title, rows)


_ONE_MOMENT = f"is one moment of a monitor, which states no hours; {LOG_COMMAND}"
_NO_HOURS = {
    r"<\?xml|GPU 0:|timestamp, |# gpu\s+pid|.*\[MiB\]": _ONE_MOMENT,
    r"(?is:.{0,900}(nvidia-smi|nvsmi log))": _ONE_MOMENT,
    r"<": "is XML or HTML, which no export of usage is; export CSV or JSON",
    r"(#[^\n]*\n)*# (HELP|TYPE) ": (
        "is one moment of a monitor, which states no hours; query a range of Prometheus: "
        "/api/v1/query_range?query=DCGM_FI_DEV_GPU_UTIL"
    ),
    r"\{\s*\"accounts\"|\{(?s:.{0,900})\"Slurm\"": (
        f"lists what runs now; hours are in sacct; run: {sacct.COMMAND}"
    ),
    r"NAMESPACE\s+NAME|NAME\s+(READY|STATUS)": (
        "lists pods or nodes without their accelerators; run kubectl get nodes,pods -A -o json"
    ),
    r"\"?lineItem/referenceNo": "is Oracle's own cost report; export its FOCUS report",
    r"\[?\s*\{(?s:.{0,400})\"num_nodes\"": (
        "is a cost report of SkyPilot, which states no dates; send the bill of its cloud"
    ),
    r"(?s:.{0,300}?)\bresource \"\w+\" \"": "is Terraform in words; run terraform show -json",
}
"""How files begin that are near and state no hours, and where to turn."""


def open_bill(source: Source) -> Bill | Table:
    """The bill of a file, or the table that is none; a log, which states no costs, is refused."""
    if source.text and (log := _find_log(source.head)):
        problem = f"is of {log.title}, which states no costs"
        raise InvalidInput("file", f"{problem}; plan against actual needs a bill")
    if source.text and is_json_export(source.head):
        return GcpBilling(json_table(source, keeps_rows=False), ProjectRules())
    table = read_table(source)
    form = _find_bill(table)
    return form(table, ProjectRules()) if form else table


def _find_log(head: str) -> LogFormat | None:
    return next((log for log in LOGS if log.matches(head)), None)


def _find_bill(table: Table) -> type[Bill] | None:
    columns = table.columns()
    return next((form for form in BILLS if form.matches(columns)), None)


def _open_table(source: Source, ledger: Ledger, options: ReadOptions) -> Table:
    start = source.head.lstrip()
    if is_json_export(start):
        return json_table(source, ledger.overlaps.is_on)
    if '"ResultsByTime"' in start:
        return cost_explorer_table(source)
    for beginning, problem in _NO_HOURS.items():
        if re.match(beginning, start[:2_000]):
            raise InvalidInput("file", problem)
    if start.startswith(("{", "[")):
        raise InvalidInput("file", f"is none of the forms that are read: {known_forms()}")
    return read_table(source, options.mapping)


def _read(source: Source, ledger: Ledger, options: ReadOptions) -> tuple[str, str]:
    if not is_json_export(source.head) and (log := _find_log(source.head)):
        log.read(source, ledger, options)
        return log.name, log.title
    table = _open_table(source, ledger, options)
    form = _find_bill(table)
    if form is not None:
        sum_bill(form(table, options.projects), ledger)
        return form.name, form.title
    if set(table.header) >= _OWN_EXPORT:
        raise InvalidInput("header", "is of a plan's CSV, whose rows are planned; send a bill")
    table = own_table.spread_out(table)
    named = {*own_table.name_columns(table.header).values()}
    if monitors.is_series_table(table.header) and not named & own_table.FIGURES - {"runtime_s"}:
        monitors.read_series_table(table, ledger, options)
        return "series", monitors.SERIES_TABLE
    if "month" not in named or not named & own_table.FIGURES:
        columns = ", ".join(name[:40] for name in table.header[:8])
        problem = f"{columns} belongs to no form that is read: {known_forms()}"
        raise InvalidInput("header", f"{problem}. {OWN_TABLE_COLUMNS}")
    own_table.read(table, ledger, options)
    return own_table.NAME, own_table.TITLE


_OWN_EXPORT = frozenset({"scenario", "offer_id", "price_source"})
"""Columns that the CSV of a comparison has and no bill: the lines of each of its scenarios."""


OWN_TABLE_COLUMNS = (
    "In a table of your own, a row a month, call the columns month, accelerator_hours and cost"
)


def known_forms() -> str:
    return ", ".join(
        (
            *(form.title for form in BILLS),
            *(log.title for log in LOGS),
            *(monitors.SERIES_TABLE, own_table.TITLE),
        )
    )


def _open_all(
    files: Iterable[tuple[str, BinaryIO]], allowance: Allowance | None
) -> Iterator[tuple[str, BinaryIO, bool]]:
    for name, stream in files:
        try:
            yield from open_members(name, stream, allowance)
        except InvalidInput as refusal:
            raise _named(refusal, name) from None


def _named(refusal: InvalidInput, name: str) -> InvalidInput:
    """What is wrong with a file or a place in it, said of the file's name."""
    if not name:
        return refusal
    place = name if refusal.field == "file" else f"{name}, {refusal.field}"
    return InvalidInput(place, refusal.message, refusal.others, refusal.code)


def read_files(
    files: Iterable[tuple[str, BinaryIO]], options: ReadOptions
) -> tuple[Ledger, list[FileRead]]:
    """Several files as one sum; a file or a row of a bill that is in two of them counts once. One
    that is refused refuses all: nothing is kept by halves. Of an archive and of a folder, files
    that are of no form that is read are left out and named."""
    ledger = Ledger()
    allowance = options.allowance()
    overlaps = ledger.overlaps
    overlaps.is_on = not (isinstance(files, Sized) and len(files) == 1)
    read: list[FileRead] = []
    left_out: InvalidInput | None = None
    for name, stream, is_one_of in _open_all(files, allowance):
        overlaps.is_on |= is_one_of
        same = overlaps.find_same(stream)
        overlaps.begin(name)
        if same is not None:
            first = read[same]
            read.append(FileRead(name, first.format, first.title, first.rows))
            ledger.account(Reason.DUPLICATE, first.rows)
            ledger.note(f"{name} is the same file as {first.name}, to the byte, and counts once.")
            continue
        before = ledger.rows
        try:
            read.append(read_file(stream, name, ledger, options, allowance))
        except InvalidInput as refusal:
            is_found = (is_one_of or options.of_folder) and refusal.field in ("file", "header")
            if not is_found or ledger.rows > before or (allowance and allowance.is_spent):
                raise _named(refusal, name) from None
            left_out = left_out or _named(refusal, name)
            read.append(FileRead(name, "", refusal.message.partition(":")[0][:120], 0))
        for note in overlaps.notes_of_file():
            ledger.note(note)
    if left_out is not None and not any(one.format for one in read):
        raise left_out
    for note in overlaps.notes_of_months():
        ledger.note(note)
    return ledger, read
