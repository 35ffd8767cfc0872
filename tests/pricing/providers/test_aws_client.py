"""Credentials, endpoints, clocks and secrets of the AWS adapter."""

import logging

import pytest
from botocore import exceptions

from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import ProviderUnavailable
from pricing.providers.aws.client import AwsClient
from tests.pricing.providers.aws_tools import account, context, fetch, public_files
from tests.pricing.servers.aws import FakeAws, json_error
from tests.pricing.servers.base import Fault, Reply

pytestmark = pytest.mark.usefixtures("own_settings")

KEY, SECRET, TOKEN = "AKIDEXAMPLEEXAMPLE", "wJalrXUtnFEMIK7MDENG", "FQoGZXIvYXdzEXAMPLETOKEN"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_SESSION_TOKEN": TOKEN,
}


def test_loopback_is_asked_with_no_credentials_of_ours(server: FakeAws) -> None:
    fetch(account(server) | CREDENTIALS)
    sent = "\n".join(str(request.headers) for request in server.requests)
    assert "Credential=anonymous/" in sent
    assert KEY not in sent
    assert TOKEN not in sent


def test_boto3s_own_endpoint_variable_for_one_service_obeys_the_same_rule(
    server: FakeAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", server.url)
    client = AwsClient(ProviderHttpClient("aws", context(CREDENTIALS)))
    next(client.read_all_pages("page", "pricing", "us-east-1", "get_products", "PriceList"))
    assert KEY not in str(server.requests[0].headers)


def test_a_proxy_that_does_not_answer_is_no_defect_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(_: object) -> None:
        raise exceptions.ProxyConnectionError(proxy_url="http://127.0.0.1:9")

    monkeypatch.setattr("boto3.session.Session.get_credentials", look_up)
    with pytest.raises(ProviderUnavailable, match="credentials: ProxyConnectionError") as caught:
        AwsClient(ProviderHttpClient("aws", context({}))).has_credentials()
    assert "HTTP_PROXY" in caught.value.hint


REFUSALS = {
    "expired": json_error(400, "ExpiredTokenException", f"token {TOKEN} expired"),
    "unknown": json_error(400, "UnrecognizedClientException", f"{KEY} is invalid"),
    "denied": json_error(400, "AccessDeniedException", "not authorized"),
}


@pytest.mark.parametrize("reply", REFUSALS.values(), ids=REFUSALS)
def test_refused_credentials_are_told_with_the_way_out(server: FakeAws, reply: Reply) -> None:
    """Where there is no public price list to fall back to."""
    server._products = lambda _asked: reply  # type: ignore[method-assign]
    server.faults.append(Fault.error(None, 404, matches=lambda r: r.path.startswith("/offers")))
    with pytest.raises(ProviderUnavailable) as caught:
        fetch(account(server) | CREDENTIALS)
    assert "answered 400" in caught.value.what
    assert "public price files" in caught.value.hint
    assert not any(secret in str(caught.value) for secret in CREDENTIALS.values())


CLOCKS = {
    "skewed": json_error(400, "RequestTimeTooSkewed", "too large"),
    "expired": json_error(400, "InvalidSignatureException", "Signature expired: 2026"),
    "early": json_error(400, "InvalidSignatureException", "Signature not yet current: 2026"),
}


@pytest.mark.parametrize("reply", CLOCKS.values(), ids=CLOCKS)
def test_a_clock_that_aws_does_not_accept_is_told(server: FakeAws, reply: Reply) -> None:
    server._products = lambda _asked: reply  # type: ignore[method-assign]
    with pytest.raises(ProviderUnavailable, match=r"this machine's time.*NTP"):
        fetch(account(server))


def test_an_operation_that_the_endpoint_lacks_leaves_its_part_unread(server: FakeAws) -> None:
    server.faults.append(
        Fault.error(None, status=404, matches=lambda r: b"CapacityBlock" in r.body)
    )
    found = fetch(account(server))
    assert {part.purchase_options for part in found.not_read} == {("capacity_block",)}


def test_secrets_reach_no_log(server: FakeAws, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        fetch(account(server) | CREDENTIALS)
    assert not any(secret in caplog.text for secret in CREDENTIALS.values())


def test_an_index_that_leads_elsewhere_is_not_followed(server: FakeAws) -> None:
    elsewhere = b'{"regions":{"us-west-2":{"currentVersionUrl":"https://prices.example/x.json"}}}'
    server.faults.append(
        Fault(rewrite=lambda _body: elsewhere, matches=lambda r: "AmazonEC2/current" in r.path)
    )
    with pytest.raises(
        ProviderUnavailable, match=r"points to another server, https://prices\.example"
    ):
        fetch(public_files(server))
