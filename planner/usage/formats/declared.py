"""What stands by declaration: `terraform show -json`, `kubectl get … -o json`. PURE.

Neither states hours of the past. Accelerators that stand are planned for every hour of the month.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from planner.usage.formats import LogFormat, ReadOptions
from planner.usage.job_files import kubernetes
from planner.usage.job_files.configs import count_of, inner, items, read_documents, word_of
from planner.usage.ledger import Ledger, Reason
from planner.usage.machines import find_machine, name_accelerator
from planner.usage.sources import Source
from planner.usage.tables import clip
from pricing.common.invalid_input import InvalidInput

# Terraform --------------------------------------------------------------------------------

_MACHINES: Mapping[str, tuple[str, str, str]] = {
    "aws_instance": ("aws", "instance_type", ""),
    "aws_spot_instance_request": ("aws", "instance_type", ""),
    "aws_launch_template": ("aws", "instance_type", "desired_capacity"),
    "aws_eks_node_group": ("aws", "instance_types", "scaling_config.desired_size"),
    "google_compute_instance": ("gcp", "machine_type", ""),
    "google_compute_instance_template": ("gcp", "machine_type", "target_size"),
    "google_container_node_pool": ("gcp", "node_config.machine_type", "node_count"),
    "azurerm_linux_virtual_machine": ("azure", "size", ""),
    "azurerm_windows_virtual_machine": ("azure", "size", ""),
    "azurerm_linux_virtual_machine_scale_set": ("azure", "sku", "instances"),
    "azurerm_kubernetes_cluster_node_pool": ("azure", "vm_size", "node_count"),
}
"""Kind of resource → cloud, where its machine stands and where their number, which templates of
groups leave open; "" for one."""
_TAGS = ("tags_all", "tags", "labels", "effective_labels")


def _read_terraform(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    document = source.document()
    values = inner(document, "planned_values") or inner(document, "values")
    if not values:
        raise InvalidInput("file", "is no state or plan of Terraform; run terraform show -json")
    for resource in _resources(inner(values, "root_module")):
        try:
            _read_resource(resource, ledger, options)
        except InvalidInput as refusal:
            ledger.misread(word_of(resource.get("address")) or "a resource", str(refusal))


def _resources(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from items(module, "resources")
    for child in items(module, "child_modules"):
        yield from _resources(child)


def _at(values: Any, path: str) -> Any:
    for name in path.split("."):
        values = values.get(name) if isinstance(values, dict) else None
        values = values[0] if isinstance(values, list) and values else values
    return values


def _read_resource(resource: dict[str, Any], ledger: Ledger, options: ReadOptions) -> None:
    known, values = _MACHINES.get(word_of(resource.get("type"))), inner(resource, "values")
    if known is None or resource.get("mode") == "data":
        ledger.account(Reason.NOT_A_MACHINE)
        return
    provider, where, of_count = known
    machine = find_machine(provider, word_of(_at(values, where)))
    name, each = machine.accelerator, machine.accelerators
    for place in (values, _at(values, "node_config")):
        if added := inner(_at(place, "guest_accelerator")):
            name, each = name_accelerator(word_of(added.get("type"))), count_of(added.get("count"))
    number = count_of(_at(values, of_count)) if of_count else 1
    if each == 0:
        ledger.account(Reason.OTHER_MACHINE)
        return
    if each is None or number is None:
        what = machine.name or "a machine without a name"
        raise InvalidInput("", f"how many accelerators {what} has, or how many stand, is not known")
    places = [inner(place, tag) for place in (values, _at(values, "node_config")) for tag in _TAGS]
    tags = {name: value for place in places for name, value in place.items()}
    ledger.declared[name, options.projects.choose(options.projects.pick(tags))] += each * number
    ledger.account(Reason.STANDING)


# Kubernetes -------------------------------------------------------------------------------


def _read_kubernetes(source: Source, ledger: Ledger, options: ReadOptions) -> None:
    document = _document(source)
    listed = items(document, "items") or items({"items": [document]}, "items")
    if all(one.get("kind") == "Node" for one in listed):
        problem = "lists nodes and no pods, so nobody has them"
        raise InvalidInput("file", f"{problem}; run kubectl get nodes,pods -A -o json")
    marks = {word_of(inner(one, "metadata").get("uid")) for one in listed} - {""}
    labels = {
        word_of(inner(one, "metadata").get("name")): inner(one, "metadata", "labels")
        for one in listed
        if one.get("kind") == "Node"
    }
    for one in listed:
        about, spec = inner(one, "metadata"), inner(one, "spec")
        owners = {word_of(owner.get("uid")) for owner in items(about, "ownerReferences")}
        is_over = word_of(inner(one, "status").get("phase")) in ("Succeeded", "Failed")
        if one.get("kind") == "Node" or is_over or owners & marks:
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
            ledger.declared[called, project] += facts.accelerators
            ledger.account(Reason.STANDING)
        elif facts.per_node or facts.slices:
            ledger.misread(f"{space}/{name}", facts.questions["peak_accelerators"])
        else:
            ledger.account(Reason.NO_ACCELERATOR)


def _document(source: Source) -> Any:
    if source.head.lstrip().startswith("{"):
        return source.document()
    try:
        return next(iter(read_documents(source.whole_text())), {})
    except InvalidInput as refusal:
        problem = f"{refusal.message}; run kubectl get nodes,pods -A -o json"
        raise InvalidInput("file", problem) from None


TERRAFORM = LogFormat(
    "terraform",
    "terraform show -json",
    lambda head: head.lstrip().startswith("{") and '"terraform_version"' in head,
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
        or re.match(r"apiVersion: v1\r?\nitems:", head)
    ),
    _read_kubernetes,
)
