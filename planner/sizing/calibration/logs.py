"""Reads logs of the use of GPUs, whatever their form, as the samples of each GPU. PURE.

Read are `nvidia-smi --query-gpu=… --format=csv` with its header, `nvidia-smi dmon`, `dcgmi dmon`,
the text of DCGM's exporter for Prometheus, and what it answers to a range query; the others
become rows of the first. Columns may come in any order, with their units (`97 %`, `40960 MiB`) or
without; `[N/A]`, `[Not Supported]` and any other word in brackets are missing values. A column
`hostname` keeps several hosts apart.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pricing.common.bounded import number_problem
from pricing.common.invalid_input import InvalidInput

MIB_PER_GIB = 1024.0
"""MiB in a GiB; definition (IEC 80000-13, 2008)."""
MAX_BROKEN_SHARE = 0.2
"""Share of lines that may not fit the header (a killed process cuts its last line); planning
value, 2026."""
MAX_GPUS = 1_024
"""GPUs of one log; a choice of this project, 2026."""

_NUMBERS = {
    "utilization.gpu": "utilisation_percent",
    "utilization.memory": "memory_activity_percent",
    "memory.used": "memory_used_mib",
    "memory.total": "memory_total_mib",
    "power.draw": "power_w",
    "power.draw.average": "power_w",
    "power.draw.instant": "power_w",
    "power.limit": "power_limit_w",
    "enforced.power.limit": "power_limit_w",
    "temperature.gpu": "temperature_c",
    "clocks.sm": "clock_mhz",
    "clocks.current.sm": "clock_mhz",
    "clocks.gr": "clock_mhz",
    "clocks.current.graphics": "clock_mhz",
    "clocks.max.sm": "clock_max_mhz",
    "clocks.max.gr": "clock_max_mhz",
    "clocks.max.graphics": "clock_max_mhz",
}
_WORDS = {
    "timestamp": "timestamp",
    "index": "gpu",
    "uuid": "gpu",
    "gpu_uuid": "gpu",
    "pci.bus_id": "gpu",
    "gpu_bus_id": "gpu",
    "name": "name",
    "gpu_name": "name",
    "hostname": "host",
    "host": "host",
    "node": "host",
    "clocks_throttle_reasons.active": "reasons",
    "clocks_event_reasons.active": "reasons",
}
_WORD_NAMES = set(_WORDS.values())
SHORT_COMMAND = (
    "nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used --format=csv -l 5"
)
"""What a refusal shows; pages and documents have one with every column that is read."""
_MISSING = re.compile(r"^(\[.*\]?|n/?a|not supported|unknown error|err!?|-|)$", re.I)
_UNIT = re.compile(r"\s*(%|mib|w|mhz|c)$", re.I)
_MASK = re.compile(r"^0x[0-9a-f]{1,16}$")
_EPOCH = re.compile(r"^\d{9,11}(\.\d+)?$")
_HEADER_UNIT = re.compile(r"\s*\[[^\]]*\]$")


@dataclass
class Series:
    """What was seen of one GPU, sample by sample; NaN where a value was missing."""

    gpu: str
    name: str = ""
    times: list[dt.datetime | None] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=dict)
    reasons: list[int | None] = field(default_factory=list)
    """Bit mask of why the clocks were held back, None where it was not logged."""


@dataclass(frozen=True)
class SmiLog:
    """Every GPU of the log, with what could not be read."""

    gpus: tuple[Series, ...]
    skipped_lines: int
    has_gpu_column: bool
    unread_times: int = 0
    """Lines whose timestamp is of no form that is read."""


def read_log(text: str) -> SmiLog:
    """The log by GPU; refuses another format on `log`, naming what was found."""
    rows = iter(read_rows(text))
    header = next(rows, [])
    columns = _columns(header)
    has_gpu_column = "gpu" in columns
    gpus: dict[str, Series] = {}
    first_broken = ""
    lines = broken_lines = unread_times = 0
    for row in rows:
        lines += 1
        if is_header(row):
            header, columns = row, _columns(row)
            has_gpu_column |= "gpu" in columns
            continue
        parsed = _parsed(row, columns, header)
        if isinstance(parsed, str):
            broken_lines += 1
            first_broken = first_broken or parsed
            continue
        words, numbers = parsed
        gpu, host = words.get("gpu", "0"), words.get("host", "")
        gpu = f"{host} {gpu}" if host and not _MISSING.match(host) else gpu
        if gpu not in gpus and len(gpus) >= MAX_GPUS:
            raise InvalidInput(
                FIELD, f"names more than {MAX_GPUS:,} GPUs; give a log for each cluster"
            )
        series = gpus.setdefault(gpu, Series(gpu))
        series.name = series.name or words.get("name", "")
        series.times.append(_time(words.get("timestamp", "")))
        mask = words.get("reasons", "").lower()
        series.reasons.append(int(mask, 16) if _MASK.match(mask) else None)
        for name in {**series.values, **numbers}:
            values = series.values.setdefault(name, [])
            values += [math.nan] * (len(series.times) - 1 - len(values))
            values.append(numbers.get(name, math.nan))
        unread_times += series.times[-1] is None and not _MISSING.match(words.get("timestamp", ""))
    if broken_lines > MAX_BROKEN_SHARE * max(1, lines):
        raise InvalidInput(
            FIELD,
            f"{broken_lines} of {lines} lines do not fit the header (the first: {first_broken}); "
            "allowed is one in five; numbers are 0 or more, bare or in nvidia-smi's own units "
            "(%, MiB, W, C, MHz)",
        )
    _check(gpus)
    return SmiLog(tuple(gpus.values()), broken_lines, has_gpu_column, unread_times)


def _columns(header: Sequence[str]) -> list[str]:
    names = [_HEADER_UNIT.sub("", name.strip()).lower() for name in header]
    known = [_NUMBERS.get(n) or _WORDS.get(n) or "" for n in names]
    if "utilisation_percent" not in known:
        seen = ", ".join(name.strip()[:SHOWN] for name in header[:8]) or "an empty file"
        is_log = any(known)
        wrong = "lacks the column utilization.gpu" if is_log else "is no log of nvidia-smi"
        others = "" if is_log else "; dmon, DCGM and Prometheus are read too"
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
    for name, cell, title in zip(columns, row, header, strict=True):
        if name and len(cell) > MAX_CELL:
            return f"a value of {len(cell):,} characters in {title.strip()}"
        if name in _WORD_NAMES:
            words[name] = cell.strip()
        elif name:
            text = _UNIT.sub("", cell.strip())
            number = math.nan
            if not _MISSING.match(cell.strip()):
                number = -1.0 if number_problem(text) else float(text)
            if number < 0:
                return f"{cell.strip()[:SHOWN]!r} in {title.strip()}"
            numbers[name] = number
    return words, numbers


def _time(text: str) -> dt.datetime | None:
    """nvidia-smi's 2026/11/20 10:00:00.123, ISO 8601, or seconds since 1970; UTC where a zone is
    given."""
    try:
        if _EPOCH.match(text):
            moment = dt.datetime.fromtimestamp(float(text), dt.UTC)
        else:
            moment = dt.datetime.fromisoformat(text.replace("/", "-"))
        return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None


def _check(gpus: Mapping[str, Series]) -> None:
    values = [v for s in gpus.values() for v in s.values["utilisation_percent"]]
    if not any(math.isfinite(v) for v in values):
        raise InvalidInput(
            FIELD,
            "holds no value of utilization.gpu; allowed are 0 to 100%; a GPU that is split (MIG) "
            "reports none to nvidia-smi: log dcgmi dmon -e 1001,252,155",
        )
    highest = max(v for v in values if math.isfinite(v))
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


Rows = list[list[str]]
FIELD = "log"
SHOWN = 40
"""Characters of a value that a message shows; a choice of this project, 2026."""
MAX_LINE = 10_000
"""Characters of a line; all columns of nvidia-smi need under 3,000. A choice of this project,
2026."""
PREAMBLE = 20
"""Lines of other text that may stand before the header; a choice of this project, 2026."""
MAX_CELL = 200
"""Characters of a cell; a choice of this project, 2026."""
DMON = {
    "gpu": "index",
    "pwr": "power.draw",
    "gtemp": "temperature.gpu",
    "sm": "utilization.gpu",
    "mem": "utilization.memory",
    "pclk": "clocks.sm",
    "fb": "memory.used",
}
"""Columns of `nvidia-smi dmon` by the names of the query."""
DCGM_FIELDS = {
    "GRACT": ("utilization.gpu", 100.0),
    "GPUTL": ("utilization.gpu", 1.0),
    "MCUTL": ("utilization.memory", 1.0),
    "FBUSD": ("memory.used", 1.0),
    "FBTTL": ("memory.total", 1.0),
    "POWER": ("power.draw", 1.0),
    "TMPTR": ("temperature.gpu", 1.0),
    "SMCLK": ("clocks.sm", 1.0),
}
"""Short names of `dcgmi dmon` → column of the query, and the factor to its unit; the share of time
in which the engine works stands before that in which any kernel ran (NVIDIA DCGM, dcgm_fields.cpp,
2024)."""
METRICS = {
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("utilization.gpu", 100.0),
    "DCGM_FI_DEV_GPU_UTIL": ("utilization.gpu", 1.0),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("utilization.memory", 1.0),
    "DCGM_FI_DEV_FB_USED": ("memory.used", 1.0),
    "DCGM_FI_DEV_FB_FREE": ("memory.free", 1.0),
    "DCGM_FI_DEV_FB_TOTAL": ("memory.total", 1.0),
    "DCGM_FI_DEV_POWER_USAGE": ("power.draw", 1.0),
    "DCGM_FI_DEV_POWER_MGMT_LIMIT": ("power.limit", 1.0),
    "DCGM_FI_DEV_GPU_TEMP": ("temperature.gpu", 1.0),
    "DCGM_FI_DEV_SM_CLOCK": ("clocks.sm", 1.0),
}
"""Metrics of NVIDIA's DCGM exporter → column of the query, and the factor to its unit
(NVIDIA/dcgm-exporter default-counters.csv, 2024). An engine that is active tells more than one that
any kernel used, so it comes first."""
COLUMNS = (
    "utilization.gpu",
    "utilization.memory",
    "memory.used",
    "memory.total",
    "power.draw",
    "power.limit",
    "temperature.gpu",
    "clocks.sm",
    "clocks.max.sm",
)
BLANK = 1e18
"""Values from which DCGM means nothing: 9223372036854775794 and its neighbours (NVIDIA DCGM
dcgm_structs.h, 2024)."""
_LINE = re.compile(r"[^\r\n]+")
_ENTITY = re.compile(r"^(GPU(?:-C?I)?) +(\d+)\s+(.*)$")
_METRIC = re.compile(r"^([A-Za-z_:][A-Za-z0-9_:]*)\{([^}]*)\}\s+(\S+)(?:\s+(\d{9,14}))?\s*$")
_LABEL = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)\s*=\s*\"((?:[^\"\\]|\\.)*)\"")
_KNOWN = re.compile(r"\bDCGM_FI_[A-Z]")


def read_rows(text: str) -> Rows:
    """Header and rows of a log, whatever its form.

    >>> read_rows("# gpu   pwr    sm\\n# Idx     W     %\\n    0   631   100\\n")
    [['index', 'power.draw', 'utilization.gpu'], ['0', '631', '100']]
    """
    text = text.removeprefix("\ufeff").replace("\x00", "")
    start = text.lstrip()[:2000]
    if _KNOWN.search(start) and any(mark in start for mark in ("{", "# HELP", "# TYPE")):
        return _prometheus(text)
    first = next((line for line in start.splitlines() if line.strip()), "")
    words = first.lstrip("# ").lower().replace(",", " ").split()
    if first.startswith("#") and {"gpu", "sm"} <= set(words) and "pid" not in words:
        return _dmon(text)
    if re.match(r"#\s*Entity\s", start):
        return _dcgmi(text)
    rows = list(_csv(text))
    places = (i for i, row in enumerate(rows[:PREAMBLE]) if is_header(row))
    return rows[next(places, 0) :]


def is_header(row: Sequence[str]) -> bool:
    """Whether a line names the columns."""
    return any(cell.strip().lower().startswith("utilization.gpu") for cell in row)


def _csv(text: str) -> Iterator[list[str]]:
    """Cells of each line that holds any; a stray quotation mark ends with its line, and what no
    log of a GPU has, a line or a cell too long, is shown by its beginning."""
    for match in _LINE.finditer(text):
        line = match[0]
        row = [f"{line[:SHOWN]}…"]
        if len(line) <= MAX_LINE:
            with suppress(csv.Error):
                row = next(csv.reader((line,), skipinitialspace=True), [])
        if any(len(cell) > MAX_CELL for cell in row):
            row = [f"{line[:SHOWN]}…"]
        if any(row):
            yield row


def _dmon(text: str) -> Rows:
    """Rows of `nvidia-smi dmon`, whose headers come again every page, parted by blanks or (with
    `--format csv`) commas."""
    lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    header = [word.lower() for word in " ".join(lines[0]).lstrip("# ").split()]
    names = [DMON.get(word, f"column {i}") for i, word in enumerate(header)]
    is_timed = header[:2] == ["date", "time"]
    rows = [["timestamp", *names[2:]] if is_timed else names]
    for cells in lines[1:]:
        if not cells or cells[0].startswith("#"):
            continue
        row = ["N/A" if cell == "-" else cell for cell in cells]
        if is_timed:
            day = re.sub(r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3", row[0])
            row = [" ".join((day, *row[1:2])), *row[2:]]
        rows.append(row)
    return rows


def _dcgmi(text: str) -> Rows:
    """Rows of `dcgmi dmon`, whose header comes again every page; parts of a split GPU (MIG) stand
    as GPU-I and GPU-CI."""
    header = next(line for line in text.splitlines() if line.strip()).lstrip("# ").split()[1:]
    fields = [DCGM_FIELDS.get(word, (f"column {i}", 1.0)) for i, word in enumerate(header)]
    order = sorted(range(len(fields)), key=lambda i: header[i] != "GRACT")
    rows = [["index", *(fields[i][0] for i in order)]]
    for line in text.splitlines():
        match = _ENTITY.match(line.strip())
        if match is None:
            continue
        cells = match[3].split()
        if len(cells) != len(fields):
            rows.append(cells)
            continue
        index = match[2] if match[1] == "GPU" else f"{match[1]} {match[2]}"
        values = [_scaled(cells[i], fields[i][1]) for i in order]
        names = rows[0][1:]
        # Not everyone may profile a GPU: where the engine's share is missing the driver's stands.
        same = (v for v, name in zip(values, names, strict=True) if name == names[0] and v != "N/A")
        rows.append([index, *([next(same, values[0]), *values[1:]] if values else values)])
    return rows


def _scaled(cell: str, factor: float) -> str:
    try:
        return f"{float(cell) * factor:.6g}"
    except ValueError:
        return cell


@dataclass
class _Gpu:
    """What was scraped of one GPU: by moment, or by turn where no moment is given."""

    host: str
    gpu: str
    name: str = ""
    samples: dict[tuple[float, int], dict[str, float]] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)


def _prometheus(text: str) -> Rows:
    gpus: dict[tuple[str, str], _Gpu] = {}
    values = _range(text) if text.lstrip().startswith("{") else _exposition(text)
    for metric, labels, value, moment in values:
        names = ("Hostname", "hostname", "node", "exported_instance", "instance")
        host = next((labels[name] for name in names if labels.get(name)), "")
        # A GPU's number or id, and that of its part where it is split (MIG).
        ids = ("gpu", "UUID", "uuid", "device")
        gpu, part = next((labels[n] for n in ids if labels.get(n)), "0"), labels.get("GPU_I_ID")
        gpu = f"{gpu}/{part}" if part else gpu
        one = gpus.setdefault((host, gpu), _Gpu(host, gpu))
        one.name = one.name or labels.get("modelName", "") or labels.get("name", "")
        if metric in METRICS:
            _add(one, metric, value, moment)
    rows = [["timestamp", "hostname", "uuid", "name", *COLUMNS]]
    for one in gpus.values():
        rows += [_row(one, moment, seen) for (moment, _), seen in one.samples.items()]
    return rows


def _exposition(text: str) -> Iterator[tuple[str, Mapping[str, str], float, float]]:
    for line in text.splitlines():
        match = _METRIC.match(line.strip())
        if match is None:
            continue
        stamp = float(match[4]) if match[4] else 0.0
        seconds = stamp / 1000 if stamp > 1e11 else stamp
        yield match[1], dict(_LABEL.findall(match[2])), _value(match[3]), seconds


def _range(text: str) -> Iterator[tuple[str, Mapping[str, str], float, float]]:
    """The same of an answer to a range query: one series, many values."""
    try:
        results = json.loads(text)["data"]["result"]
        for series in results:
            labels = {str(k): str(v).encode().decode() for k, v in series["metric"].items()}
            for moment, value in series.get("values") or [series["value"]]:
                yield labels.get("__name__", ""), labels, _value(str(value)), float(moment)
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as e:
        raise InvalidInput("log", "is no answer of Prometheus to a query of a range") from e


def _value(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and abs(value) < BLANK else math.nan


def _add(one: _Gpu, metric: str, value: float, moment: float) -> None:
    """A value to its moment; without one, the n-th value of a metric belongs to the n-th scrape."""
    turn = 0
    if not moment:
        turn = one.turns[metric] = one.turns.get(metric, -1) + 1
    column, factor = METRICS[metric]
    seen = one.samples.setdefault((moment, turn), {})
    is_better = metric == "DCGM_FI_PROF_GR_ENGINE_ACTIVE" and math.isfinite(value)
    if is_better or not math.isfinite(seen.get(column, math.nan)):
        seen[column] = value * factor


def _row(one: _Gpu, moment: float, seen: Mapping[str, float]) -> list[str]:
    values = dict(seen)
    if "memory.total" not in values and "memory.free" in values and "memory.used" in values:
        values["memory.total"] = values["memory.free"] + values["memory.used"]
    stamp = f"{moment:.0f}" if moment else ""
    numbers = [values.get(column, math.nan) for column in COLUMNS]
    cells = [f"{number:.6g}" if math.isfinite(number) else "N/A" for number in numbers]
    return [stamp, one.host, one.gpu, one.name, *cells]


MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
"""First bytes of a text → its encoding; PowerShell redirects into UTF-16 (Microsoft, about_Output
streams, 2024)."""


def decode_log(raw: bytes, field: str = "file") -> str:
    """The text of a log; refuses, on `field`, what is neither UTF-8 nor UTF-16."""
    encoding = next((name for mark, name in MARKS if raw.startswith(mark)), "")
    if not encoding and raw[1:2] == b"\x00":
        encoding = "utf-16-le"
    try:
        return raw.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(
            field, "is neither UTF-8 nor UTF-16 text; send the log that nvidia-smi wrote"
        ) from None
