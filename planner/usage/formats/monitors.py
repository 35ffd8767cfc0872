"""What monitors saw of accelerators: logs of nvidia-smi and DCGM, ranges of Prometheus, exports of
Grafana and W&B, allocations of OpenCost. PURE.

Hours are samples × the usual step between them; a missing sample and NaN are unknown, never 0;
values near 2^63 are blanks. Where a file names pods, an accelerator is in use while one holds it.
Where it names none, while it works, and in pauses of up to ten minutes between work.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from planner.usage.formats import LogFormat, ReadOptions
from planner.usage.gpu_logs import LOG_COMMAND, is_log, read_log, read_time
from planner.usage.job_files.configs import inner, items, within, word_of
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.machines import is_slice, name_accelerator
from planner.usage.sources import Source
from planner.usage.tables import Moments, Table, clip, money, quantity, split_by_month
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators

PAUSE_S = 600.0
"""Longest pause between work in which a job is taken to hold its accelerator; planning value,
2026."""
_BLANK = 9e18
_UTILISATION = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE")
_EXPORTER = re.compile(r"(nvidia-)?dcgm-exporter")
"""Pod of the exporter itself, where it is not told from the pod that holds the accelerator."""


class Sample(NamedTuple):
    time_s: float
    value: float | None
    """Utilisation as it is written; None where it is unknown."""


class Series(NamedTuple):
    """What was seen of an accelerator."""

    labels: Mapping[str, str]
    samples: Sequence[Sample]

    @property
    def pod(self) -> str:
        pod = self.labels.get("exported_pod") or self.labels.get("pod") or ""
        return "" if _EXPORTER.match(pod) else pod

    @property
    def metric(self) -> str:
        return self.labels.get("__name__", _UTILISATION[0])

    @property
    def gpu(self) -> tuple[str, ...]:
        names = ("UUID", "Hostname", "instance", "gpu", "device", "GPU_I_ID")
        return tuple(self.labels.get(name, "") for name in names)


def _add_up(all_series: Sequence[Series], ledger: Ledger, options: ReadOptions) -> None:
    step = _step(all_series)
    measured = ({one.gpu for one in all_series if one.metric == name} for name in _UTILISATION)
    of_both = set.intersection(*measured)
    names_pods = any(one.pod for one in all_series)
    times = defaultdict[tuple[str, ...], list[float]](list)
    for one in all_series:
        times[one.gpu] += [sample.time_s for sample in one.samples]
    for of_gpu in times.values():
        for before_s, after_s in itertools.pairwise(sorted(of_gpu)):
            if after_s - before_s > 1.5 * step:
                month = split_by_month(before_s, before_s)[0][0]
                ledger.monitor(month).unknown_hours += (after_s - before_s - step) / 3600
    for one in all_series:
        if one.metric == _UTILISATION[1] and one.gpu in of_both:
            ledger.account(Reason.DUPLICATE, len(one.samples))
        elif one.labels.get("GPU_I_ID") or is_slice(one.labels.get("GPU_I_PROFILE", "")):
            ledger.account(Reason.UNKNOWN_SAMPLE, len(one.samples))
        else:
            _add_series(one, step, names_pods, ledger, options)
    ledger.note(
        f"Samples every {step:g} s: hours are samples × step, and a missing sample is unknown."
    )


def _step(all_series: Sequence[Series]) -> float:
    times = ([sample.time_s for sample in one.samples] for one in all_series)
    pairs = itertools.chain.from_iterable(map(itertools.pairwise, times))
    gaps = [after - before for before, after in pairs if after > before]
    if not gaps:
        problem = "holds one moment of a monitor, which states no hours"
        raise InvalidInput("file", f"{problem}; query a range of Prometheus, or {LOG_COMMAND}")
    return round(statistics.median_low(gaps), 3)


def _add_series(
    series: Series, step: float, names_pods: bool, ledger: Ledger, options: ReadOptions
) -> None:
    labels, samples = series.labels, sorted(series.samples)
    accelerator = name_accelerator(labels.get("modelName", ""))
    space = _space(labels)
    host = labels.get("Hostname", "")
    project = options.projects.choose(options.projects.pick(labels) | {"namespace": space}, space)
    is_share = max((one.value or 0.0 for one in samples), default=0.0) <= 1.0
    full = 1.0 if is_share or "_PROF_" in series.metric else 100.0
    holds = [bool(series.pod)] * len(samples) if names_pods else _works(samples)
    for in_use, run in _runs(samples, holds, step):
        if in_use is None:
            ledger.account(Reason.UNKNOWN_SAMPLE, len(run))
            continue
        start, end = run[0].time_s, run[-1].time_s + step
        hours = len(run) * step / 3600
        for month, share in split_by_month(start, end):
            if not in_use:
                ledger.add_unused((month, host, Reason.IDLE.value), hours * share)
                continue
            place = (month, "", host, "", accelerator, "owned")
            ledger.use(UseKey(*place, project or space, space), None, hours * share, None, None)
            seen, values = ledger.monitor(month), [one.value or 0.0 for one in run]
            seen.hours += hours * share
            seen.busy_hours += hours * share * sum(one > 0 for one in values) / len(run)
            used = sum(min(one / full, 1.0) for one in values) / len(run)
            seen.utilised_hours += hours * share * used
        if in_use:
            count = hours * 3600 / (end - start)
            ledger.hold(accelerator, start, end, count, project or space)
        ledger.account(Reason.ACCELERATOR_USE if in_use else Reason.IDLE, len(run))


def _space(labels: Mapping[str, str]) -> str:
    return labels.get("exported_namespace") or labels.get("namespace") or ""


def _works(samples: Sequence[Sample]) -> list[bool]:
    """Whether each sample is of work or of a short pause between work."""
    busy = [index for index, one in enumerate(samples) if one.value]
    works = [False] * len(samples)
    for index in busy:
        works[index] = True
    for before, after in itertools.pairwise(busy):
        if samples[after].time_s - samples[before].time_s <= PAUSE_S:
            works[before:after] = [True] * (after - before)
    return works


def _runs(
    samples: Sequence[Sample], holds: Sequence[bool], step: float
) -> Iterator[tuple[bool | None, list[Sample]]]:
    """Samples in a row that are in use, idle or unknown (None), without a gap between them."""
    run: list[Sample] = []
    last: bool | None = None
    for one, in_use in zip(samples, holds, strict=True):
        state = None if one.value is None else in_use
        if run and (state is not last or one.time_s - run[-1].time_s > 1.5 * step):
            yield last, run
            run = []
        run.append(one)
        last = state
    if run:
        yield last, run


# Logs of nvidia-smi and DCGM ----------------------------------------------------------------


def _read_log(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    log, all_series = read_log(source.whole_text()), []
    for gpu in log.gpus:
        values = gpu.values["utilisation_percent"]
        samples = defaultdict[tuple[str, str], list[Sample]](list)
        for time, value, holder in zip(gpu.times, values, gpu.holders, strict=True):
            if time:
                samples[holder].append(Sample(_seconds(time), _known(value)))
        labels = {"gpu": gpu.gpu, "Hostname": gpu.host, "modelName": gpu.name}
        for (space, pod), own in samples.items():
            all_series.append(Series(labels | {"pod": pod, "namespace": space}, own))
    if not any(one.samples for one in all_series):
        raise InvalidInput("timestamp", f"is missing, so hours are not known; {LOG_COMMAND}")
    _add_up(all_series, ledger, options)
    for _ in range(log.skipped_lines):
        ledger.misread("a line", "does not fit the header")


def _seconds(moment: dt.datetime) -> float:
    return moment.replace(tzinfo=dt.UTC).timestamp()


def _known(value: float) -> float | None:
    return value if -1 < value < _BLANK else None


# Prometheus and Grafana ---------------------------------------------------------------------


def _read_series(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    document = source.document()
    data = inner(document, "data")
    if "resultType" in data and data["resultType"] != "matrix":
        raise InvalidInput("resultType", "is no range; ask query_range, not query")
    try:
        if counts := [one for one in data.get("result", ()) if _counts_held(one)]:
            _add_held(counts, ledger, options)
            return
        series = [*_matrix(data), *_frames(document), *_targets(document)]
    except InvalidInput:
        raise
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("data", "is no answer of Prometheus to query_range") from None
    for one in series:
        if one.metric not in _UTILISATION:
            problem = f"{one.metric[:60]!r} is not read; query {_UTILISATION[0]}"
            raise InvalidInput("__name__", problem)
    if not series:
        raise InvalidInput("file", f"holds no series that names a GPU; {LEGEND}")
    _add_up(series, ledger, options)


_HELD = re.compile(r"kube_pod_container_resource_(requests|limits)|.*gpu.*(alloc|request|held).*")
MAX_CHANGES = 0.2
"""Share of samples that may differ from the one before where a series without a name counts what is
held: utilisation differs in nearly each; planning value, 2026."""


def _counts_held(one: dict[str, Any]) -> bool:
    """Whether a series counts the accelerators that a pod or a namespace holds."""
    labels = one["metric"]
    if "__name__" in labels:
        is_other = "gpu" not in labels.get("resource", "gpu")
        return bool(_HELD.fullmatch(labels["__name__"])) and not is_other
    if not labels or any(map(labels.get, ("gpu", "UUID", "device"))):
        return False
    values = [_value(value) for _, value in one["values"]]
    changes = sum(before != after for before, after in itertools.pairwise(values))
    is_whole = all(value is not None and value % 1 == 0 for value in values)
    return is_whole and {*values} != {0.0} and changes <= MAX_CHANGES * len(values)


def _add_held(counts: Sequence[dict[str, Any]], ledger: Ledger, options: ReadOptions) -> None:
    """Samples of how many accelerators are held × step."""
    all_series = [Series(one["metric"], sorted(_samples(one["values"]))) for one in counts]
    step = _step(all_series)
    for labels, samples in all_series:
        own = [value for label, value in labels.items() if label != "__name__"]
        space = own[0] if len(own) == 1 else _space(labels)
        tags = options.projects.pick(labels) | {"namespace": space}
        project = options.projects.choose(tags, space) or space
        name = name_accelerator(labels.get("modelName", ""))
        for time_s, value in samples:
            if value:
                key = UseKey("", "", "", "", name, "owned", project, space)
                ledger.use_between(key, time_s, time_s + step, value * step / 3600)
            ledger.account(Reason.ACCELERATOR_USE if value else Reason.IDLE)
    ledger.note(f"Accelerators that pods hold, every {step:g} s: hours are their number × step.")


def _matrix(data: dict[str, Any]) -> Iterator[Series]:
    for one in data.get("result", ()):
        if not any(map(one["metric"].get, ("gpu", "UUID", "device"))):
            problem = "names no GPU, as a sum or a mean does; query without sum and avg"
            raise InvalidInput("metric", f"{problem}: {_UTILISATION[0]}")
        yield Series(one["metric"], _samples(one["values"]))


def _samples(pairs: Iterable[Any]) -> list[Sample]:
    samples = []
    for time, value in pairs:
        if (moment := read_time(str(time))) is None:
            raise InvalidInput("values", f"{str(time)[:40]!r} is no time in seconds")
        samples.append(Sample(_seconds(moment), _value(value)))
    return samples


def _value(value: Any) -> float | None:
    try:
        return _known(float(value))
    except (TypeError, ValueError):
        return None


_OTHER_METRIC = re.compile(
    r"mem|fb_|frame|temp|power|watt|energy|clock|fan|pcie|nvlink|xid|sm_occup|cpu|disk|network",
    re.IGNORECASE,
)
_IS_GPU = re.compile(r"gpu|dcgm|nvidia|accelerator|cuda", re.IGNORECASE)
_MODEL = re.compile(r"(?:NVIDIA|AMD)[\w -]+")
_LABEL = re.compile(r'(\w+)\s*[=:]\s*"([^"]*)"')
_TIME_COLUMNS = frozenset(("time", "timestamp", "_time", "_timestamp", "datetime", "date"))
LEGEND = "export the utilisation of GPUs with {{gpu}} and {{Hostname}} in the legend"


def _labels_of(name: str) -> dict[str, str] | None:
    """Labels of a series by its name; None where it is no utilisation of an accelerator."""
    labels = dict(_LABEL.findall(name))
    words = " ".join((name.partition("{")[0], labels.get("__name__", "")))
    if not _IS_GPU.search(name) or _OTHER_METRIC.search(words):
        return None
    labels.pop("__name__", None)
    named = (match[0] for match in _MODEL.finditer(name) if accelerators.find(match[0]))
    return {"gpu": name, "modelName": next(named, ""), **labels}


def _frames(document: Any) -> Iterator[Series]:
    answers = inner(document, "results").values()
    frames = [one for answer in answers for one in items(answer, "frames")]
    for frame in frames or items({"all": document}, "all"):
        columns = [one for one in inner(frame, "data").get("values", ()) if isinstance(one, list)]
        fields = [*zip(items(frame, "schema", "fields"), columns, strict=False)]
        times = [column for one, column in fields if one.get("type") == "time"]
        for one, column in fields:
            labels = ", ".join(f'{name}="{value}"' for name, value in inner(one, "labels").items())
            shown = inner(one, "config").get("displayNameFromDS") or one.get("name")
            known = _labels_of(f"{word_of(shown)}{{{labels}}}")
            if one.get("type") == "number" and known is not None:
                yield Series(known, _samples(zip(times[0], column, strict=False)))


def _targets(document: Any) -> Iterator[Series]:
    for one in items({"all": document}, "all"):
        known = _labels_of(word_of(one.get("target")))
        if known is not None and "datapoints" in one:
            yield Series(known, _samples((time, value) for value, time in one["datapoints"]))


SERIES_TABLE = "Table of GPU series (Grafana, W&B)"


def is_series_table(header: Sequence[str]) -> bool:
    """Whether a table has times, and series of accelerators as columns or one a row."""
    names = {name.lower() for name in header}
    is_one_a_row = {"metric", "value"} <= names
    return bool(names & _TIME_COLUMNS) and (is_one_a_row or any(map(_labels_of, header)))


def read_series_table(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    names = [name.lower() for name in table.header]
    when = next(place for place, name in enumerate(names) if name in _TIME_COLUMNS)
    metric = names.index("metric") if "metric" in names else None
    places = [place for place, name in enumerate(table.header) if _labels_of(name)]
    samples = defaultdict[str, list[Sample]](list)
    for number, row in enumerate(table.rows, table.first_row):
        moment = read_time(row[when])
        if moment is None:
            problem = "its time is not like 2026-01-31 08:00:00; export times unformatted"
            ledger.misread(f"row {number}, {row[when][:40]!r}", problem)
            continue
        cells = [(table.header[place], row[place]) for place in places]
        if metric is not None:
            cells = [(row[metric], row[names.index("value")])]
        for name, cell in cells:
            if text := cell.strip().removesuffix("%").strip().replace(",", "."):
                samples[name].append(Sample(_seconds(moment), _value(text)))
    known = ((_labels_of(name), own) for name, own in samples.items())
    series = [Series(labels, own) for labels, own in known if labels is not None]
    if series:
        _add_up(series, ledger, options)


# OpenCost ---------------------------------------------------------------------------------


def _read_opencost(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    document = source.document()
    sets = document.get("data") if isinstance(document, dict) else None
    if not isinstance(sets, list):
        raise InvalidInput("data", "is no list of allocations of OpenCost")
    moments = Moments()
    for window in sets:
        for name, allocation in (window or {}).items():
            try:
                _read_allocation(name, allocation, ledger, options, moments)
            except InvalidInput as refusal:
                ledger.misread(f"allocation {name[:60]}", str(refusal))
    ledger.note("OpenCost's costs are those of its price model, not of a bill.")


def _read_allocation(
    name: str, allocation: dict[str, Any], ledger: Ledger, options: ReadOptions, moments: Moments
) -> None:
    hours = quantity(str(allocation.get("gpuHours", 0)), "gpuHours")
    start = moments(str(allocation.get("start", "")), "start")
    end = moments(str(allocation.get("end", "")), "end")
    properties = allocation.get("properties") or {}
    space = clip(str(properties.get("namespace", "")))
    cluster = clip(str(properties.get("cluster", "")))
    if "__idle__" in name or "__unallocated__" in name:
        for month, share in split_by_month(start.seconds, end.seconds) if hours else ():
            idle = (month, cluster or name[:60], Reason.IDLE.value)
            ledger.add_unused(idle, hours * share)
        ledger.account(Reason.IDLE if hours else Reason.NO_ACCELERATOR)
        return
    if not hours:
        ledger.account(Reason.NO_ACCELERATOR)
        return
    tags = options.projects.pick(properties.get("labels") or {})
    project = options.projects.choose(tags, space) or space
    cost = money(str(allocation.get("gpuCost", 0)), "gpuCost")
    cost += money(str(allocation.get("gpuCostAdjustment", 0)), "gpuCostAdjustment")
    name = name_accelerator(word_of(within(allocation, "gpuAllocation", "gpuModel")))
    key = UseKey("", "", cluster, "", name, "owned", project, space)
    ledger.use_between(key, start.seconds, end.seconds, hours, cost or None)
    ledger.account(Reason.ACCELERATOR_USE)


GPU_LOG = LogFormat("gpu_log", "Log of nvidia-smi or DCGM", is_log, _read_log)
PROMETHEUS = LogFormat(
    "prometheus",
    "Prometheus range of DCGM, panel of Grafana",
    lambda head: (
        head.lstrip().startswith(("{", "["))
        and any(word in head for word in ('"resultType"', '"datapoints"', '"schema"'))
    ),
    _read_series,
)
OPENCOST = LogFormat(
    "opencost",
    "OpenCost allocation",
    lambda head: head.lstrip().startswith("{") and '"gpuHours"' in head and '"window"' in head,
    _read_opencost,
)
