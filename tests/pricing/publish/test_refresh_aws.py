"""refresh_prices aws against an AWS whose every price is known: what is published is the truth,
and whatever goes wrong leaves the last revision as it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from django.utils import timezone

from pricing.market.offers import Offer
from pricing.providers.aws import provider
from pricing.publish import refresh
from pricing.publish.refresh import RefreshOptions, RefreshResult
from pricing.storage import store
from tests.pricing.providers.aws_tools import bare, hide_own_settings
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import PUBLISHED, Market, small
from tests.pricing.servers.aws_rows import Row
from tests.pricing.servers.base import Fault, Request

pytestmark = pytest.mark.django_db
EXTRA = {"sleep": lambda _seconds: None, "call_timeout_s": 0.3}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    hide_own_settings(monkeypatch)
    with FakeAws(small()) as running:
        monkeypatch.setenv("AWS_ENDPOINT_URL", running.url)
        yield running


@pytest.fixture
def public(server: FakeAws, monkeypatch: pytest.MonkeyPatch) -> FakeAws:
    """The same AWS, seen without credentials."""
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.setenv("AWS_PRICE_LIST_URL", server.url)
    return server


def run(**options: object) -> RefreshResult:
    (result,) = refresh.refresh([provider], RefreshOptions(extra=EXTRA, **options))  # type: ignore[arg-type]
    return result


def published() -> dict[str, Offer]:
    revision = store.latest("aws")
    found = [] if revision is None else store.read_offers(revision)
    return {offer.id: bare(offer) for offer in found}


def truth(market: Market, *, with_account: bool = True) -> dict[str, Offer]:
    day = timezone.now().date() if with_account else PUBLISHED.date()
    offers = market.offers(account=with_account)
    return {offer.id: replace(offer, as_of=day) for offer in offers}


def test_what_is_published_is_exactly_the_truth(server: FakeAws) -> None:
    assert run().outcome == "published"
    assert published() == truth(server.market)


def test_what_is_published_of_the_public_files_is_exactly_the_truth(public: FakeAws) -> None:
    assert run().outcome == "published"
    assert published() == truth(public.market, with_account=False)


def at(action: str, fault: Callable[..., Fault], **more: object) -> Callable[[], Fault]:
    def matches(request: Request) -> bool:
        target = request.headers.get("x-amz-target", "")
        return target.endswith(action) or action.encode() in request.body or action in request.path

    return lambda: fault(matches=matches, **more)


LONG = os.environ.get("FAULTS") == "1"
LASTING = {
    "429 on prices": at("GetProducts", Fault.burst, times=None),
    "500 on prices": at("GetProducts", Fault.error, times=None),
    "time-outs on prices": at("GetProducts", Fault.time_out, delay_s=0.5, times=None),
    "torn JSON": at("GetProducts", Fault.truncated),
    "torn JSON half-way through": at("GetProducts", Fault.truncated, after=2),
    "an empty page": at(
        "GetProducts", Fault, rewrite=lambda _b: b'{"FormatVersion":"aws_v1","PriceList":[]}'
    ),
    "pages empty from the second on": at(
        "GetProducts",
        Fault,
        after=1,
        rewrite=lambda _b: b'{"FormatVersion":"aws_v1","PriceList":[]}',
    ),
}


SHORT = ("torn JSON half-way through", "pages empty from the second on")
CASES = {name: fault for name, fault in LASTING.items() if LONG or name in SHORT}


@pytest.mark.one_in(2)
@pytest.mark.faults
@pytest.mark.parametrize("fault", CASES.values(), ids=CASES)
def test_a_fault_leaves_the_last_revision_in_force(
    server: FakeAws, fault: Callable[[], Fault]
) -> None:
    server.price_page = 5
    run()
    before, number = published(), store.latest("aws").number
    server.market.regions["eu-west-1"] = "1.0625"
    server.faults.append(fault())
    after, expected = run(), truth(server.market)
    if after.outcome == "published":  # what came is the truth, the rest is left and named
        assert "left as published" in " ".join(store.latest("aws").warnings)
        assert published().keys() == before.keys()
        assert all(offer in (before[key], expected[key]) for key, offer in published().items())
    else:
        assert after.outcome in ("failed", "quarantined")
        assert (published(), store.latest("aws").number) == (before, number)
    server.faults.clear()
    assert run().outcome == "published"
    assert published() == truth(server.market)


SHORT_OF_FILES = ("torn", "an empty file")


def odd(row: Row) -> bool:
    return int(row["product"]["sku"][-1], 16) % 2 == 1


def test_no_secret_reaches_the_run_that_failed(
    server: FakeAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.faults.append(Fault.error(None, 404, matches=lambda r: r.path.startswith("/offers")))
    secret = "wJalrXUtnFEMIK7MDENG"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLEEXAMPLE")
    server.refuses.add("pricing")
    result = run()
    assert result.outcome == "failed"
    assert secret not in f"{result.message} {result.hint}"
    assert "public price files" in result.hint
