"""One product of the price list and its terms → offers. The same rows come from GetProducts
and from the bulk files.

Only Linux on a shared machine, paid by use, becomes an offer. All else that AWS lists under the
same instance type is left out with its reason: Windows and other systems, licences brought
along, preinstalled software, dedicated tenancy and hosts, reserved but unused capacity, and the
$0 rows of Capacity Blocks, whose price is paid elsewhere.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from pricing.ingest.flat_list import find_device, parse_price
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market import accelerators, machine_types
from pricing.market.machine_types import MachineType, instance_family, make_offer
from pricing.market.offers import Offer, PurchaseOption

SOURCE = "AWS price list (AmazonEC2)"

_MACHINE_FAMILIES = ("Compute Instance", "Compute Instance (bare metal)")
_REQUIRED_ATTRIBUTES = (
    ("operatingSystem", "Linux", "not Linux"),
    ("tenancy", "Shared", "not shared tenancy"),
    ("capacitystatus", "Used", "reserved capacity, not used"),
    ("preInstalledSw", "NA", "software preinstalled"),
    ("licenseModel", "No License required", "licence of its own"),
    ("marketoption", "OnDemand", "sold by the capacity block"),
    ("operation", "RunInstances", "another operation than plain Linux"),
)
"""Attribute, the value that becomes an offer, why another one does not."""

_OPTIONS = {"standard": PurchaseOption.RESERVED, "convertible": PurchaseOption.RESERVED_CONVERTIBLE}
_HOURLY = (None, "JRTCKXETXF", "99YE2YK9UR")
"""Codes of terms on demand, the last one that of China."""
_FREE_TIER = "A429C66SYZ"


@dataclass(frozen=True, slots=True)
class Sku:
    sku: str
    region: str
    machine: MachineType


@dataclass(frozen=True, slots=True)
class Terms:
    option: PurchaseOption
    months: int = 0
    payment: str = ""


def read_product(
    product: Mapping[str, Any], machines: MachineLookup, region: str = ""
) -> Sku | SkippedRow | None:
    """The product as a SKU, why it is none, or None for what has no accelerator at all.

    `region` is the region of its file, for rows of before 2020 without a code.
    """
    attributes = product.get("attributes", {})
    instance_type = attributes.get("instanceType", "")
    if not instance_type:
        return None
    machine = machines.find(instance_type, attributes)
    if machine is None and not looks_accelerated(attributes):
        return None
    skipped = _check_product(product.get("productFamily", ""), instance_type, attributes)
    if skipped is not None:
        return skipped
    if machine is None:
        return SkippedRow("no deep-learning accelerator", instance_type)
    if isinstance(machine, SkippedRow):
        return machine
    code = region_code(attributes) or region
    if not code:
        return SkippedRow("unknown region", attributes.get("location", ""))
    return Sku(product["sku"], code, _fill_from_attributes(machine, attributes))


def read_terms(
    sku: Sku, term_rows: Mapping[str, Any], as_of: dt.date, sold_now: bool
) -> Iterator[Offer | SkippedRow]:
    """One offer for each way to pay, from the term in force on the day of the list."""
    rows_by_terms: dict[Terms, list[Mapping[str, Any]]] = {}
    for term in term_rows.values():
        terms = _parse_terms(term)
        if term.get("offerTermCode") == _FREE_TIER:
            yield SkippedRow("free tier", sku.sku)
        elif terms is None:
            yield SkippedRow("unknown term", f"{sku.sku} {term.get('offerTermCode', '')}")
        else:
            rows_by_terms.setdefault(terms, []).append(term)
    for terms, term_group in rows_by_terms.items():
        by_start = sorted(term_group, key=_start_date)
        started = [term for term in by_start if _start_date(term) <= as_of.isoformat()]
        yield _build_offer(sku, terms, started[-1] if started else by_start[0], as_of, sold_now)


@lru_cache(maxsize=8192)
def _make_skipped(reason: str, detail: str) -> SkippedRow:
    return SkippedRow(reason, detail)


def _check_product(
    family: str, instance_type: str, attributes: Mapping[str, str]
) -> SkippedRow | None:
    if family and family not in _MACHINE_FAMILIES:
        return _make_skipped(f"not a machine but a {family.lower()}", instance_type)
    for name, required_value, reason in _REQUIRED_ATTRIBUTES:
        value = attributes.get(name) or required_value
        if value != required_value:
            return _make_skipped(reason, f"{instance_type} {value}")
    usage = attributes.get("usagetype") or "BoxUsage"
    if "BoxUsage" not in usage or "HostBoxUsage" in usage:
        return _make_skipped("not the use of a machine", usage)
    return None


def _fill_from_attributes(machine: MachineType, attributes: Mapping[str, str]) -> MachineType:
    if machine.vcpus is not None and machine.memory_gib is not None:
        return machine
    memory, _, unit = attributes.get("memory", "").replace(",", "").partition(" ")
    return replace(
        machine,
        vcpus=machine.vcpus or _parse_float(attributes.get("vcpu", "")),
        memory_gib=machine.memory_gib
        or (Decimal(str(_parse_float(memory) or 0)) if unit.strip() == "GiB" else None),
        network_gbps=machine.network_gbps or network_gbps(attributes.get("networkPerformance", "")),
    )


def _parse_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _start_date(term: Mapping[str, Any]) -> str:
    return str(term.get("effectiveDate") or "")[:10]


def _parse_terms(term: Mapping[str, Any]) -> Terms | None:
    attributes = term.get("termAttributes") or {}
    length = attributes.get("LeaseContractLength")
    if not length:
        return Terms(PurchaseOption.ON_DEMAND) if term.get("offerTermCode") in _HOURLY else None
    months = {"1yr": 12, "3yr": 36}.get(length.replace(" ", ""), 0)
    offering = attributes.get("OfferingClass") or "standard"
    payment = attributes.get("PurchaseOption", "").lower().replace(" ", "_")
    if not months or offering not in _OPTIONS or not payment.endswith("_upfront"):
        return None
    return Terms(_OPTIONS[offering], months, payment)


def _build_offer(
    sku: Sku, terms: Terms, term: Mapping[str, Any], as_of: dt.date, sold_now: bool
) -> Offer | SkippedRow:
    label = f"{sku.machine.instance_type} in {sku.region}, {terms.option.value} {terms.payment}"
    currency = region_currency(sku.region)
    try:
        price, upfront, currency = _sum_amounts(term, currency)
    except ValueError as error:
        return SkippedRow("unreadable price", f"{label.strip()}: {error}")
    missing = _find_missing_part(terms, price, upfront)
    if missing:
        return SkippedRow(missing, label.strip())
    return make_offer(
        *("aws", sku.machine, sku.region, terms.option, price, as_of),
        upfront=upfront,
        currency=currency,
        term_months=terms.months,
        payment_option=terms.payment,
        sku=sku.sku,
        source=SOURCE,
        sold_now=sold_now,
    )


def _sum_amounts(term: Mapping[str, Any], currency: str) -> tuple[Decimal, Decimal, str]:
    price, upfront = Decimal(0), Decimal(0)
    for part in term.get("priceDimensions", {}).values():
        if part.get("beginRange", "0") != "0":
            continue
        prices = part.get("pricePerUnit") or {}
        currency = currency if currency in prices or not prices else next(iter(prices))
        amount = parse_price(prices.get(currency))
        unit = part.get("unit", "")
        if unit == "Quantity":
            upfront += amount
        elif unit.lower() in ("hrs", "hours"):
            price += amount
        else:
            raise ValueError(f"unit {unit!r} instead of Hrs")
    return price, upfront, currency


def _find_missing_part(terms: Terms, price: Decimal, upfront: Decimal) -> str:
    if not price and not upfront:
        return "price is 0"
    lacks_hourly = terms.payment in ("no_upfront", "partial_upfront") and not price
    lacks_upfront = terms.payment in ("partial_upfront", "all_upfront") and not upfront
    if lacks_hourly or lacks_upfront:
        return "half of a reservation's price is missing"
    if not terms.months and upfront:
        return "an upfront fee on an hourly price"
    return ""


_MAX_PARTITION_DENOMINATOR = 64
"""Largest denominator taken for a part of an accelerator: "0.333" is 1/3, "0.125" 1/8."""
_NETWORK = re.compile(r"(?:(\d+)x\s*)?([\d.]+)\s*(Gigabit|Gbps|Megabit|Mbps)", re.IGNORECASE)
_NO_GPU = frozenset({"", "0", "NA"})


class MachineLookup:
    def __init__(self) -> None:
        self.sold_by_block: set[str] = set()
        """Machines that are sold by the Capacity Block."""
        self._described: dict[str, MachineType | SkippedRow | None] = {}

    def add_description(self, info: Mapping[str, Any]) -> None:
        """Takes in one item of DescribeInstanceTypes."""
        name = info["InstanceType"]
        self._described[name] = _parse_description(name, info)
        if "capacity-block" in info.get("SupportedUsageClasses", ()):
            self.sold_by_block.add(name)

    def accelerated_machines(self) -> Iterator[MachineType]:
        """The machines with a known accelerator that EC2 described."""
        return (one for one in self._described.values() if isinstance(one, MachineType))

    def unknown_machines(self) -> Iterator[SkippedRow]:
        """What EC2 described and we could not name."""
        return (one for one in self._described.values() if isinstance(one, SkippedRow))

    def find(
        self, instance_type: str, attributes: Mapping[str, str] | None = None
    ) -> MachineType | SkippedRow | None:
        """The machine of this name; None for one without accelerators.

        `attributes` are those of its row in the price list, if it comes from there.
        """
        if instance_type in self._described:
            return self._described[instance_type]
        machine_type = machine_types.find("aws", instance_type)
        if machine_type is not None:
            if not machine_type.accelerator_count:
                return SkippedRow("number of accelerators unknown", machine_type.instance_type)
            return machine_type
        if not attributes or not looks_accelerated(attributes):
            return None
        gpus, accelerator = (
            attributes.get("gpu", ""),
            _find_family_accelerator(instance_family(instance_type)),
        )
        if accelerator and gpus not in _NO_GPU and gpus.isdigit():
            return MachineType(instance_type, accelerator, Fraction(gpus))
        what = "number of accelerators unknown" if accelerator else "unknown accelerator"
        names = ("instanceFamily", "gpu", "gpuMemory")
        values = ", ".join(filter(None, map(attributes.get, names)))
        return SkippedRow(what, f"{instance_type} ({values})")


def _parse_description(name: str, info: Mapping[str, Any]) -> MachineType | SkippedRow | None:
    devices = (
        info.get("GpuInfo", {}).get("Gpus")
        or info.get("NeuronInfo", {}).get("NeuronDevices")
        or info.get("InferenceAcceleratorInfo", {}).get("Accelerators")
        or []
    )
    if not devices:
        others = (("FpgaInfo", "FPGA"), ("MediaAcceleratorInfo", "media accelerator"))
        what = next((word for key, word in others if key in info), None)
        return SkippedRow("no deep-learning accelerator", f"{name}: {what}") if what else None
    if len({device.get("Name") for device in devices}) > 1:
        names = ", ".join(str(device.get("Name")) for device in devices)
        return SkippedRow("several kinds of accelerator", f"{name}: {names}")
    first = devices[0]
    device_mib = first.get("MemoryInfo", {}).get("SizeInMiB")
    device_gib = device_mib / 1024 / float(_partition_share(first)) if device_mib else None
    device_name = first.get("Name", "")
    is_one = len(accelerators.candidates(device_name)) <= 1  # Trainium2 is given with its pod's
    accelerator = find_device(device_name, None if is_one else device_gib)
    if accelerator is None:
        label = f"{first.get('Manufacturer', '')} {first.get('Name', '')}".strip()
        return SkippedRow("unknown accelerator", f"{label} ({name})")
    machine_type = machine_types.find("aws", name)
    count = sum((_count_accelerators(device) for device in devices), Fraction(0))
    if not count and machine_type is not None:
        count = machine_type.accelerator_count or Fraction(0)
    if not count:
        return SkippedRow("number of accelerators unknown", name)
    memory_mib = info.get("MemoryInfo", {}).get("SizeInMiB")
    return replace(
        machine_type or MachineType(name, "", None),
        instance_type=name,
        accelerator=accelerator.slug,
        accelerator_count=count,
        vcpus=info.get("VCpuInfo", {}).get("DefaultVCpus"),
        memory_gib=Decimal(memory_mib) / 1024 if memory_mib else None,
        network_gbps=_parse_network(info.get("NetworkInfo", {})),
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
        or "MachineType Learning" in family
        or "Accelerat" in family
    )


def _count_accelerators(device: Mapping[str, Any]) -> Fraction:
    part = _partition_share(device)
    if part == 1:
        return Fraction(device.get("Count") or device.get("LogicalGpuCount") or 0)
    return part * (device.get("LogicalGpuCount") or 1)


def _partition_share(device: Mapping[str, Any]) -> Fraction:
    size = device.get("GpuPartitionSize")
    return (
        Fraction(str(size)).limit_denominator(_MAX_PARTITION_DENOMINATOR) if size else Fraction(1)
    )


def _parse_network(info: Mapping[str, Any]) -> float | None:
    """What the machine sustains, Gbit/s: a text such as "Up to 25 Gigabit" is about bursts, so
    that there the sum of the cards' baselines counts."""
    text = info.get("NetworkPerformance", "")
    baselines = [card.get("BaselineBandwidthInGbps") for card in info.get("NetworkCards", ())]
    if text.startswith("Up to") and baselines and all(baselines):
        return float(sum(baselines))
    return network_gbps(text)


