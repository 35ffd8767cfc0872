"""What an Azure machine holds and whether it is sold: our table, and Resource SKUs if asked.

Our table of machine types goes first for the accelerators, because the API's "GPUs" capability is 1
for every fraction of one (and 0 for the confidential NCC40ads). The API goes first for vCPUs,
memory and for where the machine is sold. A restriction `NotAvailableForSubscription` is about
one subscription and lifted on request: it takes no machine off the market.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pricing.ingest.provider import SkippedRow
from pricing.market import accelerators, machine_types
from pricing.providers.azure.price_rows import region_name

_FRACTIONAL_SERIES = re.compile(r"_(?:A10|V710|V620)_|RTXPRO|as_v4$", re.IGNORECASE)
"""Series with sizes of less than one accelerator: their GPUs capability says nothing."""
_MODEL = re.compile(r"_([a-z]{0,7}\d{1,4}[a-z]{0,3})_v\d+$", re.IGNORECASE)
"""The accelerator's name in a machine's name: Standard_ND96isr_H100_v5 → H100."""


@dataclass(frozen=True)
class Machine:
    """A machine as an offer needs it."""

    accelerator: str
    accelerator_count: Fraction
    vcpus: float | None
    memory_gib: float | None
    network_gbps: float | None
    sold_now: bool


@dataclass(frozen=True)
class ResourceSku:
    """One machine of the Resource SKUs API, with the regions that list it."""

    name: str
    capabilities: Mapping[str, str]
    regions: frozenset[str]

    def number(self, capability: str) -> float | None:
        try:
            return float(self.capabilities[capability])
        except (KeyError, ValueError):
            return None


class MachineLookup:
    """Looks machines up; `resource_skus` is None where no subscription is configured."""

    def __init__(self, day: dt.date, resource_skus: Iterable[ResourceSku] | None = None) -> None:
        self._day = day
        self._skus: dict[str, ResourceSku] | None = None
        if resource_skus is not None:
            self._skus = _merge_by_name(resource_skus)

    def find(self, instance_type: str, region: str) -> Machine | SkippedRow:
        """The machine in that region, or why it cannot be offered."""
        machine_type = machine_types.find("azure", instance_type)
        sku = self._skus.get(instance_type.lower()) if self._skus is not None else None
        if machine_type is None:
            machine_type = _build_machine_type(sku) if sku else None
        if machine_type is None:
            return SkippedRow("unknown machine", instance_type)
        if not machine_type.accelerator:
            return SkippedRow("no accelerator of ours", f"{instance_type}: {machine_type.note}")
        if machine_type.accelerator_count is None:
            return SkippedRow(
                "accelerator count not published", f"{instance_type}: {machine_type.note}"
            )
        return self._machine(machine_type, sku, region)

    def _machine(
        self, machine_type: machine_types.MachineType, sku: ResourceSku | None, region: str
    ) -> Machine:
        vcpus, memory_gib = (
            machine_type.vcpus,
            float(machine_type.memory_gib) if machine_type.memory_gib is not None else None,
        )
        if sku:
            vcpus = sku.number("vCPUs") or vcpus
            memory_gib = sku.number("MemoryGB") or memory_gib
        assert machine_type.accelerator_count is not None
        return Machine(
            machine_type.accelerator,
            machine_type.accelerator_count,
            vcpus,
            memory_gib,
            machine_type.network_gbps,
            self._is_sold(machine_type, sku, region),
        )

    def _is_sold(
        self, machine_type: machine_types.MachineType, sku: ResourceSku | None, region: str
    ) -> bool:
        if machine_type.retired(self._day) or accelerators.get(machine_type.accelerator).retired:
            return False
        return self._skus is None or (sku is not None and region in sku.regions)


def read_resource_sku(row: Mapping[str, Any]) -> ResourceSku | None:
    """One row of the API; None for what is no virtual machine (disks, availability sets)."""
    if str(row.get("resourceType", "")).lower() != "virtualmachines" or not row.get("name"):
        return None
    locations = [str(location) for location in row.get("locations") or ()]
    locations += [str(info.get("location", "")) for info in row.get("locationInfo") or ()]
    return ResourceSku(
        name=str(row["name"]),
        capabilities={
            str(one.get("name", "")): str(one.get("value", ""))
            for one in row.get("capabilities") or ()
        },
        regions=frozenset(region_name(location) for location in locations if location),
    )


def _merge_by_name(skus: Iterable[ResourceSku]) -> dict[str, ResourceSku]:
    """One SKU a name: the API gives one row for each region."""
    merged: dict[str, ResourceSku] = {}
    for sku in skus:
        key = sku.name.lower()
        before = merged.get(key)
        regions = sku.regions | (before.regions if before else frozenset())
        merged[key] = ResourceSku(sku.name, sku.capabilities, regions)
    return merged


def _build_machine_type(sku: ResourceSku) -> machine_types.MachineType | None:
    """The machine type of a SKU newer than our table, as far as the API can be believed."""
    count = sku.number("GPUs")
    model = _MODEL.search(sku.name)
    accelerator = accelerators.find(model[1]) if model else None
    if not count or accelerator is None:
        return None
    known = count >= 1 and not _FRACTIONAL_SERIES.search(sku.name)
    return machine_types.MachineType(
        instance_type=sku.name,
        accelerator=accelerator.slug,
        accelerator_count=Fraction(count) if known else None,
        vcpus=sku.number("vCPUs"),
        memory_gib=None,
        network_gbps=None,
        note="" if known else "the API says 1 for every fraction",
        source="Resource SKUs API",
    )
