"""What an AWS machine holds: from DescribeInstanceTypes where it was asked, else from our table.

EC2 names a device and says its memory ("V100", 32 GiB); `pricing.market.accelerators` knows which
one that is. The price list names no device at all, so that a machine which EC2 did not describe is
looked up in `pricing.market.machine_types`, and a new size of a family known there is worked out
from it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from pricing.ingest.provider import SkippedRow
from pricing.market import accelerators, machine_types
from pricing.market.families import instance_family

_MEMORY_TOLERANCE = 0.12
"""EC2 gives usable memory, the datasheet the nominal one: an L4 has 22.35 of its 24 GiB."""
_MAX_PARTITION_DENOMINATOR = 64
"""Largest denominator taken for a part of an accelerator: "0.333" is 1/3, "0.125" 1/8."""
_NETWORK = re.compile(r"(?:(\d+)x\s*)?([\d.]+)\s*(Gigabit|Gbps|Megabit|Mbps)", re.IGNORECASE)
_NO_GPU = frozenset({"", "0", "NA"})


@dataclass(frozen=True)
class Machine:
    """One instance type with its accelerators."""

    instance_type: str
    accelerator: str
    count: Fraction
    vcpus: float | None = None
    memory_gib: float | None = None
    network_gbps: float | None = None
    capacity_blocks: bool = False
    """Whether it is sold by the Capacity Block."""
    retired: bool = False


class MachineLookup:
    """Every machine met so far. `day` decides which families have retired."""

    def __init__(self, day: dt.date) -> None:
        self.day = day
        self._described: dict[str, Machine | SkippedRow | None] = {}

    def add_description(self, info: Mapping[str, Any]) -> None:
        """Takes in one item of DescribeInstanceTypes."""
        name = info["InstanceType"]
        self._described[name] = self._parse_description(name, info)

    def accelerated_machines(self) -> Iterator[Machine]:
        """The machines with a known accelerator that EC2 described."""
        return (one for one in self._described.values() if isinstance(one, Machine))

    def unknown_machines(self) -> Iterator[SkippedRow]:
        """What EC2 described and we could not name."""
        return (one for one in self._described.values() if isinstance(one, SkippedRow))

    def find(
        self, instance_type: str, attributes: Mapping[str, str] | None = None
    ) -> Machine | SkippedRow | None:
        """The machine of this name; None for one without accelerators.

        `attributes` are those of its row in the price list, if it comes from there.
        """
        if instance_type in self._described:
            return self._described[instance_type]
        machine_type = machine_types.find("aws", instance_type)
        if machine_type is not None:
            return self._build_from_table(machine_type)
        return _infer_from_family(instance_type, attributes or {})

    def _parse_description(self, name: str, info: Mapping[str, Any]) -> Machine | SkippedRow | None:
        devices = _list_devices(info)
        if not devices:
            return _skip_other_accelerators(name, info)
        if len({device.get("Name") for device in devices}) > 1:
            names = ", ".join(str(device.get("Name")) for device in devices)
            return SkippedRow("several kinds of accelerator", f"{name}: {names}")
        slug = _find_device_slug(devices[0])
        if slug is None:
            return SkippedRow("unknown accelerator", f"{_format_device_name(devices[0])} ({name})")
        machine_type = machine_types.find("aws", name)
        count = sum((_count_accelerators(device) for device in devices), Fraction(0))
        if not count and machine_type is not None:
            count = machine_type.accelerator_count or Fraction(0)
        if not count:
            return SkippedRow("number of accelerators unknown", name)
        memory_mib = info.get("MemoryInfo", {}).get("SizeInMiB")
        return Machine(
            name,
            slug,
            count,
            vcpus=info.get("VCpuInfo", {}).get("DefaultVCpus"),
            memory_gib=memory_mib / 1024 if memory_mib else None,
            network_gbps=_parse_network(info.get("NetworkInfo", {})),
            capacity_blocks="capacity-block" in info.get("SupportedUsageClasses", ()),
            retired=machine_type is not None and machine_type.retired(self.day),
        )

    def _build_from_table(self, machine_type: machine_types.MachineType) -> Machine | SkippedRow:
        if not machine_type.accelerator_count:
            return SkippedRow("number of accelerators unknown", machine_type.instance_type)
        return Machine(
            machine_type.instance_type,
            machine_type.accelerator,
            machine_type.accelerator_count,
            machine_type.vcpus,
            float(machine_type.memory_gib) if machine_type.memory_gib is not None else None,
            machine_type.network_gbps,
            retired=machine_type.retired(self.day),
        )


def network_gbps(text: str) -> float | None:
    """The bandwidth that a text gives, None where it gives none.

    >>> network_gbps("4x 100 Gigabit"), network_gbps("Up to 12500 Megabit"), network_gbps("High")
    (400.0, 12.5, None)
    """
    match = _NETWORK.search(text)
    if match is None:
        return None
    number = float(match[2]) * int(match[1] or 1)
    return number / 1000 if match[3].lower().startswith("m") else number


def looks_accelerated(attributes: Mapping[str, str]) -> bool:
    """Whether a row of the price list says by itself that its machine has an accelerator."""
    family = attributes.get("instanceFamily", "")
    return (
        attributes.get("gpu", "") not in _NO_GPU
        or attributes.get("instanceFamilyCategory") == "Accelerated Computing"
        or "GPU" in family
        or "Machine Learning" in family
        or "Accelerat" in family
    )


def _list_devices(info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The accelerators of a machine. Inf1 and Inf2 list theirs twice, under two names."""
    return (
        info.get("GpuInfo", {}).get("Gpus")
        or info.get("NeuronInfo", {}).get("NeuronDevices")
        or info.get("InferenceAcceleratorInfo", {}).get("Accelerators")
        or []
    )


