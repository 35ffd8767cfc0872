"""Google's APIs through their own clients: the billing catalog and Compute Engine.

An API key is enough for the catalog; it goes into a header. Compute Engine, asked when
GCP_PROJECT is set, needs application default credentials. A loopback address is asked without
any. Pages have the form of the REST API, in the answers' own field names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pricing.ingest.endpoints import Endpoint
from pricing.ingest.http import CALL_TIMEOUT_S, Pages, Refused
from pricing.ingest.provider import ProviderUnavailable
from pricing.ingest.retries import RetryableError, retry_after_s
from pricing.market import machine_types as machines

BILLING_URL = "https://cloudbilling.googleapis.com"
COMPUTE_URL = "https://compute.googleapis.com"
COMPUTE_ENGINE = "6F81-5844-456A"
CLOUD_TPU = "E000-3F24-B8AA"
"""Services of the catalog: v2, v3 and v4 are sold by Cloud TPU, all else by Compute Engine."""
_SOLD_BY_CLOUD_TPU = frozenset({"google-tpu-v2", "google-tpu-v3", "google-tpu-v4"})
SKUS_PER_PAGE = 5000
ROWS_PER_PAGE = 500
MACHINE_TYPES = "machine-types"

REMEDY = (
    "Set GCP_API_KEY to a key that may use the Cloud Billing API, or sign in with "
    "`gcloud auth application-default login`."
)
COMPUTE_REMEDY = (
    "Sign in with `gcloud auth application-default login` as an account with the Compute Viewer "
    "role; or leave GCP_PROJECT empty, and the shipped table of machines is used."
)
_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})

Zoned = tuple[str, Mapping[str, Any]]


def project(pages: Pages) -> str:
    return pages.context.settings.get("GCP_PROJECT", "").strip()


def asks_compute_engine(pages: Pages) -> bool:
    """Whether machine types are to be read; a replay reads them if they were recorded."""
    if pages.context.replay is not None:
        return pages.context.replay(f"{MACHINE_TYPES}/0001.json") is not None
    return bool(project(pages))


class EmptyCatalog(ProviderUnavailable):
    """The service answers, and lists not a single SKU."""


def skus(pages: Pages, service: str) -> Iterator[dict[str, Any]]:
    """Every SKU of a service of the catalog, in US dollars.

    A list that nothing filters has no empty page: one that came so is asked for again.
    """
    from google.cloud import billing_v1
    from google.cloud.billing_v1.services.cloud_catalog.transports import rest

    endpoint = _endpoint(pages, "GCP_BILLING_URL", BILLING_URL, "/v1")
    clients: list[Any] = []

    def ask(token: str) -> Any:
        if not clients:
            credentials = _credentials(
                pages, endpoint, pages.context.settings.get("GCP_API_KEY", "")
            )
            transport = rest.CloudCatalogRestTransport(host=endpoint.url, credentials=credentials)
            clients.append(
                billing_v1.CloudCatalogClient(transport=_only_here(transport, pages, endpoint))
            )
        question = billing_v1.ListSkusRequest(
            parent=f"services/{service}",
            currency_code="USD",
            page_size=SKUS_PER_PAGE,
            page_token=token,
        )
        pager = clients[0].list_skus(question, retry=None, timeout=CALL_TIMEOUT_S)
        page = _plain(next(pager.pages))
        if not page.get("skus"):
            came_empty.add(token)
            raise RetryableError("an empty page of a list that has none")
        return page

    came_empty: set[str] = set()
    name, listed = f"skus/{service}", 0
    try:
        for page in _pages(pages, name, "skus", ask, REMEDY):
            listed += len(page.get("skus") or ())
            yield from page.get("skus") or ()
    except ProviderUnavailable:
        if listed or "" not in came_empty:
            raise
        pages.keep(_page_name(name, 1), b"{}")
    if not listed:
        raise EmptyCatalog(
            pages.provider,
            f"the catalog of service {service} is empty",
            "Check GCP_BILLING_URL; the last published prices stay in force.",
        )


def slices_of_cloud_tpu() -> tuple[str, ...]:
    """The TPU slices whose prices the catalog of Cloud TPU holds."""
    return tuple(one.name for one in machines.tpu_slices() if one.accelerator in _SOLD_BY_CLOUD_TPU)


def machine_types(pages: Pages) -> Iterator[Zoned]:
    """(zone, machine type) of every zone."""
    from google.cloud import compute_v1
    from google.cloud.compute_v1.services.machine_types.transports import rest

    yield from _aggregated(
        pages,
        MACHINE_TYPES,
        "machineTypes",
        rest.MachineTypesRestTransport,
        compute_v1.MachineTypesClient,
        compute_v1.AggregatedListMachineTypesRequest,
    )


def accelerator_types(pages: Pages) -> Iterator[Zoned]:
    """(zone, accelerator type) of every zone."""
    from google.cloud import compute_v1
    from google.cloud.compute_v1.services.accelerator_types.transports import rest

    yield from _aggregated(
        pages,
        "accelerator-types",
        "acceleratorTypes",
        rest.AcceleratorTypesRestTransport,
        compute_v1.AcceleratorTypesClient,
        compute_v1.AggregatedListAcceleratorTypesRequest,
    )


def regions(pages: Pages) -> Iterator[dict[str, Any]]:
    """Every region with its quotas."""
    from google.cloud import compute_v1
    from google.cloud.compute_v1.services.regions.transports import rest

    clients: list[Any] = []

    def ask(token: str) -> Any:
        if not clients:
            transport = _compute_transport(pages, rest.RegionsRestTransport)
            clients.append(compute_v1.RegionsClient(transport=transport))
        question = compute_v1.ListRegionsRequest(
            project=project(pages), max_results=ROWS_PER_PAGE, page_token=token
        )
        pager = clients[0].list(question, retry=None, timeout=CALL_TIMEOUT_S)
        return _plain(next(pager.pages))

    for page in _pages(pages, "regions", "items", ask, COMPUTE_REMEDY):
        yield from page.get("items") or ()


def _aggregated(
    pages: Pages, name: str, rows: str, transport: Any, client: Any, request: Any
) -> Iterator[Zoned]:
    """(zone, row) of an aggregated list; a zone without rows holds only a warning."""
    clients: list[Any] = []

    def ask(token: str) -> Any:
        if not clients:
            clients.append(client(transport=_compute_transport(pages, transport)))
        question = request(project=project(pages), max_results=ROWS_PER_PAGE, page_token=token)
        pager = clients[0].aggregated_list(question, retry=None, timeout=CALL_TIMEOUT_S)
        return _plain(next(pager.pages))

    for page in _pages(pages, name, "items", ask, COMPUTE_REMEDY):
        for zone, scoped in (page.get("items") or {}).items():
            yield from ((zone, row) for row in scoped.get(rows) or ())


def _pages(
    pages: Pages, name: str, rows: str, ask: Callable[[str], Any], remedy: str
) -> Iterator[dict[str, Any]]:
    """All pages of one list, each through retries, record and replay."""

    def whole(token: str) -> Any:
        """A page that was announced and ends the list without a row is asked for again."""
        page = ask(token)
        if token and not page.get(rows) and not page.get("nextPageToken"):
            raise RetryableError("an empty page in the place of the next one")
        return page

    token, number = "", 1
    seen = {token}
    while True:
        page = pages.call(
            _page_name(name, number),
            lambda token=token: whole(token),  # type: ignore[misc]
            lambda error: failure(error, remedy),
        )
        yield page
        pages.context.progress(name, number, None)
        token, number = str(page.get("nextPageToken") or ""), number + 1
        if not token:
            return
        if token in seen:
            raise ProviderUnavailable(
                pages.provider,
                f"{name} leads in a circle after {number - 1} pages",
                "Try again later; the list may have changed while it was read.",
            )
        seen.add(token)


def _page_name(name: str, number: int) -> str:
    return f"{name}/{number:04}.json"


def _compute_transport(pages: Pages, transport: Any) -> Any:
    endpoint = _endpoint(pages, "GCP_COMPUTE_URL", COMPUTE_URL, "/compute/v1")
    credentials = _credentials(pages, endpoint, None)
    return _only_here(transport(host=endpoint.url, credentials=credentials), pages, endpoint)


def _endpoint(pages: Pages, setting: str, default: str, path: str) -> Endpoint:
    """The base address; the client adds the path, which may stand in the setting as well."""
    endpoint = pages.endpoint(setting, default)
    return Endpoint(endpoint.url.removesuffix(path), endpoint.anonymous)


def _credentials(pages: Pages, endpoint: Endpoint, api_key: str | None) -> Any:
    """None for a loopback address; the key where one is enough; what the machine has else."""
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
        remedy = COMPUTE_REMEDY if api_key is None else REMEDY
        raise Refused(pages.provider, "there are no credentials for Google Cloud", remedy) from None
    return credentials


def _only_here(transport: Any, pages: Pages, endpoint: Endpoint) -> Any:
    """No redirects, no company proxy for loopback, and the server's clock is reported."""
    session = transport._session
    session.max_redirects = 0
    session.trust_env = not endpoint.anonymous
    session.hooks["response"].append(
        lambda answer, *_, **__: pages.saw_date(answer.headers.get("Date"))
    )
    return transport


