"""Manifests of Kubernetes: pods × accelerators of every kind of workload. PURE."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from planner.usage.job_files.facts import JobFacts
from planner.usage.job_files.yaml_text import count_of, inner, items, word_of
from planner.usage.machines import find_machine

_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "habana.ai/gaudi")
_NEURON = ("aws.amazon.com/neuron", "aws.amazon.com/neurondevice")
_ACCELERATOR_LABELS = ("cloud.google.com/gke-accelerator", "nvidia.com/gpu.product")
_MACHINE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_PROVIDERS = ("aws", "azure", "gcp")
_REPLICATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
Pods = list[tuple[Any, dict[str, Any]]]
"""How many pods, as the manifest writes it, and their specification."""


def matches(documents: list[dict[str, Any]]) -> bool:
    return any("apiVersion" in one and "kind" in one for one in documents)


def read(documents: list[dict[str, Any]]) -> JobFacts:
    """All workloads of the file together, as they run at the same time."""
    facts = JobFacts("Kubernetes manifest")
    total: float | None = 0.0
    for document in _flat(documents):
        spec = inner(document, "spec")
        pods = _pods(word_of(document.get("kind")), spec, facts)
        if pods:
            name = inner(document, "metadata")
            facts.name = facts.name or word_of(name.get("name") or name.get("generateName"))
        for count, pod in pods:
            each = _accelerators(pod, facts)
            _read_selectors(pod, facts)
            seconds = count_of(
                pod.get("activeDeadlineSeconds") or spec.get("activeDeadlineSeconds")
            )
            if seconds:
                facts.hours = max(facts.hours or 0.0, seconds / 3600)
            if each == 0:
                continue
            number = count_of(count)
            if number is None:
                facts.ask("peak_accelerators", f"the number of pods is {str(count)[:40]!r}")
            if each is None or number is None or total is None:
                total = None
            else:
                total += number * each
                facts.per_node = each
    facts.accelerators = total or None
    return facts.settle()


def _flat(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The manifests, those in lists too."""
    flat: list[dict[str, Any]] = []
    for document in documents:
        is_list = word_of(document.get("kind")).endswith("List")
        flat += items(document, "items") if is_list else [document]
    return flat


def _serving(spec: dict[str, Any], facts: JobFacts) -> Pods:
    """Pods of a KServe service: as many as it keeps at least, where it scales."""
    predictor = inner(spec, "predictor")
    low, high = predictor.get("minReplicas", 1), predictor.get("maxReplicas")
    if high is not None and high != low:
        facts.ask("peak_accelerators", f"it scales from {low} to {high} pods: a limit is no use")
        low = "scaled"
    models = {"containers": [inner(predictor, "model"), *items(predictor, "containers")]}
    return [(low, predictor | models)]


def _workflow(spec: dict[str, Any], facts: JobFacts) -> Pods:
    """Steps of an Argo workflow, which may run in turn or side by side."""
    steps = [one for one in items(spec, "templates") if isinstance(one.get("container"), dict)]
    pods: Pods = [(1, one | {"containers": [one["container"]]}) for one in steps]
    busy = [pod for _, pod in pods if _accelerators(pod, JobFacts("")) != 0]
    if len(busy) > 1:
        facts.ask("peak_accelerators", f"{len(busy)} steps may run in turn or side by side")
        return [("steps", pod) for pod in busy]
    return pods


def _pods(kind: str, spec: dict[str, Any], facts: JobFacts) -> Pods:
    template = inner(spec, "template", "spec")
    if kind in _REPLICATED:
        return [(spec.get("replicas", 1), template)]
    if kind == "Job" and "tasks" in spec:
        return [(t.get("replicas", 1), inner(t, "template", "spec")) for t in items(spec, "tasks")]
    if kind == "CronJob":
        facts.ask("runs", f"it runs by the schedule {word_of(spec.get('schedule'))!r}")
        return [_job(inner(spec, "jobTemplate", "spec"), facts)]
    if kind == "JobSet":
        return [
            _times(one.get("replicas", 1), _job(inner(one, "template", "spec"), facts))
            for one in items(spec, "replicatedJobs")
        ]
    if kind in ("RayCluster", "RayJob", "RayService"):
        return _ray(spec)
    plain: dict[str, Callable[[], Pods]] = {
        "Pod": lambda: [(1, spec)],
        "DaemonSet": lambda: [("one for each node", template)],
        "Job": lambda: [_job(spec, facts)],
        "LeaderWorkerSet": lambda: _leader_worker(spec),
        "TrainJob": lambda: [_train_job(spec)],
        "InferenceService": lambda: _serving(spec, facts),
        "Workflow": lambda: _workflow(spec, facts),
        "CronWorkflow": lambda: _workflow(inner(spec, "workflowSpec"), facts),
    }
    return plain.get(kind, lambda: _replica_specs(spec))()


