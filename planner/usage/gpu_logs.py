"""What a real run's log of its GPUs says about the plan. PURE.

Utilisation is the share of time in which any kernel ran (NVIDIA NVML API reference,
nvmlDeviceGetUtilizationRates, 2024): it bounds nothing but idleness and is not MFU.

Read are `nvidia-smi --query-gpu=… --format=csv` with its header, `nvidia-smi dmon` and
`dcgmi dmon`; the last two become rows of the first. Columns may come in any order, with their units
(`97 %`, `40960 MiB`) or without; `[N/A]`, `[Not Supported]` and any other word in brackets are
missing values. A column `hostname` keeps several hosts apart.
"""

from __future__ import annotations

import csv
import datetime as dt
import itertools
import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from planner.contract.accelerator_memory import usable_gib
from planner.contract.answer.estimate import CalibrationAnswer, GpuFigures, PlanChange
from pricing.common.bounded import number_problem
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows
from pricing.market.accelerators import all_accelerators, find, get

IDLE_PERCENT = 5.0
"""Utilisation below which the GPU counts as idle, %; planning value, 2026."""
GAP_FACTOR = 5.0
"""Intervals longer than this many usual ones are gaps, not time of the job; planning
value, 2026."""


def calibrate(text: str) -> CalibrationAnswer:
    """Use of every GPU in a log, and what it changes; refuses another format on `log`.

    >>> use = calibrate("index, utilization.gpu [%]\\n0, 50 %\\n0, 70 %\\n").gpus[0]
    >>> use.sustained_utilisation
    0.6
    """
    log = read_log(text)
    silent = [series.gpu for series in log.gpus if _most(series, "utilisation_percent") is None]
    gpus = tuple(_use(series) for series in log.gpus if series.gpu not in silent)
    return CalibrationAnswer(
        gpus=gpus, changes=suggest_changes(gpus, log, silent), skipped_lines=log.skipped_lines
    )


def _use(series: Series) -> GpuFigures:
    utilisation = list(samples(series, "utilisation_percent"))
    # From the first to the last sample that is not idle; all of them where all are.
    active = [i for i, u in enumerate(utilisation) if u >= IDLE_PERCENT]
    job = utilisation[active[0] : active[-1] + 1] if active else utilisation
    hours, gaps = _hours(series)
    peak, total = (
        None if mib is None else mib / MIB_PER_GIB
        for mib in (_most(series, "memory_used_mib"), _most(series, "memory_total_mib"))
    )
    known = find(series.name) if series.name else None
    total = total or (known.memory_gib if known else None)
    power = list(samples(series, "power_w"))
    return GpuFigures(
        gpu=series.gpu,
        name=series.name,
        accelerator=known.slug if known else None,
        samples=len(series.times),
        hours=hours,
        gap_hours=gaps,
        busy_share=sum(u >= IDLE_PERCENT for u in utilisation) / len(utilisation),
        sustained_utilisation=statistics.fmean(job) / 100,
        memory_peak_gib=peak,
        memory_total_gib=total,
        memory_headroom=max(0.0, 1 - peak / total) if peak is not None and total else None,
        power_mean_w=statistics.fmean(power) if power else None,
    )


def _hours(series: Series) -> tuple[float | None, float | None]:
    """Hours that the samples cover, and hours of gaps between them. The usual step is that
    between different seconds: several GPUs in one series repeat each."""
    times = sorted(t for t in series.times if t is not None)
    steps = _steps(times)
    if not steps:
        return None, None
    seconds = _steps(sorted({t.replace(microsecond=0) for t in times}))
    longest = GAP_FACTOR * max(statistics.median(seconds or steps), 1.0)
    gaps = sum(step for step in steps if step > longest)
    return (sum(steps) - gaps) / 3600, gaps / 3600


def _steps(times: Sequence[dt.datetime]) -> list[float]:
    return [(b - a).total_seconds() for a, b in itertools.pairwise(times)]


def _most(series: Series, name: str) -> float | None:
    return max(samples(series, name), default=None)