@cache
def _find_family_accelerator(family: str) -> str | None:
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
    is_one = has_whole_counts and len(accelerators_in_family) == 1
    return accelerators_in_family.pop() if is_one else None


_REGION = re.compile(r"[a-z]{2,3}(-[a-z]+)+-\d+")
_LOCAL_ZONES_OF_CHINA = ("cn-north-1-pkx-1",)
"""Botocore's table has none; the list of the other partition says nothing about these either."""

NOT_PRICED = "region that AWS does not price"
"""Among the regions of a run may be another cloud's: that one is named and passed over."""


def region_code(attributes: Mapping[str, str]) -> str:
    return attributes.get("regionCode", "").strip().lower()


def is_ec2_region(code: str) -> bool:
    """Whether EC2 has an endpoint there: a Local or Wavelength Zone has none of its own.

    >>> is_ec2_region("us-gov-west-1"), is_ec2_region("us-west-2-lax-1")
    (True, False)
    """
    return _REGION.fullmatch(code) is not None


def region_currency(region: str) -> str:
    return "CNY" if region.startswith("cn-") else "USD"


def find_unknown(wanted_regions: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The wanted regions that are not known, in their order."""
    known_regions = set(known)
    return tuple(region for region in wanted_regions if region not in known_regions)


def report_other_partition(regions: Iterable[str]) -> NotRead | None:
    """What a list of these regions says nothing about: China has a list and accounts of its own.

    >>> report_other_partition(["us-east-1", "cn-north-1"]) is None
    True
    """
    in_china = {code.startswith("cn-") for code in regions}
    if in_china == {False}:
        return NotRead("China has a price list of its own", (), partition_regions("cn"))
    if in_china == {True}:
        return NotRead("the list of China knows no other regions")
    return None


@cache
def partition_regions(partition: str) -> tuple[str, ...]:
    """The regions of a price list, "aws" or "cn"; GovCloud is on that of "aws"."""
    from botocore.loaders import create_loader

    local_zones = _LOCAL_ZONES_OF_CHINA if partition == "cn" else ()
    return local_zones + tuple(
        code
        for one in create_loader().load_data("endpoints")["partitions"]
        if (one["partition"] == "aws-cn") == (partition == "cn")
        for code in one["regions"]
    )
