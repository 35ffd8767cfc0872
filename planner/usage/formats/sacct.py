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
from operator import itemgetter

from planner.usage.cells import clip
from planner.usage.formats.base import ReadOptions, TextFormat
from planner.usage.formats.slurm_time import elapsed_seconds, read_moment, split_by_month
from planner.usage.formats.slurm_tres import LikeJobs
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.sources import Source
from planner.usage.tables import no_cell
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
_MAX_LIKES = 50_000
MAX_SECONDS = 20 * 366 * 86_400
CLOCK_JUMP_S, MAX_EXCESS_S = 3_660, 7_200
"""By how much a job may be longer than its clock says: an hour that is set back, and twice that,
which is named."""


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
        return no_cell if place is None else itemgetter(place)

    def getters(self, *names: str) -> Callable[[Sequence[str]], tuple[str, ...]]:
        """What reads those of these columns that there are, the state and the allocation."""
        places = [self._places[name] for name in names if name in self._places]
        return itemgetter(*places, self.state, self.tres)


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
        self._shared = columns.getters("user", "account", "cluster", "partition")
        self._likes: dict[tuple[str, ...], LikeJobs] = {}

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
        job = row[columns.job]
        if "." in row[columns.id] or "." in job:
            ledger.account(Reason.JOB_STEP)
            return
        like = self._like(row)
        if like.state not in _STATES:
            raise InvalidInput("State", f"{shorten(row[columns.state], 40)} is no state of a job")
        starts, submitted = row[columns.start], self._submit(row)
        identity = (self._cluster(row), row[columns.id], job, submitted, starts)
        if ledger.is_repeated(identity):
            self._add_rest(row, like, identity, starts)
            ledger.account(Reason.DUPLICATE)
            return
        if starts in _NEVER:
            ledger.account(Reason.NEVER_RAN)
            return
        like.check()
        if not like.total:
            ledger.account(Reason.NO_ACCELERATOR)
            return
        seconds = self._seconds(row)
        start = read_moment(starts, "Start")
        ends = row[columns.end]
        end = start + seconds if ends in _NEVER else read_moment(ends, "End")
        self._check_elapsed(ends, seconds, end - start)
        if ends in _NEVER:
            ledger.note("Jobs that still run count up to the moment of the query.")
            ledger.running[identity] = seconds
        if submitted and submitted not in _NEVER:
            waited = start - read_moment(submitted, "Submit")
            ledger.waiting.add(waited if waited > 0 else 0.0)
        self._add(row, like, seconds, start, end)
        ledger.account(Reason.ACCELERATOR_USE)

    def _like(self, row: Sequence[str]) -> LikeJobs:
        mark = self._shared(row)
        like = self._likes.get(mark)
        if like is None:
            if len(self._likes) >= _MAX_LIKES:
                self._likes.clear()
            columns = self._columns
            like = self._likes[mark] = LikeJobs(row[columns.state], row[columns.tres])
        return like

    def _add_rest(
        self, row: Sequence[str], like: LikeJobs, identity: tuple[str, ...], starts: str
    ) -> None:
        """What a job that still ran in an earlier log went on to take."""
        counted = self._ledger.running.get(identity)
        if counted is None:
            return
        seconds, start = self._seconds(row), read_moment(starts, "Start")
        like.check()
        ends = row[self._columns.end]
        if ends not in _NEVER:
            self._check_elapsed(ends, seconds, read_moment(ends, "End") - start)
        if seconds <= counted or not like.total:
            return
        self._ledger.running[identity] = seconds
        self._add(row, like, seconds - counted, start + counted, start + seconds)
        self._ledger.note(
            "Jobs that still ran in one log and are in a later one too count once, as long as the "
            "longer of both says."
        )

    def _check_elapsed(self, ends: str, seconds: float, between_s: float) -> None:
        """Refuses times that contradict each other by more than clocks do."""
        if between_s < 0:
            raise InvalidInput("End", f"{shorten(ends, 40)} is before the start")
        if seconds > between_s + MAX_EXCESS_S:
            problem = f"{seconds:.0f} s is longer than from Start to End, {between_s:.0f} s"
            raise InvalidInput("ElapsedRaw", problem)
        if seconds > between_s + CLOCK_JUMP_S:
            self._ledger.note(
                "ElapsedRaw of some jobs is up to two hours longer than from Start to End; they "
                "count as it says."
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
        self, row: Sequence[str], like: LikeJobs, seconds: float, start: float, end: float
    ) -> None:
        shares = split_by_month(start, end)
        for part in like.parts:
            hours = part.count * seconds / 3600
            for month, share in shares:
                use = part.uses.get(month)
                if use is None:
                    key = self._key(row, like.state, part.accelerator, month)
                    use = part.uses[month] = self._ledger.use_sums(key)
                use.add(None, hours * share, None, None)
            if end > start and not part.is_slice:
                mean = part.count * seconds / (end - start)
                self._ledger.hold(part.accelerator, start, end, mean)

    def _key(self, row: Sequence[str], state: str, kind: str, month: str) -> UseKey:
        user, account = clip(self._user(row)), clip(self._account(row))
        cluster, partition = clip(self._cluster(row)), clip(self._partition(row))
        project = self._options.projects.choose({}, account, user, partition)
        place = cluster or partition
        return UseKey(month, "", place, "", kind, "owned", project, account, user, state, "")


FORMAT = TextFormat("sacct", "Slurm accounting (sacct)", matches, read)