STARVED_SHARE = 0.7
"""Mean utilisation of a job below which its input is suspected, planning value, 2026."""
HALF = 0.5
"""Share of memory left free, or of the log idle, from which it is said; planning value, 2026."""


def suggest_changes(
    gpus: Sequence[GpuFigures], log: SmiLog, silent: Sequence[str]
) -> tuple[PlanChange, ...]:
    """Every change, GPU by GPU, those that say the same of several as one; then those of the log as
    a whole."""
    gpus_by_change: dict[tuple[str, str], list[str]] = {}
    for use in gpus:
        for change in _gpu_changes(use):
            gpus_by_change.setdefault(change, []).append(use.gpu)
    changes = []
    for (kind, message), names in gpus_by_change.items():
        named = f"GPU {names[0]}" if len(names) == 1 else f"GPUs {', '.join(names)}"
        if 1 < len(names) == len(gpus):
            named = f"{len(gpus)} GPUs"
        changes.append((kind, f"{named}: {message}"))
    changes += _together(gpus, log, silent)
    return tuple(PlanChange(kind=kind, message=message) for kind, message in changes)


Changes = Iterator[tuple[str, str]]
"""Kind and words of each."""


def _gpu_changes(use: GpuFigures) -> Changes:
    if use.busy_share <= 0:
        return
    if use.sustained_utilisation < STARVED_SHARE:
        yield (
            "smaller_card",
            f"utilisation of {use.sustained_utilisation:.0%}: find out what it waits for, or a "
            "slower, cheaper card would do",
        )
    free, peak = use.memory_headroom, use.memory_peak_gib
    if free is not None and peak and free >= HALF:
        yield (
            "smaller_card",
            f"at most {peak:.1f} GiB were used and {free:.0%} stayed free: {_smaller(use, peak)}",
        )


def _smaller(use: GpuFigures, peak_gib: float) -> str:
    vendor = get(use.accelerator).vendor if use.accelerator else None
    fitting = [
        one
        for one in all_accelerators()
        if one.memory_gib < (use.memory_total_gib or 0.0) * 0.95
        and usable_gib(one) >= peak_gib
        and not one.retired
        and one.accelerator_class == "data_center"
        and one.bf16_tflops
        and vendor in (None, one.vendor)
    ]
    names = [one.name for one in sorted(fitting, key=lambda one: one.memory_gib)[:3]]
    return f"smaller cards such as {', '.join(names)} hold it" if names else "no smaller card does"


def _together(gpus: Sequence[GpuFigures], log: SmiLog, silent: Sequence[str]) -> Changes:
    idle = ", ".join(use.gpu for use in gpus if use.busy_share < HALF)
    if idle:
        yield (
            "idle",
            f"GPU {idle}: idle for more than half of the log, so logged hours are not all work",
        )
    gap = max((use.gap_hours or 0.0 for use in gpus), default=0.0)
    notes = {
        f"{gap:.2f} h of gaps in the log are not counted": gap > 0,
        f"{log.skipped_lines} lines did not fit the header and were left out": log.skipped_lines,
        f"unreadable timestamps: {log.unread_times} (known are forms such as 2026/11/20 "
        "10:00:00.123 or 2026-11-20T10:00:00Z); hours and gaps leave them out": log.unread_times,
        f"GPU {', '.join(silent)}: no utilisation was logged": silent,
        "no column index or uuid: the lines were taken for one GPU": not log.has_gpu_column,
    }
    yield from (("log", words) for words, holds in notes.items() if holds)


MIB_PER_GIB = 1024.0
"""MiB in a GiB; definition (IEC 80000-13, 2008)."""
MAX_BROKEN_SHARE = 0.2
"""Share of lines that may not fit the header, such as a last one that was cut off; planning
value, 2026."""
MAX_GPUS = 1_024
"""GPUs of one log; a choice of this project, 2026."""
MAX_LINE, MAX_CELL, SHOWN = 10_000, 200, 40
"""Characters of a line (all columns of nvidia-smi need under 3,000), of a cell, and of a value that
a message shows; choices of this project, 2026."""
PREAMBLE = 20
"""Lines of other text that may stand before the header; a choice of this project, 2026."""
FIELD = "log"

