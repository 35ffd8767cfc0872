"""Batch scripts of Slurm. PURE."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from planner.usage.job_files.facts import JobFacts, split_count
from planner.usage.machines import is_slice, name_accelerator
from pricing.market import accelerators

_SHORT = {
    "N": "nodes",
    "n": "ntasks",
    "G": "gpus",
    "t": "time",
    "J": "job-name",
    "p": "partition",
    "a": "array",
    "C": "constraint",
}
_VARIABLE = re.compile(r"^\s*(?:export\s+)?(?:N?GPUS?_PER_NODE|NUM_GPUS)=(\d{1,4})\b", re.MULTILINE)
_LAUNCHER = re.compile(r"--nproc[-_]per[-_]node[=\s]+(\d{1,4})\b")
_TIME = re.compile(r"(?:(\d{1,5})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")
_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7})(?::(\d{1,5}))?)?")
MAX_TASKS = 1_000_000


def matches(text: str) -> bool:
    return bool(re.search(r"^#SBATCH\b", text, re.MULTILINE))


def read(text: str) -> JobFacts:
    """Accelerators of all parts of the job, its time limit and the tasks of its array."""
    facts = JobFacts("Slurm script")
    parts = [options for options in _parts(text) if options]
    totals: list[float | None] = []
    for options in parts:
        totals.append(_read_part(options, facts, text))
    first = parts[0] if parts else {}
    facts.name = first.get("job-name", "")
    if len(parts) > 1:
        facts.per_node = facts.nodes = None
        facts.note(
            f"The job has {len(parts)} parts of different kinds; their accelerators are added."
        )
    facts.accelerators = None if None in totals else sum(one for one in totals if one is not None)
    _read_time(first.get("time", ""), facts)
    facts.runs = _count_tasks(first.get("array", ""), facts)
    for key in ("constraint", "partition"):
        if not facts.accelerator and accelerators.find(first.get(key, "")):
            facts.accelerator = first[key]
            facts.note(f"The accelerator is read from the {key} {first[key]!r}.")
    return facts.settle()


def _parts(text: str) -> Iterator[dict[str, str]]:
    """Options of each part of a heterogeneous job; one part for any other."""
    options: dict[str, str] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break  # Slurm reads no option below the first command
        if not line.startswith("#SBATCH"):
            continue
        rest = line.removeprefix("#SBATCH").strip()
        if rest in ("hetjob", "packjob"):
            yield options
            options = {}
            continue
        try:
            words = shlex.split(rest, comments=True)
        except ValueError:
            words = rest.split()
        options |= _options(words)
    yield options


def _options(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
        elif word.startswith("-") and len(word) > 1:
            name, value = _SHORT.get(word[1], word[1]), word[2:].removeprefix("=")
            sign = value
        else:
            continue
        if not sign and index < len(words) and not words[index].startswith("-"):
            value = words[index]
            index += 1
        options[name] = value or "yes"
    return options


def _read_part(options: dict[str, str], facts: JobFacts, text: str) -> float | None:
    """Accelerators of one part; None where they are not stated."""
    nodes = _whole(options.get("nodes", "1"), "nodes", facts)
    tasks = _whole(options["ntasks"], "ntasks", facts) if "ntasks" in options else None
    if tasks is None and "ntasks-per-node" in options and nodes is not None:
        each = _whole(options["ntasks-per-node"], "ntasks-per-node", facts)
        tasks = None if each is None else each * nodes
    facts.nodes = nodes
    if "gpus" in options:
        return _count(options["gpus"], facts)
    per_node = options.get("gpus-per-node") or _of_gres(options.get("gres", ""))
    if per_node:
        facts.per_node = _count(per_node, facts)
        if facts.per_node is None or nodes is None:
            return None
        return facts.per_node * nodes
    if "gpus-per-task" in options:
        each = _count(options["gpus-per-task"], facts)
        return None if each is None else each * (tasks if tasks is not None else nodes or 1)
    if "gpus-per-socket" in options:
        facts.ask("peak_accelerators", "it counts by socket, and sockets of a node are not stated")
        return None
    return _of_script(text, nodes, facts, "exclusive" in options)


def _of_gres(text: str) -> str:
    """All accelerators of a node, of one type or several: `gpu:a100:4,gpu:h100:2`."""
    parts = [part for part in text.split(",") if part.split(":")[0] == "gpu"]
    return ",".join(part.partition(":")[2] or "1" for part in parts)


def _of_script(text: str, nodes: float | None, facts: JobFacts, is_exclusive: bool) -> float | None:
    """Accelerators that only the body of the script names."""
    for pattern, what in ((_VARIABLE, "a shell variable"), (_LAUNCHER, "the launcher")):
        match = pattern.search(text)
        if match and nodes is not None:
            facts.per_node = float(match[1])
            facts.note(f"{match[1]} accelerators a node are read from {what}: check them.")
            return facts.per_node * nodes
    if is_exclusive:
        facts.note("--exclusive takes whole nodes; how many accelerators they have is not stated.")
    return None


def _count(text: str, facts: JobFacts) -> float | None:
    """A count with or without a type before it; several types are added."""
    total = 0.0
    for part in text.split(","):
        name, count = split_count(part)
        if name and count is None and not name.isdecimal():
            count = None if name.startswith("$") else 1.0
        if count is None:
            facts.ask("peak_accelerators", f"{part!r} is no number of accelerators")
            return None
        if name and is_slice(name):
            facts.ask("accelerator", f"it takes slices ({name})")
            facts.note(f"{count:g} slices {name}, not whole accelerators.")
        elif name and facts.accelerator not in ("", name_accelerator(name)):
            facts.ask("accelerator", f"it takes several kinds: {facts.accelerator} and {name}")
        elif name:
            facts.accelerator = name_accelerator(name)
        total += count
    return total


def _whole(text: str, what: str, facts: JobFacts) -> float | None:
    if text.isdecimal() and len(text) < 8:
        return float(text)
    facts.ask("peak_accelerators", f"{what} {text[:40]!r} is no one number")
    return None


def _read_time(text: str, facts: JobFacts) -> None:
    """`D-HH`, `D-HH:MM:SS`, `HH:MM:SS`, `MM:SS` or minutes."""
    match = _TIME.fullmatch(text)
    if match is None:
        if text:
            facts.ask("hours", f"the time limit {text[:40]!r} is no time")
        return
    days, first, second, third = (None if part is None else int(part) for part in match.groups())
    if days is not None:
        seconds = days * 86_400 + (first or 0) * 3600 + (second or 0) * 60 + (third or 0)
    elif third is not None:
        seconds = (first or 0) * 3600 + (second or 0) * 60 + third
    else:
        seconds = (first or 0) * 60 + (second or 0)
    facts.hours = seconds / 3600 if seconds else None


def _count_tasks(text: str, facts: JobFacts) -> int:
    """Tasks of an array such as `0-15%4` or `1,3,5-9:2`."""
    if not text:
        return 1
    count = 0
    for part in text.partition("%")[0].split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            facts.ask("runs", f"the array {text[:40]!r} is no list of tasks")
            return 1
        first, last, step = (int(one) if one else None for one in match.groups())
        count += 1 if last is None else max(0, (last - (first or 0)) // (step or 1) + 1)
    if not 0 < count <= MAX_TASKS:
        facts.ask("runs", f"the array {text[:40]!r} has {count:,} tasks")
        return 1
    facts.note(f"The array starts the job {count:,} times.")
    return count
