"""Manifests of Kubernetes: pods × accelerators of every kind of workload. PURE."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, NamedTuple

from planner.usage.job_files.facts import JobFacts
from planner.usage.job_files.kubernetes_pods import pod_accelerators, read_selectors
from planner.usage.job_files.yaml_text import count_of, inner, items, word_of

_REPLICATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
_SCALERS = ("HorizontalPodAutoscaler", "ScaledObject", "ScaledJob")


class Pods(NamedTuple):
    """Pods of one kind."""

    count: Any
    """How many at once, as the manifest writes it."""
    spec: dict[str, Any]
    runs: float = 1
    """Times that so many pods run, one after the other."""
    deadline: float | None = None
    """Seconds in which all of them end."""


def matches(documents: list[dict[str, Any]]) -> bool:
    return any("apiVersion" in one and "kind" in one for one in documents)


class _Part(NamedTuple):
    """Pods of one kind: how many accelerators, how long, how often."""

    accelerators: float
    hours: float | None
    runs: float


def read(documents: list[dict[str, Any]]) -> JobFacts:
    """All workloads of the file together, as they run at the same time."""
    facts = JobFacts("Kubernetes manifest")
    parts: list[_Part | None] = []
    is_named: list[bool] = []
    for document in _flat(documents):
        spec, kind = inner(document, "spec"), word_of(document.get("kind"))
        if kind in _SCALERS:
            facts.ask_count(f"a {kind} scales it: a limit is no use")
        pods = _pods(kind, spec, facts)
        if pods:
            name = inner(document, "metadata")
            facts.name = facts.name or word_of(name.get("name") or name.get("generateName"))
        for pod in pods:
            each = pod_accelerators(pod.spec, facts)
            if each != 0:
                is_named.append(read_selectors(pod.spec, facts))
                parts.append(_part(pod, each, _deadline(spec), facts))
    is_one_kind = bool(facts.accelerator) and "accelerator" not in facts.questions
    if is_one_kind and any(is_named) and not all(is_named):
        facts.note(
            f"{is_named.count(False)} of {len(is_named)} parts of it name no accelerator and count "
            f"as {facts.accelerator}: check them."
        )
    _add_up(parts, facts)
    return facts.settle()


def _deadline(spec: dict[str, Any]) -> float | None:
    """Seconds after which a whole workload ends."""
    for place in (spec, inner(spec, "runPolicy")):
        if seconds := count_of(place.get("activeDeadlineSeconds")):
            return seconds
    return None


def _part(pods: Pods, each: float | None, deadline: float | None, facts: JobFacts) -> _Part | None:
    """None where accelerators or pods are not known. A deadline of the whole workload bounds all
    its completions together, one of the pod each of them."""
    number, of_pod = count_of(pods.count), count_of(pods.spec.get("activeDeadlineSeconds"))
    if number is None:
        facts.ask_count(f"the number of pods is {str(pods.count)[:40]!r}")
    if each is None or number is None:
        return None
    facts.per_node = each
    whole = pods.deadline or deadline
    total = of_pod * ceil(pods.runs) if of_pod else None
    if whole and (total is None or whole < total):
        return _Part(each * number, whole / 3600, 1)
    return _Part(each * number, of_pod / 3600 if of_pod else None, pods.runs)


def _add_up(parts: list[_Part | None], facts: JobFacts) -> None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        facts.questions.setdefault("peak_accelerators", "a part of it is not known")
        facts.per_node = None
        return
    facts.accelerators = sum(part.accelerators for part in known) or None
    if len({(part.hours, part.runs) for part in known}) > 1:
        facts.ask("hours", "its parts run for different times or different numbers of times")
    elif known:
        runs = known[0].runs
        facts.hours, facts.runs = known[0].hours, int(runs) if runs % 1 == 0 else runs


def _flat(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The manifests, those in lists too."""
    flat: list[dict[str, Any]] = []
    for document in documents:
        is_list = word_of(document.get("kind")).endswith("List")
        flat += items(document, "items") if is_list else [document]
    return flat


