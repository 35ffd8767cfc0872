"""Accounting of Slurm (`sacct -P`), with or without a header, and as key=value. PURE.

Allocations count, steps do not. Accelerators are `gres/gpu=N` of AllocTRES where it is there,
else the sum of the typed ones; both are totals over all nodes. Hours are ElapsedRaw, else
Elapsed; a job over the end of a month is split in proportion to its wall time, in the cluster's
own time.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from planner.usage.cells import clip
from planner.usage.formats.base import ReadOptions, TextFormat
from planner.usage.formats.slurm_time import elapsed_seconds, read_moment, split_by_month
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.machines import is_slice, name_accelerator
from planner.usage.sources import Source
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

COMMAND = (
    "sacct -a -X -P --noconvert -S 2026-01-01 -E 2026-02-01 -T "
    "-o JobIDRaw,User,Account,Partition,State,Submit,Start,End,ElapsedRaw,NNodes,AllocTRES"
)
"""What to run for a log that is read whole."""
_LAYOUTS = tuple(
    tuple(text.split())
    for text in (
        "JobIDRaw User Account Partition QOS State Submit Start End ElapsedRaw AllocTRES NNodes "
        "NCPUS ExitCode",
        "JobID JobIDRaw User Account State Start End AveCPU AveDiskRead AveDiskWrite AveRSS "
        "AveVMSize ElapsedRaw ExitCode Layout MaxRSS MaxVMSize MinCPU ReqCPUS ReqMem ReqNodes "
        "Reservation Submit Suspended SystemCPU TimelimitRaw UserCPU NodeList Partition AllocTRES "
        "Priority JobName",
        "JobIDRaw Partition QOS Account Group GID User UID Submit Start End Elapsed ElapsedRaw "
        "ExitCode State AllocTRES NodeList JobName WorkDir",
        "JobID JobIDRaw Cluster Partition QOS Account Group GID User UID Submit Eligible Start "
        "End Elapsed ExitCode State NNodes NCPUS ReqCPUS ReqMem ReqTRES AllocTRES Timelimit "
        "NodeList JobName",
        "JobID JobName State ExitCode Start End Elapsed Timelimit Partition NodeList AllocTRES "
        "ReqMem MaxRSS",
        "JobIDRaw User Account Partition State Submit Start End ElapsedRaw NNodes AllocTRES",
    )
)
"""Orders of columns of logs without a header: those of XDMoD, CEEMS and of COMMAND among them."""
_STATES = frozenset(
    re.findall(
        r"\w+",
        "BOOT_FAIL CANCELLED COMPLETED COMPLETING DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PENDING "
        "PREEMPTED RUNNING REQUEUED RESIZING REVOKED SUSPENDED TIMEOUT",
    )
)
_NEVER = frozenset(("", "None", "Unknown", "N/A"))
_NAMES = frozenset(name.lower() for layout in _LAYOUTS for name in layout)
_JOB_ID = re.compile(r"\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?(?:\.[\w.+-]+)?", re.ASCII)
_MAX_KEYS = 50_000
MAX_SECONDS = 20 * 366 * 86_400


class Accelerators(NamedTuple):
    """Accelerators of an allocation: all of them, and by type where types are said."""

    total: int
    by_type: tuple[tuple[str, int], ...]


@lru_cache(maxsize=50_000)
def read_tres(text: str) -> Accelerators:
    """Accelerators in a list of trackable resources.

    >>> read_tres("billing=32,gres/gpu:h100=16,gres/gpu=16,node=2")
    Accelerators(total=16, by_type=(('h100', 16),))
    >>> read_tres("cpu=2,gres/shard=4").total
    0
    """
    total: int | None = None
    typed: dict[str, int] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if not name.startswith("gres/gpu"):
            continue
        if not value.isdecimal() or len(value) > 6:
            raise InvalidInput("AllocTRES", f"{shorten(part, 40)} is no number of accelerators")
        if name == "gres/gpu":
            total = int(value)
        elif name.startswith("gres/gpu:"):
            kind = name.removeprefix("gres/gpu:")
            typed[kind] = typed.get(kind, 0) + int(value)
    count = sum(typed.values()) if total is None else total
    return Accelerators(count, tuple(typed.items()))


class _Columns:
    """Where the columns of one log stand."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.count = len(fields)
        places = {name.strip().lower(): index for index, name in enumerate(fields)}
        self._places = places
        self.job = self._first("jobidraw", "jobid")
        self.id = self._first("jobid", "jobidraw")
        self.state = self._first("state")
        self.start, self.end = self._first("start"), self._first("end")
        self.tres = self._first("alloctres")
        self.raw, self.elapsed = places.get("elapsedraw"), places.get("elapsed")
        if self.raw is None and self.elapsed is None:
            raise InvalidInput("column ElapsedRaw", f"is missing; run: {COMMAND}")

    def _first(self, *names: str) -> int:
        for name in names:
            if name in self._places:
                return self._places[name]
        raise InvalidInput(f"column {names[0]}", f"is missing; run: {COMMAND}")

    def getter(self, name: str) -> Callable[[Sequence[str]], str]:
        place = self._places.get(name)
        return (lambda row: "") if place is None else (lambda row: row[place])


