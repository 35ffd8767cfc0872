"""What stands by declaration: `terraform show -json`, `kubectl get … -o json`. PURE.

Neither states hours of the past. Accelerators that stand are planned for every hour of the month.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from planner.usage.formats import LogFormat, ReadOptions
from planner.usage.job_files import kubernetes
from planner.usage.job_files.configs import count_of, inner, items, read_documents, within, word_of
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.machines import find_machine, name_accelerator
from planner.usage.sources import Source
from planner.usage.tables import Moments, clip
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows

# Terraform --------------------------------------------------------------------------------


class _Kind(NamedTuple):
    provider: str
    machine: str
    """Where the name of its machine stands; of a group often in a template that it refers to."""
    counts: list[str]
    """Where their number may stand; one machine where there is no such place."""
    is_template: bool
    """Whether it stands only where a group refers to it."""


@cache
def _kinds() -> dict[str, _Kind]:
    """What Terraform declares machines by (registries of its providers, 2026)."""
    rows = read_rows(Path(__file__).with_name("terraform.csv"))
    return {
        row["resource"]: _Kind(
            *(row["provider"], row["machine"], row["count"].split(), bool(row["is_template"]))
        )
        for row in rows
    }


_TAGS = ("tags_all", "tags", "labels", "effective_labels", "resource_labels", "node_labels")
_NAMES = ("id", "name", "self_link", "arn")
"""Fields of a template by which groups refer to it."""


def _read_terraform(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    document = source.document()
    values = inner(document, "planned_values") or inner(document, "values")
    resources = [*_resources(inner(values, "root_module")), *_resources(document)]
    if not resources:
        raise InvalidInput("file", "is no state or plan of Terraform; run terraform show -json")
    root = inner(document, "configuration", "root_module")
    for resource, kind, template in _join_templates(resources, dict(_references(root))):
        try:
            _read_resource(resource, kind, template, ledger, options)
        except InvalidInput as refusal:
            ledger.misread(word_of(resource.get("address")) or "a resource", str(refusal))


def _resources(module: Any) -> Iterator[dict[str, Any]]:
    """Resources of a module and of those in it; in a file of state (`terraform.tfstate`) each has
    instances."""
    for one in items(module, "resources"):
        instances = [
            one | {"values": inner(part, "attributes")} for part in items(one, "instances")
        ]
        yield from instances or [one]
    for child in items(module, "child_modules"):
        yield from _resources(child)


def _references(module: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, list[str]]]:
    """Addresses of resources in a plan, each with what it refers to."""
    for resource in items(module, "resources"):
        words = [f"{prefix}{word}" for word in _words(resource.get("expressions"))]
        yield f"{prefix}{word_of(resource.get('address'))}", words
    for name, call in inner(module, "module_calls").items():
        yield from _references(inner(call, "module"), f"{prefix}module.{name}.")


def _words(value: Any) -> list[str]:
    return re.findall(r'"([^"]+)"', json.dumps(value))


def _join_templates(
    resources: list[dict[str, Any]], references: dict[str, list[str]]
) -> Iterator[tuple[dict[str, Any], _Kind | None, dict[str, Any]]]:
    """Resources, with the template of machines that each refers to: in a state by its name, in a
    plan, where names are not known yet, by its address. A template that is used is no machine."""
    known = [
        (
            one,
            None if one.get("mode") == "data" else _kinds().get(word_of(one.get("type"))),
            re.sub(r"\[[^\]]*\]", "", word_of(one.get("address"))),
        )
        for one in resources
    ]
    templates = {
        name: one
        for one, kind, address in known
        if kind is not None and kind.is_template
        for name in (address, *(word_of(within(one, "values", name)) for name in _NAMES))
    }
    used = [
        next((templates[word] for word in words if word in templates), {})
        for one, kind, address in known
        for all_words in [[*_words(one.get("values")), *references.get(address, ())]]
        for words in [all_words if kind is not None and not kind.is_template else []]
    ]
    for (one, kind, _), template in zip(known, used, strict=True):
        is_used = any(one is other for other in used)
        yield one, None if is_used else kind, inner(template, "values")


def _read_resource(
    resource: dict[str, Any],
    kind: _Kind | None,
    template: dict[str, Any],
    ledger: Ledger,
    options: ReadOptions,
) -> None:
    values = inner(resource, "values")
    if kind is None:
        ledger.account(Reason.NOT_A_MACHINE)
        return
    own = within(values, *kind.machine.split("."))
    own = own[0] if isinstance(own, list) and own else own
    names = (own, template.get("instance_type"), template.get("machine_type"))
    machine = find_machine(kind.provider, next(filter(None, map(word_of, names)), ""))
    name, each = machine.accelerator, machine.accelerators
    parts = ("node_config", "default_node_pool")
    places = [template, *(part for name in parts for part in items(values, name)), values]
    for place in places:
        for added in items(place, "guest_accelerator")[:1]:
            called = word_of(added.get("type")).rpartition("/")[2]
            name, each = name_accelerator(called), count_of(added.get("count"))
    counts = (count_of(within(values, *place.split("."))) for place in kind.counts)
    number = next((one for one in counts if one is not None), None if kind.counts else 1)
    if each == 0:
        ledger.account(Reason.OTHER_MACHINE)
        return
    if each is None or number is None or kind.is_template:
        what = machine.name or "a machine without a name"
        raise InvalidInput("", f"how many accelerators {what} has, or how many stand, is not known")
    zones = values.get("node_locations")
    number *= len(zones) if isinstance(zones, list) and zones else 1
    named = (inner(place, tag).items() for place in places for tag in _TAGS)
    tags = dict(chain.from_iterable(named))
    tags |= {word_of(one.get("key")): one.get("value") for one in items(values, "tag")}
    project = options.projects.choose(options.projects.pick(tags)) or word_of(values.get("project"))
    ledger.declared[name, project] += each * number
    ledger.account(Reason.STANDING)


# Kubernetes -------------------------------------------------------------------------------


def _read_kubernetes(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    documents = _documents(source)
    listed = [one for document in documents for one in items(document, "items") or [document]]
    if all(one.get("kind") == "Node" for one in listed):
        listed = [_as_pod(one) for one in listed]
        ledger.note("The file lists nodes and no pods: all of their accelerators count.")
    marks = {word_of(inner(one, "metadata").get("uid")) for one in listed} - {""}
    labels = {
        word_of(inner(one, "metadata").get("name")): inner(one, "metadata", "labels")
        for one in listed
        if one.get("kind") == "Node"
    }
    for one in listed:
        about, spec = inner(one, "metadata"), inner(one, "spec")
        owners = {word_of(owner.get("uid")) for owner in items(about, "ownerReferences")}
        status = inner(one, "status")
        ended = _find_end(status)
        is_idle = word_of(status.get("phase")) in _HOLD_NOTHING and not ended
        if one.get("kind") == "Node" or is_idle or owners & marks:
            ledger.account(Reason.NOT_A_MACHINE)
            continue
        node = labels.get(word_of(spec.get("nodeName")), {})
        placed = {**one, "spec": spec | {"nodeSelector": node | inner(spec, "nodeSelector")}}
        facts = kubernetes.read([placed])
        space, name = clip(word_of(about.get("namespace"))), word_of(about.get("name"))
        if facts.accelerators:
            tags = options.projects.pick(inner(about, "labels")) | {"namespace": space}
            project = options.projects.choose(tags, space) or space
            called = facts.slug or name_accelerator(facts.accelerator)
            if ended:
                times = (word_of(status.get("startTime")), ended)
                start_s, end_s = (Moments()(text, "status").seconds for text in times)
                use = UseKey("", accelerator=called, option="owned", project=project)
                hours = facts.accelerators * (end_s - start_s) / 3600
                ledger.use_between(use, start_s, end_s, hours)
                ledger.account(Reason.ACCELERATOR_USE)
                continue
            ledger.declared[called, project] += facts.accelerators
            ledger.account(Reason.STANDING)
        elif facts.per_node or facts.slices:
            ledger.misread(f"{space}/{name}", facts.questions["peak_accelerators"])
        else:
            ledger.account(Reason.NO_ACCELERATOR)


_HOLD_NOTHING = ("Pending", "Succeeded", "Failed")
"""Phases of pods that hold no accelerator: they wait for a node, or have ended."""


def _find_end(status: dict[str, Any]) -> str:
    """When a job, or the last container of a pod, ended."""
    ends = [
        word_of(within(one, "state", "terminated", "finishedAt"))
        for one in items(status, "containerStatuses")
    ]
    ends += [
        word_of(one.get("lastTransitionTime"))
        for one in items(status, "conditions")
        if (one.get("type"), one.get("status")) == ("Failed", "True")
    ]
    return word_of(status.get("completionTime")) or max(ends, default="")


def _as_pod(node: dict[str, Any]) -> dict[str, Any]:
    container = {"resources": {"limits": inner(node, "status", "capacity")}}
    spec = {"nodeSelector": inner(node, "metadata", "labels"), "containers": [container]}
    return {"kind": "Pod", "metadata": {}, "spec": spec}


def _documents(source: Source) -> list[dict[str, Any]]:
    if source.head.lstrip().startswith("{"):
        return [source.document()]
    try:
        return read_documents(source.whole_text())
    except InvalidInput as refusal:
        problem = f"{refusal.message}; run kubectl get nodes,pods -A -o json"
        raise InvalidInput("file", problem) from None


_IS_LIVE = re.compile(r"^(items:|status:|  uid:)", re.MULTILINE)
"""What kubectl writes of what stands, and a manifest of work to come does not hold."""


TERRAFORM = LogFormat(
    "terraform",
    "terraform show -json",
    lambda head: (
        head.lstrip().startswith("{")
        and ('"terraform_version"' in head or '"format_version"' in head[:100])
    ),
    _read_terraform,
)
KUBERNETES = LogFormat(
    "kubernetes",
    "kubectl get -o json",
    lambda head: bool(
        (
            head.lstrip().startswith("{")
            and '"apiVersion"' in head[:4_000]
            and re.search('"(items|status)":', head)
        )
        or (re.match(r"(---\s+)?apiVersion: \S+\r?\n", head) and _IS_LIVE.search(head))
    ),
    _read_kubernetes,
)
