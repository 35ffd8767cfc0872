"""Accounting of Slurm: `sacct` under its header, in columns of any width, or as `--json`. PURE.

Allocations count, steps do not. Accelerators are `gres/gpu=N` of AllocTRES where it is there,
else the sum of the typed ones; both are totals over all nodes. Hours are ElapsedRaw, else
Elapsed, else from Start to End; a job over the end of a month is split in proportion to its wall
time, in the cluster's own time.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, permutations
from operator import itemgetter
from typing import Any

from planner.usage.formats import LogFormat, ReadOptions
from planner.usage.job_files.configs import inner, items, within, word_of
from planner.usage.ledger import Ledger, Reason, UseKey, UseSums
from planner.usage.machines import is_slice, name_accelerator
from planner.usage.sources import Source
from planner.usage.tables import (
    Columns,
    Moments,
    clip,
    column_names,
    no_cell,
    read_table,
    split_by_month,
)
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

COMMAND = (
    "sacct -a -X -P --noconvert -S 2026-01-01 -E 2026-02-01 -T "
    "-o JobIDRaw,User,Account,Partition,State,Submit,Start,End,ElapsedRaw,NNodes,AllocTRES"
)
"""What to run for a log that is read whole."""
_STATES = frozenset(
    re.findall(
        r"\w+",
        "BOOT_FAIL CANCELLED COMPLETED COMPLETING DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PENDING "
        "PREEMPTED RUNNING REQUEUED RESIZING REVOKED SUSPENDED TIMEOUT",
    )
)
_NEVER = frozenset(("", "None", "Unknown", "N/A"))
_NAMES = frozenset(
    re.findall(
        r"\w+",
        "jobid jobidraw user account cluster partition qos state submit start end elapsed "
        "elapsedraw alloctres reqtres allocgres reqgres nnodes ncpus exitcode nodelist jobname "
        "timelimit",
    )
)
_JOB_ID = re.compile(r"\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?(?:\.[\w.+-]+)?", re.ASCII)
_MAX_LIKES = 50_000
MAX_SECONDS = 20 * 366 * 86_400
CLOCK_JUMP_S, MAX_EXCESS_S = 3_660, 7_200
"""By how much a job may be longer than its clock says: an hour that is set back, and twice that,
which is named."""


def matches(head: str) -> bool:
    """Whether the first lines are a header of sacct, or rows of it."""
    first, _, rest = head.partition("\n")
    names = re.findall(r"\w+", first.lower())
    if sum(name in _NAMES for name in names) >= 4:
        return "jobid" in names or "jobidraw" in names
    return _is_row(first.split("|")) and (not rest.strip() or "|" in rest)


def _is_row(cells: Sequence[str]) -> bool:
    is_job = bool(_JOB_ID.fullmatch(cells[0].strip()))
    return is_job and any(cell.split(" ")[0] in _STATES for cell in cells)


def read(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    cells = source.head.partition("\n")[0].rstrip("\r").split("|")
    if len(cells) == 1:
        table = read_table(source)
        reader, rows = _Reader(table.header, ledger, options), table.rows
    else:
        is_headless = _is_row(cells)
        fields = _guess_fields(source.head, ledger) if is_headless else cells
        reader = _Reader(fields, ledger, options)
        rows = map(reader.split, islice(source.lines(), not is_headless, None))
    for number, row in enumerate(rows, 2):
        if any(row):
            reader.read(row, number)


_CONTENTS = {
    name: re.compile(pattern, re.ASCII).fullmatch
    for name, pattern in (
        ("jobid", _JOB_ID.pattern),
        ("state", rf"(?:{'|'.join(sorted(_STATES))})\b.*"),
        ("time", r"\d{4}-\d\d-\d\dT[\d:]{8}|None|Unknown"),
        ("alloctres", r"(?:[\w/:.-]+=[\w.]+,?)*|(?:gpu:[\w:]+,?)*"),
        ("elapsed", r"(?:\d+-)?(?:\d+:)?\d\d:\d\d"),
        ("number", r"[\d.]*"),
        ("name", r"[A-Za-z_][\w.@+-]*|"),
    )
}
"""What cells of a column look like; the first that fits all of them holds."""


def _guess_fields(head: str, ledger: Ledger) -> list[str]:
    """Names of the columns of a log without its header, by what is in them: times are of submit,
    start and end, and an account is what most jobs of each of several users have in common."""
    rows = [line.rstrip("\r|").split("|") for line in head.split("\n")[:-1]]
    rows = [row for row in rows if len(row) == len(rows[0]) and "." not in row[0]]
    columns = list(zip(*rows, strict=True))
    fields = [
        next((name for name, fits in _CONTENTS.items() if all(map(fits, column))), "")
        for column in columns
    ]
    times = [place for place, name in enumerate(fields) if name == "time"]
    for place, name in zip(reversed(times), ("end", "start", "submit"), strict=False):
        fields[place] = name
    names = {place: cells for place, cells in enumerate(columns) if fields[place] == "name"}
    by_share = {
        (_share_of(names[user], names[account]), -account): account
        for user, account in permutations(names, 2)
        if len(rows) / 2 >= len({*names[user]}) > len({*names[account]}) > 1
    }
    if not by_share:
        raise InvalidInput("header", f"is missing; run: {COMMAND}")
    account = by_share[max(by_share)]
    fields[account] = "account"
    ledger.note(
        f"The log has no header: column {account + 1} ({columns[account][0]}) is read as Account."
    )
    return [name if fields.index(name) == place else "" for place, name in enumerate(fields)]


def _share_of(users: Sequence[str], accounts: Sequence[str]) -> float:
    """Share of jobs that are of the account of most jobs of their user, to a hundredth."""
    counts = Counter(zip(users, accounts, strict=True))
    most = {user: count for (user, _), count in reversed(counts.most_common())}
    return round(sum(most.values()) / len(users), 2)


# What `sacct --json` and the REST interface of Slurm write ------------------------------------

_JSON_FIELDS = (
    *("JobIDRaw", "User", "Account", "Cluster", "Partition", "State"),
    *("Submit", "Start", "End", "ElapsedRaw", "AllocTRES"),
)


def _read_json(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    reader = _Reader(_JSON_FIELDS, ledger, options)
    for number, job in enumerate(source.listed("jobs"), 1):
        reader.read(_row_of(job), number)
    ledger.note("Times of sacct --json are read in UTC.")


def _row_of(job: dict[str, Any]) -> list[str]:
    of, times, state = (
        inner(job, "association"),
        inner(job, "time"),
        within(job, "state", "current"),
    )
    moments = (_moment(times.get(name)) for name in ("submission", "start", "end"))
    tres = ",".join(
        "/".join(filter(None, (word_of(one.get("type")), word_of(one.get("name")))))
        + f"={_number(one.get('count')):.0f}"
        for one in items(job, "tres", "allocated")
    )
    elapsed = _number(times.get("elapsed"))
    return [
        f"{_number(job.get('job_id')):.0f}",
        *(word_of(of.get(name) or job.get(name)) for name in ("user", "account", "cluster")),
        word_of(job.get("partition")),
        word_of(state[0] if isinstance(state, list) and state else state),
        *moments,
        f"{elapsed:.0f}",
        tres,
    ]


def _number(value: Any) -> float:
    """A number as it stands, or as newer versions wrap it: `{"set": true, "number": 3}`."""
    value = value.get("number") if isinstance(value, dict) else value
    is_number = isinstance(value, int | float) and 0 <= value < 1e12
    return float(value) if is_number else 0.0


def _moment(value: Any) -> str:
    seconds = _number(value)
    return (
        f"{dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)}"
        if 0 < seconds < 7e9
        else "Unknown"
    )


class _LikeJobs:
    def __init__(self, state: str, tres: str, nodes: str) -> None:
        self.state = state.split(" ", 1)[0]
        self.problem: InvalidInput | None = None
        self.parts: tuple[tuple[str, int], ...] = ()
        """Accelerators by name."""
        self.uses: dict[tuple[str, str], UseSums] = {}
        """By accelerator and month."""
        self.project = ""
        """Whose hours they are."""
        try:
            times = int(nodes) if nodes.isdecimal() else 1
            self.parts = tuple((name, count * times) for name, count in read_tres(tres))
        except InvalidInput as refusal:
            self.problem = refusal


class _Reader:
    def __init__(self, fields: Sequence[str], ledger: Ledger, options: ReadOptions) -> None:
        self._count, self._ledger, self._options = len(fields), ledger, options
        columns, shared = Columns(fields), column_names("sacct", "kind")
        names = column_names("sacct", "row") | shared
        for name in ("job", "state", "tres", "start", "end"):
            if columns.find(*names[name]) is None:
                raise InvalidInput(f"column {names[name][0]}", f"is missing; run: {COMMAND}")
        self._get = {name: columns.getter(*those) for name, those in names.items()}
        if columns.find("alloctres", "allocgres", "reqtres") is not None:
            self._get["nodes"] = no_cell  # of each node is ReqGRES alone
        places = (columns.find(*those) for those in shared.values())
        self._shared = itemgetter(*(place for place in places if place is not None))
        self._likes: dict[object, _LikeJobs] = {}

    def split(self, line: str) -> list[str]:
        """A `|` within the last column belongs to it."""
        row = line.rstrip("\r\n").split("|", self._count - 1)
        if len(row) == self._count and row[-1].endswith("|") and "|" not in row[-1][:-1]:
            row[-1] = row[-1][:-1]
        return row if line.strip() else []

    def read(self, row: Sequence[str], number: int) -> None:
        try:
            if len(row) != self._count:
                problem = f"has {len(row)} cells under {self._count} columns"
                raise InvalidInput("", f"{problem}; a job's name may hold |: put JobName last")
            self._read(row)
        except InvalidInput as refusal:
            self._ledger.misread(f"row {number}", str(refusal))

    def _read(self, row: Sequence[str]) -> None:
        ledger, get = self._ledger, self._get
        job, number, ends = get["job"](row), get["id"](row), get["end"](row)
        if "." in number or "." in job:
            ledger.account(Reason.JOB_STEP)
            return
        like = self._like(row)
        if like.state not in _STATES:
            raise InvalidInput("State", f"{shorten(get['state'](row), 40)} is no state of a job")
        starts = get["start"](row)
        identity = (get["cluster"](row), number, job, get["submit"](row), starts)
        if ledger.repetition(identity, ()) is not None:
            self._add_rest(row, like, identity)
            ledger.account(Reason.DUPLICATE)
            return
        if starts in _NEVER:
            ledger.account(Reason.NEVER_RAN)
            return
        if like.problem is not None:
            raise InvalidInput(like.problem.field, like.problem.message)
        if not like.parts:
            ledger.account(Reason.NO_ACCELERATOR)
            return
        seconds = self._seconds(row)
        start = read_moment(starts, "Start")
        end = start + seconds if ends in _NEVER else read_moment(ends, "End")
        self._check_elapsed(ends, seconds, end - start)
        if ends in _NEVER:
            ledger.note("Jobs that still run count up to the moment of the query.")
            ledger.running[identity] = seconds
        self._add(row, like, seconds, start, end)
        for accelerator, count in like.parts if ends not in _NEVER else ():
            if not is_slice(accelerator):
                hours = count * seconds / 3600
                ledger.jobs[accelerator, like.project].add(count, hours, count)
        ledger.account(Reason.ACCELERATOR_USE)

    def _like(self, row: Sequence[str]) -> _LikeJobs:
        mark = self._shared(row)
        like = self._likes.get(mark)
        if like is None:
            if len(self._likes) >= _MAX_LIKES:
                self._likes.clear()
            like = self._likes[mark] = _LikeJobs(
                self._get["state"](row), self._get["tres"](row), self._get["nodes"](row)
            )
        return like

    def _add_rest(self, row: Sequence[str], like: _LikeJobs, identity: tuple[str, ...]) -> None:
        counted = self._ledger.running.get(identity)
        if counted is None:
            return
        seconds, start = self._seconds(row), read_moment(self._get["start"](row), "Start")
        ends = self._get["end"](row)
        if ends not in _NEVER:
            self._check_elapsed(ends, seconds, read_moment(ends, "End") - start)
        if seconds <= counted or not like.parts:
            return
        self._ledger.running[identity] = seconds
        self._add(row, like, seconds - counted, start + counted, start + seconds)
        self._ledger.note(
            "Jobs that still ran in one log and are in a later one too count once, as long as the "
            "longer of both says."
        )

    def _check_elapsed(self, ends: str, seconds: float, between_s: float) -> None:
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
        if raw := self._get["raw"](row):
            text = raw.strip()
            if not text.isdecimal() or len(text) > 12:
                raise InvalidInput("ElapsedRaw", f"{shorten(text, 40)} is no number of seconds")
            seconds = float(text)
        elif elapsed := self._get["elapsed"](row):
            seconds = elapsed_seconds(elapsed)
        else:
            ends = read_moment(self._get["end"](row), "End")
            seconds = ends - read_moment(self._get["start"](row), "Start")
        if seconds > MAX_SECONDS:
            raise InvalidInput("ElapsedRaw", f"{seconds:.0f} s is more than 20 years")
        return seconds

    def _add(
        self, row: Sequence[str], like: _LikeJobs, seconds: float, start: float, end: float
    ) -> None:
        shares, get = split_by_month(start, end), self._get
        for accelerator, count in like.parts:
            hours = count * seconds / 3600
            for month, share in shares:
                use = like.uses.get((accelerator, month))
                if use is None:
                    names = ("user", "account", "cluster", "partition")
                    user, account, cluster, partition = (clip(get[one](row)) for one in names)
                    project = self._options.projects.choose({}, account, user, partition)
                    place = cluster or partition
                    key = UseKey(
                        *(month, "", place, "", accelerator, "owned", project),
                        *(account, user, like.state),
                    )
                    use = like.uses[accelerator, month] = self._ledger.use_sums(key)
                    like.project = project or account
                use.add(None, hours * share, None, None)
            if end > start and not is_slice(accelerator):
                mean = count * seconds / (end - start)
                self._ledger.hold(accelerator, start, end, mean, like.project)


_GPUS = re.compile(
    r"(?:gres[/:])?gpu(?::(?P<kind>[^:=(]*[^:=(\d][^:=(]*))?(?:[:=](?P<count>[^(]*))?(?:\(.*\))?"
)
"""Of AllocTRES `gres/gpu:a100=4`, of AllocGRES `gpu:a100:4`."""


@lru_cache(maxsize=50_000)
def read_tres(text: str) -> tuple[tuple[str, int], ...]:
    """Accelerators by name in a list of trackable resources; what its types leave of all of them
    has no name.

    >>> read_tres("billing=32,gres/gpu:h100=12,gres/gpu=16,node=2")
    (('nvidia-h100-80gb-sxm', 12), ('', 4))
    >>> read_tres("cpu=2,gres/shard=4,gres/gpumem=80G"), read_tres("gpu:h100:2(S:0)")
    ((), (('nvidia-h100-80gb-sxm', 2),))
    """
    counts: dict[str, int] = {}
    for part in text.split(","):
        match = _GPUS.fullmatch(part)
        if match is None:
            continue
        value = match["count"] or "1"
        if not value.isdecimal() or len(value) > 6:
            raise InvalidInput("AllocTRES", f"{shorten(part, 40)} is no number of accelerators")
        name = f"gres/gpu:{match['kind']}" if match["kind"] else "gres/gpu"
        counts[name] = counts.get(name, 0) + int(value)
    return tuple((name, int(count)) for name, count in name_parts(counts))


def name_parts(resources: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Accelerators by name with what is theirs of `gres/gpu` and its types."""
    rest = resources.get("gres/gpu", 0)
    typed: dict[str, float] = {}
    for name, amount in resources.items():
        if kind := name.removeprefix("gres/gpu").removeprefix(":"):
            kind = kind.lower() if is_slice(kind) else name_accelerator(kind)
            typed[kind] = typed.get(kind, 0) + amount
            rest -= amount
    yield from ((kind, amount) for kind, amount in typed.items() if amount)
    if rest > 0:
        yield "", rest


# Times, by the cluster's own clock ---------------------------------------------------------

_ELAPSED = re.compile(r"(?:(?:(\d{1,5})-)?(\d{1,3}):)?(\d{2}):(\d{2})(?:\.\d+)?", re.ASCII)


@lru_cache(maxsize=50_000)
def elapsed_seconds(text: str) -> float:
    """Seconds of `[[D-]HH:]MM:SS`.

    >>> elapsed_seconds("10-13:27:06"), elapsed_seconds("10:30")
    (912426.0, 630.0)
    """
    match = _ELAPSED.fullmatch(text.strip())
    if match is None:
        raise InvalidInput("Elapsed", f"{shorten(text, 40)} is no time like 1-02:30:00")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


_MOMENTS = Moments(utc_only=False)


def read_moment(text: str, column: str) -> float:
    """Seconds since 1970, whatever the zone."""
    return _MOMENTS(text, column).seconds


TEXT = LogFormat("sacct", "Slurm accounting (sacct)", matches, read)
JSON = LogFormat(
    "sacct",
    "Slurm accounting (sacct --json)",
    lambda head: head.lstrip().startswith("{") and '"jobs"' in head and '"association"' in head,
    _read_json,
)
