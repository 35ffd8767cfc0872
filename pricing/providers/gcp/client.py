"""Google's APIs over REST: the billing catalog and Compute Engine.

An API key is enough for the catalog; it goes into a header. Compute Engine, asked when
GCP_PROJECT is set, needs application default credentials. A loopback address is asked without
any.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from pricing.ingest.http import AccessDenied, Endpoint, ProviderHttpClient, RetryableError
from pricing.ingest.provider import SkippedRow
from pricing.market import accelerators, machine_types

BILLING_URL = "https://cloudbilling.googleapis.com"
COMPUTE_URL = "https://compute.googleapis.com"
COMPUTE_ENGINE = "6F81-5844-456A"
CLOUD_TPU = "E000-3F24-B8AA"
"""Services of the catalog: v2, v3 and v4 are sold by Cloud TPU, all else by Compute Engine."""
_SOLD_BY_CLOUD_TPU = frozenset({"google-tpu-v2", "google-tpu-v3", "google-tpu-v4"})
SKUS_PER_PAGE = 5000
ROWS_PER_PAGE = 500

SIGN_IN_HINT = (
    "Set GCP_API_KEY to a key that may use the Cloud Billing API, or sign in with "
    "`gcloud auth application-default login`."
)
COMPUTE_SIGN_IN_HINT = (
    "Sign in with `gcloud auth application-default login` as an account with the Compute Viewer "
    "role; or leave GCP_PROJECT empty, and the shipped table of machines is used."
)
_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]

Zoned = tuple[str, Mapping[str, Any]]


def project(http: ProviderHttpClient) -> str:
    return http.context.settings.get("GCP_PROJECT", "").strip()


def skus(http: ProviderHttpClient, service: str) -> Iterator[dict[str, Any]]:
    endpoint = _endpoint(http, "GCP_BILLING_URL", BILLING_URL, "/v1")
    url = f"{endpoint.url}/v1/services/{service}/skus"
    query: dict[str, str | int] = {"currencyCode": "USD", "pageSize": SKUS_PER_PAGE}

    def check(page: Any) -> None:
        # A list that nothing filters has no empty page.
        if not page.get("skus"):
            raise RetryableError(f"a page of the catalog of service {service} is empty")

    key = http.context.settings.get("GCP_API_KEY", "")
    sign = make_signer(endpoint, key, SIGN_IN_HINT)
    for page in _get_pages(http, f"skus/{service}", url, query, check, sign, SIGN_IN_HINT):
        yield from page["skus"]


def slices_of_cloud_tpu() -> tuple[str, ...]:
    """The TPU slices whose prices the catalog of Cloud TPU holds."""
    return tuple(
        one.name for one in machine_types.tpu_slices() if one.accelerator in _SOLD_BY_CLOUD_TPU
    )


def list_by_zone(http: ProviderHttpClient, kind: str) -> Iterator[Zoned]:
    """(zone, row) of every zone; `kind` is machineTypes or acceleratorTypes."""
    endpoint = _endpoint(http, "GCP_COMPUTE_URL", COMPUTE_URL, "/compute/v1")
    account = quote(project(http), safe="")
    url = f"{endpoint.url}/compute/v1/projects/{account}/aggregated/{kind}"
    query: dict[str, str | int] = {"maxResults": ROWS_PER_PAGE}

    def check(page: Any) -> None:
        # Zones without a row are listed too.
        if not page.get("items") and not page.get("nextPageToken"):
            raise RetryableError("an empty page instead of the last one")

    sign = make_signer(endpoint, "", COMPUTE_SIGN_IN_HINT)
    for page in _get_pages(http, kind, url, query, check, sign, COMPUTE_SIGN_IN_HINT):
        for zone, rows in (page.get("items") or {}).items():
            yield from ((zone, row) for row in rows.get(kind) or ())


def _get_pages(
    http: ProviderHttpClient,
    name: str,
    url: str,
    query: dict[str, str | int],
    check: Callable[[Any], None],
    sign: Callable[[], dict[str, str]],
    hint: str,
) -> Iterator[Any]:
    def follow(page: Any) -> tuple[str, dict[str, str | int]] | None:
        token = page.get("nextPageToken")
        return (url, query | {"pageToken": token}) if token else None

    return http.get_pages(name, url, query, follow, headers=sign, check=check, hint=hint)


def _endpoint(http: ProviderHttpClient, setting: str, default: str, path: str) -> Endpoint:
    endpoint = http.endpoint(setting, default)
    return Endpoint(endpoint.url.removesuffix(path), endpoint.anonymous)


def make_signer(endpoint: Endpoint, api_key: str, hint: str) -> Callable[[], dict[str, str]]:
    """What gives the headers that sign a request, none for a loopback address."""
    credentials: list[Any] = []

    def make_headers() -> dict[str, str]:
        if endpoint.anonymous or api_key:
            return {} if endpoint.anonymous else {"x-goog-api-key": api_key}
        import google.auth
        from google.auth import exceptions
        from google.auth.transport.requests import Request

        headers: dict[str, str] = {}
        try:
            if not credentials:
                credentials.append(google.auth.default(scopes=_SCOPES)[0])
            credentials[0].before_request(Request(), "GET", endpoint.url, headers)
        except exceptions.TransportError as error:
            raise RetryableError(f"{type(error).__name__} {error}") from None
        except exceptions.DefaultCredentialsError:
            raise AccessDenied("gcp", "there are no credentials for Google Cloud", hint) from None
        except exceptions.GoogleAuthError as error:
            raise AccessDenied("gcp", f"Google refused the sign-in ({error})", hint) from None
        return headers

    return make_headers


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
            live = (self._types or {}).get(machine_type.instance_type)
            yield (
                machine_type
                if live is None
                else replace(
                    machine_type,
                    vcpus=live.vcpus or machine_type.vcpus,
                    memory_gib=live.memory_gib or machine_type.memory_gib,
                )
            )
        for name, live in (self._types or {}).items():
            if live.accelerator_count and name.lower() not in known:
                yield _build_machine_type(live)
        yield from machine_types.attached_machine_types()

    def is_offered(self, machine_type: machine_types.MachineType, region: str) -> bool:
        if isinstance(machine_type, machine_types.AttachedMachineType):
            name = machine_type.accelerator_type
            most = self._most_cards.get(name)
            if most is not None and (machine_type.accelerator_count or 0) > most:
                return False
            if region in machine_type.not_in:
                return False
            if self._attachable is not None:
                return region in self._attachable.get(name, ())
            return region in machine_types.regions_by_machine_type().get(name, frozenset())
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


def read_machine_types(
    items: Iterable[tuple[str, Mapping[str, Any]]],
) -> dict[str, LiveMachineType]:
    """Machine types by name from (zone, row) pairs; those that are being withdrawn left out."""
    types_by_name: dict[str, LiveMachineType] = {}
    for zone, row in items:
        name = str(row.get("name") or "")
        if not name or not _is_current(row):
            continue
        cards = [one for one in row.get("accelerators") or () if one.get("guestAcceleratorCount")]
        disks = row.get("bundledLocalSsds") or {}
        machine = LiveMachineType(
            name=name,
            vcpus=int(row.get("guestCpus") or 0),
            memory_gib=Decimal(int(row.get("memoryMb") or 0)) / _MIB_PER_GIB,
            accelerator_type=str(cards[0].get("guestAcceleratorType") or "") if cards else "",
            accelerator_count=int(cards[0]["guestAcceleratorCount"]) if cards else 0,
            local_ssd_partitions=int(disks.get("partitionCount") or 0) if disks else None,
        )
        types_by_name.setdefault(name, machine).regions.add(zone_region(zone))
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


def _build_machine_type(live: LiveMachineType) -> machine_types.MachineType | SkippedRow:
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