TEXTS = {"timestamp", "gpu", "name", "host", "pod", "namespace", "metric"}
"""What holds no number."""
UTILISATION = ("dcgm_fi_dev_gpu_util", "dcgm_fi_prof_gr_engine_active")
"""Metrics that are read of a log with one a row."""


@cache
def _known_columns() -> dict[str, tuple[str, float]]:
    """Column of the query, or its short name in dmon → what it holds, and the factor to its unit.
    Of dcgmi `GRACT` is the share of time in which the engine works, `GPUTL` that in which any
    kernel ran."""
    rows = read_rows(Path(__file__).with_name("gpu_log_columns.csv"))
    return {row["column"]: (row["holds"], float(row["factor"])) for row in rows}


SHORT_COMMAND = (
    "nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used --format=csv -l 5"
)
"""What a refusal shows; pages and documents have one with every column that is read."""
LOG_COMMAND = (
    "log with nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu --format=csv -l 60"
)
"""What refuses a log whose hours are not known."""
_MISSING = re.compile(r"^(\[.*\]?|n/?a|not supported|unknown error|err!?|-|)$", re.I)
_UNIT = re.compile(r"\s*(%|mib|w|mhz|c)$", re.I)
_EPOCH = re.compile(r"^(\d{9,11})(\d{3})?(\.\d+)?$")
_HEADER_UNIT = re.compile(r"\s*\[[^\]]*\]$")
_LINE = re.compile(r"[^\r\n]+")
_ENTITY = re.compile(r"^(GPU(?:-C?I)?) +(\d+)\s+(.*)$")


@dataclass
class Series:
    """What was seen of one GPU, sample by sample; NaN where a value was missing."""

    gpu: str
    name: str = ""
    host: str = ""
    times: list[dt.datetime | None] = field(default_factory=list)
    holders: list[tuple[str, str]] = field(default_factory=list)
    """Namespace and pod that hold it, empty where nothing does."""
    values: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class SmiLog:
    """Every GPU of the log, with what could not be read."""

    gpus: tuple[Series, ...]
    skipped_lines: int
    has_gpu_column: bool
    unread_times: int = 0
    """Lines whose timestamp is of no form that is read."""


def decode_log(raw: bytes, field: str = "file") -> str:
    """The text of a log; PowerShell redirects into UTF-16. Refuses what is neither it nor UTF-8."""
    is_wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return raw.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(
            field, "is neither UTF-8 nor UTF-16 text; send the log that nvidia-smi wrote"
        ) from None


def read_log(text: str) -> SmiLog:
    """The log by GPU; refuses another format on `log`, naming what was there."""
    rows = iter(_rows(text.replace("\x00", "")))
    header = next(rows, [])
    columns = _columns(header)
    has_gpu_column = "gpu" in columns
    gpus: dict[str, Series] = {}
    broken: list[str] = []
    lines = unread_times = 0
    for row in rows:
        lines += 1
        if _is_header(row):
            header, columns = row, _columns(row)
            has_gpu_column |= "gpu" in columns
            continue
        parsed = _parsed(row, columns, header)
        if isinstance(parsed, str):
            broken.append(parsed)
            continue
        words, numbers = parsed
        if words.get("metric", UTILISATION[0]).lower() not in UTILISATION:
            continue
        gpu, host = words.get("gpu", "0"), words.get("host", "")
        gpu = f"{host} {gpu}" if host and not _MISSING.match(host) else gpu
        if gpu not in gpus and len(gpus) >= MAX_GPUS:
            raise InvalidInput(
                FIELD, f"names more than {MAX_GPUS:,} GPUs; give a log for each cluster"
            )
        series = gpus.setdefault(gpu, Series(gpu, host=host))
        series.name = series.name or words.get("name", "")
        series.holders.append((words.get("namespace", ""), words.get("pod", "")))
        stamp = words.get("timestamp", "")
        series.times.append(read_time(stamp))
        for name in {**series.values, **numbers}:
            values = series.values.setdefault(name, [])
            values += [math.nan] * (len(series.times) - 1 - len(values))
            values.append(numbers.get(name, math.nan))
        unread_times += series.times[-1] is None and not _MISSING.match(stamp)
    if len(broken) > MAX_BROKEN_SHARE * max(1, lines):
        raise InvalidInput(
            FIELD,
            f"{len(broken)} of {lines} lines do not fit the header (the first: {broken[0]}); "
            "allowed is one in five; numbers are 0 or more, bare or in nvidia-smi's own units "
            "(%, MiB, W, C, MHz)",
        )
    _check(gpus)
    return SmiLog(tuple(gpus.values()), len(broken), has_gpu_column, unread_times)


