"""refresh_prices aws against an AWS whose every price is known: what is published is the truth,
and whatever goes wrong leaves the last revision as it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from pricing.market.offers import Offer
from pricing.models import HeldBatch, Price
from pricing.providers.aws import provider
from pricing.publish import refresh
from pricing.publish.refresh import RefreshOptions
from pricing.publish.refresh_result import RefreshResult
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


@pytest.mark.sweep
def test_every_family_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_own_settings(monkeypatch)
    with FakeAws() as whole:
        monkeypatch.setenv("AWS_ENDPOINT_URL", whole.url)
        assert run().outcome == "published"
        assert published() == truth(whole.market)


@pytest.mark.sweep
def test_a_repeat_writes_no_price_row(server: FakeAws) -> None:
    run()
    before = Price.objects.count()
    again = run()
    assert again.publication is not None
    assert again.publication.changes.unchanged == len(server.market.offers())
    assert Price.objects.count() == before


def test_a_price_cut_is_published_and_told(server: FakeAws) -> None:
    run()
    server.market.regions["eu-west-1"] = "1.0625"
    again = run()
    assert again.publication is not None
    assert again.publication.changes.cheaper > 0
    assert published() == truth(server.market)


def test_what_the_public_files_cannot_show_stays_in_force(
    server: FakeAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.setenv("AWS_PRICE_LIST_URL", server.url)
    run(force=True)
    assert published().keys() == truth(server.market).keys()


def test_the_command_prints_it_as_json(server: FakeAws) -> None:
    out = StringIO()
    call_command("refresh_prices", "aws", "--json", stdout=out, stderr=StringIO())
    answer = json.loads(out.getvalue())
    assert "unknown accelerator" in out.getvalue()
    assert "NVIDIA Z900" in out.getvalue()
    assert "published" in json.dumps(answer)


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
        assert after.outcome in ("failed", "held")
        assert (published(), store.latest("aws").number) == (before, number)
    server.faults.clear()
    assert run().outcome == "published"
    assert published() == truth(server.market)


OPTIONAL = {
    "torn XML": at("DescribeSpotPriceHistory", Fault.truncated),
    "page lost half-way": at("DescribeInstanceTypes", Fault.lost),
    "spot gone after a region": at("DescribeSpotPriceHistory", Fault.error, times=None, after=1),
    "savings plans torn": at("SavingsPlans", Fault.truncated),
}


SHORT_OF_OPTIONAL = ("torn XML", "spot gone after a region")
OPTIONAL_CASES = {name: f for name, f in OPTIONAL.items() if LONG or name in SHORT_OF_OPTIONAL}


@pytest.mark.one_in(2)
@pytest.mark.faults
@pytest.mark.parametrize("fault", OPTIONAL_CASES.values(), ids=OPTIONAL_CASES)
def test_an_optional_part_that_fails_keeps_its_rows_and_is_told(
    server: FakeAws, fault: Callable[[], Fault]
) -> None:
    run()
    before = published()
    server.market.regions["eu-west-1"] = "1.0625"
    server.faults.append(fault())
    result = run()
    after, right = published(), truth(server.market)
    assert result.outcome == "published"
    assert result.publication is not None
    assert any(text.startswith("not read: ") for text in result.publication.warnings)
    assert after.keys() == right.keys()
    assert all(offer in (right[key], before[key]) for key, offer in after.items())
    listed = [key for key in right if key.endswith(":on_demand")]
    assert {key: after[key] for key in listed} == {key: right[key] for key in listed}


FILE_FAULTS = {
    "429": at("/offers/", Fault.burst, times=None),
    "500": at("/offers/", Fault.error, times=None),
    "time-outs": at("/offers/", Fault.time_out, delay_s=0.5, times=None),
    "torn": at("/index.json", Fault.truncated),
    "lost half-way": at("/index.json", Fault.lost),
    "another document": at("/index.json", Fault, rewrite=lambda _b: b"<html>"),
    "an empty file": at("/index.json", Fault, rewrite=lambda _b: b"{}"),
    "an empty index": at("AmazonEC2/current", Fault, rewrite=lambda _b: b'{"regions": {}}'),
}


SHORT_OF_FILES = ("torn", "an empty file")
FILE_CASES = {name: f for name, f in FILE_FAULTS.items() if LONG or name in SHORT_OF_FILES}


@pytest.mark.faults
@pytest.mark.parametrize("fault", FILE_CASES.values(), ids=FILE_CASES)
def test_a_fault_of_the_public_files_leaves_the_last_revision_in_force(
    public: FakeAws, fault: Callable[[], Fault]
) -> None:
    run()
    before, number = published(), store.latest("aws").number
    public.market.regions["eu-west-1"] = "1.0625"
    public.faults.append(fault())
    assert run().outcome in ("failed", "held")
    assert (published(), store.latest("aws").number) == (before, number)


def test_a_lost_last_page_takes_no_price_away(server: FakeAws) -> None:
    """Too little is gone to hold the batch; EC2 still sells what has no row any more."""
    run()
    before = published()
    lost = "aws:eu-west-1:p5.48xlarge:on_demand"
    server.drop = lambda row: (
        row["product"]["attributes"].get("instanceType") == "p5.48xlarge"
        and row["product"]["attributes"].get("regionCode") == "eu-west-1"
    )
    result = run()
    assert result.outcome == "published"
    assert published()[lost] == before[lost]
    assert result.publication is not None
    assert "not read: sold without a listed price" in result.publication.warnings


def test_trap_5_spot_above_on_demand_is_withheld(server: FakeAws) -> None:
    whole = server.market.spot
    server.market.spot = lambda box, region, zone: (  # type: ignore[method-assign]
        whole(box, region, zone) * (5 if (box.name, zone) == ("g4dn.xlarge", "usw2-az1") else 1)
    )
    assert run().outcome == "published"
    odd_one = "aws:us-west-2/usw2-az1:g4dn.xlarge:spot"
    assert published().keys() == truth(server.market).keys() - {odd_one}


def odd(row: Row) -> bool:
    return int(row["product"]["sku"][-1], 16) % 2 == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("view", ["server", "public"])
def test_trap_5_prices_times_100_are_held(view: str, request: pytest.FixtureRequest) -> None:
    aws: FakeAws = request.getfixturevalue(view)
    run()
    before = published()
    aws.market.scale = Decimal(100)
    result = run()
    assert result.outcome == "held"
    assert "changed by more than a factor of 5" in result.message
    assert published() == before
    assert HeldBatch.objects.count() == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("view", ["server", "public"])
def test_half_of_the_rows_gone_is_held(view: str, request: pytest.FixtureRequest) -> None:
    aws: FakeAws = request.getfixturevalue(view)
    run()
    before = published()
    aws.drop = odd
    assert run().outcome == "held"
    assert published() == before


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
