"""Tasks of SkyPilot and dstack. PURE."""

from __future__ import annotations

import re
from typing import Any

from planner.usage.job_files.facts import JobFacts, split_count
from planner.usage.job_files.yaml_text import count_of, inner, word_of
from planner.usage.machines import find_machine

_HOURS = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
_DURATION = re.compile(r"(\d{1,7})\s*([smhdw])")
_CLOUDS = {"aws": "aws", "gcp": "gcp", "azure": "azure"}
_DSTACK_TYPES = ("task", "service", "dev-environment")


def is_skypilot(document: dict[str, Any]) -> bool:
    return "run" in document and isinstance(document.get("resources"), dict)


def read_skypilot(document: dict[str, Any]) -> JobFacts:
    """Nodes × accelerators of a task; how long it runs is never stated."""
    facts = JobFacts("SkyPilot task", name=word_of(document.get("name")))
    resources = inner(document, "resources")
    facts.nodes = count_of(document.get("num_nodes", 1))
    _read_service(inner(document, "service"), facts)
    _read_accelerators(resources.get("accelerators"), facts)
    place = word_of(resources.get("cloud")) or word_of(resources.get("infra")).partition("/")[0]
    facts.provider = _CLOUDS.get(place.lower(), "")
    facts.region = word_of(resources.get("region"))
    facts.machine = word_of(resources.get("instance_type"))
    if facts.machine and facts.per_node is None:
        known = find_machine(facts.provider or "aws", facts.machine)
        facts.per_node = known.accelerators or None
        facts.name_kind(known.accelerator)
    spot = resources.get("use_spot")
    facts.spot = spot if isinstance(spot, bool) else None
    return facts.settle()


def _read_service(service: dict[str, Any], facts: JobFacts) -> None:
    """Replicas of a service: as many as it always has; those that scale are asked for."""
    policy = inner(service, "replica_policy")
    low, high = policy.get("min_replicas"), policy.get("max_replicas")
    number = service.get("replicas", low)
    if not service or number is None:
        return
    replicas = count_of(number)
    if high is not None and high != low:
        facts.ask_count(f"it scales from {low} to {high} replicas: a limit is no use")
    elif replicas is None:
        facts.ask_count(f"the number of replicas is {str(number)[:40]!r}")
    elif facts.nodes is not None:
        facts.nodes *= replicas
        return
    facts.nodes = None


def _read_accelerators(value: Any, facts: JobFacts) -> None:
    """`H100:8`, `{H100: 8}`, or several to choose from, which is asked."""
    if isinstance(value, dict) and len(value) == 1:
        [(name, count)] = value.items()
        facts.accelerator, facts.per_node = str(name), count_of(count)
    elif isinstance(value, dict | list) and value:
        names = ", ".join(str(one)[:30] for one in list(value)[:6])
        facts.ask("accelerator", f"several may be chosen: {names}")
        facts.ask("peak_accelerators", "it depends on the accelerator that is chosen")
    elif word_of(value):
        name, count = split_count(word_of(value))
        facts.accelerator = name
        facts.per_node = 1.0 if count is None and ":" not in word_of(value) else count


def is_dstack(document: dict[str, Any]) -> bool:
    return document.get("type") in _DSTACK_TYPES


def read_dstack(document: dict[str, Any]) -> JobFacts:
    """Nodes × accelerators of a run; a range is asked for, a size of memory names none."""
    facts = JobFacts("dstack task", name=word_of(document.get("name")))
    replicas = document.get("replicas", 1) if document.get("type") == "service" else 1
    facts.nodes = count_of(document.get("nodes", replicas))
    gpu = inner(document, "resources").get("gpu")
    if isinstance(gpu, dict):
        name = gpu.get("name")
        facts.accelerator = word_of(name) if not isinstance(name, list) else ""
        facts.per_node = count_of(gpu.get("count", 1))
    elif gpu is not None:
        _read_gpu_text(str(gpu), facts)
    if gpu is not None and facts.per_node is None:
        facts.ask("peak_accelerators", f"the number of accelerators is {str(gpu)[:40]!r}")
    facts.hours = _duration(document.get("max_duration"))
    facts.spot = True if document.get("spot_policy") == "spot" else None
    return facts.settle()


def _read_gpu_text(text: str, facts: JobFacts) -> None:
    """`H100:80GB:8`, `24GB`, `8`, `1..8` or `A100:2..4`."""
    count: float | None = None
    is_range = False
    for part in (one.strip() for one in text.split(":")):
        if part.isdecimal():
            count = count_of(part)
        elif ".." in part and "B" not in part.upper():
            is_range = True
        elif re.fullmatch(r"[\d.]+\s*[GM]B(\.\.)?.*", part, re.IGNORECASE):
            facts.note(f"It wants {part} of memory for each accelerator, of any kind.")
            if facts.accelerator:
                facts.accelerator = f"{facts.accelerator} {part}"
        elif part and not is_range:
            facts.accelerator = part
    facts.per_node = None if is_range else 1.0 if count is None else count


def _duration(value: Any) -> float | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value / 3600
    match = _DURATION.fullmatch(word_of(value))
    return int(match[1]) * _HOURS[match[2]] if match else None
