"""Files of usage, whatever they are, into one sum. PURE."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import BinaryIO

from planner.usage.formats import (
    aws_cur,
    azure_costs,
    focus,
    gcp_billing,
    oci_costs,
    opencost,
    own_table,
    prometheus,
    sacct,
    skypilot,
    sreport,
    wandb,
    xdmod,
)
from planner.usage.formats.base import ReadOptions, TableFormat, TextFormat
from planner.usage.ledger import Ledger, UnusableFile
from planner.usage.sources import Source, open_source
from planner.usage.tables import Table, choose_separator, first_line, read_table
from planner.usage.text_lines import Allowance
from pricing.common.invalid_input import InvalidInput

TEXT_FORMATS: tuple[TextFormat, ...] = (
    gcp_billing.JSON_FORMAT,
    prometheus.FORMAT,
    opencost.FORMAT,
    skypilot.FORMAT,
    xdmod.FORMAT,
    sreport.FORMAT,
    sacct.FORMAT,
)
TABLE_FORMATS: tuple[TableFormat, ...] = (
    focus.FORMAT,
    aws_cur.FORMAT,
    gcp_billing.CSV_FORMAT,
    oci_costs.FORMAT,
    azure_costs.FORMAT,
    wandb.FORMAT,
)
FORMATS: tuple[TableFormat | TextFormat, ...] = (
    *TABLE_FORMATS,
    *TEXT_FORMATS,
    own_table.FORMAT,
)


@dataclass(frozen=True)
class FileRead:
    """A file that was read: what it was, and how many rows it had."""

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
        source = open_source(stream, name, allowance)
        chosen = _read(source, ledger, options)
    except UnusableFile as refusal:
        raise InvalidInput("file", str(refusal)) from None
    rows = ledger.rows - before
    if not rows:
        raise InvalidInput("file", "holds a header and no rows")
    return FileRead(name, chosen.name, chosen.title, rows)


_NO_HOURS = {
    "<?xml": "is XML, which states no hours; calibrate reads a log of nvidia-smi",
    "<": "is XML or HTML, which no export of usage is",
    "# HELP": "is one moment of a monitor, which states no hours; query a range of Prometheus",
    "# TYPE": "is one moment of a monitor, which states no hours; query a range of Prometheus",
    "GPU 0:": "lists accelerators and states no hours; calibrate reads a log of nvidia-smi",
    "timestamp, ": "looks like a log of nvidia-smi, which states no hours; calibrate reads it",
    '{"accounts"': "lists what runs now; hours are in sacct",
}
"""How files begin that are near and state no hours, and where to turn."""


def _refuse_near_forms(head: str) -> None:
    start = head.lstrip()
    for beginning, problem in _NO_HOURS.items():
        if start.startswith(beginning):
            raise InvalidInput("file", problem)
    if "nvidia-smi" in start[:500].lower():
        raise InvalidInput("file", _NO_HOURS["timestamp, "])
    if re.search(r"NVSMI LOG|\[MiB\]|^# gpu\s", start[:4_000], re.MULTILINE):
        raise InvalidInput("file", _NO_HOURS["timestamp, "])
    if start.startswith(("{", "[")):
        raise InvalidInput("file", f"is none of the forms that are read: {known_forms()}")


def read_source(source: Source, ledger: Ledger) -> TableFormat | TextFormat:
    """Reads an opened file into the ledger; gives its format."""
    try:
        return _read(source, ledger, ReadOptions())
    except UnusableFile as refusal:
        raise InvalidInput("file", str(refusal)) from None


def recognise(head: str) -> TableFormat | TextFormat | None:
    """The format of a file by its first characters; None for one's own table and others."""
    for form in TEXT_FORMATS:
        if form.matches(head):
            return form
    line = first_line(head)
    try:
        header = next(csv.reader([line], delimiter=choose_separator(line)), [])
    except csv.Error:
        return None
    table = Table(header, iter(()))
    return next((form for form in TABLE_FORMATS if form.matches(table)), None)


def _read(source: Source, ledger: Ledger, options: ReadOptions) -> TableFormat | TextFormat:
    for form in TEXT_FORMATS if source.text else ():
        if form.matches(source.head):
            form.read(source, ledger, options)
            return form
    _refuse_near_forms(source.head)
    table = read_table(source, options.mapping)
    chosen = choose_table_format(table)
    chosen.read(table, ledger, options)
    return chosen


_OWN_EXPORT = frozenset({"scenario", "offer_id", "price_source"})
"""Columns that the CSV of a comparison has and no bill: the lines of each of its scenarios."""


def choose_table_format(table: Table) -> TableFormat:
    """The format of a table by its columns; one that is close is proposed in the refusal."""
    for form in TABLE_FORMATS:
        if form.matches(table):
            return form
    if set(table.header) >= _OWN_EXPORT:
        raise InvalidInput("header", "is of a plan's CSV, whose rows are planned; send a bill")
    proposed = own_table.propose_mapping(table.header)
    if proposed:
        raise UnmappedColumns(table.header, proposed)
    if "month" in table.header:
        return own_table.FORMAT
    columns = ", ".join(name[:40] for name in table.header[:8])
    problem = f"{columns} belongs to no form that is read: {known_forms()}"
    raise InvalidInput("header", f"{problem}. {OWN_TABLE_COLUMNS}")


OWN_TABLE_COLUMNS = (
    "In a table of your own, a row a month, call the columns month, accelerator_hours and cost"
)


class UnmappedColumns(InvalidInput):
    """Columns that are close to ones that are read: whoever reads the file is to agree."""

    def __init__(self, header: list[str], proposed: dict[str, str]) -> None:
        self.header = header
        self.proposed = proposed
        pairs = ", ".join(f"{name} as {column}" for name, column in proposed.items())
        super().__init__("header", f"has columns that are close to known ones; read {pairs}?")


def known_forms() -> str:
    return ", ".join(dict.fromkeys(form.title for form in FORMATS))


def read_files(
    files: Iterable[tuple[str, BinaryIO]], options: ReadOptions
) -> tuple[Ledger, list[FileRead]]:
    """Several files as one sum; a file or a row of a bill that is in two of them counts once. One
    that is refused refuses all: nothing is kept by halves."""
    ledger = Ledger(options.on_rows)
    allowance = options.allowance()
    overlaps = ledger.overlaps
    overlaps.is_on = not (isinstance(files, Sized) and len(files) == 1)
    read: list[FileRead] = []
    for name, stream in files:
        same = overlaps.find_same(stream)
        overlaps.begin(name)
        if same is not None:
            first = read[same]
            read.append(FileRead(name, first.format, first.title, first.rows))
            ledger.repeat(first.rows)
            ledger.note(f"{name} is the same file as {first.name}, to the byte, and counts once.")
            continue
        try:
            read.append(read_file(stream, name, ledger, options, allowance))
        except UnmappedColumns:
            raise
        except InvalidInput as refusal:
            raise refusal.under(name) if name else refusal from None
        for note in overlaps.notes_of_file():
            ledger.note(note)
    for note in overlaps.notes_of_months():
        ledger.note(note)
    return ledger, read
