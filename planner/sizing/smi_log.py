"""Reads a log of `nvidia-smi --query-gpu=… --format=csv`. PURE.

Columns may come in any order, with their units (`97 %`, `40960 MiB`) or without (`nounits`);
`[N/A]` and `[Not Supported]` are missing values. A header is needed (no `noheader`).
"""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pricing.invalid_input import InvalidInput

FIELD = "log"
MIB_PER_GIB = 1024.0
"""MiB in a GiB; definition (IEC 80000-13, 2008)."""
MAX_BROKEN_SHARE = 0.2
"""Share of lines that may not fit the header (a killed process cuts its last line); planning
value, 2026."""

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
    "clocks_throttle_reasons.active": "reasons",
    "clocks_event_reasons.active": "reasons",
}
ALLOWED = tuple(dict.fromkeys((*_WORDS, *_NUMBERS)))
"""Columns that are read; others are passed over."""
_MISSING = re.compile(r"^\[?(n/?a|not supported|unknown error|insufficient permissions|)\]?$", re.I)
_UNIT = re.compile(r"\s*(%|mib|w|mhz|c)$", re.I)
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


def read_log(text: str) -> SmiLog:
    """The log by GPU; refuses another format on `log`, naming the columns that are read.

    >>> log = read_log("index, utilization.gpu [%], memory.used [MiB]\\n0, 97 %, 40000 MiB\\n")
    >>> log.gpus[0].values["utilisation_percent"], log.gpus[0].values["memory_used_mib"]
    ([97.0], [40000.0])
    """
    rows = [row for row in csv.reader(text.splitlines(), skipinitialspace=True) if any(row)]
    columns = _columns(rows[0] if rows else [])
    gpus: dict[str, Series] = {}
    skipped = 0
    for row in rows[1:]:
        if _is_header(row):
            continue
        found = _parsed(row, columns)
        if found is None:
            skipped += 1
            continue
        words, numbers = found
        series = gpus.setdefault(words.get("gpu", "0"), Series(words.get("gpu", "0")))
        _append(series, words, numbers)
    _check(gpus, skipped, len(rows))
    return SmiLog(tuple(gpus.values()), skipped, "gpu" in columns)


def _columns(header: Sequence[str]) -> list[str]:
    """Our name of each column, "" for one that is passed over."""
    names = [_HEADER_UNIT.sub("", name.strip()).lower() for name in header]
    known = [_NUMBERS.get(name) or _WORDS.get(name) or "" for name in names]
    if "utilisation_percent" not in known:
        seen = ", ".join(name.strip() for name in header[:8]) or "an empty file"
        raise InvalidInput(
            FIELD,
            "is not a log of nvidia-smi --query-gpu=… --format=csv with its header and the "
            f"column utilization.gpu: found {seen}; allowed are the columns {', '.join(ALLOWED)}",
        )
    return _first_of_each(known)


def _first_of_each(known: Sequence[str]) -> list[str]:
    """The same with later columns of one meaning passed over (index and uuid: index)."""
    seen: set[str] = set()
    kept = []
    for name in known:
        kept.append("" if name in seen else name)
        seen.add(name)
    return kept


def _is_header(row: Sequence[str]) -> bool:
    return any(cell.strip().lower().startswith("utilization.gpu") for cell in row)


def _parsed(
    row: Sequence[str], columns: Sequence[str]
) -> tuple[dict[str, str], dict[str, float]] | None:
    """Words and numbers of one line, or None where it does not fit the header."""
    if len(row) != len(columns):
        return None
    words: dict[str, str] = {}
    numbers: dict[str, float] = {}
    for name, cell in zip(columns, row, strict=True):
        if name in _WORDS.values():
            words[name] = cell.strip()
        elif name:
            number = _number(cell)
            if number is None:
                return None
            numbers[name] = number
    return words, numbers


def _number(cell: str) -> float | None:
    """The value without its unit, NaN where it is missing, None where it is no number."""
    text = cell.strip()
    if _MISSING.match(text):
        return math.nan
    try:
        value = float(_UNIT.sub("", text))
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _append(series: Series, words: dict[str, str], numbers: dict[str, float]) -> None:
    series.name = series.name or words.get("name", "")
    series.times.append(_time(words.get("timestamp", "")))
    series.reasons.append(_mask(words.get("reasons", "")))
    for name, number in numbers.items():
        series.values.setdefault(name, []).append(number)


def _time(text: str) -> dt.datetime | None:
    for form in ("%Y/%m/%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S", "%Y-%m-%d %H:%M:%S"):
        try:
            return dt.datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def _mask(text: str) -> int | None:
    try:
        return int(text, 16) if text.lower().startswith("0x") else None
    except ValueError:
        return None


def _check(gpus: dict[str, Series], skipped: int, lines: int) -> None:
    if skipped > MAX_BROKEN_SHARE * max(1, lines - 1):
        raise InvalidInput(
            FIELD, f"{skipped} of {lines - 1} lines do not fit the header; allowed is one in five"
        )
    values = [v for s in gpus.values() for v in s.values["utilisation_percent"]]
    if not any(math.isfinite(v) for v in values):
        raise InvalidInput(FIELD, "holds no value of utilization.gpu; allowed are 0 to 100 %")
    worst = max(v for v in values if math.isfinite(v))
    if worst > 100:
        raise InvalidInput(FIELD, f"utilization.gpu of {worst:g} % is more than 100 %")


def samples(series: Series, name: str) -> Iterator[float]:
    """Values of one column that were not missing."""
    return (value for value in series.values.get(name, ()) if math.isfinite(value))
