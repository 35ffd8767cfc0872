"""Which machines there are and where: Compute Engine if it may be asked, our table otherwise.

A price for a region says nothing about the machine being there: of the price list's
(machine, region) pairs three in five cannot be had. Such offers are kept, as not sold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pricing.ingest.provider import SkippedRow
from pricing.market import accelerators, machine_types

LOCAL_SSD_PARTITION_GIB = 375
"""GiB of one local disk partition of A2 and A3 High; newer machines have larger ones."""
G4_VCPUS = 48
"""vCPUs of a G4 for each whole accelerator; smaller machines have a fraction of one."""
_PARTITION_KNOWN = re.compile(r"a2-|a3-(?:high|mega|edge)gpu-")
_HAS_LOCAL_SSD = re.compile(r"(?:a2-ultragpu-|a3-)(?!.*nolssd)")
"""Families that come with local disk, which is billed with them."""
_GONE = frozenset({"DEPRECATED", "OBSOLETE", "DELETED"})
_MIB_PER_GIB = 1024


@dataclass
class LiveMachineType:
    """One machine type of Compute Engine, with the regions whose zones have it."""

    name: str
    vcpus: int
    memory_gib: Decimal
    accelerator_type: str = ""
    accelerator_count: int = 0
    local_ssd_partitions: int | None = None
    regions: set[str] = field(default_factory=set)


class Availability:
    """Machines and regions. None where Compute Engine was not asked: our table is used."""

    def __init__(
        self,
        machine_types: Mapping[str, LiveMachineType] | None = None,
        attachable: Mapping[str, set[str]] | None = None,
        max_cards: Mapping[str, int] | None = None,
    ) -> None:
        self._types = machine_types
        self._attachable = attachable
        self._most_cards = max_cards or {}

    def machines(self) -> Iterator[machine_types.MachineType | SkippedRow]:
        """Every machine with accelerators of its own, then the N1 hosts with attached ones."""
        known = machine_types.all_machine_types("gcp")
        for machine_type in known.values():
            yield self._apply_live_values(machine_type)
        for name, live in (self._types or {}).items():
            if live.accelerator_count and name.lower() not in known:
                yield _build_machine_type(live)
        yield from machine_types.attached_machine_types()

    def is_offered(self, machine_type: machine_types.MachineType, region: str) -> bool:
        if isinstance(machine_type, machine_types.AttachedMachineType):
            return self._can_attach(machine_type) and region in self._find_attachable_regions(
                machine_type
            )
        return region in self._find_regions(machine_type.instance_type)

    def has_slice(self, one: machine_types.TpuSlice, region: str) -> bool:
        """Whether the hosts of the slice are in the region; yes where they are not listed at
        all: v2 and v4 have no machine types of their own."""
        names = self._types if self._types is not None else machine_types.regions_by_machine_type()
        hosts = [n for n in names if one.machine_types and n.startswith(one.machine_types)]
        return not hosts or any(region in self._find_regions(name) for name in hosts)

    def _find_regions(self, name: str) -> Iterable[str]:
        if self._types is None:
            return machine_types.regions_by_machine_type().get(name, frozenset())
        live = self._types.get(name)
        return live.regions if live else frozenset()

    def _find_attachable_regions(
        self, machine_type: machine_types.AttachedMachineType
    ) -> Iterable[str]:
        if self._attachable is None:
            return machine_types.regions_by_machine_type().get(
                machine_type.accelerator_type, frozenset()
            )
        return self._attachable.get(machine_type.accelerator_type, ())

    def _can_attach(self, machine_type: machine_types.AttachedMachineType) -> bool:
        max_cards = self._most_cards.get(machine_type.accelerator_type)
        return max_cards is None or (machine_type.accelerator_count or 0) <= max_cards

    def _apply_live_values(
        self, machine_type: machine_types.MachineType
    ) -> machine_types.MachineType:
        """vCPUs and memory as Compute Engine says them, the rest as our table does."""
        live = (self._types or {}).get(machine_type.instance_type)
        if live is None:
            return machine_type
        vcpus, memory_gib = (
            live.vcpus or machine_type.vcpus,
            live.memory_gib or machine_type.memory_gib,
        )
        return replace(machine_type, vcpus=vcpus, memory_gib=memory_gib)


def read_machine_types(
    items: Iterable[tuple[str, Mapping[str, Any]]],
) -> dict[str, LiveMachineType]:
    """Machine types by name from (zone, row) pairs; those that are being withdrawn left out."""
    types_by_name: dict[str, LiveMachineType] = {}
    for zone, row in items:
        name = str(row.get("name") or "")
        if not name or not _is_current(row):
            continue
        machine = types_by_name.get(name) or types_by_name.setdefault(
            name, _parse_live_machine_type(name, row)
        )
        machine.regions.add(zone_region(zone))
    return types_by_name


def read_accelerator_types(
    items: Iterable[tuple[str, Mapping[str, Any]]],
) -> tuple[dict[str, set[str]], dict[str, int]]:
    """(regions, most cards of one machine) by accelerator type."""
    regions: dict[str, set[str]] = defaultdict(set)
    max_cards: dict[str, int] = {}
    for zone, row in items:
        name = str(row.get("name") or "")
        if not name or not _is_current(row):
            continue
        regions[name].add(zone_region(zone))
        cards = int(row.get("maximumCardsPerInstance") or 0)
        if cards:
            max_cards[name] = max(cards, max_cards.get(name, 0))
    return dict(regions), max_cards


def zone_region(zone: str) -> str:
    """The region of a zone, by name or by key of an aggregated list.

    >>> zone_region("zones/us-central1-a")
    'us-central1'
    """
    return zone.rpartition("/")[2].rpartition("-")[0]


def _is_current(row: Mapping[str, Any]) -> bool:
    deprecated = row.get("deprecated") or {}
    return str(deprecated.get("state") or "").upper() not in _GONE


def _parse_live_machine_type(name: str, row: Mapping[str, Any]) -> LiveMachineType:
    cards = [card for card in row.get("accelerators") or () if card.get("guestAcceleratorCount")]
    disks = row.get("bundledLocalSsds") or {}
    return LiveMachineType(
        name=name,
        vcpus=int(row.get("guestCpus") or 0),
        memory_gib=Decimal(int(row.get("memoryMb") or 0)) / _MIB_PER_GIB,
        accelerator_type=str(cards[0].get("guestAcceleratorType") or "") if cards else "",
        accelerator_count=int(cards[0]["guestAcceleratorCount"]) if cards else 0,
        local_ssd_partitions=int(disks.get("partitionCount") or 0) if disks else None,
    )


def _build_machine_type(live: LiveMachineType) -> machine_types.MachineType | SkippedRow:
    """The machine type of one that is newer than our table, unless something of it is unknown."""
    name = live.accelerator_type.rpartition("/")[2]
    accelerator = accelerators.find(name)
    if name.endswith("-vws"):
        return SkippedRow("virtual workstation", live.name)
    if accelerator is None:
        return SkippedRow("unknown accelerator", f"{name} of {live.name}")
    if not (live.vcpus and live.memory_gib):
        return SkippedRow("vCPUs or memory are not known", live.name)
    if live.name.startswith("g4-") and live.vcpus < G4_VCPUS * live.accelerator_count:
        return SkippedRow("accelerator count not published", f"{live.name}: a fraction of one")
    partitions = live.local_ssd_partitions
    is_ssd_unreported = partitions is None and _HAS_LOCAL_SSD.match(live.name)
    if is_ssd_unreported or (partitions and not _PARTITION_KNOWN.match(live.name)):
        return SkippedRow("size of the local disk is not known", live.name)
    return machine_types.MachineType(
        instance_type=live.name,
        accelerator=accelerator.slug,
        accelerator_count=Fraction(live.accelerator_count),
        vcpus=live.vcpus,
        memory_gib=live.memory_gib,
        network_gbps=None,
        local_ssd_gib=(partitions or 0) * LOCAL_SSD_PARTITION_GIB,
        source="Compute Engine machine types",
    )
