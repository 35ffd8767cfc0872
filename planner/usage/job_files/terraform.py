"""Terraform variables and resources: groups of machines and their counts. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planner.usage.job_files.facts import JobFacts
from planner.usage.machines import find_machine

# What is not closed lasts to its end, and what matched is not given back: a search that starts anew
# at every sign would take hours over a megabyte of them.
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|#[^\n]*|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_ASSIGNMENT = re.compile(
    r'(?:^|,)[^\S\n]*+"?([\w-]+)"?\s*+[=:]\s*+("[^"\n]*"|\[[^\]\n]*\]|[\w.$]+)', re.MULTILINE
)
_BLOCK = re.compile(r'^[^\S\n]*+(resource|variable|module)\s+"', re.MULTILINE)
_MACHINE_NAMES = ("instance_type", "instance_types", "machine_type", "vm_size", "size")
_COUNT_NAMES = (
    *("instance_count", "desired_size", "desired_capacity", "node_count", "num_nodes"),
    *("count", "target_size", "node_count_static"),
)
_MAXIMA = ("max_size", "max_count", "max_node_count", "node_count_dynamic_max")
_PROVIDERS = ("aws", "azure", "gcp")


def matches(text: str, name: str) -> bool:
    if name.endswith((".tf", ".tfvars", ".hcl")):
        return True
    return _BLOCK.search(text) is not None


def read(text: str) -> JobFacts:
    """Machines with accelerators that the file sets; commented lines set nothing."""
    facts = JobFacts("Terraform")
    plain = _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else "", text)
    total: float | None = 0.0
    for values in _blocks(plain):
        machine = _machine(values)
        if machine is None:
            continue
        name, provider, accelerator, each = machine
        count = _count(values, name, facts)
        facts.machine, facts.provider = name, provider
        facts.name_kind(accelerator)
        if count is None or each is None:
            total = None
        elif total is not None:
            total += count * each
            facts.per_node, facts.nodes = each, (facts.nodes or 0) + count
    facts.accelerators = total or None
    if not facts.machine:
        facts.note("No machine with accelerators is set in this file.")
    return facts.settle()


def _blocks(text: str) -> Iterator[dict[str, str]]:
    """Assignments of each block that holds no other block, and those outside of all."""
    stack: list[list[str]] = [[]]
    for part in re.split(r"([{}])", text):
        if part == "{":
            stack.append([])
        elif part == "}":
            if len(stack) > 1:
                yield _assignments("\n".join(stack.pop()))
        else:
            stack[-1].append(part)
    while stack:
        yield _assignments("\n".join(stack.pop()))


def _assignments(text: str) -> dict[str, str]:
    return {match[1]: match[2].strip('"') for match in _ASSIGNMENT.finditer(text)}


def _machine(values: dict[str, str]) -> tuple[str, str, str, float | None] | None:
    """Name, provider, slug and accelerators of a machine that has some."""
    for key in _MACHINE_NAMES:
        names = re.findall(r"[\w.-]+", values.get(key, ""))
        for name in names[:1]:
            for provider in _PROVIDERS:
                known = find_machine(provider, name)
                if known.accelerators != 0:
                    return name, provider, known.accelerator, known.accelerators
    return None


def _count(values: dict[str, str], machine: str, facts: JobFacts) -> float | None:
    for name in _COUNT_NAMES:
        text = values.get(name, "")
        if text.isdecimal() and len(text) < 7:
            return float(text)
    maximum = next((values[name] for name in _MAXIMA if name in values), "")
    if maximum:
        facts.note(f"At most {maximum[:20]} × {machine}: a limit of scaling is no use.")
    facts.ask("peak_accelerators", f"how many {machine} run is not stated")
    return None
