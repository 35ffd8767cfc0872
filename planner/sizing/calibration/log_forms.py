"""Every form in which the use of GPUs is logged, as the rows of one: nvidia-smi's own CSV. PURE.

Read are `nvidia-smi --query-gpu` with its header, `nvidia-smi dmon`, `dcgmi dmon`, the text of
DCGM's exporter for Prometheus, and what Prometheus answers to a range query.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pricing.common.invalid_input import InvalidInput

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
    if _is_dmon(start):
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


def _is_dmon(start: str) -> bool:
    first = next((line for line in start.splitlines() if line.strip()), "")
    words = first.lstrip("# ").lower().replace(",", " ").split()
    return first.startswith("#") and {"gpu", "sm"} <= set(words) and "pid" not in words


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
        rows.append([index, *_first_stated(values, rows[0][1:])])
    return rows


def _first_stated(values: list[str], names: list[str]) -> list[str]:
    # Not everyone may profile a GPU: where the engine's share is missing the driver's stands.
    same = (v for v, name in zip(values, names, strict=True) if name == names[0] and v != "N/A")
    return [next(same, values[0]), *values[1:]] if values else values


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
    """Header and a row for each GPU and moment."""
    gpus: dict[tuple[str, str], _Gpu] = {}
    values = _range(text) if text.lstrip().startswith("{") else _exposition(text)
    for metric, labels, value, moment in values:
        host, gpu = _host(labels), _gpu(labels)
        one = gpus.setdefault((host, gpu), _Gpu(host, gpu))
        one.name = one.name or labels.get("modelName", "") or labels.get("name", "")
        if metric in METRICS:
            _add(one, metric, value, moment)
    rows = [["timestamp", "hostname", "uuid", "name", *COLUMNS]]
    for one in gpus.values():
        rows += [_row(one, moment, seen) for (moment, _), seen in one.samples.items()]
    return rows


def _exposition(text: str) -> Iterator[tuple[str, Mapping[str, str], float, float]]:
    """Metric, labels, value and moment (0 where none is given) of each line."""
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


def _host(labels: Mapping[str, str]) -> str:
    names = ("Hostname", "hostname", "node", "exported_instance", "instance")
    return next((labels[name] for name in names if labels.get(name)), "")


def _gpu(labels: Mapping[str, str]) -> str:
    """A GPU's number or id, and that of its part where it is split (MIG)."""
    names = ("gpu", "UUID", "uuid", "device")
    gpu = next((labels[name] for name in names if labels.get(name)), "0")
    part = labels.get("GPU_I_ID", "")
    return f"{gpu}/{part}" if part else gpu


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
