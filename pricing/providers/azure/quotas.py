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

from pricing.ingest.http import ProviderHttpClient
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
    with ProviderHttpClient("azure", context) as http:
        if not management.is_configured(http):
            raise ProviderUnavailable(
                "azure",
                "quotas belong to a subscription and none is configured",
                "Set AZURE_SUBSCRIPTION_ID and sign in with `az login`.",
            )
        families = machines_by_family(management.resource_skus(http))
        quotas = [
            quota
            for region in _select_regions(context, families)
            for quota in read_usages(region, management.usages(http, region), families)
        ]
    return sorted(quotas, key=lambda quota: (quota["region"], quota["accelerator"]))


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
    accelerators_by_slug: dict[str, int] = defaultdict(int)
    for row in rows:
        family = str((row.get("name") or {}).get("value") or "").lower()
        limit = int(row.get("limit") or 0)
        accelerators_in_family: dict[str, int] = {}
        for name, regions in families.get(family, {}).items():
            machine_type = machine_types.find("azure", name)
            if machine_type is not None and region in regions:
                count = _convert_vcpus(limit, machine_type)
                accelerators_in_family[machine_type.accelerator] = max(
                    accelerators_in_family.get(machine_type.accelerator, 0), count
                )
        for accelerator, count in accelerators_in_family.items():
            accelerators_by_slug[accelerator] += count
    for accelerator, count in accelerators_by_slug.items():
        yield {
            "provider": "azure",
            "region": region,
            "accelerator": accelerator,
            "max_accelerators": count,
        }


def _convert_vcpus(vcpus: int, machine_type: machine_types.MachineType) -> int:
    """Whole accelerators of as many machines as the limit lets run."""
    machine_count = vcpus // Fraction(str(machine_type.vcpus))
    return int(machine_count * (machine_type.accelerator_count or 0))


def _select_regions(context: FetchContext, families: Families) -> list[str]:
    if context.regions:
        return [region_name(region) for region in context.regions]
    region_sets = (regions for family in families.values() for regions in family.values())
    return sorted(set().union(*region_sets))
