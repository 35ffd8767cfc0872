"""What nvidia-smi and dcgmi show on a screen, as rows of a log: table, `-q`, `dcgmi dmon`. PURE."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pricing.common.invalid_input import InvalidInput

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
    "nvidia_smi_utilization_gpu_ratio": ("utilization.gpu", 100.0),
    "nvidia_smi_utilization_memory_ratio": ("utilization.memory", 100.0),
    "nvidia_smi_memory_used_bytes": ("memory.used", 2.0**-20),
    "nvidia_smi_memory_total_bytes": ("memory.total", 2.0**-20),
    "nvidia_smi_power_draw_watts": ("power.draw", 1.0),
    "nvidia_smi_enforced_power_limit_watts": ("power.limit", 1.0),
    "nvidia_smi_temperature_gpu": ("temperature.gpu", 1.0),
    "nvidia_smi_clocks_current_sm_clock_hz": ("clocks.sm", 1e-6),
    "nvidia_smi_clocks_max_sm_clock_hz": ("clocks.max.sm", 1e-6),
}
"""Metrics of NVIDIA's DCGM exporter and of the nvidia-smi exporter → column of the query, and the
factor to its unit (NVIDIA/dcgm-exporter default-counters.csv, utkuozdemir/nvidia_gpu_exporter,
2024). An engine that is active tells more than one that any kernel used, so it comes first."""
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
_LINE = re.compile(r"^([A-Za-z_:][A-Za-z0-9_:]*)\{([^}]*)\}\s+(\S+)(?:\s+(\d{9,14}))?\s*$")
_LABEL = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)\s*=\s*\"((?:[^\"\\]|\\.)*)\"")
_KNOWN = re.compile(r"\b(DCGM_FI_[A-Z]|nvidia_smi_[a-z])")


@dataclass
class _Gpu:
    """What was scraped of one GPU: by moment, or by turn where no moment is given."""

    host: str
    gpu: str
    name: str = ""
    samples: dict[tuple[float, int], dict[str, float]] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)


def is_prometheus(start: str) -> bool:
    """Whether a text begins like an exporter's, or like an answer of Prometheus."""
    return bool(_KNOWN.search(start)) and ("{" in start or "# HELP" in start or "# TYPE" in start)


def read_prometheus(text: str) -> list[list[str]]:
    """Header and a row for each GPU and moment.

    >>> read_prometheus('DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="a"} 97')[1][:4]
    ['', 'a', '0', '']
    """
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
        match = _LINE.match(line.strip())
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
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise InvalidInput("log", "is no answer of Prometheus to a query of a range") from error


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
