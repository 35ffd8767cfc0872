"""What nvidia-smi and dcgmi show on a screen, as rows of a log: table, `-q`, `dcgmi dmon`. PURE."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

Rows = list[list[str]]
_CLOCKS = ("Clocks Event Reasons", "Clocks Throttle Reasons")
QUERY_LINES = {
    "uuid": ((" ", "GPU UUID"),),
    "name": ((" ", "Product Name"),),
    "utilization.gpu": (("Utilization", "Gpu"), ("Utilization", "GPU")),
    "utilization.memory": (("Utilization", "Memory"),),
    "memory.used": (("FB Memory Usage", "Used"),),
    "memory.total": (("FB Memory Usage", "Total"),),
    "temperature.gpu": (("Temperature", "GPU Current Temp"),),
    "power.draw": (
        ("GPU Power Readings", "Average Power Draw"),
        ("GPU Power Readings", "Power Draw"),
        ("GPU Power Readings", "Instantaneous Power Draw"),
        ("Power Readings", "Power Draw"),
    ),
    "power.limit": (
        ("GPU Power Readings", "Current Power Limit"),
        ("Power Readings", "Power Limit"),
        ("Power Readings", "Enforced Power Limit"),
    ),
    "clocks.sm": (("Clocks", "SM"),),
    "clocks.max.sm": (("Max Clocks", "SM"),),
    "clocks_event_reasons.sw_power_cap": tuple((part, "SW Power Cap") for part in _CLOCKS),
    "clocks_event_reasons.hw_slowdown": tuple((part, "HW Slowdown") for part in _CLOCKS),
    "clocks_event_reasons.sw_thermal_slowdown": tuple(
        (part, "SW Thermal Slowdown") for part in _CLOCKS
    ),
    "clocks_event_reasons.hw_thermal_slowdown": tuple(
        (part, "HW Thermal Slowdown") for part in _CLOCKS
    ),
}
"""Names of the query → part and line of `nvidia-smi -q`, by the drivers' versions 450 to 570."""
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
_QUERY_GPU = re.compile(r"^GPU ([0-9A-Fa-f:.]+)\s*$")
_QUERY_TIME = re.compile(r"^Timestamp {0,99}: (.+)$", re.M)
_TABLE_TIME = re.compile(r"^[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}\s*$")
_PERSISTENCE = frozenset({"On", "Off", "N/A"})
_TABLE_VALUES = re.compile(
    r"^\|.*?(?<!\d)(\d{1,9})C\s+P\d+\s+(\d+|N/A)W? */ *(\d+|N/A)W?\s*\|"
    r"\s*(\d+)MiB */ *(\d+)MiB\s*\|\s*(\d+|N/A)%?\s"
)
_ENTITY = re.compile(r"^(GPU(?:-C?I)?) +(\d+)\s+(.*)$")


def is_query(start: str) -> bool:
    """Whether a text begins like `nvidia-smi -q`."""
    return "=NVSMI LOG=" in start


def is_table(start: str) -> bool:
    """Whether a text begins like nvidia-smi without arguments."""
    return "| NVIDIA-SMI " in start


def is_dcgm(start: str) -> bool:
    """Whether a text begins like `dcgmi dmon`."""
    return bool(re.match(r"#\s*Entity\s", start))


def read_query(text: str) -> Rows:
    """A row for each GPU of each log of `nvidia-smi -q`.

    >>> read_query("=NVSMI LOG=\\nGPU 0:1B:00.0\\n    Utilization\\n        Gpu    : 97 %")[1][1:4]
    ['0:1B:00.0', 'N/A', '97 %']
    """
    rows = [["timestamp", *QUERY_LINES]]
    for log in text.split("=NVSMI LOG=")[1:]:
        moment = _QUERY_TIME.search(log)
        stamp = shown_time(moment[1].strip()) if moment else ""
        rows += [[stamp, *cells] for cells in _queried_gpus(log)]
    return rows


def _queried_gpus(log: str) -> Iterator[list[str]]:
    bus, part = "", " "
    seen: dict[tuple[str, str], str] = {}
    for line in (*log.splitlines(), "GPU 0"):
        gpu = _QUERY_GPU.match(line)
        if gpu:
            if bus and seen:
                yield _queried(seen, bus)
            bus, part, seen = gpu[1], " ", {}
            continue
        name, colon, value = line.partition(":")
        if not bus or not name.strip():
            continue
        if not colon:
            part = name.strip()
        elif name.endswith(" "):
            is_own = len(name) - len(name.lstrip(" ")) <= len("    ")
            seen.setdefault((" " if is_own else part, name.strip()), value.strip())


def _queried(seen: dict[tuple[str, str], str], bus: str) -> list[str]:
    """Values of one GPU in the order of the names; its place on the bus where it names no id."""
    cells = []
    for name, places in QUERY_LINES.items():
        stated = (seen[place] for place in places if seen.get(place, "N/A") not in ("", "N/A"))
        cells.append(next(stated, bus if name == "uuid" else "N/A"))
    return cells


def read_table(text: str) -> Rows:
    """A row for each GPU of each table, as `nvidia-smi -l` writes them one after the other."""
    rows = [["timestamp", "index", "name", "temperature.gpu", "power.draw", "power.limit"]]
    rows[0] += ["memory.used", "memory.total", "utilization.gpu"]
    stamp = index = name = ""
    for line in text.splitlines():
        if _TABLE_TIME.match(line):
            stamp = shown_time(line.strip())
        index, name = _named_gpu(line) or (index, name)
        values = _TABLE_VALUES.match(line)
        if values and index:
            rows.append([stamp, index, name, *values.groups()])
            index = ""
    return rows


def _named_gpu(line: str) -> tuple[str, str] | None:
    """Number and name of the GPU in a table's line, which tells its persistence mode after them.

    >>> _named_gpu("|   0  NVIDIA H100 80GB HBM3          On  | 00000000:1B:00.0 Off |")
    ('0', 'NVIDIA H100 80GB HBM3')
    """
    before, cell, *after = line.split("|", 2) if line.startswith("|") else ("", "")
    words = cell.split()
    is_named = len(words) > 2 and words[0].isdecimal() and words[-1] in _PERSISTENCE
    return (words[0], " ".join(words[1:-1])) if is_named and after and not before else None


def read_dcgm(text: str) -> Rows:
    """Rows of `dcgmi dmon`, whose header comes again every page; parts of a split GPU (MIG) stand
    as GPU-I and GPU-CI.

    >>> read_dcgm("#Entity  GRACT  POWER\\nID           W\\nGPU 3    0.970  631.2")
    [['index', 'utilization.gpu', 'power.draw'], ['3', '97', '631.2']]
    """
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
    """The values with the first, where it is missing, as another column of its name states it: not
    everyone may profile a GPU.

    >>> _first_stated(["N/A", "97", "612"], ["utilization.gpu", "utilization.gpu", "power.draw"])
    ['97', '97', '612']
    """
    same = (v for v, name in zip(values, names, strict=True) if name == names[0] and v != "N/A")
    return [next(same, values[0]), *values[1:]] if values else values


def _scaled(cell: str, factor: float) -> str:
    try:
        return f"{float(cell) * factor:.6g}"
    except ValueError:
        return cell


def shown_time(text: str) -> str:
    """`Fri Jan 27 11:32:31 2023` as ISO 8601; as it is where it is something else.

    >>> shown_time("Fri Jan 27 11:32:31 2023")
    '2023-01-27 11:32:31'
    """
    try:
        return dt.datetime.strptime(text, "%a %b %d %H:%M:%S %Y").isoformat(sep=" ")
    except ValueError:
        return text