def _skip_other_accelerators(name: str, info: Mapping[str, Any]) -> SkippedRow | None:
    for key, what in (("FpgaInfo", "FPGA"), ("MediaAcceleratorInfo", "media accelerator")):
        if key in info:
            return SkippedRow("no deep-learning accelerator", f"{name}: {what}")
    return None


def _count_accelerators(device: Mapping[str, Any]) -> Fraction:
    """Whole accelerators of one entry: g6f.large has 1 logical GPU of 1/8, and `Count` 0."""
    part = _partition_share(device)
    if part == 1:
        return Fraction(device.get("Count") or device.get("LogicalGpuCount") or 0)
    return part * (device.get("LogicalGpuCount") or 1)


def _partition_share(device: Mapping[str, Any]) -> Fraction:
    size = device.get("GpuPartitionSize")
    return (
        Fraction(str(size)).limit_denominator(_MAX_PARTITION_DENOMINATOR) if size else Fraction(1)
    )


def _format_device_name(device: Mapping[str, Any]) -> str:
    return f"{device.get('Manufacturer', '')} {device.get('Name', '')}".strip()


def _find_device_slug(device: Mapping[str, Any]) -> str | None:
    memory_mib = device.get("MemoryInfo", {}).get("SizeInMiB")
    memory_gib = memory_mib / 1024 / float(_partition_share(device)) if memory_mib else None
    return find_slug(device.get("Name", ""), memory_gib)


@cache
def find_slug(name: str, memory_gib: float | None) -> str | None:
    """The accelerator of this name and memory, None where none or more than one fits.

    >>> find_slug("V100", 32.0), find_slug("A100", 80.0), find_slug("H100", 500.0)
    ('nvidia-v100-32gb-sxm', 'nvidia-a100-80gb-sxm', None)
    """
    candidates = accelerators.candidates(name)
    if len(candidates) <= 1 or memory_gib is None:
        accelerator = accelerators.find(name)
        return accelerator.slug if accelerator else None
    memory_matches = [
        one
        for one in candidates
        if abs(one.memory_gib - memory_gib) <= _MEMORY_TOLERANCE * one.memory_gib
    ]
    if len(memory_matches) == 1:
        return memory_matches[0].slug
    named_matches = [accelerators.find(f"{name} {one.memory_gib:g}GB") for one in memory_matches]
    slugs = {one.slug for one in (*named_matches, accelerators.find(name)) if one in memory_matches}
    return slugs.pop() if len(slugs) == 1 else None


def _parse_network(info: Mapping[str, Any]) -> float | None:
    """What the machine sustains, Gbit/s: a text such as "Up to 25 Gigabit" is about bursts, so
    that there the sum of the cards' baselines counts."""
    text = info.get("NetworkPerformance", "")
    baselines = [card.get("BaselineBandwidthInGbps") for card in info.get("NetworkCards", ())]
    if text.startswith("Up to") and baselines and all(baselines):
        return float(sum(baselines))
    return network_gbps(text)


def _infer_from_family(name: str, attributes: Mapping[str, str]) -> Machine | SkippedRow | None:
    """A machine that neither EC2 nor our table describes, by the rest of its family."""
    if not looks_accelerated(attributes):
        return None
    gpus = attributes.get("gpu", "")
    accelerator = _find_family_accelerator(instance_family(name))
    if accelerator is None:
        return SkippedRow("unknown accelerator", _describe_attributes(name, attributes))
    if gpus in _NO_GPU or not gpus.isdigit():
        return SkippedRow("number of accelerators unknown", _describe_attributes(name, attributes))
    return Machine(name, accelerator, Fraction(gpus))


def _describe_attributes(name: str, attributes: Mapping[str, str]) -> str:
    values = (attributes.get("instanceFamily"), attributes.get("gpu"), attributes.get("gpuMemory"))
    return f"{name} ({', '.join(text for text in values if text)})"


@cache
def _find_family_accelerator(family: str) -> str | None:
    """The one accelerator of all sizes of a family that has whole ones only, else None."""
    family_types = [
        machine_type
        for machine_type in machine_types.all_machine_types("aws").values()
        if instance_family(machine_type.instance_type) == family
    ]
    has_whole_counts = all(
        machine_type.accelerator_count and machine_type.accelerator_count.denominator == 1
        for machine_type in family_types
    )
    accelerators_in_family = {machine_type.accelerator for machine_type in family_types}
    return (
        accelerators_in_family.pop()
        if has_whole_counts and len(accelerators_in_family) == 1
        else None
    )
