"""Every form in which the use of GPUs is logged, as the rows of one: nvidia-smi's own CSV. PURE.

Read are `nvidia-smi --query-gpu` with and without its header, `nvidia-smi dmon`, `nvidia-smi -q -x`
(XML, repeated), the text of DCGM's and of the nvidia-smi exporter for Prometheus, and what
Prometheus answers to a range query.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from planner.sizing.calibration.prometheus_log import is_prometheus, read_prometheus

SHOWN = 40
"""Characters of a value that a message shows; a choice of this project, 2026."""
MAX_LINE = 10_000
"""Characters of a line; all columns of nvidia-smi need under 3,000. A choice of this project,
2026."""
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
XML_TAGS = {
    "name": ("product_name",),
    "uuid": ("uuid",),
    "utilization.gpu": ("utilization/gpu_util",),
    "utilization.memory": ("utilization/memory_util",),
    "memory.used": ("fb_memory_usage/used",),
    "memory.total": ("fb_memory_usage/total",),
    "temperature.gpu": ("temperature/gpu_temp",),
    "power.draw": (
        "gpu_power_readings/average_power_draw",
        "gpu_power_readings/power_draw",
        "gpu_power_readings/instant_power_draw",
        "power_readings/power_draw",
    ),
    "power.limit": (
        "gpu_power_readings/current_power_limit",
        "power_readings/power_limit",
        "power_readings/enforced_power_limit",
    ),
    "clocks.sm": ("clocks/sm_clock",),
    "clocks.max.sm": ("max_clocks/sm_clock",),
}
"""Names of the query → tags of the XML within one GPU, by the drivers' versions 10 to 13."""
REASONS = (
    "sw_power_cap",
    "hw_slowdown",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
)
_LINE = re.compile(r"[^\r\n]+")
_STAMP = re.compile(r"^\d{4}[/-]\d\d[/-]\d\d[ T]")
_UUID = re.compile(r"^(GPU|MIG)-[0-9a-f-]{8,}", re.I)
_UNITS = {
    "%": ("utilization.gpu", "utilization.memory"),
    "mib": ("memory.used", "memory.total"),
    "w": ("power.draw", "power.limit"),
    "mhz": ("clocks.sm", "clocks.max.sm"),
}
_UNIT = re.compile(r"^-?[\d.]+ ?(%|mib|w|mhz)$", re.I)
_GPU_BLOCK = re.compile(r"<gpu id=\"([^\"]*)\">(.*?)</gpu>", re.S)
_XML_TIME = re.compile(r"<timestamp>\s*([^<]+?)\s*</timestamp>")
_HOST = re.compile(r"<hostname>\s*([^<]+?)\s*</hostname>")


def read_rows(text: str) -> list[list[str]]:
    """Header and rows of a log, whatever its form.

    >>> read_rows("# gpu   pwr    sm\\n# Idx     W     %\\n    0   631   100\\n")
    [['index', 'power.draw', 'utilization.gpu'], ['0', '631', '100']]
    """
    text = text.removeprefix("\ufeff").replace("\x00", "")
    start = text.lstrip()[:2000]
    if "<nvidia_smi_log" in start or start.startswith("<?xml"):
        return _xml(text)
    if is_prometheus(start):
        return read_prometheus(text)
    if _is_dmon(start):
        return _dmon(text)
    rows = list(_csv(text))
    return [_guess(rows), *rows] if rows and _is_headless(rows[0]) else rows


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


def _is_headless(row: Sequence[str]) -> bool:
    """Whether the first line is values: one of them a share in %, or a time beside memory."""
    return any(_unit(cell) == "%" for cell in row)


def _unit(cell: str) -> str:
    match = _UNIT.match(cell.strip())
    return match[1].lower() if match else ""


