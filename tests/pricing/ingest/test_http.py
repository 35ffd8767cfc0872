"""One policy for every page: retries, deadlines, loopback, records, secrets."""

import datetime as dt
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pricing.ingest.downloads import download
from pricing.ingest.http import (
    MAX_CALLS,
    AccessDenied,
    ProviderHttpClient,
    RetryableError,
    Secrets,
    check_endpoint,
    parse_retry_after_s,
)
from pricing.ingest.provider import FetchContext, ProviderUnavailable
from tests.pricing.servers.base import FakeServer, Fault, Reply, Request

NOW = dt.datetime(2026, 9, 10, 12, tzinfo=dt.UTC)
KEY = "AIzaVerySecretKey"


class Prices(FakeServer):
    body = b'{"price": "1.5"}'

    def answer(self, request: Request) -> Reply:
        return Reply(self.body)


@pytest.fixture
def server() -> Iterator[Prices]:
    with Prices() as running:
        yield running


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def http(slept: list[float]) -> Iterator[ProviderHttpClient]:
    with make_http_client(slept) as made:
        yield made


def make_http_client(slept: list[float], **changes: Any) -> ProviderHttpClient:
    settings = changes.pop("settings", {"GCP_API_KEY": KEY})
    extra = {"sleep": slept.append}
    return ProviderHttpClient("gcp", FetchContext(settings, NOW, extra=extra, **changes))


def test_retry_after_is_honoured(
    server: Prices, http: ProviderHttpClient, slept: list[float]
) -> None:
    server.faults.append(Fault.burst(2, retry_after="7"))
    assert http.get_json("a.json", server.url) == {"price": "1.5"}
    assert slept == [7.0, 7.0]


def test_retry_after_may_be_a_date() -> None:
    now = dt.datetime(2026, 11, 20, 4, 0, 0, tzinfo=dt.UTC)
    assert parse_retry_after_s("Fri, 20 Nov 2026 04:00:30 GMT", now) == 30.0
    assert parse_retry_after_s("Fri, 20 Nov 2026 03:00:00 GMT", now) == 0.0


@pytest.mark.parametrize(
    "fault",
    [
        Fault.burst(None),
        Fault.error(None),
        Fault.error(None, status=503),
        Fault.truncated(),
        Fault.lost(),
    ],
    ids=["429", "500", "503", "truncated", "lost"],
)
def test_a_page_is_asked_for_five_times_at_most(
    server: Prices, http: ProviderHttpClient, fault: Fault
) -> None:
    server.faults.append(fault)
    with pytest.raises(ProviderUnavailable, match=r"a\.json: .*5 times in a row"):
        http.get_json("a.json", server.url)
    assert len(server.requests) == MAX_CALLS


def test_a_refusal_is_not_repeated(server: Prices, http: ProviderHttpClient) -> None:
    server.faults.append(Fault.error(None, status=403))
    with pytest.raises(AccessDenied, match="403"):
        http.get_json("a.json", server.url)
    assert len(server.requests) == 1


def test_nothing_is_asked_after_the_deadline(server: Prices, slept: list[float]) -> None:
    late = make_http_client(slept, deadline=time.monotonic() - 1)
    with pytest.raises(ProviderUnavailable, match="run's time limit passed"):
        late.get_json("a.json", server.url)
    assert server.requests == []


def test_a_wait_beyond_the_deadline_is_not_begun(server: Prices, slept: list[float]) -> None:
    server.faults.append(Fault.burst(None, retry_after="100"))
    hurried = make_http_client(slept, deadline=time.monotonic() + 50)
    with pytest.raises(ProviderUnavailable, match=r"a\.json: .* 429.*; the next try would come"):
        hurried.get_json("a.json", server.url)
    assert slept == []


def test_an_hour_of_retry_after_means_unavailable(
    server: Prices, http: ProviderHttpClient, slept: list[float]
) -> None:
    server.faults.append(Fault.burst(None, retry_after="3600"))
    with pytest.raises(ProviderUnavailable, match="pause of 3,600 s"):
        http.get_json("a.json", server.url)
    assert slept == []


def test_an_unreachable_server_is_named_without_its_query(http: ProviderHttpClient) -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        http.get_json("a.json", f"http://127.0.0.1:9/x?key={KEY}")
    assert "http://127.0.0.1:9/x" in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_call_translates_its_failures(http: ProviderHttpClient) -> None:
    answers = iter([KeyError("slow down"), {"ok": 1}])

    def ask() -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert http.call("a.json", ask, lambda error: RetryableError(str(error))) == {"ok": 1}


def test_a_bug_in_a_call_passes_through(http: ProviderHttpClient) -> None:
    with pytest.raises(ZeroDivisionError):
        http.call("a.json", lambda: 1 / 0, lambda _error: None)


def test_secrets_do_not_reach_an_error(http: ProviderHttpClient) -> None:
    def ask() -> Any:
        raise PermissionError(f"key {KEY} is bad")

    with pytest.raises(ProviderUnavailable) as caught:
        http.call("a.json", ask, lambda error: AccessDenied("gcp", str(error), "renew it"))
    assert str(caught.value) == "gcp: key *** is bad. renew it"


def test_a_password_within_an_address_is_a_secret() -> None:
    secrets = Secrets({"AWS_PRICE_LIST_URL": "https://me:hunter22@mirror.example"})
    assert secrets.scrub("hunter22") == "***"


@pytest.mark.parametrize(
    "url", ["https://prices.example", "http://127.0.0.1:1", "http://[::1]:2", "http://localhost"]
)
def test_https_and_loopback_may_be_called(url: str) -> None:
    assert check_endpoint("aws", "AWS_PRICE_LIST_URL", url).anonymous == url.startswith("http:")


@pytest.mark.parametrize(
    "url",
    [
        "http://prices.example",
        "http://localhost.prices.example",
        "http://127.0.0.1.prices.example",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "prices.example",
        "https://",
        "http://[::1",
        "http://127.0.0.1:99999",
        "https://prices.example:x",
    ],
)
def test_any_other_address_is_refused_by_its_setting(url: str) -> None:
    with pytest.raises(ProviderUnavailable, match="AWS_PRICE_LIST_URL"):
        check_endpoint("aws", "AWS_PRICE_LIST_URL", url)


def test_a_torn_download_is_fetched_again(server: Prices, http: ProviderHttpClient) -> None:
    server.body = b"x" * 1_000_000
    server.faults.append(Fault.lost(2))
    with download(http, "big.json.gz", server.url) as file:
        assert len(file.read()) == 1_000_000
    assert len(server.requests) == 3


def test_a_silent_server_is_left(server: Prices, slept: list[float]) -> None:
    server.faults.append(Fault.time_out(30, times=1))
    context = FetchContext({}, NOW, extra={"sleep": slept.append, "call_timeout_s": 0.4})
    start = time.monotonic()
    assert ProviderHttpClient("gcp", context).get_json("a.json", server.url) == {"price": "1.5"}
    assert time.monotonic() - start < 20
    assert len(server.requests) > len(slept) > 0
