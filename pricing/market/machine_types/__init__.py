"""What machines hold: accelerators, vCPUs, memory, local disk, and where they are offered. PURE.

Price lists name machines and say little about them. These tables fill the gap where a
provider's own API cannot be asked, and hold what that API gets wrong: Azure's "GPUs"
capability is 1 for every fraction of an accelerator. An accelerator count that no source
gives is absent, with the reason in `note`; it is never guessed.

| table | one row is |
|---|---|
| `azure.csv`, `gcp.csv` | a machine with its own accelerators |
| `gcp_hosts.csv`, `gcp_attached.csv` | an N1 host; how many accelerators one may carry |
| `gcp_tpu.csv` | a TPU slice and the rate by which it is sold |
| `gcp_offered.csv` | the regions of a machine or of an attachable accelerator |
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pricing.common.tables import read_row, read_rows, read_table
from pricing.market import accelerators
from pricing.market.offers import Offer, PurchaseOption

_FOLDER = Path(__file__).parent

MIN_VCPUS_PER_ACCELERATOR = 4
"""N1 hosts with fewer vCPUs for each attached accelerator are not listed: they cannot feed it.
Four is the smallest host of the accelerator-optimised families (g2-standard-4)."""


@dataclass(frozen=True)
class MachineType:
    instance_type: str
    accelerator: str
    """Canonical slug; empty for a machine whose accelerator is none (an FPGA)."""
    accelerator_count: Fraction | None
    """Exact: 1/6 of an A10. None where no source says it; `note` says why."""
    vcpus: float | None = None
    memory_gib: Decimal | None = None
    network_gbps: float | None = None
    local_ssd_gib: int = 0
    """Local disk that comes with the machine, GiB."""
    not_sold_as: frozenset[str] = frozenset()
    """Purchase options with a listed price under which it cannot be had."""
    retired_on: dt.date | None = None
    note: str = ""
    source: str = ""

    def retired(self, day: dt.date) -> bool:
        return self.retired_on is not None and day >= self.retired_on


@dataclass(frozen=True)
class AttachedMachineType(MachineType):
    """An N1 host with accelerators attached, named `n1-standard-8+1xnvidia-tesla-t4`."""

    host: str = ""
    accelerator_type: str = ""
    """The provider's name of the accelerator."""
    not_in: frozenset[str] = frozenset()
    """Regions with the accelerator whose zones have smaller hosts alone."""


@dataclass(frozen=True)
class TpuSlice:
    """A TPU slice, such as v5litepod-8 (8 chips) or v3-32 (32 cores, 16 chips)."""

    name: str
    accelerator: str
    chips: int
    rate: str
    """Which price applies: `device` (one v2 or v3 host), `pod`, or `chip` (v5e and later)."""
    chips_per_unit: int
    """Chips that one unit of that price covers: v2 to v4 are priced per 8 cores, 4 chips."""
    machine_types: str
    """How the machine types of its hosts begin; empty where there are none."""
    vcpus: float | None
    memory_gib: Decimal | None

    @property
    def units(self) -> int:
        return self.chips // self.chips_per_unit


def make_offer(
    provider: str,
    machine: MachineType,
    region: str,
    option: PurchaseOption,
    price_per_hour: Decimal,
    as_of: dt.date,
    *,
    sold_now: bool = True,
    **fields: Any,
) -> Offer:
    """The offer of a machine; never sold now once it or its accelerator has retired."""
    has_retired = machine.retired(as_of) or accelerators.get(machine.accelerator).retired
    return Offer(
        provider=provider,
        region=region,
        instance_type=machine.instance_type,
        accelerator=machine.accelerator,
        accelerator_count=machine.accelerator_count or Fraction(0),
        purchase_option=option,
        price_per_hour=price_per_hour,
        vcpus=machine.vcpus,
        memory_gib=float(machine.memory_gib or 0) or None,
        network_gbps=machine.network_gbps,
        as_of=as_of,
        sold_now=sold_now and not has_retired,
        **fields,
    )


PROVIDERS = ("aws", "azure", "gcp")
"""Providers whose machine types are tabled."""