def _serving(spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
    """Pods of a KServe service: as many as it keeps at least, where it scales."""
    predictor = inner(spec, "predictor")
    low, high = predictor.get("minReplicas", 1), predictor.get("maxReplicas")
    if high is not None and high != low:
        facts.ask("peak_accelerators", f"it scales from {low} to {high} pods: a limit is no use")
        low = "scaled"
    models = {"containers": [inner(predictor, "model"), *items(predictor, "containers")]}
    return [Pods(low, predictor | models)]


def _workflow(spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
    """Steps of an Argo workflow, which may run in turn or side by side."""
    steps = [one for one in items(spec, "templates") if isinstance(one.get("container"), dict)]
    pods = [Pods(1, one | {"containers": [one["container"]]}) for one in steps]
    busy = [pod for pod in pods if pod_accelerators(pod.spec, JobFacts("")) != 0]
    if busy and _LOOPS & _keys(spec.get("templates")):
        facts.ask("runs", "steps are repeated for each item of a list")
        facts.ask_count("steps of a list may run in turn or side by side")
    if len(busy) > 1:
        facts.ask_count(f"{len(busy)} steps may run in turn or side by side")
        return [pod._replace(count="steps") for pod in busy]
    return busy


_LOOPS = {"withItems", "withParam", "withSequence"}


def _keys(value: Any) -> set[str]:
    """Keys of all objects within a value of bounded depth."""
    if isinstance(value, dict):
        return {str(key) for key in value}.union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def _pods(kind: str, spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
    template = inner(spec, "template", "spec")
    if kind in _REPLICATED:
        return [Pods(spec.get("replicas", 1), template)]
    if kind == "Job" and "tasks" in spec:
        tasks = items(spec, "tasks")
        return [Pods(one.get("replicas", 1), inner(one, "template", "spec")) for one in tasks]
    if kind == "CronJob":
        facts.ask("runs", f"it runs by the schedule {word_of(spec.get('schedule'))!r}")
        return [_job(inner(spec, "jobTemplate", "spec"), facts)]
    if kind == "JobSet":
        return [
            _times(one.get("replicas", 1), _job(inner(one, "template", "spec"), facts))
            for one in items(spec, "replicatedJobs")
        ]
    if kind in ("RayCluster", "RayJob", "RayService"):
        return _ray(spec, facts)
    plain: dict[str, Callable[[], list[Pods]]] = {
        "Pod": lambda: [Pods(1, spec)],
        "DaemonSet": lambda: [Pods("one for each node", template)],
        "Job": lambda: [_job(spec, facts)],
        "LeaderWorkerSet": lambda: _leader_worker(spec),
        "TrainJob": lambda: [_train_job(spec)],
        "InferenceService": lambda: _serving(spec, facts),
        "Workflow": lambda: _workflow(spec, facts),
        "CronWorkflow": lambda: _cron_workflow(spec, facts),
    }
    return plain.get(kind, lambda: _replica_specs(spec, facts))()


def _cron_workflow(spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
    facts.ask("runs", f"it runs by the schedule {word_of(spec.get('schedule'))!r}")
    return _workflow(inner(spec, "workflowSpec"), facts)


def _job(spec: dict[str, Any], facts: JobFacts) -> Pods:
    """Pods of a job: no more at once than completions are left."""
    parallelism, completions = spec.get("parallelism", 1), count_of(spec.get("completions"))
    width, pod = count_of(parallelism), inner(spec, "template", "spec")
    deadline = count_of(spec.get("activeDeadlineSeconds"))
    if "completions" in spec and completions is None and spec["completions"] is not None:
        facts.ask("runs", f"the number of completions is {str(spec['completions'])[:40]!r}")
    if not completions or not width:
        return Pods(parallelism, pod, 1, deadline)
    if completions < width:
        facts.note(f"{completions:.0f} completions let no more than so many of its pods run.")
        return Pods(completions, pod, 1, deadline)
    if completions > width:
        facts.note(f"{completions:.0f} completions run {width:.0f} at a time.")
    return Pods(parallelism, pod, completions / width, deadline)


def _times(factor: Any, pods: Pods) -> Pods:
    one, other = count_of(factor), count_of(pods.count)
    if one == 1:
        return pods
    unknown = one is None or other is None
    return pods._replace(count=f"{factor} × {pods.count}" if unknown else one * other)  # type: ignore[operator]


def _leader_worker(spec: dict[str, Any]) -> list[Pods]:
    """Groups of one leader and size - 1 workers; the worker's template serves both by default."""
    group = inner(spec, "leaderWorkerTemplate")
    worker = inner(group, "workerTemplate", "spec")
    leader = inner(group, "leaderTemplate", "spec") or worker
    replicas, size = spec.get("replicas", 1), count_of(group.get("size", 1))
    workers = "not stated" if size is None else size - 1
    return [Pods(replicas, leader), _times(replicas, Pods(workers, worker))]


def _ray(spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
    cluster = inner(spec, "rayClusterSpec") or inner(spec, "rayClusterConfig") or spec
    pods = [Pods(1, inner(cluster, "headGroupSpec", "template", "spec"))]
    for group in items(cluster, "workerGroupSpecs"):
        number = group.get("replicas", group.get("minReplicas", 1))
        low, high = group.get("minReplicas", number), group.get("maxReplicas", number)
        if cluster.get("enableInTreeAutoscaling") is True and low != high:
            number = f"{low} to {high}"
        workers = Pods(number, inner(group, "template", "spec"))
        pods.append(_times(group.get("numOfHosts", 1), workers))
    return pods


def _train_job(spec: dict[str, Any]) -> Pods:
    trainer = inner(spec, "trainer")
    resources = {"resources": inner(trainer, "resourcesPerNode")}
    return Pods(trainer.get("numNodes", 1), {"containers": [resources]})


def _replica_specs(spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
    """Roles of the training operators: PyTorchJob, MPIJob, TFJob and their like."""
    pods: list[Pods] = []
    elastic = inner(spec, "elasticPolicy")
    low, high = elastic.get("minReplicas"), elastic.get("maxReplicas")
    if high is not None and low != high:
        facts.ask_count(f"it scales from {low} to {high} pods: a limit is no use")
    for name, roles in spec.items():
        if not name.endswith("ReplicaSpecs") or not isinstance(roles, dict):
            continue
        for role in roles.values():
            number = inner({"r": role}, "r").get("replicas", 1)
            pods.append(Pods(number, inner(role, "template", "spec")))
    return pods