def _plain(message: Any) -> Any:
    """The answer in the API's own field names; fields without a value are left out."""
    return type(message).to_dict(
        message,
        use_integers_for_enums=False,
        preserving_proto_field_name=False,
        always_print_fields_with_no_presence=False,
    )


def failure(error: Exception, remedy: str) -> RetryableError | ProviderUnavailable | None:
    """What an error of a Google client means for the run; None: a bug of ours."""
    import json

    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth
    from google.protobuf.json_format import ParseError  # type: ignore[import-untyped]

    if isinstance(error, api.GoogleAPICallError):
        return _by_status(error, remedy)
    if isinstance(error, requests.TooManyRedirects):
        return ProviderUnavailable(
            "gcp", "the server leads to another address", "Check GCP_BILLING_URL, GCP_COMPUTE_URL."
        )
    if isinstance(error, (auth.TransportError, requests.RequestException, api.RetryError)):
        return RetryableError(f"{type(error).__name__} {error}")
    if isinstance(error, auth.GoogleAuthError):
        return Refused("gcp", f"Google refused the sign-in ({error})", remedy)
    if isinstance(error, (ParseError, json.JSONDecodeError)):
        return RetryableError(f"the answer cannot be read ({error})")
    return None


def _by_status(error: Any, remedy: str) -> RetryableError | ProviderUnavailable:
    status = int(error.code or 0)
    what = f"Google answered {status} {error.message}".strip()
    if status in _RETRYABLE:
        headers = getattr(error.response, "headers", None) or {}
        return RetryableError(what, retry_after_s(headers.get("Retry-After")))
    if status in (401, 403) or "API key" in str(error.message):
        return Refused("gcp", what, remedy)
    settings = "Check GCP_PROJECT, GCP_BILLING_URL and GCP_COMPUTE_URL."
    return (Refused if status == 404 else ProviderUnavailable)("gcp", what, settings)
