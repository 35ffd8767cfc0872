"""Google's APIs: the billing catalog through its own client, Compute Engine over its REST API.

Google's client of Compute Engine takes 90 MB for the three lists that are read here; its sign-in
and its errors are Google's own here too.

An API key is enough for the catalog; it goes into a header. Compute Engine, asked when
GCP_PROJECT is set, needs application default credentials. A loopback address is asked without
any. Pages have the form of the REST API, in the answers' own field names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from pricing.ingest.endpoints import Endpoint
from pricing.ingest.http import CALL_TIMEOUT_S, AccessDenied, ProviderHttpClient
from pricing.ingest.provider import ProviderUnavailable
from pricing.ingest.retries import RetryableError, parse_retry_after_s
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
    """Whether machine types are to be read; a replay reads them if they were recorded."""
    if http.context.replay is not None:
        return http.context.replay(f"{MACHINE_TYPES}/0001.json") is not None
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
        page = _to_plain_json(next(pager.pages))
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
        http.record_page(_page_name(name, 1), b"{}")
    if not sku_count:
        raise EmptyCatalog(
            http.provider,
            f"the catalog of service {service} is empty",
            "Check GCP_BILLING_URL; the last published prices stay in force.",
        )


def slices_of_cloud_tpu() -> tuple[str, ...]:
    """The TPU slices whose prices the catalog of Cloud TPU holds."""
    return tuple(one.name for one in machines.tpu_slices() if one.accelerator in _SOLD_BY_CLOUD_TPU)


def machine_types(http: ProviderHttpClient) -> Iterator[Zoned]:
    """(zone, machine type) of every zone."""
    yield from _read_aggregated(http, MACHINE_TYPES, "machineTypes")


def accelerator_types(http: ProviderHttpClient) -> Iterator[Zoned]:
    """(zone, accelerator type) of every zone."""
    yield from _read_aggregated(http, "accelerator-types", "acceleratorTypes")


def regions(http: ProviderHttpClient) -> Iterator[dict[str, Any]]:
    """Every region with its quotas."""
    for page in _read_compute_pages(http, "regions", "regions"):
        yield from page.get("items") or ()


def _read_aggregated(http: ProviderHttpClient, name: str, rows: str) -> Iterator[Zoned]:
    """(zone, row) of an aggregated list; a zone without rows holds only a warning."""
    for page in _read_compute_pages(http, name, f"aggregated/{rows}"):
        for zone, zone_list in (page.get("items") or {}).items():
            yield from ((zone, row) for row in zone_list.get(rows) or ())


def _read_compute_pages(http: ProviderHttpClient, name: str, path: str) -> Iterator[dict[str, Any]]:
    """The pages of a list of the project's Compute Engine."""
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
    """All pages of one list, each through retries, record and replay."""

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
            _page_name(name, number),
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


def _page_name(name: str, number: int) -> str:
    return f"{name}/{number:04}.json"


def _endpoint(http: ProviderHttpClient, setting: str, default: str, path: str) -> Endpoint:
    """The base address; the client adds the path, which may stand in the setting as well."""
    endpoint = http.endpoint(setting, default)
    return Endpoint(endpoint.url.removesuffix(path), endpoint.anonymous)


def _credentials(http: ProviderHttpClient, endpoint: Endpoint, api_key: str | None) -> Any:
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
        hint = COMPUTE_SIGN_IN_HINT if api_key is None else SIGN_IN_HINT
        raise AccessDenied(
            http.provider, "there are no credentials for Google Cloud", hint
        ) from None
    return credentials


def _pin_session(session: Any, http: ProviderHttpClient, endpoint: Endpoint) -> Any:
    """No redirects, no company proxy for loopback, and the server's clock is reported."""
    session.max_redirects = 0
    session.trust_env = not endpoint.anonymous
    session.hooks["response"].append(
        lambda response, *_, **__: http.report_server_time(response.headers.get("Date"))
    )
    return session


def _to_plain_json(message: Any) -> Any:
    """The answer in the API's own field names; fields without a value are left out."""
    return type(message).to_dict(
        message,
        use_integers_for_enums=False,
        preserving_proto_field_name=False,
        always_print_fields_with_no_presence=False,
    )


def translate_error(error: Exception, hint: str) -> RetryableError | ProviderUnavailable | None:
    """What an error of a Google client means for the run; None: a bug of ours."""
    import json

    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth
    from google.protobuf.json_format import ParseError  # type: ignore[import-untyped]

    if isinstance(error, api.GoogleAPICallError):
        return _translate_status(error, hint)
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


def _translate_status(error: Any, hint: str) -> RetryableError | ProviderUnavailable:
    status = int(error.code or 0)
    what = f"Google answered {status} {error.message}".strip()
    if status in _RETRYABLE:
        headers = getattr(error.response, "headers", None) or {}
        return RetryableError(what, parse_retry_after_s(headers.get("Retry-After")))
    if status in (401, 403) or "API key" in str(error.message):
        return AccessDenied("gcp", what, hint)
    settings = "Check GCP_PROJECT, GCP_BILLING_URL and GCP_COMPUTE_URL."
    return (AccessDenied if status == 404 else ProviderUnavailable)("gcp", what, settings)
