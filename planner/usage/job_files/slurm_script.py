"""Batch scripts of Slurm. PURE."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from math import ceil

from planner.usage.job_files.facts import JobFacts, split_count
from planner.usage.machines import is_slice
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
    "w": "nodelist",
    "F": "nodefile",
}
_OF_JOB = ("gpus", "tres-per-job")
_OF_NODE = ("gpus-per-node", "gres", "tres-per-node")
_OF_TASK = ("gpus-per-task", "tres-per-task")
_COUNTS = (*_OF_JOB, *_OF_NODE, *_OF_TASK, "gpus-per-socket")
_GPUS = re.compile(r"(?:^|,)(?:gres[/:])?gpu(?:[:=]([^,(]*))?(?=[,(]|$)")
_IN_SCRIPT = {
    "a shell variable": re.compile(
        r"^\s*(?:export\s+)?(?:N?GPUS?_PER_NODE|NUM_GPUS)=(\d{1,4})\b", re.MULTILINE
    ),
    "the launcher": re.compile(r"--nproc[-_]per[-_]node[=\s]+(\d{1,4})\b"),
}
_TIME = re.compile(r"(?:(\d{1,5})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")
_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7})(?::(\d{1,5}))?)?")
MAX_TASKS = 1_000_000


def matches(text: str) -> bool:
    return bool(re.search(r"^#SBATCH\b", text, re.MULTILINE))


def read(text: str) -> JobFacts:
    """Accelerators of the job, its time limit and the tasks of its array."""
    facts = JobFacts("Slurm script")
    options: dict[str, str] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break  # Slurm reads no option below the first command
        if line.startswith("#SBATCH"):
            options |= _options(line.removeprefix("#SBATCH").strip())
    facts.name = options.get("job-name", "")
    facts.nodes = _nodes(options)
    facts.accelerators = _accelerators(options, facts, text)
    if re.search(r"^#SBATCH\s+(het|pack)job\b", text, re.MULTILINE):
        facts.ask_count("it has parts of different kinds")
    _read_time(options.get("time", ""), facts)
    _read_array(options.get("array", ""), facts)
    for key in ("constraint", "partition"):
        if not facts.accelerator and accelerators.find(options.get(key, "")):
            facts.accelerator = options[key]
            facts.note(f"The accelerator is read from the {key} {options[key]!r}.")
    return facts.settle()


def _options(text: str) -> dict[str, str]:
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if not word.startswith("-"):
            if name:
                options[name], name = word, ""
            continue
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
        else:
            name, value = _SHORT.get(word[1:2], word[1:2]), word[2:].removeprefix("=")
        options[name] = value or "yes"
        name = "" if value else name
    return options


def _accelerators(options: dict[str, str], facts: JobFacts, text: str) -> float | None:
    counts = {
        option: (_count(value, facts), _times(option, options))
        for option, value in _statements(options, facts)
    }
    totals = {
        option: each * times
        for option, (each, times) in counts.items()
        if each is not None and times is not None
    }
    if any(each is None for each, _ in counts.values()):
        return None
    facts.per_node = next((counts[option][0] for option in _OF_NODE if option in totals), None)
    if len(set(totals.values())) > 1:
        facts.per_node = None
        named = ", ".join(f"{total:g} by --{option}" for option, total in totals.items())
        facts.ask_count(f"its options state different counts: {named}")
        return None
    if totals:
        return next(iter(totals.values()))
    for option in counts:
        facts.ask_count(f"--{option} counts for each of a number that is not stated")
    if "exclusive" in options:
        facts.note("--exclusive takes whole nodes; how many accelerators they have is not stated.")
    for what, pattern in _IN_SCRIPT.items():
        match = pattern.search(text)
        if match and facts.nodes is not None and "peak_accelerators" not in facts.questions:
            facts.per_node = float(match[1])
            facts.note(f"{match[1]} accelerators a node are read from {what}: check them.")
            return facts.per_node * facts.nodes
    return None


def _statements(options: dict[str, str], facts: JobFacts) -> Iterator[tuple[str, str]]:
    for option in _COUNTS:
        text = options.get(option, "")
        value = text
        if not option.startswith("gpus"):
            value = ",".join(part.replace("=", ":") or "1" for part in _GPUS.findall(text))
        if value:
            yield option, value
        elif shared := re.search(r"\b(?:shard|mps)\b[^,]*", text):
            facts.ask_count(f"it takes a share of an accelerator ({shared[0][:40]})")


def _times(option: str, options: dict[str, str]) -> float | None:
    if option in _OF_JOB:
        return 1.0
    if option in _OF_NODE:
        is_open = "gpus" in options and not options.keys() & {"nodes", "nodelist", "nodefile"}
        return None if is_open else _nodes(options)
    if option == "gpus-per-socket":
        return None
    if "ntasks" in options:
        return _number(options["ntasks"])
    nodes, on_each = _nodes(options), _number(options.get("ntasks-per-node", "1"))
    return None if "gpus" in options or nodes is None or on_each is None else nodes * on_each


def _nodes(options: dict[str, str]) -> float | None:
    if "nodes" in options:
        return _number(options["nodes"])
    if options.keys() & {"nodelist", "nodefile"}:
        return None
    tasks, on_each = (_number(options.get(key, "")) for key in ("ntasks", "ntasks-per-node"))
    return float(ceil(tasks / on_each)) if tasks and on_each else 1.0


def _number(text: str) -> float | None:
    return float(text) if text.isdecimal() and len(text) < 8 else None


def _count(text: str, facts: JobFacts) -> float | None:
    total = 0.0
    for part in text.split(","):
        name, count = split_count(part)
        if count is None and ":" not in part and re.match(r"[^$]*[a-z]", name, re.IGNORECASE):
            count = 1.0
        if count is None:
            facts.ask_count(f"{part[:40]!r} is no number of accelerators")
            return None
        if name and is_slice(name):
            facts.take_slices(name, f"{count:g}")
        elif not name.startswith("$"):
            facts.name_kind(name)
        total += count
    return total


def _read_time(text: str, facts: JobFacts) -> None:
    match = _TIME.fullmatch(text)
    if match is None:
        if text:
            facts.ask("hours", f"the time limit {text[:40]!r} is no time")
        return
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part]
    units_s = (3600, 60, 1) if days or len(numbers) == 3 else (60, 1)
    seconds = sum(count * unit_s for count, unit_s in zip(numbers, units_s, strict=False))
    facts.hours = (int(days or 0) * 86_400 + seconds) / 3600 or None


def _read_array(text: str, facts: JobFacts) -> None:
    """Tasks of an array such as `0-15%4` or `1,3,5-9:2`, and how many of them go at once."""
    tasks, _, limit = text.partition("%")
    ranges = [_RANGE.fullmatch(part.strip()) for part in tasks.split(",")]
    count = 0
    for match in ranges if text else ():
        if match is None:
            facts.ask("runs", f"the array {text[:40]!r} is no list of tasks")
            return
        first, last, step = (int(number or 0) for number in match.groups())
        count += max(0, (last - first) // (step or 1) + 1) if match[2] else 1
    if count > MAX_TASKS or (text and not count):
        facts.ask("runs", f"the array {text[:40]!r} has {count:,} tasks")
    elif text:
        facts.set_runs(count, int(_number(limit) or 0) or None, "The array")
