"""Batch scripts of PBS, LSF, Grid Engine and Flux. PURE."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping

from planner.usage.job_files.facts import JobFacts
from planner.usage.machines import is_slice

_MARKS = {"#PBS": "PBS script", "#BSUB": "LSF script", "#$ ": "Grid Engine script"}
_FLUX = re.compile(r"^(?:#|//|--|;)\s?flux:", re.IGNORECASE | re.MULTILINE)
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{2})")
_LSF_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6})(?:/\S+)?")
_FLUX_TIME = re.compile(r"(\d{1,7}(?:\.\d+)?)([smhd]?)")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "": 60.0}
_ARRAY = re.compile(r"(\d{1,7})-(\d{1,7})(?::(\d{1,5}))?")
_TYPE_KEYS = ("gpu_model", "gpu_type", "gputype", "accelerator_model", "gpu_name")


def matches(text: str) -> bool:
    """Whether a line holds a directive of one of these schedulers."""
    marks = "|".join(re.escape(mark.strip()) for mark in _MARKS)
    return bool(re.search(rf"^(?:{marks})\s", text, re.MULTILINE) or _FLUX.search(text))


def read(text: str) -> JobFacts:
    """Accelerators of the job, its time limit and the tasks of its array."""
    if _FLUX.search(text):
        return _read_flux(_words(text, _FLUX))
    readers: Mapping[str, Callable[[list[str], JobFacts], None]] = {
        "#PBS": _read_pbs,
        "#BSUB": _read_lsf,
        "#$ ": _read_grid_engine,
    }
    mark = next(mark for mark in _MARKS if re.search(rf"^{re.escape(mark.strip())}\s", text, re.M))
    facts = JobFacts(_MARKS[mark])
    readers[mark](_words(text, re.compile(rf"^{re.escape(mark.strip())}(?=\s)", re.M)), facts)
    return facts.settle()


def _words(text: str, mark: re.Pattern[str]) -> list[str]:
    """Words of all directives, those before the first command alone."""
    words: list[str] = []
    for line in text.splitlines():
        if directive := mark.match(line):
            rest = line[directive.end() :]
            try:
                words += shlex.split(rest, comments=True)
            except ValueError:
                words += rest.split()
        elif line.strip() and not line.startswith(("#", "//", ";", "--")):
            break
    return words


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Name and value of each option; an option without a value has an empty one."""
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not word.startswith("-"):
            continue
        name, sign, value = word.lstrip("-").partition("=") if word.startswith("--") else (
            word[1:], "", "")  # fmt: skip
        if not sign and index < len(words) and not words[index].startswith("-"):
            value = words[index]
            index += 1
        yield name, value


def _count(text: str, what: str, facts: JobFacts) -> float | None:
    if text.isdecimal() and len(text) < 8:
        return float(text)
    facts.ask("peak_accelerators", f"{what} {text[:40]!r} is no one number")
    return None


def _clock_hours(text: str) -> float | None:
    """`H:M:S`, `M:S` or seconds."""
    if text.isdecimal() and len(text) < 10:
        return int(text) / 3600
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return hours + minutes / 60 + seconds / 3600


def _set_hours(hours: float | None, text: str, facts: JobFacts) -> None:
    if hours:
        facts.hours = hours
    else:
        facts.ask("hours", f"the time limit {text[:40]!r} is no time")


def _name_kind(name: str, facts: JobFacts) -> None:
    if name and is_slice(name):
        facts.take_slices(name, "some")
    elif name:
        facts.name_kind(name)


