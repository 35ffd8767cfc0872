"""What a pod of Kubernetes takes: accelerators of its containers, kinds by nodes. PURE."""

from __future__ import annotations

import re
from typing import Any

from planner.usage.job_files.facts import JobFacts
from planner.usage.job_files.yaml_text import count_of, inner, items, word_of
from planner.usage.machines import find_machine, is_slice

_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "habana.ai/gaudi")
_NEURON = ("aws.amazon.com/neuron", "aws.amazon.com/neurondevice")
_ACCELERATOR_LABELS = (
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "nvidia.com/gpu.product",
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
_PROVIDERS = ("aws", "azure", "gcp")


def pod_accelerators(pod: dict[str, Any], facts: JobFacts) -> float | None:
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


def read_selectors(pod: dict[str, Any], facts: JobFacts) -> bool:
    """Accelerator or machine by the labels that nodes are chosen by; whether any names one."""
    labels = _labels(pod)
    for label in _ACCELERATOR_LABELS:
        name = word_of(labels.get(label))
        if name and is_slice(name):
            _take_slices(name, facts)
        else:
            facts.name_kind(name)
    for label in _SLICE_LABELS:
        if size := word_of(labels.get(label)):
            _take_slices(size, facts)
    for label in _SHARING_LABELS:
        if label in labels:
            facts.ask_count(f"accelerators are shared by several pods ({label})")
    machines = [_read_machine(word_of(labels.get(label)), facts) for label in _MACHINE_LABELS]
    if labels.get("cloud.google.com/gke-spot") in ("true", True):
        facts.spot = True
    return any(machines) or any(word_of(labels.get(label)) for label in _ACCELERATOR_LABELS)


def _labels(pod: dict[str, Any]) -> dict[str, Any]:
    """Labels that nodes must have."""
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
    return labels


def _take_slices(name: str, facts: JobFacts, number: object = "some") -> None:
    facts.take_slices(name, str(number)[:20])
    facts.ask_count(f"slices ({name}) are how many accelerators is not stated")


def _read_machine(name: str, facts: JobFacts) -> bool:
    """Whether the machine is one whose accelerator is known."""
    for provider in _PROVIDERS if name else ():
        known = find_machine(provider, name)
        if known.accelerator:
            facts.machine, facts.provider = name, provider
            facts.name_kind(known.accelerator)
            return True
    return False
