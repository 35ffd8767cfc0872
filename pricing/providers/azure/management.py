"""Azure Resource Manager through azure-mgmt-compute: Resource SKUs.

Only asked when AZURE_SUBSCRIPTION_ID is set. Credentials come from azure-identity (environment,
managed identity, `az login`); a loopback address is asked without any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from pricing.ingest.http import (
    CALL_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    AccessDenied,
    Endpoint,
    ProviderHttpClient,
    RetryableError,
    parse_retry_after_s,
    redact_url,
    same_origin,
)
from pricing.ingest.provider import ProviderUnavailable, SkippedRow
from pricing.market import accelerators, machine_types
from pricing.market.machine_types import MachineType
from pricing.providers.azure.price_rows import region_name

PUBLIC_URL = "https://management.azure.com"
SIGN_IN_HINT = (
    "Sign in with `az login` or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET of "
    "an account with the Reader role; or leave AZURE_SUBSCRIPTION_ID empty, and the shipped "
    "table of machines is used."
)
_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})


def subscription_id(http: ProviderHttpClient) -> str:
    """The subscription whose Resource SKUs are to be read; empty for none."""
    return http.context.settings.get("AZURE_SUBSCRIPTION_ID", "").strip()


def resource_skus(http: ProviderHttpClient) -> Iterator[dict[str, Any]]:
    """Every row of the Resource SKUs API, of the wanted regions if they are limited."""
    for region in [region_name(region) for region in http.context.regions] or [""]:
        location_filter = {"filter": f"location eq '{region}'"} if region else {}
        name = f"resource-skus/{region or 'all'}"
        reader = _PageReader(http, "resource_skus", location_filter)
        number, more = 1, True
        while more:
            page = http.call(f"{name}/{number:04}.json", reader.next_page, translate_error)
            yield from page["value"]
            http.context.progress(name, number, None)
            number, more = number + 1, bool(page["nextLink"])


class _PageReader:
    """The pages of one question. A page that failed is asked for again by the next call."""

    def __init__(self, http: ProviderHttpClient, group: str, parameters: Mapping[str, str]) -> None:
        self._http = http
        self._group = group
        self._parameters = parameters
        self._operations: Any = None
        self._next_link: str | None = None

    def next_page(self) -> dict[str, Any]:
        if self._operations is None:
            self._operations = getattr(self._make_client(), self._group)
        page = self._operations.list(**self._parameters).by_page(self._next_link)
        rows = [row.as_dict() for row in next(page)]
        self._next_link = page.continuation_token
        return {"value": rows, "nextLink": self._next_link}

    def _make_client(self) -> Any:
        from azure.core.pipeline.policies import SansIOHTTPPolicy
        from azure.mgmt.compute import ComputeManagementClient

        endpoint = self._http.endpoint("AZURE_RESOURCE_MANAGER_URL", PUBLIC_URL)
        options: dict[str, Any] = {}
        credential: Any = object()
        if endpoint.anonymous:
            options = {"authentication_policy": SansIOHTTPPolicy(), "use_env_settings": False}
        else:
            from azure.identity import DefaultAzureCredential

            credential = DefaultAzureCredential()
        return ComputeManagementClient(
            credential,
            subscription_id(self._http),
            base_url=endpoint.url,
            credential_scopes=[f"{PUBLIC_URL}/.default"],
            per_call_policies=[_pin_to_server(self._http.provider, endpoint)],
            retry_total=0,
            permit_redirects=False,
            connection_timeout=CONNECT_TIMEOUT_S,
            read_timeout=CALL_TIMEOUT_S,
            **options,
        )


def _pin_to_server(provider: str, endpoint: Endpoint) -> Any:
    from azure.core.pipeline.policies import SansIOHTTPPolicy

    class PinnedServerPolicy(SansIOHTTPPolicy[Any, Any]):
        def on_request(self, request: Any) -> None:
            url = request.http_request.url
            if not same_origin(endpoint.url, url):
                raise ProviderUnavailable(
                    provider,
                    f"the next page is at {redact_url(url)}, on another server",
                    "It was not followed. Check AZURE_RESOURCE_MANAGER_URL.",
                )

    return PinnedServerPolicy()


def translate_error(error: Exception) -> RetryableError | ProviderUnavailable | None:
    """What an error of the SDK means for the run; None: a bug of ours."""
    import json

    from azure.core import exceptions as azure

    if isinstance(error, azure.ClientAuthenticationError):
        return AccessDenied(
            "azure", f"Azure refused the sign-in ({_first_line(error)})", SIGN_IN_HINT
        )
    if isinstance(error, azure.HttpResponseError) and error.response is not None:
        response: Any = error.response
        status = response.status_code
        path = urlsplit(response.request.url).path
        what = f"{path} answered {status} {response.reason or ''}".strip()
        if status in _RETRYABLE:
            return RetryableError(what, parse_retry_after_s(response.headers.get("retry-after")))
        if status in (401, 403):
            return AccessDenied("azure", what, SIGN_IN_HINT)
        if status == 200:
            return RetryableError(f"{path}: the answer cannot be read")
        return ProviderUnavailable(
            "azure", what, "Check AZURE_SUBSCRIPTION_ID and AZURE_RESOURCE_MANAGER_URL."
        )
    if isinstance(error, azure.AzureError):
        return RetryableError(f"{type(error).__name__} {_first_line(error)}")
    if isinstance(error, (azure.DeserializationError, json.JSONDecodeError)):
        return RetryableError(f"the answer is not valid JSON ({error})")
    return None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]


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