def _set_array(text: str, facts: JobFacts, limit: str = "") -> None:
    """Tasks of an array such as `1-10:2%4`, and how many of them go at once."""
    tasks, _, own_limit = text.partition("%")
    limit = own_limit or limit
    match = _ARRAY.fullmatch(tasks)
    if match is None:
        facts.ask("runs", f"the array {text[:40]!r} is no list of tasks")
        return
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1) or 1
    at_once = int(limit) if limit.isdecimal() and 0 < len(limit) < 8 else None
    facts.set_runs(max(1, (last - first) // step + 1), at_once, "The array")


def _read_pbs(words: list[str], facts: JobFacts) -> None:
    """`select=2:ngpus=4` of PBS Pro, `nodes=2:gpus=4` of Torque, or `ngpus=4` of the whole job."""
    for name, value in _options(words):
        if name == "N":
            facts.name = value
        elif name in ("J", "t"):
            _set_array(value, facts)
        elif name == "l":
            for part in value.split(","):
                key, _, rest = part.partition("=")
                if key in ("select", "nodes"):
                    facts.accelerators = _read_chunks(rest, facts)
                elif key in ("ngpus", "gpus") and facts.accelerators is None:
                    facts.accelerators = _count(rest, key, facts)
                elif key == "walltime":
                    _set_hours(_clock_hours(rest), rest, facts)
                elif key in _TYPE_KEYS:
                    _name_kind(rest, facts)


def _read_chunks(text: str, facts: JobFacts) -> float | None:
    """Chunks such as `2:ncpus=8:ngpus=4:gpu_model=a100+1:ncpus=4`."""
    total, nodes = 0.0, 0.0
    says = False
    for chunk in text.split("+"):
        first, *rest = chunk.split(":")
        number = float(first) if first.isdecimal() and len(first) < 8 else None
        if number is None and not first.isdecimal():
            number = 1.0 if "=" in first or first.isidentifier() else None
            rest = [first, *rest]
        if number is None:
            facts.ask("peak_accelerators", f"the chunks {text[:40]!r} are no number of nodes")
            return None
        nodes += number
        for part in rest:
            key, _, value = part.partition("=")
            if key in ("ngpus", "gpus"):
                says = True
                each = _count(value, key, facts)
                if each is None:
                    return None
                total += number * each
                facts.per_node = each
            elif key in _TYPE_KEYS:
                _name_kind(value, facts)
    facts.nodes = nodes
    return total if says else None


def _read_lsf(words: list[str], facts: JobFacts) -> None:
    """`-gpu "num=4"` counts those of a host, `num=1/task` those of a task."""
    values = dict(_options(words))
    wanted = " ".join(value for name, value in _options(words) if name == "R")
    facts.name, _, array = values.get("J", "").partition("[")
    if array:
        numbers, _, at_once = array.partition("]")
        _set_array(numbers, facts, at_once.strip().removeprefix("%"))
    if limit := values.get("W", ""):
        match = _LSF_CLOCK.fullmatch(limit)
        minutes = int(match[1] or 0) * 60 + int(match[2]) if match else 0
        _set_hours(minutes / 60, limit, facts)
    old = re.search(r"ngpus_(?:excl_p|shared|physical)\s*=\s*(\d{1,4})", wanted)
    gpu = values.get("gpu", "") or (f"num={old[1]}" if old else "")
    tasks = _count(values.get("n", "1"), "n", facts)
    if not gpu or not tasks:
        return
    span = re.search(r"span\[\s*ptile\s*=\s*(\d{1,5})", wanted)
    is_one_host = re.search(r"span\[\s*hosts\s*=\s*1\s*\]", wanted)
    on_a_host = float(span[1]) if span else tasks if is_one_host else 0.0
    _count_lsf(gpu, tasks, on_a_host, facts)


def _count_lsf(gpu: str, tasks: float, on_a_host: float, facts: JobFacts) -> None:
    parts = dict(part.partition("=")[::2] for part in gpu.split(":"))
    if size := parts.get("mig", ""):
        facts.take_slices(f"mig={size}", parts.get("num", "1"))
    if model := parts.get("gmodel", ""):
        _name_kind(model, facts)
    number, _, whose = parts.get("num", "1").partition("/")
    each = _count(number, "num", facts)
    if each is None:
        return
    if whose == "task":
        facts.accelerators = each * tasks
    elif tasks == 1 or on_a_host:
        facts.per_node, facts.nodes = each, -(-tasks // (on_a_host or 1))
    else:
        facts.ask(
            "peak_accelerators",
            f"{number} are for each host, and on how many hosts {tasks:.0f} tasks run is not "
            "stated (span)",
        )


def _read_grid_engine(words: list[str], facts: JobFacts) -> None:
    """`-l gpu=4`, of each slot where a parallel environment takes several."""
    values = dict(_options(words))
    facts.name = values.get("N", "")
    if array := values.get("t", ""):
        _set_array(array if "-" in array else f"{array}-{array}", facts, values.get("tc", ""))
    lists = ",".join(value for name, value in _options(words) if name == "l")
    resources = dict(part.partition("=")[::2] for part in lists.split(",") if part)
    for key in ("h_rt", "s_rt"):
        if key in resources and facts.hours is None:
            _set_hours(_clock_hours(resources[key]), resources[key], facts)
    kind = next((resources[key] for key in _TYPE_KEYS if key in resources), "")
    _name_kind(kind, facts)
    name = next((one for one in ("gpu", "gpus", "ngpus", "gpu_card") if one in resources), "")
    count = _count(resources[name], name, facts) if name else None
    if (slots := values.get("pe", "")) and count is not None:
        problem = f"{count:g} are asked for in a parallel environment ({slots[:30]})"
        facts.ask("peak_accelerators", f"{problem}: whether for each slot, the site decides")
    else:
        facts.accelerators = count


def _read_flux(words: list[str]) -> JobFacts:
    """Nodes × `--gpus-per-node`, or tasks × `--gpus-per-task`."""
    facts = JobFacts("Flux script")
    values: dict[str, str] = {}
    short = {"N": "nodes", "n": "ntasks", "g": "gpus-per-task", "t": "time-limit"}
    for name, value in _options(_split_short(words)):
        values[short.get(name, name)] = value
    facts.name = values.get("job-name", "")
    facts.nodes = _count(values["nodes"], "nodes", facts) if "nodes" in values else None
    if "gpus-per-node" in values:
        facts.per_node = _count(values["gpus-per-node"], "gpus-per-node", facts)
        facts.nodes = facts.nodes if facts.nodes is not None else 1.0
    elif "gpus-per-task" in values:
        each = _count(values["gpus-per-task"], "gpus-per-task", facts)
        tasks = _count(values.get("ntasks", "1"), "ntasks", facts)
        facts.accelerators = None if each is None or tasks is None else each * tasks
    if "time-limit" in values:
        match = _FLUX_TIME.fullmatch(values["time-limit"])
        seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
        _set_hours(seconds / 3600, values["time-limit"], facts)
    return facts.settle()


def _split_short(words: list[str]) -> list[str]:
    """`-N4` as `-N 4`."""
    split: list[str] = []
    for word in words:
        if re.fullmatch(r"-[A-Za-z]\S+", word):
            split += [word[:2], word[2:]]
        else:
            split.append(word)
    return split
