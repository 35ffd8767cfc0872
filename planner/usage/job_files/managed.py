"""Jobs of managed services and launchers: SageMaker, Vertex AI, Azure ML, AWS Batch, Databricks,
Determined, MosaicML and Docker Compose. PURE."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from planner.usage.job_files.facts import JobFacts
from planner.usage.job_files.yaml_text import count_of, inner, items, word_of
from planner.usage.machines import find_machine, name_accelerator

_VERTEX_PREFIX = "NVIDIA_"
Document = dict[str, Any]


def read(document: Document) -> JobFacts | None:
    """The facts of the job; None where the document is none of these."""
    for is_form, reader in _FORMS:
        if is_form(document):
            return reader(document).settle()
    return None


def _use_machine(facts: JobFacts, provider: str, name: str) -> float | None:
    """Accelerators of a machine, which is kept; asked for where no table knows it."""
    machine = find_machine(provider, name)
    facts.provider, facts.machine = provider, name
    facts.name_kind(machine.accelerator)
    if machine.accelerators is None:
        facts.ask_count(f"how many accelerators {name} has is not known")
    return machine.accelerators


def _add_group(facts: JobFacts, each: float | None, number: float | None, written: Any) -> None:
    """Adds `number` machines of `each` accelerators; one that is unknown leaves the sum open."""
    if each == 0:
        return
    if number is None:
        facts.ask_count(f"the number of machines is {str(written)[:40]!r}")
    if each is None or number is None:
        facts.questions.setdefault("peak_accelerators", "a group of machines is not known")
        return
    facts.accelerators = (facts.accelerators or 0.0) + each * number
    facts.per_node, facts.nodes = each, (facts.nodes or 0.0) + number


def _close_sum(facts: JobFacts) -> JobFacts:
    """A sum of which a part is unknown is none."""
    if "peak_accelerators" in facts.questions:
        facts.accelerators = facts.per_node = facts.nodes = None
    return facts


_TUNING_LIMITS = ("NumberOfTrainingJobs", "ParallelTrainingJobs")


def _set_trials(facts: JobFacts, number: float | None, at_once: float | None) -> None:
    """Trials of a search, and how many of them go at once."""
    if number:
        facts.set_runs(int(number), int(at_once) if at_once else None, "The search")


def _read_sagemaker(document: Document) -> JobFacts:
    facts = JobFacts("SageMaker training job", name=word_of(document.get("TrainingJobName")))
    limits = inner(document, "HyperParameterTuningJobConfig", "ResourceLimits")
    if limits:
        trials = [count_of(limits.get(f"Max{one}")) for one in _TUNING_LIMITS]
        _set_trials(facts, *trials)
        document = inner(document, "TrainingJobDefinition")
    resources = inner(document, "ResourceConfig")
    groups = items(resources, "InstanceGroups") or [resources]
    for group in groups:
        machine = word_of(group.get("InstanceType"))
        written = group.get("InstanceCount", 1)
        each = _use_machine(facts, "aws", machine) if machine else None
        _add_group(facts, each, count_of(written), written)
    seconds = count_of(inner(document, "StoppingCondition").get("MaxRuntimeInSeconds"))
    facts.hours = seconds / 3600 if seconds else None
    if document.get("EnableManagedSpotTraining") is True:
        facts.spot = True
    return _close_sum(facts)


def _vertex_pools(document: Document) -> list[Document]:
    for spec in (document, inner(document, "jobSpec"), inner(document, "trialJobSpec")):
        for name in ("workerPoolSpecs", "worker_pool_specs"):
            if pools := items(spec, name):
                return pools
    return []


def _either(document: Document, *names: str) -> Any:
    return next((document[name] for name in names if document.get(name) is not None), None)


def _vertex_count(facts: JobFacts, machine: str, kind: str, count: Any) -> float | None:
    """Accelerators that are attached to a machine, or those that it always has."""
    facts.name_kind(name_accelerator(kind.removeprefix(_VERTEX_PREFIX).replace("_", " ")))
    facts.machine = facts.machine or machine
    own = find_machine("gcp", machine).accelerators if machine else None
    each = own or None if count is None else count_of(count)
    if each is None:
        facts.ask_count(f"acceleratorCount is {str(count)[:40]!r}")
    elif own and own != each:
        facts.ask_count(f"{machine} has {own:g} accelerators and acceleratorCount is {each:g}")
        return None
    return each


def _read_vertex(document: Document) -> JobFacts:
    facts = JobFacts("Vertex AI custom job", name=word_of(_either(document, "displayName", "name")))
    facts.provider = "gcp"
    for pool in _vertex_pools(document):
        spec = inner(pool, "machineSpec") or inner(pool, "machine_spec")
        machine = word_of(_either(spec, "machineType", "machine_type"))
        kind = word_of(_either(spec, "acceleratorType", "accelerator_type"))
        count = _either(spec, "acceleratorCount", "accelerator_count")
        if kind:
            each = _vertex_count(facts, machine, kind, count)
        else:
            each = _use_machine(facts, "gcp", machine) if machine else None
        written = _either(pool, "replicaCount", "replica_count")
        written = 1 if written is None else written
        _add_group(facts, each, count_of(written), written)
    scheduling = inner(document, "scheduling") or inner(document, "jobSpec", "scheduling")
    match = re.fullmatch(r"(\d{1,9})(?:\.\d+)?s", word_of(scheduling.get("timeout")))
    facts.hours = int(match[1]) / 3600 if match else None
    if word_of(scheduling.get("strategy")).upper() == "SPOT":
        facts.spot = True
    trials, at_once = (
        count_of(_either(document, f"{name}TrialCount", f"{name}_trial_count"))
        for name in ("max", "parallel")
    )
    if at_once and facts.accelerators:
        facts.note(f"{at_once:.0f} trials run side by side.")
        facts.accelerators *= at_once
    if at_once and not trials:
        facts.ask("runs", "how many trials the search starts is not stated")
    elif trials:
        facts.runs = max(1.0, trials / (at_once or 1))
    return _close_sum(facts)


def _is_azure_ml(document: Document) -> bool:
    return "azureml" in word_of(document.get("$schema")) or (
        "compute" in document and "command" in document and "environment" in document
    )


def _read_azure_ml(document: Document) -> JobFacts:
    """Machines × their accelerators; those of a named cluster are asked for."""
    facts = JobFacts("Azure ML job")
    facts.name = word_of(_either(document, "display_name", "experiment_name", "name"))
    facts.provider = "azure"
    resources, spread = inner(document, "resources"), inner(document, "distribution")
    machine = word_of(resources.get("instance_type"))
    written = resources.get("instance_count", 1)
    if machine:
        name = machine if machine.lower().startswith("standard_") else f"Standard_{machine}"
        _add_group(facts, _use_machine(facts, "azure", name), count_of(written), written)
    else:
        each = count_of(spread.get("process_count_per_instance"))
        if each is None:
            facts.ask_count("the machines are those of a named cluster")
        else:
            facts.note(f"{each:g} processes on each machine are read as its accelerators: check.")
            _add_group(facts, each, count_of(written), written)
    timeout = inner(document, "limits").get("timeout")
    seconds = count_of(timeout)
    if seconds:
        facts.hours = seconds / 3600
    elif match := re.fullmatch(
        r"PT(?:(\d{1,5})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?", word_of(timeout)
    ):
        hours, minutes, rest = (int(part or 0) for part in match.groups())
        facts.hours = hours + minutes / 60 + rest / 3600 or None
    limits = inner(document, "limits")
    trials = (count_of(limits.get(f"max_{one}_trials")) for one in ("total", "concurrent"))
    _set_trials(facts, *trials)
    if word_of(inner(document, "queue_settings").get("job_tier")).lower() == "spot":
        facts.spot = True
    return _close_sum(facts)


def _batch_gpus(container: Document) -> Any:
    requirements = items(container, "resourceRequirements")
    return next((one.get("value") for one in requirements if one.get("type") == "GPU"), 0)


def _read_aws_batch(document: Document) -> JobFacts:
    facts = JobFacts("AWS Batch job definition", name=word_of(document.get("jobDefinitionName")))
    facts.provider = "aws"
    groups = items(document, "nodeProperties", "nodeRangeProperties")
    if groups:
        nodes = count_of(inner(document, "nodeProperties").get("numNodes"))
        for group in groups:
            match = re.fullmatch(r"(\d{0,5}):(\d{0,5})", word_of(group.get("targetNodes")))
            number = None
            if match:
                last = float(match[2]) if match[2] else (nodes - 1 if nodes else None)
                number = None if last is None else last - float(match[1] or 0) + 1
            value = _batch_gpus(inner(group, "container"))
            each = count_of(value)
            if each is None:
                facts.ask_count(f"GPU is {str(value)[:40]!r}")
            _add_group(facts, each, number, group.get("targetNodes"))
    else:
        value = _batch_gpus(inner(document, "containerProperties"))
        each = count_of(value)
        if each is None:
            facts.ask_count(f"GPU is {str(value)[:40]!r}")
        _add_group(facts, each, 1.0, 1)
    seconds = count_of(inner(document, "timeout").get("attemptDurationSeconds"))
    facts.hours = seconds / 3600 if seconds else None
    size = count_of(inner(document, "arrayProperties").get("size"))
    facts.set_runs(int(size or 1), None, "The array")
    return _close_sum(facts)


def _databricks_clusters(document: Document) -> list[Document]:
    clusters = [inner(one, "new_cluster") for one in items(document, "job_clusters")]
    clusters += [inner(one, "new_cluster") for one in items(document, "tasks")]
    own = inner(document, "new_cluster") or (document if "node_type_id" in document else {})
    return [one for one in (*clusters, own) if one.get("node_type_id")]


def _read_databricks(document: Document) -> JobFacts:
    """The driver and its workers; a cluster that scales by itself is asked for."""
    facts = JobFacts("Databricks job", name=word_of(document.get("name")))
    clusters = _databricks_clusters(document)
    for cluster in clusters:
        name = word_of(cluster.get("node_type_id"))
        provider = "azure" if name.lower().startswith("standard_") else "aws"
        driver = word_of(cluster.get("driver_node_type_id")) or name
        if "autoscale" in cluster:
            facts.ask_count("the cluster scales by itself: a limit is no use")
        each = _use_machine(facts, provider, name)
        _add_group(facts, each, count_of(cluster.get("num_workers", 0)), "num_workers")
        _add_group(facts, find_machine(provider, driver).accelerators, 1.0, 1)
    if len(clusters) > 1:
        facts.ask_count(f"{len(clusters)} clusters may run side by side or in turn")
    seconds = count_of(document.get("timeout_seconds"))
    facts.hours = seconds / 3600 if seconds else None
    return _close_sum(facts)


def _read_determined(document: Document) -> JobFacts:
    facts = JobFacts("Determined experiment", name=word_of(document.get("name")))
    resources, search = inner(document, "resources"), inner(document, "searcher")
    slots = resources.get("slots_per_trial", 1)
    facts.accelerators = count_of(slots)
    if facts.accelerators is None:
        facts.ask_count(f"slots_per_trial is {str(slots)[:40]!r}")
    at_once = count_of(search.get("max_concurrent_trials"))
    _set_trials(facts, count_of(search.get("max_trials")), at_once)
    return facts


def _read_mosaic(document: Document) -> JobFacts:
    facts = JobFacts("MosaicML run", name=word_of(document.get("name")))
    compute = inner(document, "compute")
    facts.accelerators = count_of(_either(compute, "gpus") or document.get("gpu_num"))
    kind = word_of(_either(compute, "gpu_type") or document.get("gpu_type"))
    facts.name_kind(kind.partition("_")[0].upper().replace("-", " "))
    hours = _either(inner(document, "scheduling"), "max_duration")
    facts.hours = float(hours) if isinstance(hours, int | float) and 0 < hours < 1e6 else None
    return facts


def _read_compose(document: Document) -> JobFacts:
    """Devices that services reserve, times their replicas."""
    facts = JobFacts("Docker Compose file", name=word_of(document.get("name")))
    for service in inner(document, "services").values():
        deploy = inner({"s": service}, "s", "deploy")
        devices = items(deploy, "resources", "reservations", "devices")
        for device in devices:
            if "gpu" not in str(device.get("capabilities", "")):
                continue
            ids, count = device.get("device_ids"), device.get("count")
            each = float(len(ids)) if isinstance(ids, list) else count_of(count)
            if each is None:
                facts.ask_count("it takes all accelerators of its host")
            written = deploy.get("replicas", 1)
            _add_group(facts, each, count_of(written), written)
    return _close_sum(facts)


def _has_devices(document: Document) -> bool:
    services = inner(document, "services").values()
    return any(
        items({"s": one}, "s", "deploy", "resources", "reservations", "devices") for one in services
    )


_FORMS: tuple[tuple[Callable[[Document], bool], Callable[[Document], JobFacts]], ...] = (
    (lambda d: isinstance(d.get("ResourceConfig"), dict), _read_sagemaker),
    (lambda d: "ResourceConfig" in inner(d, "TrainingJobDefinition"), _read_sagemaker),
    (lambda d: bool(_vertex_pools(d)), _read_vertex),
    (_is_azure_ml, _read_azure_ml),
    (lambda d: "containerProperties" in d or "nodeProperties" in d, _read_aws_batch),
    (lambda d: bool(_databricks_clusters(d)), _read_databricks),
    (lambda d: "searcher" in d and "entrypoint" in d, _read_determined),
    (lambda d: "gpus" in inner(d, "compute") or "gpu_num" in d, _read_mosaic),
    (_has_devices, _read_compose),
)
"""Each form: how it is told, and what reads it."""
