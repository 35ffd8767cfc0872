"""Every form in which the use of GPUs is logged, as the rows of one: nvidia-smi's own CSV. PURE.

Read are `nvidia-smi --query-gpu` with and without its header, `nvidia-smi dmon`, `nvidia-smi -q -x`
(XML, repeated), what nvidia-smi and dcgmi show on a screen (`shown_forms`), the text of DCGM's and
of the nvidia-smi exporter for Prometheus, and what Prometheus answers to a range query.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from planner.sizing.calibration.headless import first_values, guess_header, is_headless
from planner.sizing.calibration.prometheus_log import is_prometheus, read_prometheus
from planner.sizing.calibration.shown_forms import (
    is_dcgm,
    is_query,
    is_table,
    read_dcgm,
    read_query,
    read_table,
    shown_time,
)
from pricing.common.invalid_input import InvalidInput

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
_DECIMAL_COMMA = re.compile(r"^(\d+),(\d+)(?![\d,])")
_USE = (
    "log nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used --format=csv, or "
    "nvidia-smi dmon -o DT"
)
_NO_LOGS = (
    (
        re.compile(r"^#\s*(Date\s+Time\s+|Time\s+)?gpu\s+pid\s", re.I),
        f"is nvidia-smi pmon, which tells the shares of processes and not those of GPUs; {_USE}",
    ),
    (
        re.compile(
            r"^NVIDIA-SMI has failed|^Failed to initialize NVML|^No devices were found", re.I
        ),
        f"is nvidia-smi's message that it reached no GPU; where it does, {_USE}",
    ),
)
"""What nvidia-smi writes that tells nothing of GPUs → why it is refused."""
_XML_TIME = re.compile(r"<timestamp>([^<]*)</timestamp>")
_HOST = re.compile(r"<hostname>([^<]*)</hostname>")


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
    for is_form, read in _SHOWN_FORMS:
        if is_form(start):
            return read(text)
    _refuse_other(start)
    rows = _from_header(list(_csv(text)))
    return [_guessed(rows), *rows] if rows and is_headless(first_values(rows)) else rows


def _guessed(rows: list[list[str]]) -> list[str]:
    """The header that a log without one would have; refused where nothing tells which share is the
    use of a GPU."""
    names = guess_header(rows)
    if not is_header(names):
        raise InvalidInput(
            FIELD,
            "has no header, and nothing tells which of its shares in % is the use of a GPU, as one "
            "may be a fan's speed; log it with its header, or with utilization.gpu and, after it, "
            "utilization.memory as the only shares",
        )
    return names


def _from_header(rows: list[list[str]]) -> list[list[str]]:
    """Rows without what a terminal or a script wrote before the header."""
    if rows and is_headless(first_values(rows)):
        return rows
    places = (i for i, row in enumerate(rows[:PREAMBLE]) if is_header(row))
    return rows[next(places, 0) :]


def is_header(row: Sequence[str]) -> bool:
    """Whether a line names the columns."""
    return any(cell.strip().lower().startswith("utilization.gpu") for cell in row)


def _refuse_other(start: str) -> None:
    """Refuses what nvidia-smi writes that is no log of its GPUs, with what to do instead."""
    for pattern, words in _NO_LOGS:
        if pattern.search(start):
            raise InvalidInput(FIELD, words)


def _separator(text: str) -> str:
    """What parts the cells of the header, or of the first line: a spreadsheet may write semicolons
    or tabs."""
    lines = [line for line in text[:MAX_LINE].splitlines() if line.strip()]
    line = next((one for one in lines if "utilization.gpu" in one), lines[0] if lines else "")
    return max((",", ";", "\t"), key=line.count)


def _csv(text: str) -> Iterator[list[str]]:
    """Cells of each line that holds any; a stray quotation mark ends with its line, and what no
    log of a GPU has, a line or a cell too long, is shown by its beginning."""
    separator = _separator(text)
    for match in _LINE.finditer(text):
        line = match[0]
        row = [f"{line[:SHOWN]}…"]
        if len(line) <= MAX_LINE:
            with suppress(csv.Error):
                row = next(csv.reader((line,), delimiter=separator, skipinitialspace=True), [])
        if separator != ",":
            row = [_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in row]
        if any(len(cell) > MAX_CELL for cell in row):
            row = [f"{line[:SHOWN]}…"]
        if any(row):
            yield row


def _is_dmon(start: str) -> bool:
    first = next((line for line in start.splitlines() if line.strip()), "")
    words = first.lstrip("# ").lower().replace(",", " ").split()
    return first.startswith("#") and {"gpu", "sm"} <= set(words) and "pid" not in words


def _dmon(text: str) -> list[list[str]]:
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
        stamp = shown_time(moment[1].strip()) if moment else ""
        for part in log.split('<gpu id="')[1:]:
            block, end, _ = part.partition("</gpu>")
            if not end:
                continue
            cells = [_tag(block, paths) for paths in XML_TAGS.values()]
            cells += [_reason(block, name) for name in REASONS]
            rows.append([stamp, host[1].strip() if host else "", *cells])
    return rows


def _tag(block: str, paths: Sequence[str]) -> str:
    """Text of the first of the tags that is there, "N/A" where none is."""
    for path in paths:
        inner = block
        for name in path.split("/"):
            inner, end, _ = inner.partition(f"<{name}>")[2].partition(f"</{name}>")
            inner = inner if end else ""
        value = inner.strip()
        if value and "<" not in value and value.upper() != "N/A":
            return value
    return "N/A"


def _reason(block: str, name: str) -> str:
    match = re.search(rf"<clocks_(?:throttle|event)_reason_{name}>([^<]*)<", block)
    return match[1].strip() if match else "N/A"


_SHOWN_FORMS: tuple[tuple[Callable[[str], bool], Callable[[str], list[list[str]]]], ...] = (
    (_is_dmon, _dmon),
    (is_query, read_query),
    (is_table, read_table),
    (is_dcgm, read_dcgm),
)
"""Whether a text begins like a form, and what reads it."""
