"""Manifests of Kubernetes: pods × accelerators of every kind of workload. PURE."""

from __future__ import annotations

import re
from math import ceil
from typing import Any, NamedTuple

from planner.usage.job_files.configs import count_of, inner, items, word_of
from planner.usage.job_files.facts import JobFacts
from planner.usage.machines import find_machine_anywhere, is_slice

_REPLICATED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "habana.ai/gaudi")
_NEURON = ("aws.amazon.com/neuron", "aws.amazon.com/neurondevice")
_ACCELERATOR_LABELS = (
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "nvidia.com/gpu.product",
    "k8s.amazonaws.com/accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "eks.amazonaws.com/instance-gpu-name",
    "gpu.nvidia.com/model",
)
_SLICE_LABELS = ("cloud.google.com/gke-gpu-partition-size", "nvidia.com/mig.config")
_SHARING_LABELS = (
    "cloud.google.com/gke-max-shared-clients-per-gpu",
    "cloud.google.com/gke-gpu-sharing-strategy",
)
_MIG_RESOURCE = re.compile(r"[\w.-]+/mig-", re.IGNORECASE)
_SHARED_RESOURCE = re.compile(
    r"/gpu\.shared$|/gpu-?mem|/gpucores|/vcuda|/vgpu|gpu-memory|gpu-core|/shared-gpu", re.IGNORECASE
)
_MACHINE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_SCALERS = ("HorizontalPodAutoscaler", "ScaledObject", "ScaledJob")


class Pods(NamedTuple):
    count: Any
    """How many at once, as the manifest writes it."""
    spec: dict[str, Any]
    runs: float = 1
    """Times that so many pods run, one after the other."""
    deadline: float | None = None
    """Seconds in which all of them end."""


Part = tuple[float, float | None, float]
"""Accelerators, hours and runs."""


def matches(documents: list[dict[str, Any]]) -> bool:
    return any("apiVersion" in one and "kind" in one for one in documents)


def read(documents: list[dict[str, Any]]) -> JobFacts:
    """All workloads of the file together, as they run at the same time."""
    facts = JobFacts("Kubernetes manifest")
    parts: list[Part | None] = []
    is_named: list[bool] = []
    for document in documents:
        is_list = word_of(document.get("kind")).endswith("List")
        for one in items(document, "items") if is_list else [document]:
            spec, kind = inner(one, "spec"), word_of(one.get("kind"))
            if kind in _SCALERS:
                facts.ask_count(f"a {kind} scales it: a limit is no use")
            pods = _pods(kind, spec, facts)
            if pods and not facts.name:
                name = inner(one, "metadata")
                facts.name = word_of(name.get("name") or name.get("generateName"))
            for pod in pods:
                each = _pod_accelerators(pod.spec, facts)
                if each != 0:
                    is_named.append(_read_selectors(pod.spec, facts))
                    places = (spec, inner(spec, "runPolicy"))
                    seconds = (count_of(place.get("activeDeadlineSeconds")) for place in places)
                    parts.append(_part(pod, each, next(filter(None, seconds), None), facts))
    is_one_kind = bool(facts.accelerator) and "accelerator" not in facts.questions
    if is_one_kind and any(is_named) and not all(is_named):
        facts.note(
            f"{is_named.count(False)} of {len(is_named)} parts of it name no accelerator and count "
            f"as {facts.accelerator}: check them."
        )
    _add_up(parts, facts)
    return facts.settle()


def _add_up(parts: list[Part | None], facts: JobFacts) -> None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        facts.ask_count("a part of it is not known")
        facts.per_node = None
        return
    facts.accelerators = sum(part[0] for part in known) or None
    if len({part[1:] for part in known}) > 1:
        facts.ask("hours", "its parts run for different times or different numbers of times")
    elif known:
        runs = known[0][2]
        facts.hours, facts.runs = known[0][1], int(runs) if runs % 1 == 0 else runs


def _part(pods: Pods, each: float | None, deadline: float | None, facts: JobFacts) -> Part | None:
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
        return each * number, whole / 3600, 1
    return each * number, of_pod / 3600 if of_pod else None, pods.runs