def _guess(rows: Sequence[Sequence[str]]) -> list[str]:
    """The header of a log without one: units tell what a column is, the first of each unit being
    the usual first of the query; of two amounts of memory the larger is the total."""
    first = rows[0]
    names = [_word(cell) for cell in first]
    for unit, wanted in _UNITS.items():
        places = [i for i, cell in enumerate(first) if _unit(cell) == unit]
        if unit == "mib":
            places.sort(key=lambda i: _largest(rows, i))
            places = [places[0], places[-1]] if len(places) > 1 else places
        for i, name in zip(places, wanted, strict=False):
            names[i] = name
    if "index" not in names:
        bare = [i for i, cell in enumerate(first) if not names[i] and cell.strip().isdigit()]
        small = [i for i in bare if _largest(rows, i) < 64]
        if small:
            names[small[0]] = "index"
    return [name or f"column {i}" for i, name in enumerate(names)]


def _word(cell: str) -> str:
    """What a cell of words is: a time, an id, a card's name; "" for a number or nothing."""
    text = cell.strip()
    if _STAMP.match(text):
        return "timestamp"
    if _UUID.match(text):
        return "uuid"
    is_card = re.search(r"nvidia|tesla|geforce|quadro|rtx|[ahlvbtp]\d", text, re.I)
    return "name" if is_card and not _unit(text) and not text.startswith("0x") else ""


def _largest(rows: Sequence[Sequence[str]], i: int) -> float:
    values = [_bare(row[i]) for row in rows if i < len(row)]
    return max(values, default=0.0)


def _bare(cell: str) -> float:
    match = re.match(r"\s*(\d{1,15}(?:\.\d{1,9})?)", cell)
    return float(match[1]) if match else 0.0


def _is_dmon(start: str) -> bool:
    first = next((line for line in start.splitlines() if line.strip()), "")
    words = first.lstrip("# ").lower().split()
    return first.startswith("#") and {"gpu", "sm"} <= set(words) and "pid" not in words


def _dmon(text: str) -> list[list[str]]:
    """Rows of `nvidia-smi dmon`, whose headers come again every page."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    header = [word.lower() for word in " ".join(lines[0]).lstrip("# ").split()]
    names = [DMON.get(word, f"column {i}") for i, word in enumerate(header)]
    is_timed = header[:2] == ["date", "time"]
    rows = [["timestamp", *names[2:]] if is_timed else names]
    for cells in lines[1:]:
        if cells[0].startswith("#"):
            continue
        row = ["N/A" if cell == "-" else cell for cell in cells]
        rows.append([_dmon_time(row), *row[2:]] if is_timed else row)
    return rows


def _dmon_time(row: Sequence[str]) -> str:
    day = row[0]
    if len(day) == 8 and day.isdigit():
        day = f"{day[:4]}-{day[4:6]}-{day[6:]}"
    return f"{day} {row[1] if len(row) > 1 else ''}"


def _xml(text: str) -> list[list[str]]:
    """A row for each GPU of each log; tags are looked up by their names, no document is built."""
    header = ["timestamp", "hostname", *XML_TAGS]
    header += [f"clocks_event_reasons.{name}" for name in REASONS]
    rows = [header]
    for log in text.split("<nvidia_smi_log")[1:]:
        moment = _XML_TIME.search(log)
        host = _HOST.search(log)
        stamp = _xml_time(moment[1]) if moment else ""
        for block in _GPU_BLOCK.finditer(log):
            cells = [_tag(block[2], paths) for paths in XML_TAGS.values()]
            cells += [_reason(block[2], name) for name in REASONS]
            rows.append([stamp, host[1] if host else "", *cells])
    return rows


def _tag(block: str, paths: Sequence[str]) -> str:
    """Text of the first of the tags that is there, "N/A" where none is."""
    for path in paths:
        inner = block
        for name in path.split("/"):
            match = re.search(rf"<{name}>(.*?)</{name}>", inner, re.S)
            inner = match[1] if match else ""
        value = inner.strip()
        if value and "<" not in value and value.upper() != "N/A":
            return value
    return "N/A"


def _reason(block: str, name: str) -> str:
    match = re.search(rf"<clocks_(?:throttle|event)_reason_{name}>\s*([^<]*)<", block)
    return match[1].strip() if match else "N/A"


def _xml_time(text: str) -> str:
    """`Fri Jan 27 11:32:31 2023` as ISO 8601; as it is where it is something else."""
    try:
        return dt.datetime.strptime(text, "%a %b %d %H:%M:%S %Y").isoformat(sep=" ")
    except ValueError:
        return text
