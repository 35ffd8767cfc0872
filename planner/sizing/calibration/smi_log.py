"""Reads a log of the use of GPUs in the form of `nvidia-smi --query-gpu=… --format=csv`. PURE.

Other forms become this one first (`log_forms.py`). Columns may come in any order, with their units
(`97 %`, `40960 MiB`) or without (`nounits`, which needs the header); `[N/A]`, `[Not Supported]` and
any other word in brackets are missing values. A column `hostname` keeps several hosts apart.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from planner.sizing.calibration.log_forms import FIELD, MAX_CELL, SHOWN, is_header, read_rows
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
        gpu = _gpu(words)
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
    _check_lines(lines, broken_lines, first_broken)
    _check(gpus)
    return SmiLog(tuple(gpus.values()), broken_lines, has_gpu_column, unread_times)


def _gpu(words: Mapping[str, str]) -> str:
    """A GPU's number or id, after its host where several may be in the log."""
    gpu, host = words.get("gpu", "0"), words.get("host", "")
    return f"{host} {gpu}" if host and not _MISSING.match(host) else gpu


def _columns(header: Sequence[str]) -> list[str]:
    """Our name of each column, "" for one that is passed over."""
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
    """Words and numbers of one line, or why it does not fit the header."""
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
            number = _number(cell)
            if number is None:
                return f"{cell.strip()[:SHOWN]!r} in {title.strip()}"
            numbers[name] = number
    return words, numbers


def _number(cell: str) -> float | None:
    """The value without its unit, NaN where it is missing, None where it is no number."""
    text = cell.strip()
    if _MISSING.match(text):
        return math.nan
    typed = _UNIT.sub("", text)
    value = -1.0 if number_problem(typed) else float(typed)
    return value if value >= 0 else None


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


def _check_lines(lines: int, broken_lines: int, first_broken: str) -> None:
    if broken_lines > MAX_BROKEN_SHARE * max(1, lines):
        raise InvalidInput(
            FIELD,
            f"{broken_lines} of {lines} lines do not fit the header (the first: {first_broken}); "
            "allowed is one in five; numbers are 0 or more, bare or in nvidia-smi's own units "
            "(%, MiB, W, C, MHz)",
        )


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
