"""Which machine a row of FOCUS is about, by whatever its provider says of it. PURE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from planner.usage.cells import clip
from planner.usage.formats.gpu_sku import AcceleratorSku, google_sku, oracle_sku
from planner.usage.ledger import Reason
from planner.usage.machines import azure_sizes_by_meter, find_machine
from planner.usage.projects import parse_tags

_PROVIDERS = {
    "amazon web services": "aws",
    "aws": "aws",
    "microsoft": "azure",
    "microsoft azure": "azure",
    "azure": "azure",
    "google cloud": "gcp",
    "google cloud platform": "gcp",
    "google": "gcp",
    "gcp": "gcp",
    "oracle": "oci",
    "oracle cloud": "oci",
    "oracle cloud infrastructure": "oci",
    "oci": "oci",
}
_AWS_USE = re.compile(r"(?:[A-Z]{2,4}\d?-)?(\w+):((?:ml\.)?[\w-]+\.[\w-]+)$")
_AWS_DESCRIPTION = re.compile(r"\b((?:ml\.)?[a-z]+\d[\w-]*\.[\w-]+) (?:Spot )?Instance", re.ASCII)
_AWS_MACHINE_USE = ("BoxUsage", "SpotUsage", "DedicatedUsage", "HostBoxUsage")
_AWS_NO_USE = {
    "UnusedBox": Reason.UNUSED_RESERVATION,
    "UnusedDed": Reason.UNUSED_RESERVATION,
    "Reservation": Reason.CAPACITY_RESERVATION,
    "DedicatedRes": Reason.CAPACITY_RESERVATION,
    "EBSOptimized": Reason.NOT_A_MACHINE,
    "HeavyUsage": Reason.COMMITMENT_FEE,
}


class FocusMachine(NamedTuple):
    """What a row's machine is, or why it is none."""

    name: str
    accelerator: str
    accelerators: float | None
    """Accelerators in it; None where nobody knows."""
    reason: Reason | None
    sku: AcceleratorSku | None = None


def provider_slug(name: str) -> str:
    """Our name of a provider."""
    plain = name.strip().lower().removesuffix(", inc.")
    return _PROVIDERS.get(plain, plain[:60])


@lru_cache(maxsize=20_000)
def find_focus_machine(
    provider: str,
    named: str,
    details: str,
    more_details: str,
    usage_type: str,
    meter: str,
    meter_category: str,
    description: str,
) -> FocusMachine:
    """The machine by whatever the provider says of it; its own columns first."""
    known = parse_tags(details) | parse_tags(more_details)
    sku = _sku(provider, meter, description)
    if sku is not None:
        reason = Reason.COMMITMENT_FEE if sku.is_fee else None
        return FocusMachine("", sku.accelerator, 1.0, reason, sku)
    name, reason = clip(named), None
    if not name and provider == "aws":
        name, reason = _aws_machine(usage_type, description)
    elif not name and provider == "azure":
        name = _azure_machine(known, meter, meter_category)
    stated = known.get("InstanceType")
    if not name and isinstance(stated, str):
        name = clip(stated)
    machine = find_machine(provider, name)
    count = machine.accelerators if name else 0.0
    stated_count = known.get("GpuCount")
    if not count and isinstance(stated_count, int | float) and 0 < stated_count < 1_000:
        count = float(stated_count)
    return FocusMachine(name, machine.accelerator, count, reason)


def find_machine_of_row(row: Mapping[str, str]) -> tuple[str, float | None]:
    """The machine of one row by column names, and its accelerators: 0 for none, None where nobody
    knows. Accelerators that are sold apart are machines of one.

    >>> find_machine_of_row({"ProviderName": "AWS", "x_UsageType": "BoxUsage:p5.48xlarge"})
    ('p5.48xlarge', 8.0)
    """

    def get(*names: str) -> str:
        return next((row[name] for name in names if row.get(name)), "")

    machine = find_focus_machine(
        provider_slug(get("HostProviderName", "ServiceProviderName", "ProviderName")),
        get("x_InstanceType"),
        get("SkuPriceDetails", "x_SkuDetails"),
        get("x_SkuDetails"),
        get("x_UsageType", "SkuMeter"),
        get("x_SkuMeterName", "SkuMeter"),
        get("x_SkuMeterCategory"),
        get("ChargeDescription"),
    )
    if machine.sku is not None:
        return f"{ONE_OF}{machine.accelerator}", 1.0
    return machine.name, 0.0 if machine.reason is not None else machine.accelerators


ONE_OF = "1 × "
"""Begins the name of an accelerator that is billed apart from its machine."""


def _sku(provider: str, meter: str, description: str) -> AcceleratorSku | None:
    if provider == "gcp":
        return google_sku(meter) or google_sku(description)
    return oracle_sku(description) or oracle_sku(meter) if provider == "oci" else None


def _aws_machine(usage_type: str, description: str) -> tuple[str, Reason | None]:
    match = _AWS_USE.match(usage_type)
    if match is None:
        described = _AWS_DESCRIPTION.search(description)
        return (described[1] if described else ""), None
    kind, name = match.groups()
    if name.startswith("ml.") or kind in _AWS_MACHINE_USE:
        return name, None
    return name, _AWS_NO_USE.get(kind, Reason.NOT_A_MACHINE)


def _azure_machine(known: dict[str, object], meter: str, meter_category: str) -> str:
    size = known.get("ServiceType")
    if isinstance(size, str) and size.lower().startswith(("standard_", "basic_")):
        return clip(size)
    if meter_category and meter_category != "Virtual Machines":
        return ""
    plain = re.sub(r"\s+(spot|low priority)$", "", meter.strip(), flags=re.IGNORECASE)
    return azure_sizes_by_meter().get(plain.lower(), plain if meter_category else "")
