"""The use of GPUs as Prometheus has it: exporters' text, and answers to range queries. PURE."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pricing.common.invalid_input import InvalidInput

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
            labels = {str(k): _written(str(v)) for k, v in series["metric"].items()}
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


def _written(text: str) -> str:
    """A label's text; raises UnicodeError, a ValueError, for half a character, which JSON can
    escape and no answer can hold."""
    return text.encode().decode()


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