def _rows(text: str) -> Iterator[list[str]]:
    first = next((line for line in text[:2000].splitlines() if line.strip()), "")
    words = first.lstrip("# ").lower().replace(",", " ").split()
    if first.startswith("#Entity"):
        return _dcgmi(text)
    if first.startswith("#") and {"gpu", "sm"} <= set(words) and "pid" not in words:
        return _dmon(text)
    rows = list(_csv(text))
    return iter(rows[next((i for i, row in enumerate(rows[:PREAMBLE]) if _is_header(row)), 0) :])


def _is_header(row: Sequence[str]) -> bool:
    names = {_HEADER_UNIT.sub("", cell.strip()).lower() for cell in row}
    if "utilization.gpu" in names:
        return True
    is_one_a_row = "value" in names and not names.isdisjoint(("__name__", "metric"))
    has_gpu = not names.isdisjoint(("gpu", "gpu_id", "uuid", "modelname"))
    return has_gpu and (is_one_a_row or not names.isdisjoint(UTILISATION))


def is_log(head: str) -> bool:
    """Whether a file begins as a log of nvidia-smi or DCGM does."""
    lines = [line for line in head[:20_000].splitlines() if line.strip()][:PREAMBLE]
    first = lines[0] if lines else ""
    words = set(first.lstrip("# ").lower().replace(",", " ").split())
    is_dmon = first.startswith("#") and {"gpu", "sm"} <= words and "pid" not in words
    return (
        is_dmon or first.startswith("#Entity") or any(_is_header(row) for row in map(_cut, lines))
    )


def _cut(line: str) -> list[str]:
    with suppress(csv.Error):
        sign = "\t" if "\t" in line else ","
        return next(csv.reader((line,), delimiter=sign, skipinitialspace=True), [])
    return []


def _csv(text: str) -> Iterator[list[str]]:
    """Cells of each line that holds any; a stray quotation mark ends with its line, and what no
    log of a GPU has, a line or a cell too long, is shown by its beginning."""
    for match in _LINE.finditer(text):
        line = match[0]
        row = [f"{line[:SHOWN]}…"]
        if len(line) <= MAX_LINE:
            row = _cut(line) or row
        if any(len(cell) > MAX_CELL for cell in row):
            row = [f"{line[:SHOWN]}…"]
        if any(row):
            yield row


