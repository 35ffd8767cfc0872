"""Azure Resource Manager through azure-mgmt-compute: Resource SKUs and usages.

Only asked when AZURE_SUBSCRIPTION_ID is set. Credentials come from azure-identity (environment,
managed identity, `az login`); a loopback address is asked without any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pricing.ingest.endpoints import Endpoint, redact_url, same_origin
from pricing.ingest.http import CALL_TIMEOUT_S, CONNECT_TIMEOUT_S, AccessDenied, ProviderHttpClient
from pricing.ingest.provider import ProviderUnavailable
from pricing.ingest.retries import RetryableError, parse_retry_after_s
from pricing.providers.azure.price_rows import region_name

if TYPE_CHECKING:
    from azure.mgmt.compute import ComputeManagementClient

PUBLIC_URL = "https://management.azure.com"
SIGN_IN_HINT = (
    "Sign in with `az login` or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET of "
    "an account with the Reader role; or leave AZURE_SUBSCRIPTION_ID empty, and the shipped "
    "table of machines is used."
)
_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504})


def is_configured(http: ProviderHttpClient) -> bool:
    """Whether Resource SKUs are to be read; a replay reads them if they were recorded."""
    if http.context.replay is not None:
        return any(http.context.replay(f"{_folder(r)}/0001.json") for r in _wanted_regions(http))
    return bool(_subscription_id(http))


def resource_skus(http: ProviderHttpClient) -> Iterator[dict[str, Any]]:
    """Every row of the Resource SKUs API, of the wanted regions if they are limited."""
    for region in _wanted_regions(http):
        location_filter = {"filter": f"location eq '{region}'"} if region else {}
        yield from _read_rows(http, _folder(region), "resource_skus", location_filter)


def _wanted_regions(http: ProviderHttpClient) -> list[str]:
    return [region_name(region) for region in http.context.regions] or [""]


def _folder(region: str) -> str:
    return f"resource-skus/{region or 'all'}"


def usages(http: ProviderHttpClient, region: str) -> Iterator[dict[str, Any]]:
    """What the subscription uses and may use in a region."""
    yield from _read_rows(http, f"usages/{region}", "usage", {"location": region})


def _read_rows(
    http: ProviderHttpClient, name: str, group: str, parameters: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Rows of all pages of one question, each page through retries, record and replay."""
    reader = _PageReader(http, group, parameters)
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
            self._operations = getattr(_client(self._http), self._group)
        page = self._operations.list(**self._parameters).by_page(self._next_link)
        rows = [row.as_dict() for row in next(page)]
        self._next_link = page.continuation_token
        return {"value": rows, "nextLink": self._next_link}


def _client(http: ProviderHttpClient) -> ComputeManagementClient:
    from azure.core.pipeline.policies import SansIOHTTPPolicy
    from azure.mgmt.compute import ComputeManagementClient

    endpoint = http.endpoint("AZURE_RESOURCE_MANAGER_URL", PUBLIC_URL)
    options: dict[str, Any] = {}
    if endpoint.anonymous:
        options = {"authentication_policy": SansIOHTTPPolicy(), "use_env_settings": False}
    return ComputeManagementClient(
        _credential(endpoint),
        _subscription_id(http),
        base_url=endpoint.url,
        credential_scopes=[f"{PUBLIC_URL}/.default"],
        per_call_policies=[_pin_to_server(http.provider, endpoint)],
        retry_total=0,
        permit_redirects=False,
        connection_timeout=CONNECT_TIMEOUT_S,
        read_timeout=CALL_TIMEOUT_S,
        **options,
    )


def _credential(endpoint: Endpoint) -> Any:
    if endpoint.anonymous:
        return object()
    from azure.identity import DefaultAzureCredential

    return DefaultAzureCredential()


def _pin_to_server(provider: str, endpoint: Endpoint) -> Any:
    """A pipeline policy: a `nextLink` to another server is not followed, nor given a token."""
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
        return _translate_status(error)
    if isinstance(error, azure.AzureError):
        return RetryableError(f"{type(error).__name__} {_first_line(error)}")
    if isinstance(error, (azure.DeserializationError, json.JSONDecodeError)):
        return RetryableError(f"the answer is not valid JSON ({error})")
    return None


def _translate_status(error: Any) -> RetryableError | ProviderUnavailable:
    status = error.response.status_code
    path = urlsplit(error.response.request.url).path
    what = f"{path} answered {status} {error.response.reason or ''}".strip()
    if status in _RETRYABLE:
        return RetryableError(what, parse_retry_after_s(error.response.headers.get("retry-after")))
    if status in (401, 403):
        return AccessDenied("azure", what, SIGN_IN_HINT)
    if status == 200:
        return RetryableError(f"{path}: the answer cannot be read")
    return ProviderUnavailable(
        "azure", what, "Check AZURE_SUBSCRIPTION_ID and AZURE_RESOURCE_MANAGER_URL."
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else ""


def _subscription_id(http: ProviderHttpClient) -> str:
    return http.context.settings.get("AZURE_SUBSCRIPTION_ID", "").strip()
