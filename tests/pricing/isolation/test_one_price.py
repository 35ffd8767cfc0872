"""One price is ten times, a tenth, 0 or below: it alone is not published, and that is said."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import provider as aws
from pricing.providers.azure import provider as azure
from pricing.providers.gcp import provider as gcp
from pricing.publish.batch import OfferBatch
from pricing.publish.batch_checks import CheckResult, PublishedState, check
from tests.pricing.isolation.after_publication import RATES, of_yesterday
from tests.pricing.isolation.test_every_way import HERE, PARTS, WideAzure
from tests.pricing.providers import aws_tools, azure_tools, gcp_tools
from tests.pricing.servers import gcp_truth
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import small
from tests.pricing.servers.base import Fault
from tests.pricing.servers.gcp import GcpServer

FACTORS = (10.0, 0.1, 0.0, -1.0, 1e30)
Rows = Iterable[Offer | SkippedRow | NotRead]


def of_azure(factor: float) -> tuple[Rows, dict[str, Offer]]:
    with WideAzure() as server:
        truth = PARTS["azure region"].truth(server)
        for row in server.rows:
            if (row["armRegionName"], row["retailPrice"]) == (HERE, 4.775):
                row["retailPrice"] *= factor
        return list(azure.fetch(azure_tools.context(server.settings))), truth


def of_aws(factor: float) -> tuple[Rows, dict[str, Offer]]:
    with FakeAws(small()) as server:
        truth = {offer.id: offer for offer in server.market.offers(account=False)}
        one = truth["aws:eu-west-1:p5.48xlarge:on_demand"]
        digits = re.escape(f"{one.price_per_hour:f}".rstrip("0"))
        pattern = re.compile(rf'("USD": "){digits}0*(")'.encode())

        def change(body: bytes) -> bytes:
            if body[:2] == b"\x1f\x8b":
                return gzip.compress(change(gzip.decompress(body)))
            price = f"{float(one.price_per_hour) * factor}".encode()
            return pattern.sub(rb"\g<1>" + price + rb"\2", body)

        server.faults.append(Fault(rewrite=change))
        return list(aws.fetch(aws_tools.context(aws_tools.public_files(server)))), truth


def of_gcp(factor: float) -> tuple[Rows, dict[str, Offer]]:
    """The price of an accelerator, which is a part of each machine that has some."""

    def change(body: bytes) -> bytes:
        document = json.loads(body)
        for sku in document.get("skus", ()):
            for pricing in sku.get("pricingInfo", ()):
                for rate in pricing["pricingExpression"]["tieredRates"]:
                    multiply(rate["unitPrice"])
        return json.dumps(document).encode()

    def multiply(money: dict[str, Any]) -> None:
        if (money.get("units"), money.get("nanos")) == ("2", 933908000):
            amount = min(2.933908 * factor, 9e9)
            money |= {"units": str(int(amount)), "nanos": int(amount % 1 * 1e9)}

    with GcpServer() as server:
        server.faults.append(Fault(rewrite=change))
        rows = list(gcp.fetch(gcp_tools.context(server.settings_with_project)))
    return rows, gcp_truth.truth()


def judged(rows: Rows, truth: dict[str, Offer]) -> CheckResult:
    every = list(rows)
    day = max(offer.as_of for offer in truth.values() if offer.as_of)
    batch = OfferBatch(
        next(iter(truth.values())).provider,
        tuple(row for row in every if isinstance(row, Offer)),
        day,
        not_read=tuple(row for row in every if isinstance(row, NotRead)),
    )
    before = tuple(of_yesterday(truth).values())
    return check(batch, PublishedState(before, exchange_rates=RATES), day)


BARE = {"aws": aws_tools.bare, "azure": azure_tools.bare, "gcp": gcp_tools.bare}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("cloud", [of_azure, of_aws, of_gcp])
def test_nothing_else_moves_and_nothing_wrong_is_published(
    monkeypatch: pytest.MonkeyPatch,
    cloud: Callable[[float], tuple[Rows, dict[str, Offer]]],
    factor: float,
) -> None:
    aws_tools.hide_own_settings(monkeypatch)
    rows, truth = cloud(factor)
    result, before = judged(rows, truth), of_yesterday(truth)
    assert result.reasons == ()
    published = {offer.id: BARE[offer.provider](offer) for offer in result.offers}
    left = {key for key, offer in published.items() if offer != truth[key]}
    assert {key: published[key] for key in left} == {key: before[key] for key in left}
    named = {one.offer.id for one in result.outliers}
    assert left == named or result.doubtful_parts
    gone = {truth[key] for key in truth.keys() - published.keys()}
    assert left or gone
    assert all(
        one.purchase_option in (PurchaseOption.ON_DEMAND, PurchaseOption.SAVINGS_PLAN)
        for one in gone
    )
    assert not gone or result.rejected_rows or any("price" in r.reason for r in _skipped(rows))


def _skipped(rows: Rows) -> list[SkippedRow]:
    return [row for row in rows if isinstance(row, SkippedRow)]