@cache
def all_machine_types(provider: str) -> Mapping[str, MachineType]:
    """Machine types of a provider by name in lower case: capitals differ between its APIs.

    >>> all_machine_types("azure")["standard_nv6ads_a10_v5"].accelerator_count
    Fraction(1, 6)
    """
    rows = read_table(_FOLDER / f"{provider}.csv", MachineType)
    return MappingProxyType(
        {machine_type.instance_type.lower(): machine_type for machine_type in rows}
    )


def find(provider: str, instance_type: str) -> MachineType | None:
    """The machine type of this name, capitals aside; None for a provider without a table.

    >>> find("gcp", "a3-highgpu-8g").local_ssd_gib
    6000
    """
    if provider not in PROVIDERS:
        return None
    return all_machine_types(provider).get(instance_type.strip().lower())


@cache
def attached_machine_types() -> tuple[AttachedMachineType, ...]:
    """Every N1 host with every number of accelerators that it may carry and can feed.

    >>> attached_machine_types()[0].instance_type
    'n1-standard-4+1xnvidia-tesla-t4'
    """
    hosts = list(_read_rows("gcp_hosts.csv"))
    machines: dict[str, AttachedMachineType] = {}
    for row in _read_rows("gcp_attached.csv"):
        count = int(row["count"])
        for host in hosts:
            vcpus, memory_gib = int(host["vcpus"]), Decimal(host["memory_gib"])
            fits = vcpus <= int(row["max_vcpus"]) and memory_gib <= Decimal(row["max_memory_gib"])
            if fits and vcpus >= MIN_VCPUS_PER_ACCELERATOR * count:
                machine = AttachedMachineType(
                    instance_type=f"{host['instance_type']}+{count}x{row['accelerator_type']}",
                    accelerator=row["accelerator"],
                    accelerator_count=Fraction(count),
                    vcpus=vcpus,
                    memory_gib=memory_gib,
                    network_gbps=None,
                    source=row["source"],
                    host=host["instance_type"],
                    accelerator_type=row["accelerator_type"],
                    not_in=frozenset(row["not_in"].split()),
                )
                machines.setdefault(machine.instance_type, machine)
    return tuple(machines.values())


@cache
def tpu_slices() -> tuple[TpuSlice, ...]:
    """The TPU slices on sale, v2 to v7.

    >>> [(s.name, s.chips, s.units) for s in tpu_slices() if s.name in ("v3-32", "v5p-8")]
    [('v3-32', 16, 4), ('v5p-8', 4, 4)]
    """
    return tuple(
        read_row(TpuSlice, row | {"name": row["slice"]}) for row in _read_rows("gcp_tpu.csv")
    )


@cache
def regions_by_machine_type() -> Mapping[str, frozenset[str]]:
    """Regions in which a machine type, or an attachable accelerator, is offered.

    >>> "us-central1" in regions_by_machine_type()["nvidia-tesla-t4"]
    True
    """
    rows = _read_rows("gcp_offered.csv")
    return MappingProxyType({row["name"]: frozenset(row["regions"].split()) for row in rows})


def _read_rows(name: str) -> Iterator[dict[str, str]]:
    return read_rows(_FOLDER / name)


_SIZE_SUFFIX = re.compile(r"-\d+[a-z]*$")
_FIRST_NUMBER = re.compile(r"\d+(-\d+)?")


@lru_cache(maxsize=65_536)
def instance_family(instance_type: str) -> str:
    """The instance type without its size, by the way each cloud writes it.

    >>> [instance_family(name) for name in ("p5.48xlarge", "a2-highgpu-8g", "v5litepod-16")]
    ['p5', 'a2-highgpu', 'v5litepod']
    >>> instance_family("Standard_NC24ads_A100_v4"), instance_family("Standard_NC48ads_A100_v4")
    ('Standard_NC#ads_A100_v4', 'Standard_NC#ads_A100_v4')
    """
    if "." in instance_type:
        return instance_type.split(".", 1)[0]
    if _SIZE_SUFFIX.search(instance_type):
        return _SIZE_SUFFIX.sub("", instance_type)
    return _FIRST_NUMBER.sub("#", instance_type, count=1)
