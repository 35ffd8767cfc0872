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
_VARIABLE = re.compile(r"^\s*(?:export\s+)?(?:N?GPUS?_PER_NODE|NUM_GPUS)=(\d{1,4})\b", re.MULTILINE)
_LAUNCHER = re.compile(r"--nproc[-_]per[-_]node[=\s]+(\d{1,4})\b")
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
        if not line.startswith("#SBATCH"):
            continue
        rest = line.removeprefix("#SBATCH").strip()
        try:
            words = shlex.split(rest, comments=True)
        except ValueError:
            words = rest.split()
        options |= _options(words)
    first = options
    facts.name = first.get("job-name", "")
    facts.accelerators = _read_part(first, facts, text)
    if re.search(r"^#SBATCH\s+(het|pack)job\b", text, re.MULTILINE):
        facts.ask_count("it has parts of different kinds")
    _read_time(first.get("time", ""), facts)
    _read_array(first.get("array", ""), facts)
    for key in ("constraint", "partition"):
        if not facts.accelerator and accelerators.find(first.get(key, "")):
            facts.accelerator = first[key]
            facts.note(f"The accelerator is read from the {key} {first[key]!r}.")
    return facts.settle()


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
    nodes = _nodes(options)
    facts.nodes = nodes if isinstance(nodes, float) else None
    totals: dict[str, float] = {}
    why_open = ""
    for option, value in _statements(options, facts):
        each = _count(value, facts)
        if each is None:
            return None
        times = _times(option, options)
        if isinstance(times, str):
            why_open = why_open or times
            continue
        totals[option] = each * times
        if option in _OF_NODE:
            facts.per_node = each
    if len(set(totals.values())) > 1:
        facts.per_node = None
        named = ", ".join(f"{total:g} by --{option}" for option, total in totals.items())
        facts.ask_count(f"its options state different counts: {named}")
        return None
    if totals:
        is_stated = options.keys() & {"gpus", *_NAMES_NODES}
        if not is_stated and _number(options.get("ntasks", "")) != 1.0:
            _note_one_node(options, totals, facts)
        return next(iter(totals.values()))
    if why_open or "peak_accelerators" in facts.questions:
        facts.ask_count(why_open)
        return None
    return _of_script(text, nodes, facts, "exclusive" in options)


_NAMES_NODES = {"nodes", "nodelist", "nodefile"}
_OF_NODE = ("gpus-per-node", "gres", "tres-per-node")


def _statements(options: dict[str, str], facts: JobFacts) -> Iterator[tuple[str, str]]:
    for option in ("gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"):
        if option in options:
            yield option, options[option]
    for option in ("gres", "tres-per-node", "tres-per-task", "tres-per-job"):
        text = re.sub(r"\bgres[/:]", "", options.get(option, ""))
        if option.startswith("tres"):
            text = text.replace("=", ":")
        parts = [part for part in text.split(",") if part.split(":")[0] == "gpu"]
        if value := ",".join(part.partition(":")[2].partition("(")[0] or "1" for part in parts):
            yield option, value
        elif shared := re.search(r"\b(?:shard|mps)\b[^,]*", text):
            facts.ask_count(f"it takes a share of an accelerator ({shared[0][:40]})")


def _times(option: str, options: dict[str, str]) -> float | str:
    if option in ("gpus", "tres-per-job"):
        return 1.0
    if option in _OF_NODE:
        if "gpus" in options and not options.keys() & _NAMES_NODES:
            return "nodes are not stated"
        return _nodes(options)
    if option == "gpus-per-socket":
        return "it counts by --gpus-per-socket, which leaves the number open"
    if "ntasks" in options:
        number = _number(options["ntasks"])
        return number if number is not None else _no_number("ntasks", options)
    if "gpus" in options:
        return "tasks are not stated"
    nodes = _nodes(options)
    if isinstance(nodes, str) or "ntasks-per-node" not in options:
        return nodes
    on_each = _number(options["ntasks-per-node"])
    return _no_number("ntasks-per-node", options) if on_each is None else on_each * nodes


def _nodes(options: dict[str, str]) -> float | str:
    if "nodes" in options:
        number = _number(options["nodes"])
        return number if number is not None else _no_number("nodes", options)
    if options.keys() & {"nodelist", "nodefile"}:
        return "how many hosts its list names is not counted; say --nodes"
    tasks, on_each = (_number(options.get(key, "")) for key in ("ntasks", "ntasks-per-node"))
    return float(ceil(tasks / on_each)) if tasks and on_each else 1.0


def _note_one_node(options: dict[str, str], totals: dict[str, float], facts: JobFacts) -> None:
    if "ntasks" in options and "ntasks-per-node" not in options and totals.keys() & set(_OF_NODE):
        facts.note(
            f"--nodes is not stated and counts as one, although {options['ntasks'][:20]} tasks may "
            "be spread over several."
        )


def _no_number(option: str, options: dict[str, str]) -> str:
    return f"{option} {options[option][:40]!r} is no one number"


def _number(text: str) -> float | None:
    return float(text) if text.isdecimal() and len(text) < 8 else None


def _of_script(text: str, nodes: float | str, facts: JobFacts, is_exclusive: bool) -> float | None:
    if isinstance(nodes, str):
        facts.ask_count(nodes)
        return None
    for pattern, what in ((_VARIABLE, "a shell variable"), (_LAUNCHER, "the launcher")):
        match = pattern.search(text)
        if match:
            facts.per_node = float(match[1])
            facts.note(f"{match[1]} accelerators a node are read from {what}: check them.")
            return facts.per_node * nodes
    if is_exclusive:
        facts.note("--exclusive takes whole nodes; how many accelerators they have is not stated.")
    return None


def _count(text: str, facts: JobFacts) -> float | None:
    total = 0.0
    for part in text.split(","):
        name, count = split_count(part)
        if name and count is None and ":" not in part and re.search(r"[a-z]", name, re.IGNORECASE):
            count = None if name.startswith("$") else 1.0
        if count is None:
            facts.ask_count(f"{part[:40]!r} is no number of accelerators")
            return None
        if name and is_slice(name):
            facts.take_slices(name, f"{count:g}")
        elif name and not name.startswith("$"):
            facts.name_kind(name)
        total += count
    return total


def _read_time(text: str, facts: JobFacts) -> None:
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


def _read_array(text: str, facts: JobFacts) -> None:
    """Tasks of an array such as `0-15%4` or `1,3,5-9:2`, and how many of them go at once."""
    if not text:
        return
    count = 0
    tasks, has_limit, limit = text.partition("%")
    for part in tasks.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            facts.ask("runs", f"the array {text[:40]!r} is no list of tasks")
            return
        first, last, step = (int(one) if one else None for one in match.groups())
        count += 1 if last is None else max(0, (last - (first or 0)) // (step or 1) + 1)
    if not 0 < count <= MAX_TASKS:
        facts.ask("runs", f"the array {text[:40]!r} has {count:,} tasks")
        return
    at_once = _number(limit)
    facts.set_runs(count, int(at_once) if has_limit and at_once else None, "The array")
