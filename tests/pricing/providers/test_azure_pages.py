"""Azure's pages: paging, other servers, faults, credentials."""

import json
import logging
from collections.abc import Iterator

import pytest

from pricing.ingest.http import MAX_CALLS, BadRequest
from pricing.ingest.provider import NotRead, ProviderUnavailable
from pricing.providers.azure import provider as azure
from tests.pricing.providers.azure_tools import context, fetched
from tests.pricing.providers.read_rows import offers
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.azure_truth import truth
from tests.pricing.servers.base import Fault, Request

SECRET = "super-secret-client-value"


@pytest.fixture
def server() -> Iterator[AzureServer]:
    with AzureServer() as running:
        yield running


def test_next_pages_are_asked_for_at_the_configured_server(server: AzureServer) -> None:
    assert offers(fetched(server.settings)) == truth()
    assert len(server.requests) > 3, "all of them came here, whatever host the links name"


def test_a_next_page_on_a_third_server_is_not_followed() -> None:
    with (
        AzureServer(link_host="https://elsewhere.example") as server,
        pytest.raises(ProviderUnavailable, match="on another server") as caught,
    ):
        fetched(server.settings)
    assert "elsewhere.example" in str(caught.value)


def test_a_list_that_leads_in_a_circle_ends(server: AzureServer) -> None:
    def back_to_start(body: bytes) -> bytes:
        page = json.loads(body)
        page["NextPageLink"] = f"{server.url}/api/retail/prices?$skip=10"
        return json.dumps(page).encode()

    server.faults.append(Fault(rewrite=back_to_start))
    with pytest.raises(ProviderUnavailable, match="repeats itself"):
        fetched(server.settings)


def test_a_400_past_a_short_page_is_the_end_of_the_list() -> None:
    with AzureServer(page_size=9) as server:
        server.always_links = True
        assert offers(fetched(server.settings)) == truth()
        past_the_end = server.requests[-1].query
    assert int(past_the_end["$skip"][0]) % 9, "the last page was a short one"


def test_a_400_in_the_middle_is_not_the_end(server: AzureServer) -> None:
    server.faults.append(Fault.error(None, status=400, after=2))
    with pytest.raises(BadRequest):
        fetched(server.settings)


def test_a_server_that_knows_no_contains_is_asked_without(server: AzureServer) -> None:
    server.understands_contains = False
    assert offers(fetched(server.settings)) == truth()
    filters = [request.query["$filter"][0] for request in server.requests[:2]]
    assert ["contains" in one for one in filters] == [True, False]


def test_an_empty_price_list_is_no_price_list() -> None:
    with (
        AzureServer(rows=[]) as server,
        pytest.raises(ProviderUnavailable, match="the price list is empty"),
    ):
        fetched(server.settings)


PASSING = {
    "429": lambda: Fault.burst(MAX_CALLS - 1),
    "500": lambda: Fault.error(MAX_CALLS - 1),
    "503": lambda: Fault.error(2, status=503),
    "truncated": lambda: Fault.truncated(2, after=1),
    "lost half-way": lambda: Fault.lost(2, after=2),
    "rows missing": lambda: Fault(times=2, after=1, rewrite=_without_rows),
    "empty page": lambda: Fault(times=1, after=1, rewrite=_empty),
    "not the list": lambda: Fault(times=1, rewrite=lambda _body: b'{"error": "busy"}'),
}


def _without_rows(body: bytes) -> bytes:
    page = json.loads(body)
    page["Items"] = page["Items"][::2]
    return json.dumps(page).encode()


def _empty(body: bytes) -> bytes:
    page = json.loads(body)
    return json.dumps({**page, "Items": [], "Count": 0}).encode()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_fault_that_passes_costs_no_price(server: AzureServer, fault: object) -> None:
    server.faults.append(fault())  # type: ignore[operator]
    assert offers(fetched(server.settings)) == truth()


def is_skus(request: Request) -> bool:
    return request.path.endswith("/skus")


def unread(server: AzureServer) -> str:
    rows = azure.fetch(context(server.settings_with_subscription))
    (part,) = (row for row in rows if isinstance(row, NotRead) and row.availability_only)
    return part.reason


def test_a_next_link_to_another_server_is_not_followed_by_the_sdk(server: AzureServer) -> None:
    def astray(body: bytes) -> bytes:
        return json.dumps({**json.loads(body), "nextLink": "https://elsewhere.example/x"}).encode()

    server.faults.append(Fault(matches=is_skus, rewrite=astray))
    assert "elsewhere.example" in unread(server)


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_say_what_to_do(server: AzureServer, status: int) -> None:
    server.faults.append(Fault.error(None, status=status, matches=is_skus))
    assert "AZURE_SUBSCRIPTION_ID empty" in unread(server)


def test_loopback_is_asked_without_credentials(
    server: AzureServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = server.settings_with_subscription | {"AZURE_CLIENT_SECRET": SECRET}
    fetched(settings)
    sent = [f"{r.path}{r.query}{r.headers}{r.body!r}" for r in server.requests]
    assert not any("authorization" in request.headers for request in server.requests)
    assert SECRET not in " ".join([*sent, caplog.text])
