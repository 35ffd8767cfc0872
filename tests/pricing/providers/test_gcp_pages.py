"""Google Cloud's pages: faults, credentials, addresses."""

import json
import logging
from collections.abc import Callable, Iterator

import pytest

from pricing.ingest.http import MAX_CALLS, AccessDenied, check_endpoint
from pricing.ingest.provider import NotRead, ProviderUnavailable
from pricing.providers.gcp import client
from pricing.providers.gcp import provider as gcp
from tests.pricing.providers.gcp_tools import context, fetched
from tests.pricing.providers.read_rows import offers
from tests.pricing.servers.base import Fault, Request
from tests.pricing.servers.gcp import GcpServer
from tests.pricing.servers.gcp_truth import truth
from tests.properties import one_in

KEY = "AIzaVerySecretKeyOfOurs"


@pytest.fixture
def server() -> Iterator[GcpServer]:
    with GcpServer() as running:
        yield running


def is_skus(request: Request) -> bool:
    return request.path.endswith("/skus")


def is_machine_types(request: Request) -> bool:
    return request.path.endswith("/machineTypes")


MATCHES = {"billing": is_skus, "compute": is_machine_types}
PASSING: dict[str, Callable[..., Fault]] = {
    "429": lambda **k: Fault.burst(MAX_CALLS - 1, **k),
    "500": lambda **k: Fault.error(MAX_CALLS - 1, **k),
    "503": lambda **k: Fault.error(2, status=503, **k),
    "truncated": lambda **k: Fault.truncated(2, **k),
    "lost half-way": lambda **k: Fault.lost(2, **k),
    "empty page": lambda **k: Fault(times=2, rewrite=lambda _body: b"{}", **k),
}
LASTING: dict[str, Callable[..., Fault]] = {
    "429": lambda **k: Fault.burst(None, **k),
    "500": lambda **k: Fault.error(None, **k),
    "truncated": lambda **k: Fault.truncated(None, **k),
    "lost half-way": lambda **k: Fault.lost(None, **k),
    "empty page": lambda **k: Fault(rewrite=lambda _body: b"{}", **k),
}


@pytest.mark.parametrize("api", MATCHES)
@pytest.mark.parametrize("name", one_in(3, list(PASSING)))
def test_a_fault_that_passes_costs_no_price(server: GcpServer, name: str, api: str) -> None:
    server.faults.append(PASSING[name](after=1, matches=MATCHES[api]))
    assert offers(fetched(server.settings_with_project)) == truth()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LASTING)
def test_a_fault_of_the_catalog_that_lasts_ends_the_run_after_five_calls(
    server: GcpServer, name: str
) -> None:
    server.faults.append(LASTING[name](after=1, matches=is_skus))
    with pytest.raises(ProviderUnavailable, match="5 times in a row") as caught:
        fetched(server.settings_with_project)
    assert caught.value.hint
    assert sum(is_skus(request) for request in server.requests) == 1 + MAX_CALLS


def test_a_list_that_leads_in_a_circle_ends(server: GcpServer) -> None:
    def back_to_start(body: bytes) -> bytes:
        return json.dumps(json.loads(body) | {"nextPageToken": "page-17"}).encode()

    server.faults.append(Fault(matches=is_skus, rewrite=back_to_start))
    with pytest.raises(ProviderUnavailable, match="repeats itself"):
        fetched(server.settings)


def test_an_empty_catalog_is_no_catalog(server: GcpServer) -> None:
    server.skus = {service: [] for service in server.skus}
    with pytest.raises(ProviderUnavailable, match="6F81-5844-456A is empty"):
        fetched(server.settings)


def test_a_page_that_came_empty_with_more_behind_it_is_asked_for_again(server: GcpServer) -> None:
    server.faults.append(Fault(times=2, after=1, matches=is_skus, rewrite=_emptied))
    assert offers(fetched(server.settings_with_project)) == truth()


def _emptied(body: bytes) -> bytes:
    return json.dumps(json.loads(body) | {"skus": []}).encode()


def _with_status(server: GcpServer, status: int) -> Callable[[Request], object]:
    ask = server.answer

    def answer(request: Request) -> object:
        reply = ask(request)
        reply.status = status
        return reply

    return answer


def test_a_project_without_credentials_says_how_to_do_without(
    server: GcpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _no_credentials(monkeypatch)
    settings = server.settings | {"GCP_PROJECT": "research-1"}
    rows = gcp.fetch(context(settings))
    (part,) = (row for row in rows if isinstance(row, NotRead) and row.availability_only)
    assert "no credentials" in part.reason
    assert "leave GCP_PROJECT empty" in part.reason


def test_missing_credentials_of_the_catalog_name_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_credentials(monkeypatch)
    with pytest.raises(AccessDenied, match="no credentials") as caught:
        fetched({})
    assert "Set GCP_API_KEY" in caught.value.hint


def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError

    def default(**_: object) -> object:
        raise DefaultCredentialsError("none here")

    monkeypatch.setattr(google.auth, "default", default)


def test_loopback_is_asked_without_credentials(
    server: GcpServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = server.settings_with_project | {"GCP_API_KEY": KEY}
    fetched(settings)
    sent = [f"{r.path}{r.query}{r.headers}{r.body!r}" for r in server.requests]
    assert KEY not in " ".join([*sent, caplog.text])
    assert not any("authorization" in request.headers for request in server.requests)


def test_the_key_goes_into_a_header_over_https() -> None:
    sign = client.make_signer(check_endpoint("gcp", "GCP_BILLING_URL", client.BILLING_URL), KEY, "")
    assert sign() == {"x-goog-api-key": KEY}


def test_an_error_never_tells_the_key(server: GcpServer) -> None:
    message = json.dumps({"error": {"code": 403, "message": f"key {KEY} is blocked"}}).encode()
    server.faults.append(Fault(rewrite=lambda _: message))
    server.answer = _with_status(server, 403)  # type: ignore[method-assign]
    with pytest.raises(AccessDenied) as caught:
        fetched(server.settings | {"GCP_API_KEY": KEY})
    assert KEY not in str(caught.value)
    assert "***" in str(caught.value)