def _dmon(text: str) -> Iterator[list[str]]:
    """Rows of `nvidia-smi dmon`, whose headers come again every page, parted by blanks or (with
    `--format csv`) commas."""
    lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    header = [word.lower() for word in " ".join(lines[0]).lstrip("# ").split()]
    columns = _known_columns()
    names = [columns.get(word, ("", 1.0))[0] for word in header]
    is_timed = header[:2] == ["date", "time"]
    yield ["timestamp", *names[2:]] if is_timed else names
    for cells in lines[1:]:
        if cells and not cells[0].startswith("#"):
            day = re.sub(r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3", cells[0])
            yield [" ".join((day, *cells[1:2])), *cells[2:]] if is_timed else cells


def _dcgmi(text: str) -> Iterator[list[str]]:
    """Rows of `dcgmi dmon`, whose header comes again every page; parts of a split GPU (MIG) stand
    as GPU-I and GPU-CI. Not everyone may profile a GPU: where the engine's share is missing the
    driver's stands."""
    header = next(line for line in text.splitlines() if line.strip()).lstrip("# ").split()[1:]
    columns = [_known_columns().get(word, ("", 1.0)) for word in header]
    names = list(dict.fromkeys(name for name, _ in columns if name))
    yield ["gpu", *names]
    for line in text.splitlines():
        match = _ENTITY.match(line.strip())
        if match is None:
            continue
        cells = match[3].split()
        values: dict[str, str] = {}
        for (name, factor), title, cell in zip(columns, header, cells, strict=False):
            with suppress(ValueError):
                number = f"{float(cell) * factor:.6g}"
                if name not in values or title == "GRACT":
                    values[name] = number
        index = match[2] if match[1] == "GPU" else f"{match[1]} {match[2]}"
        is_whole = len(cells) == len(columns)
        yield [index, *(values.get(name, "N/A") for name in names)] if is_whole else cells


def _columns(header: Sequence[str]) -> list[str]:
    names = [_HEADER_UNIT.sub("", name.strip()).lower() for name in header]
    columns = _known_columns()
    # dmon's are known already
    same = {holds: (holds, 1.0) for holds, _ in columns.values()}
    known = [(same | columns).get(name, ("", 1.0))[0] for name in names]
    if "utilisation_percent" not in known:
        seen = ", ".join(name.strip()[:SHOWN] for name in header[:8]) or "an empty file"
        is_log = any(known)
        wrong = "lacks the column utilization.gpu" if is_log else "is no log of nvidia-smi"
        others = "" if is_log else "; dmon of nvidia-smi and dcgmi is read too"
        raise InvalidInput(FIELD, f"{wrong}: found {seen}; log with {SHORT_COMMAND}{others}")
    # Later columns of one meaning are passed over (index and uuid: index).
    return ["" if name in known[:i] else name for i, name in enumerate(known)]


def _parsed(
    row: Sequence[str], columns: Sequence[str], header: Sequence[str]
) -> tuple[dict[str, str], dict[str, float]] | str:
    if len(row) != len(columns):
        return f"{len(row)} values for {len(columns)} columns"
    words: dict[str, str] = {}
    numbers: dict[str, float] = {}
    for name, cell, title in zip(columns, map(str.strip, row), header, strict=True):
        if name and len(cell) > MAX_CELL:
            return f"a value of {len(cell):,} characters in {title.strip()}"
        if name in TEXTS:
            words[name] = cell
        elif name:
            text = _UNIT.sub("", cell)
            numbers[name] = math.nan
            if not _MISSING.match(cell):
                numbers[name] = -1.0 if number_problem(text) else float(text)
            if numbers[name] < 0:
                return f"{cell[:SHOWN]!r} in {title.strip()}"
    return words, numbers


def read_time(text: str) -> dt.datetime | None:
    """nvidia-smi's 2026/11/20 10:00:00.123, ISO 8601, or seconds or thousandths since 1970; UTC
    where a zone is given."""
    try:
        if match := _EPOCH.match(text):
            moment = dt.datetime.fromtimestamp(float(text) / (1000 if match[2] else 1), dt.UTC)
        else:
            moment = dt.datetime.fromisoformat(text.replace("/", "-"))
        return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None


def _check(gpus: Mapping[str, Series]) -> None:
    highest = max(
        (v for series in gpus.values() for v in samples(series, "utilisation_percent")),
        default=math.nan,
    )
    if math.isnan(highest):
        raise InvalidInput(
            FIELD,
            "holds no value of utilization.gpu; allowed are 0 to 100%; a GPU that is split (MIG) "
            "reports none to nvidia-smi: log dcgmi dmon -e 1001,252,155",
        )
    if highest > 100:
        raise InvalidInput(
            FIELD, f"utilization.gpu of {highest:g}% is more than 100%; allowed are 0 to 100%"
        )
    for series in gpus.values():
        used = max(samples(series, "memory_used_mib"), default=0.0)
        total = max(samples(series, "memory_total_mib"), default=math.inf)
        if used > total > 0:
            raise InvalidInput(
                FIELD,
                f"memory.used of {used:,.0f} MiB is more than memory.total of {total:,.0f} MiB",
            )


def samples(series: Series, name: str) -> Iterator[float]:
    """Values of one column that were not missing."""
    return (value for value in series.values.get(name, ()) if math.isfinite(value))
