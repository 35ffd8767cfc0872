"""What a subscription may run of each accelerator: usages of its families, in vCPUs.

Azure limits vCPUs by machine family and region. A limit is turned into accelerators by the
machine of the family that makes the most of it, and families of one accelerator add up. The
limit is the whole one: what runs already is not taken off. Spot has one limit for all
machines and is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from pricing.ingest.http import Pages
from pricing.ingest.provider import FetchContext, ProviderUnavailable
from pricing.market import machine_types
from pricing.providers.azure import management
from pricing.providers.azure.machines import read_resource_sku
from pricing.providers.azure.price_rows import region_name

Quota = dict[str, Any]
Families = Mapping[str, Mapping[str, set[str]]]
"""Family in lower case → machine of ours → regions that list it."""


def fetch_quotas(context: FetchContext) -> list[Quota]:
    """Rows for `constraints.quotas`: provider, region, accelerator, max_accelerators."""
    with Pages("azure", context) as pages:
        if not management.is_configured(pages):
            raise ProviderUnavailable(
                "azure",
                "quotas belong to a subscription and none is configured",
                "Set AZURE_SUBSCRIPTION_ID and sign in with `az login`.",
            )
        families = machines_by_family(management.resource_skus(pages))
        found = [
            quota
            for region in _regions(context, families)
            for quota in read_usages(region, management.usages(pages, region), families)
        ]
    return sorted(found, key=lambda quota: (quota["region"], quota["accelerator"]))


def machines_by_family(rows: Iterable[Mapping[str, Any]]) -> Families:
    """The machines that draw on the limit of each family."""
    families: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        sku = read_resource_sku(row)
        machine_type = machine_types.find("azure", sku.name) if sku else None
        if (
            sku
            and machine_type
            and machine_type.accelerator
            and machine_type.accelerator_count
            and machine_type.vcpus
        ):
            family = str(row.get("family") or "").lower()
            families[family][machine_type.instance_type] |= sku.regions
    return {family: dict(machines) for family, machines in families.items()}


def read_usages(
    region: str,
    rows: Iterable[Mapping[str, Any]],
    families: Families,
) -> Iterator[Quota]:
    """Quotas of one region from its usages."""
    most: dict[str, int] = defaultdict(int)
    for row in rows:
        family = str((row.get("name") or {}).get("value") or "").lower()
        limit = int(row.get("limit") or 0)
        best: dict[str, int] = {}
        for name, regions in families.get(family, {}).items():
            machine_type = machine_types.find("azure", name)
            if machine_type is not None and region in regions:
                count = _accelerators_within(limit, machine_type)
                best[machine_type.accelerator] = max(best.get(machine_type.accelerator, 0), count)
        for accelerator, count in best.items():
            most[accelerator] += count
    for accelerator, count in most.items():
        yield {
            "provider": "azure",
            "region": region,
            "accelerator": accelerator,
            "max_accelerators": count,
        }


def _accelerators_within(vcpus: int, machine_type: machine_types.MachineType) -> int:
    """Whole accelerators of as many machines as the limit lets run."""
    machines = vcpus // Fraction(str(machine_type.vcpus))
    return int(machines * (machine_type.accelerator_count or 0))


def _regions(context: FetchContext, families: Families) -> list[str]:
    if context.regions:
        return [region_name(region) for region in context.regions]
    machines = (regions for family in families.values() for regions in family.values())
    return sorted(set().union(*machines))
