"""Azure Resource Manager over REST: Resource SKUs.

Only asked when AZURE_SUBSCRIPTION_ID is set. Credentials come from azure-identity (environment,
managed identity, `az login`); a loopback address is asked without any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from pricing.ingest.http import (
    AccessDenied,
    Endpoint,
    ProviderHttpClient,
    RetryableError,
    redact_url,
    same_origin,
)
from pricing.ingest.provider import ProviderUnavailable, SkippedRow
from pricing.market import accelerators, machine_types
from pricing.market.machine_types import MachineType
from pricing.providers.azure.price_rows import region_name

PUBLIC_URL = "https://management.azure.com"
API_VERSION = "2021-07-01"
SIGN_IN_HINT = (
    "Sign in with `az login` or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET of "
    "an account with the Reader role; or leave AZURE_SUBSCRIPTION_ID empty, and the shipped "
    "table of machines is used."
)


def subscription_id(http: ProviderHttpClient) -> str:
    """The subscription whose Resource SKUs are to be read; empty for none."""
    return http.context.settings.get("AZURE_SUBSCRIPTION_ID", "").strip()


def resource_skus(http: ProviderHttpClient) -> Iterator[dict[str, Any]]:
    """Every row of the Resource SKUs API, of the wanted regions if they are limited."""
    endpoint = http.endpoint("AZURE_RESOURCE_MANAGER_URL", PUBLIC_URL)
    account = quote(subscription_id(http), safe="")
    url = f"{endpoint.url}/subscriptions/{account}/providers/Microsoft.Compute/skus"
    options = {"headers": make_signer(endpoint), "check": _check_page, "hint": SIGN_IN_HINT}

    def follow(page: Any) -> tuple[str, None] | None:
        link = page.get("nextLink")
        if link and not same_origin(endpoint.url, link):
            what = f"the next page is at {redact_url(link)}, on another server"
            hint = "It was not followed. Check AZURE_RESOURCE_MANAGER_URL."
            raise ProviderUnavailable(http.provider, what, hint)
        return (link, None) if link else None

    for region in [region_name(region) for region in http.context.regions] or [""]:
        query = {"api-version": API_VERSION}
        query |= {"$filter": f"location eq '{region}'"} if region else {}
        name = f"resource-skus/{region or 'all'}"
        for page in http.get_pages(name, url, query, follow, **options):
            yield from page["value"]


def _check_page(page: Any) -> None:
    if not isinstance(page, dict) or not isinstance(page.get("value"), list):
        raise RetryableError("the answer has no Resource SKUs")


def make_signer(endpoint: Endpoint) -> Callable[[], dict[str, str]]:
    """What gives the headers that sign a request, none for a loopback address."""
    if endpoint.anonymous:
        return dict
    from azure.core.exceptions import AzureError, ClientAuthenticationError
    from azure.identity import DefaultAzureCredential

    credential = DefaultAzureCredential()

    def sign() -> dict[str, str]:
        try:
            token = credential.get_token(f"{PUBLIC_URL}/.default").token
        except AzureError as error:
            first_line = str(error).strip().partition("\n")[0][:300]
            if isinstance(error, ClientAuthenticationError):
                what = f"Azure refused the sign-in ({first_line})"
                raise AccessDenied("azure", what, SIGN_IN_HINT) from None
            raise RetryableError(f"{type(error).__name__} {first_line}") from None
        return {"Authorization": f"Bearer {token}"}

    return sign


_FRACTIONAL_SERIES = re.compile(r"_(?:A10|V710|V620)_|RTXPRO|as_v4$", re.IGNORECASE)
"""Series with sizes of less than one accelerator: their GPUs capability says nothing."""
_MODEL = re.compile(r"_([a-z]{0,7}\d{1,4}[a-z]{0,3})_v\d+$", re.IGNORECASE)
"""The accelerator's name in a machine's name: Standard_ND96isr_H100_v5 → H100."""


@dataclass(frozen=True)
class ResourceSku:
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

    def __init__(self, resource_skus: Iterable[ResourceSku] | None = None) -> None:
        self._skus: dict[str, ResourceSku] | None = None
        if resource_skus is not None:
            merged: dict[str, ResourceSku] = {}
            for sku in resource_skus:
                key = sku.name.lower()
                before = merged.get(key)
                regions = sku.regions | (before.regions if before else frozenset())
                merged[key] = ResourceSku(sku.name, sku.capabilities, regions)
            self._skus = merged

    def find(self, instance_type: str) -> MachineType | SkippedRow:
        sku = self._skus.get(instance_type.lower()) if self._skus is not None else None
        machine_type = machine_types.find("azure", instance_type)
        if machine_type is None and sku:
            machine_type = _build_machine_type(sku)
        if machine_type is None:
            return SkippedRow("unknown machine", instance_type)
        label = f"{instance_type}: {machine_type.note}"
        if not machine_type.accelerator:
            return SkippedRow("no accelerator of ours", label)
        if machine_type.accelerator_count is None:
            return SkippedRow("accelerator count not published", label)
        memory_gib = sku.number("MemoryGB") if sku else None
        return replace(
            machine_type,
            instance_type=instance_type,
            vcpus=(sku and sku.number("vCPUs")) or machine_type.vcpus,
            memory_gib=Decimal(str(memory_gib)) if memory_gib else machine_type.memory_gib,
        )

    def is_listed(self, instance_type: str, region: str) -> bool:
        if self._skus is None:
            return True
        sku = self._skus.get(instance_type.lower())
        return sku is not None and region in sku.regions


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


def _build_machine_type(sku: ResourceSku) -> MachineType | None:
    count = sku.number("GPUs")
    model = _MODEL.search(sku.name)
    accelerator = accelerators.find(model[1]) if model else None
    if not count or accelerator is None:
        return None
    known = count >= 1 and not _FRACTIONAL_SERIES.search(sku.name)
    return MachineType(
        instance_type=sku.name,
        accelerator=accelerator.slug,
        accelerator_count=Fraction(count) if known else None,
        vcpus=sku.number("vCPUs"),
        note="" if known else "the API says 1 for every fraction",
        source="Resource SKUs API",
    )
