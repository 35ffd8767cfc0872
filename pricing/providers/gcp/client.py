"""Google's APIs: the billing catalog through its own client, Compute Engine over its REST API.

Google's client of Compute Engine takes 90 MB for the three lists that are read here; its sign-in
and its errors are Google's own here too.

An API key is enough for the catalog; it goes into a header. Compute Engine, asked when
GCP_PROJECT is set, needs application default credentials. A loopback address is asked without
any. Pages have the form of the REST API, in the answers' own field names.
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

from pricing.ingest.http import (
    CALL_TIMEOUT_S,
    AccessDenied,
    Endpoint,
    ProviderHttpClient,
    RetryableError,
    parse_retry_after_s,
)
from pricing.ingest.provider import ProviderUnavailable, SkippedRow
from pricing.market import accelerators, machine_types

BILLING_URL = "https://cloudbilling.googleapis.com"
COMPUTE_URL = "https://compute.googleapis.com"
COMPUTE_ENGINE = "6F81-5844-456A"
CLOUD_TPU = "E000-3F24-B8AA"
"""Services of the catalog: v2, v3 and v4 are sold by Cloud TPU, all else by Compute Engine."""
_SOLD_BY_CLOUD_TPU = frozenset({"google-tpu-v2", "google-tpu-v3", "google-tpu-v4"})
SKUS_PER_PAGE = 5000
ROWS_PER_PAGE = 500
MACHINE_TYPES = "machine-types"

SIGN_IN_HINT = (
    "Set GCP_API_KEY to a key that may use the Cloud Billing API, or sign in with "
    "`gcloud auth application-default login`."
)
COMPUTE_SIGN_IN_HINT = (
    "Sign in with `gcloud auth application-default login` as an account with the Compute Viewer "
    "role; or leave GCP_PROJECT empty, and the shipped table of machines is used."
)
_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})

Zoned = tuple[str, Mapping[str, Any]]


def project(http: ProviderHttpClient) -> str:
    return http.context.settings.get("GCP_PROJECT", "").strip()


def reads_compute_engine(http: ProviderHttpClient) -> bool:
    """Whether machine types are to be read."""
    return bool(project(http))


class EmptyCatalog(ProviderUnavailable):
    """The service answers, and lists not a single SKU."""


def skus(http: ProviderHttpClient, service: str) -> Iterator[dict[str, Any]]:
    """Every SKU of a service of the catalog, in US dollars.

    A list that nothing filters has no empty page: one that came so is asked for again.
    """
    from google.cloud import billing_v1
    from google.cloud.billing_v1.services.cloud_catalog.transports import rest

    endpoint = _endpoint(http, "GCP_BILLING_URL", BILLING_URL, "/v1")
    clients: list[Any] = []

    def request_page(token: str) -> Any:
        if not clients:
            credentials = _credentials(http, endpoint, http.context.settings.get("GCP_API_KEY", ""))
            transport = rest.CloudCatalogRestTransport(host=endpoint.url, credentials=credentials)
            _pin_session(transport._session, http, endpoint)
            clients.append(billing_v1.CloudCatalogClient(transport=transport))
        request = billing_v1.ListSkusRequest(
            parent=f"services/{service}",
            currency_code="USD",
            page_size=SKUS_PER_PAGE,
            page_token=token,
        )
        pager = clients[0].list_skus(request, retry=None, timeout=CALL_TIMEOUT_S)
        message = next(pager.pages)
        page = type(message).to_dict(
            message,
            use_integers_for_enums=False,
            preserving_proto_field_name=False,
            always_print_fields_with_no_presence=False,
        )
        if not page.get("skus"):
            empty_tokens.add(token)
            raise RetryableError("an empty page of a list that has none")
        return page

    empty_tokens: set[str] = set()
    name, sku_count = f"skus/{service}", 0
    try:
        for page in _read_pages(http, name, "skus", request_page, SIGN_IN_HINT):
            sku_count += len(page.get("skus") or ())
            yield from page.get("skus") or ()
    except ProviderUnavailable:
        if sku_count or "" not in empty_tokens:
            raise
    if not sku_count:
        raise EmptyCatalog(
            http.provider,
            f"the catalog of service {service} is empty",
            "Check GCP_BILLING_URL; the last published prices stay in force.",
        )


def slices_of_cloud_tpu() -> tuple[str, ...]:
    """The TPU slices whose prices the catalog of Cloud TPU holds."""
    return tuple(
        one.name for one in machine_types.tpu_slices() if one.accelerator in _SOLD_BY_CLOUD_TPU
    )


def list_machine_types(http: ProviderHttpClient) -> Iterator[Zoned]:
    """(zone, machine type) of every zone."""
    yield from _read_aggregated(http, MACHINE_TYPES, "machineTypes")


def list_accelerator_types(http: ProviderHttpClient) -> Iterator[Zoned]:
    """(zone, accelerator type) of every zone."""
    yield from _read_aggregated(http, "accelerator-types", "acceleratorTypes")


def _read_aggregated(http: ProviderHttpClient, name: str, rows: str) -> Iterator[Zoned]:
    for page in _read_compute_pages(http, name, f"aggregated/{rows}"):
        for zone, zone_list in (page.get("items") or {}).items():
            yield from ((zone, row) for row in zone_list.get(rows) or ())


def _read_compute_pages(http: ProviderHttpClient, name: str, path: str) -> Iterator[dict[str, Any]]:
    endpoint = _endpoint(http, "GCP_COMPUTE_URL", COMPUTE_URL, "/compute/v1")
    url = f"{endpoint.url}/compute/v1/projects/{quote(project(http), safe='')}/{path}"
    sessions: list[Any] = []

    def request_page(token: str) -> Any:
        from google.api_core.exceptions import from_http_response
        from google.auth.transport.requests import AuthorizedSession

        if not sessions:
            session = AuthorizedSession(_credentials(http, endpoint, None))  # type: ignore[no-untyped-call]
            sessions.append(_pin_session(session, http, endpoint))
        query = {"maxResults": ROWS_PER_PAGE} | ({"pageToken": token} if token else {})
        response = sessions[0].get(url, params=query, timeout=CALL_TIMEOUT_S)
        if response.status_code >= 400:
            raise from_http_response(response)  # type: ignore[no-untyped-call]
        page = response.json()
        if not isinstance(page, dict):
            raise RetryableError("the answer is no list of rows")
        return page

    yield from _read_pages(http, name, "items", request_page, COMPUTE_SIGN_IN_HINT)


def _read_pages(
    http: ProviderHttpClient, name: str, rows: str, request_page: Callable[[str], Any], hint: str
) -> Iterator[dict[str, Any]]:

    def request_complete_page(token: str) -> Any:
        """A page that was announced and ends the list without a row is asked for again."""
        page = request_page(token)
        if token and not page.get(rows) and not page.get("nextPageToken"):
            raise RetryableError("an empty page instead of the next one")
        return page

    token, number = "", 1
    visited_tokens = {token}
    while True:
        page = http.call(
            f"{name}/{number:04}.json",
            lambda token=token: request_complete_page(token),  # type: ignore[misc]
            lambda error: translate_error(error, hint),
        )
        yield page
        http.context.progress(name, number, None)
        token, number = str(page.get("nextPageToken") or ""), number + 1
        if not token:
            return
        if token in visited_tokens:
            raise ProviderUnavailable(
                http.provider,
                f"{name} repeats itself after {number - 1} pages",
                "Try again later; the list may have changed while it was read.",
            )
        visited_tokens.add(token)


def _endpoint(http: ProviderHttpClient, setting: str, default: str, path: str) -> Endpoint:
    endpoint = http.endpoint(setting, default)
    return Endpoint(endpoint.url.removesuffix(path), endpoint.anonymous)


def _credentials(http: ProviderHttpClient, endpoint: Endpoint, api_key: str | None) -> Any:
    import google.auth
    from google.auth.api_key import Credentials as ApiKey
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import DefaultCredentialsError

    if endpoint.anonymous:
        return AnonymousCredentials()  # type: ignore[no-untyped-call]
    if api_key:
        return ApiKey(api_key)  # type: ignore[no-untyped-call]
    try:
        credentials, _project = google.auth.default(scopes=_SCOPES)
    except DefaultCredentialsError:
        hint = COMPUTE_SIGN_IN_HINT if api_key is None else SIGN_IN_HINT
        raise AccessDenied(
            http.provider, "there are no credentials for Google Cloud", hint
        ) from None
    return credentials


def _pin_session(session: Any, http: ProviderHttpClient, endpoint: Endpoint) -> Any:
    session.max_redirects = 0
    session.trust_env = not endpoint.anonymous
    session.hooks["response"].append(
        lambda response, *_, **__: http.report_server_time(response.headers.get("Date"))
    )
    return session


def translate_error(error: Exception, hint: str) -> RetryableError | ProviderUnavailable | None:
    """What an error of a Google client means for the run; None: a bug of ours."""
    import json

    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth
    from google.protobuf.json_format import ParseError  # type: ignore[import-untyped]

    if isinstance(error, api.GoogleAPICallError):
        status = int(error.code or 0)
        what = f"Google answered {status} {error.message}".strip()
        if status in _RETRYABLE:
            headers = getattr(error.response, "headers", None) or {}
            return RetryableError(what, parse_retry_after_s(headers.get("Retry-After")))
        if status in (401, 403) or "API key" in str(error.message):
            return AccessDenied("gcp", what, hint)
        settings = "Check GCP_PROJECT, GCP_BILLING_URL and GCP_COMPUTE_URL."
        return (AccessDenied if status == 404 else ProviderUnavailable)("gcp", what, settings)
    if isinstance(error, requests.TooManyRedirects):
        return ProviderUnavailable(
            "gcp",
            "the server redirects to another address",
            "Check GCP_BILLING_URL, GCP_COMPUTE_URL.",
        )
    if isinstance(error, (auth.TransportError, requests.RequestException, api.RetryError)):
        return RetryableError(f"{type(error).__name__} {error}")
    if isinstance(error, auth.GoogleAuthError):
        return AccessDenied("gcp", f"Google refused the sign-in ({error})", hint)
    if isinstance(error, (ParseError, json.JSONDecodeError)):
        return RetryableError(f"the answer cannot be read ({error})")
    return None


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
            name = machine_type.accelerator_type
            most = self._most_cards.get(name)
            if most is not None and (machine_type.accelerator_count or 0) > most:
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

    def _apply_live_values(
        self, machine_type: machine_types.MachineType
    ) -> machine_types.MachineType:
        live = (self._types or {}).get(machine_type.instance_type)
        if live is None:
            return machine_type
        return replace(
            machine_type,
            vcpus=live.vcpus or machine_type.vcpus,
            memory_gib=live.memory_gib or machine_type.memory_gib,
        )


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
