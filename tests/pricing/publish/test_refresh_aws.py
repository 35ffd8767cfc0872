"""refresh_prices aws against an AWS whose every price is known: what is published is the truth,
and whatever goes wrong leaves the last revision as it was."""

from collections.abc import Iterator
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
from tests.pricing.servers.base import Fault

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