def _pods(kind: str, spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
    template = inner(spec, "template", "spec")
    if kind in _REPLICATED:
        return [Pods(spec.get("replicas", 1), template)]
    if kind == "CronJob":
        facts.ask("runs", f"it runs by the schedule {word_of(spec.get('schedule'))!r}")
        return [_job(inner(spec, "jobTemplate", "spec"), facts)]
    if kind == "JobSet":
        return [
            _times(one.get("replicas", 1), _job(inner(one, "template", "spec"), facts))
            for one in items(spec, "replicatedJobs")
        ]
    if kind in ("RayCluster", "RayJob", "RayService"):
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
    if kind in ("Pod", "DaemonSet"):
        return [Pods(1, spec) if kind == "Pod" else Pods("one for each node", template)]
    return [_job(spec, facts)] if kind == "Job" else _replica_specs(spec, facts)


def _job(spec: dict[str, Any], facts: JobFacts) -> Pods:
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
    times, count = count_of(factor), count_of(pods.count)
    if times is None or count is None:
        return pods if times == 1 else pods._replace(count=f"{factor} × {pods.count}")
    return pods._replace(count=times * count)


def _replica_specs(spec: dict[str, Any], facts: JobFacts) -> list[Pods]:
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


def _pod_accelerators(pod: dict[str, Any], facts: JobFacts) -> float | None:
    """Accelerators of one pod; None where a template or a share stands in for the number. What
    starts before its containers (`initContainers`) holds its accelerators before them."""
    begins = items(pod, "initContainers")
    beside = [one for one in begins if one.get("restartPolicy") == "Always"]
    counts = [_of_container(one, facts) for one in (*items(pod, "containers"), *beside)]
    before = [_of_container(one, facts) for one in begins if one not in beside]
    if None in counts or None in before:
        return None
    return max(sum(one or 0.0 for one in counts), *(one or 0.0 for one in before), 0.0)


def _of_container(container: dict[str, Any], facts: JobFacts) -> float | None:
    total = 0.0
    resources = inner(container, "resources")
    for name, value in (inner(resources, "requests") | inner(resources, "limits")).items():
        count = count_of(value)
        if _MIG_RESOURCE.match(name):
            _take_slices(name.partition("/")[2], facts, value)
            return None
        if _SHARED_RESOURCE.search(name) and count != 0:
            facts.ask_count(f"it takes a share of an accelerator ({name}: {str(value)[:20]})")
            return None
        if name not in (*_RESOURCES, *_NEURON):
            continue
        if count is None:
            facts.ask_count(f"{name} is {str(value)[:40]!r}, no whole number")
            return None
        total += count
    return total


def _read_selectors(pod: dict[str, Any], facts: JobFacts) -> bool:
    labels = _labels(pod)
    names = [word_of(labels.get(label)) for label in _ACCELERATOR_LABELS]
    for name in names:
        facts.name_kind("" if is_slice(name) else name)
    of_slices = [word_of(labels.get(label)) for label in _SLICE_LABELS]
    for name in filter(None, (*filter(is_slice, names), *of_slices)):
        _take_slices(name, facts)
    for label in _SHARING_LABELS:
        if label in labels:
            facts.ask_count(f"accelerators are shared by several pods ({label})")
    if labels.get("cloud.google.com/gke-spot") in ("true", True):
        facts.spot = True
    machines = (word_of(labels.get(label)) for label in _MACHINE_LABELS)
    for name in filter(None, machines):
        known = find_machine_anywhere("", name)
        if known.accelerator:
            facts.machine = name
            facts.name_kind(known.accelerator)
            return True
    return any(names)


def _labels(pod: dict[str, Any]) -> dict[str, Any]:
    labels = inner(pod, "nodeSelector")
    place = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in items(pod, *place, "nodeSelectorTerms"):
        for one in items(term, "matchExpressions"):
            values = one.get("values")
            if one.get("operator") == "In" and isinstance(values, list) and len(values) == 1:
                labels = labels | {str(one.get("key")): values[0]}
    return labels


def _take_slices(name: str, facts: JobFacts, number: object = "some") -> None:
    facts.take_slices(name, str(number)[:20])
    facts.ask_count(f"slices ({name}) are how many accelerators is not stated")