def matches(head: str) -> bool:
    """Whether the first lines are a header of sacct, or rows of it."""
    first, _, rest = head.partition("\n")
    names = first.strip().split("|")
    if len(names) > 3 and sum(name.strip().lower() in _NAMES for name in names) >= 4:
        return any(name.strip().lower() in ("jobid", "jobidraw") for name in names)
    if "JobID=" in first and "State=" in first:
        return True
    return _is_row(first.split("|")) and (not rest.strip() or "|" in rest)


def _is_row(cells: Sequence[str]) -> bool:
    is_job = bool(_JOB_ID.fullmatch(cells[0].strip()))
    return is_job and any(cell.split(" ")[0] in _STATES for cell in cells)


def read(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    lines = source.lines()
    first = next(lines)
    cells = first.rstrip("\r\n").split("|")
    if "JobID=" in first and "|" not in first:
        _read_pairs(first, lines, ledger, options)
        return
    if _is_row(cells):
        fields = options.fields or _layout(cells)
        reader = _Reader(_Columns(fields), ledger, options)
        reader.read_line(first, 1)
    else:
        reader = _Reader(_Columns(cells), ledger, options)
    for number, line in enumerate(lines, 2):
        reader.read_line(line, number)


def _layout(cells: Sequence[str]) -> tuple[str, ...]:
    """The order of columns that fits the first row of a log without a header."""
    for layout in _LAYOUTS:
        if len(layout) == len(cells) and _fits(dict(zip(layout, cells, strict=True))):
            return layout
    raise InvalidInput(
        "header",
        f"is missing, and {len(cells)} columns in this order are not known; name them in order "
        f"(--fields JobIDRaw,User,…) or run: {COMMAND}",
    )


def _fits(row: Mapping[str, str]) -> bool:
    tres, start = row["AllocTRES"], row["Start"]
    return (
        row["State"].split(" ")[0] in _STATES
        and (not tres or "cpu=" in tres)
        and (start in _NEVER or bool(re.match(r"\d{4}-\d\d-\d\dT", start)))
    )


def _read_pairs(first: str, rest: Iterator[str], ledger: Ledger, options: ReadOptions) -> None:
    """Rows of `JobID=1,State=COMPLETED,…`; a cell with a comma is quoted."""

    def lines() -> Iterator[str]:
        yield first
        yield from rest

    fields = sorted(_NAMES)
    reader = _Reader(_Columns(fields), ledger, options)
    for number, row in enumerate(csv.reader(lines()), 1):
        pairs = dict(cell.partition("=")[::2] for cell in row)
        plain = {name.lower(): value for name, value in pairs.items()}
        reader.read_row([plain.get(name, "") for name in fields], number)


class _Reader:
    """Reads the rows of one log."""

    def __init__(self, columns: _Columns, ledger: Ledger, options: ReadOptions) -> None:
        self._columns, self._ledger, self._options = columns, ledger, options
        self._user, self._account = columns.getter("user"), columns.getter("account")
        self._partition, self._cluster = columns.getter("partition"), columns.getter("cluster")
        self._submit = columns.getter("submit")
        self._keys: dict[tuple[tuple[str, str, str, str], str, str, str], UseKey] = {}

    def read_line(self, line: str, number: int) -> None:
        """A `|` within the last column belongs to it."""
        text = line.rstrip("\r\n")
        if not text.strip():
            return
        row = text.split("|", self._columns.count - 1)
        if len(row) == self._columns.count and row[-1].endswith("|") and "|" not in row[-1][:-1]:
            row[-1] = row[-1][:-1]
        self.read_row(row, number)

    def read_row(self, row: Sequence[str], number: int) -> None:
        try:
            if len(row) != self._columns.count:
                problem = f"has {len(row)} cells under {self._columns.count} columns"
                raise InvalidInput("", f"{problem}; a job's name may hold |: put JobName last")
            self._read(row)
        except InvalidInput as refusal:
            self._ledger.misread(f"row {number}", str(refusal))

    def _read(self, row: Sequence[str]) -> None:
        columns, ledger = self._columns, self._ledger
        job, state = row[columns.job], row[columns.state].split(" ", 1)[0]
        if "." in row[columns.id] or "." in job:
            ledger.account(Reason.JOB_STEP)
            return
        if state not in _STATES:
            raise InvalidInput("State", f"{shorten(row[columns.state], 40)} is no state of a job")
        starts, submitted = row[columns.start], self._submit(row)
        identity = (self._cluster(row), row[columns.id], job, submitted, starts)
        if ledger.is_repeated(identity):
            self._add_rest(row, state, identity, starts)
            ledger.account(Reason.DUPLICATE)
            return
        if starts in _NEVER:
            ledger.account(Reason.NEVER_RAN)
            return
        accelerators = read_tres(row[columns.tres])
        if not accelerators.total:
            ledger.account(Reason.NO_ACCELERATOR)
            return
        seconds = self._seconds(row)
        start = read_moment(starts, "Start")
        ends = row[columns.end]
        end = start + seconds if ends in _NEVER else read_moment(ends, "End")
        if end < start:
            raise InvalidInput("End", f"{shorten(ends, 40)} is before the start")
        if ends in _NEVER:
            ledger.note("Jobs that still run count up to the moment of the query.")
            ledger.running[identity] = seconds
        if submitted and submitted not in _NEVER:
            ledger.waiting.add(max(0.0, start - read_moment(submitted, "Submit")))
        self._add(row, state, accelerators, seconds, start, end)
        ledger.account(Reason.ACCELERATOR_USE)

    def _add_rest(
        self, row: Sequence[str], state: str, identity: tuple[str, ...], starts: str
    ) -> None:
        """What a job that still ran in an earlier log went on to take."""
        counted = self._ledger.running.get(identity)
        if counted is None:
            return
        seconds, start = self._seconds(row), read_moment(starts, "Start")
        accelerators = read_tres(row[self._columns.tres])
        if seconds <= counted or not accelerators.total:
            return
        self._ledger.running[identity] = seconds
        begin, end = start + counted, start + seconds
        self._add(row, state, accelerators, seconds - counted, begin, end)
        self._ledger.note(
            "Jobs that still ran in one log and are in a later one too count once, as long as the "
            "longer of both says."
        )

    def _seconds(self, row: Sequence[str]) -> float:
        raw, elapsed = self._columns.raw, self._columns.elapsed
        if raw is not None and row[raw]:
            text = row[raw].strip()
            if not text.isdecimal() or len(text) > 12:
                raise InvalidInput("ElapsedRaw", f"{shorten(text, 40)} is no number of seconds")
            seconds = float(text)
        else:
            seconds = elapsed_seconds(row[elapsed]) if elapsed is not None else 0.0
        if seconds > MAX_SECONDS:
            raise InvalidInput("ElapsedRaw", f"{seconds:.0f} s is more than 20 years")
        return seconds

    def _add(
        self,
        row: Sequence[str],
        state: str,
        accelerators: Accelerators,
        seconds: float,
        start: float,
        end: float,
    ) -> None:
        who = (self._user(row), self._account(row), self._cluster(row), self._partition(row))
        for kind, count in _by_type(accelerators):
            hours = count * seconds / 3600
            for month, share in split_by_month(start, end):
                self._ledger.use(
                    self._key(who, state, kind, month), None, hours * share, None, None
                )
            if end > start and not is_slice(kind):
                self._ledger.hourly.add(kind, start, end, count * seconds / (end - start))

    def _key(self, who: tuple[str, str, str, str], state: str, kind: str, month: str) -> UseKey:
        """What a job's hours are summed by, worked out once for all its like."""
        like = (who, state, kind, month)
        key = self._keys.get(like)
        if key is None:
            if len(self._keys) >= _MAX_KEYS:
                self._keys.clear()
            user, account, cluster, partition = (clip(text) for text in who)
            project = self._options.projects.choose({}, account, user, partition)
            place = cluster or partition
            key = UseKey(month, "", place, "", kind, "owned", project, account, user, state, "")
            self._keys[like] = key
        return key


@lru_cache(maxsize=50_000)
def _by_type(accelerators: Accelerators) -> tuple[tuple[str, int], ...]:
    """Counts by name; what the types leave of the total has no name."""
    typed = tuple(
        (kind.lower() if is_slice(kind) else name_accelerator(kind), count)
        for kind, count in accelerators.by_type
    )
    rest = accelerators.total - sum(count for _, count in typed)
    return (*typed, ("", rest)) if rest > 0 else typed


FORMAT = TextFormat("sacct", "Slurm accounting (sacct)", matches, read)
