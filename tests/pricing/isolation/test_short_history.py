"""A spot history that lost rows on the way is not published; one that began lately is."""

import re
from collections.abc import Iterator

import pytest

from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import provider
from tests.pricing.isolation.ways import rewritten, thinned
from tests.pricing.providers.aws_tools import account, bare, context, hide_own_settings
from tests.pricing.servers.aws import FakeAws, region_of
from tests.pricing.servers.aws_market import small
from tests.pricing.servers.base import Fault

REGION = "eu-west-1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    hide_own_settings(monkeypatch)
    with FakeAws(small()) as running:
        yield running


def spot_rows(
    server: FakeAws, fault: Fault
) -> tuple[dict[str, Offer], list[NotRead], list[SkippedRow]]:
    """Spot prices of the region, what was not read of it, and what was skipped."""
    fault.matches = lambda r: (
        b"Action=DescribeSpotPriceHistory&" in r.body and region_of(r) == REGION
    )
    server.faults.append(fault)
    rows = list(provider.fetch(context(account(server))))
    assert fault.seen
    spot = {
        row.id: bare(row)
        for row in rows
        if isinstance(row, Offer)
        and row.region == REGION
        and row.purchase_option is PurchaseOption.SPOT
    }
    unread = [row for row in rows if isinstance(row, NotRead) and row.regions == (REGION,)]
    return spot, unread, [row for row in rows if isinstance(row, SkippedRow)]


def test_half_of_a_history_leaves_the_published_prices_and_is_named(server: FakeAws) -> None:
    spot, (part,), _ = spot_rows(server, Fault(rewrite=rewritten(thinned(2))))
    assert not spot
    assert part.purchase_options == ("spot",)
    assert re.match(
        r"spot in eu-west-1: the history of \d+ of \d+ machines and zones of eu-west-1 is cut off",
        part.reason,
    )