def _job(spec: dict[str, Any], facts: JobFacts) -> tuple[Any, dict[str, Any]]:
    parallelism, completions = spec.get("parallelism", 1), count_of(spec.get("completions"))
    width = count_of(parallelism)
    if completions and width and completions > width:
        facts.runs = ceil(completions / width)
        facts.note(f"{completions:.0f} completions run {width:.0f} at a time.")
    pod = inner(spec, "template", "spec")
    deadline = spec.get("activeDeadlineSeconds")
    return parallelism, pod | ({"activeDeadlineSeconds": deadline} if deadline else {})


def _times(factor: Any, pods: tuple[Any, dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
    one, other = count_of(factor), count_of(pods[0])
    return (f"{factor} × {pods[0]}" if one is None or other is None else one * other), pods[1]


def _leader_worker(spec: dict[str, Any]) -> Pods:
    """Groups of one leader and size - 1 workers; the worker's template serves both by default."""
    group = inner(spec, "leaderWorkerTemplate")
    worker = inner(group, "workerTemplate", "spec")
    leader = inner(group, "leaderTemplate", "spec") or worker
    replicas, size = spec.get("replicas", 1), count_of(group.get("size", 1))
    workers = "not stated" if size is None else size - 1
    return [(replicas, leader), _times(replicas, (workers, worker))]


def _ray(spec: dict[str, Any]) -> Pods:
    cluster = inner(spec, "rayClusterSpec") or inner(spec, "rayClusterConfig") or spec
    head = inner(cluster, "headGroupSpec", "template", "spec")
    groups = items(cluster, "workerGroupSpecs")
    return [(1, head), *((g.get("replicas", 1), inner(g, "template", "spec")) for g in groups)]


def _train_job(spec: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    trainer = inner(spec, "trainer")
    resources = {"resources": inner(trainer, "resourcesPerNode")}
    return trainer.get("numNodes", 1), {"containers": [resources]}


def _replica_specs(spec: dict[str, Any]) -> Pods:
    """Roles of the training operators: PyTorchJob, MPIJob, TFJob and their like."""
    pods: Pods = []
    for name, roles in spec.items():
        if not name.endswith("ReplicaSpecs") or not isinstance(roles, dict):
            continue
        for role in roles.values():
            pods.append(
                (inner({"r": role}, "r").get("replicas", 1), inner(role, "template", "spec"))
            )
    return pods


def _accelerators(pod: dict[str, Any], facts: JobFacts) -> float | None:
    """Accelerators of one pod; None where a template stands in for the number."""
    total = 0.0
    for container in items(pod, "containers"):
        resources = inner(container, "resources")
        limits = inner(resources, "requests") | inner(resources, "limits")
        for name, value in limits.items():
            if name.startswith("nvidia.com/mig-"):
                facts.note(f"{value} slices {name.removeprefix('nvidia.com/')}, not whole ones.")
                facts.ask("accelerator", f"it takes slices ({name})")
            if name not in (*_RESOURCES, *_NEURON):
                continue
            count = count_of(value)
            if count is None:
                facts.ask("peak_accelerators", f"{name} is {str(value)[:40]!r}")
                return None
            total += count
    return total


def _read_selectors(pod: dict[str, Any], facts: JobFacts) -> None:
    """Accelerator or machine by the labels that nodes are chosen by."""
    labels = inner(pod, "nodeSelector")
    for term in items(
        pod,
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ):
        for one in items(term, "matchExpressions"):
            values = one.get("values")
            if one.get("operator") == "In" and isinstance(values, list) and len(values) == 1:
                labels = labels | {str(one.get("key")): values[0]}
    for label in _ACCELERATOR_LABELS:
        if word_of(labels.get(label)):
            facts.accelerator = word_of(labels[label])
    for label in _MACHINE_LABELS:
        machine = word_of(labels.get(label))
        for provider in _PROVIDERS if machine else ():
            known = find_machine(provider, machine)
            if known.accelerator:
                facts.machine, facts.provider = machine, provider
                facts.accelerator = facts.accelerator or known.accelerator
    if labels.get("cloud.google.com/gke-spot") in ("true", True):
        facts.spot = True
