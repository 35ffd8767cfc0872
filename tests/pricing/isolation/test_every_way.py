"""One region, or one optional part, of a cloud fails in every way: all else is the truth."""

import datetime as dt
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pricing.ingest.provider import NotRead, Provider
from pricing.market.offers import Offer
from pricing.providers.aws import provider as aws
from pricing.providers.azure import management
from pricing.providers.azure import provider as azure
from pricing.providers.gcp import client
from pricing.providers.gcp import provider as gcp
from pricing.publish.batch import OfferBatch
from pricing.publish.comparison import PublishedState, compare_lists
from tests.pricing.isolation.after_publication import RATES, kept_after, of_yesterday
from tests.pricing.isolation.ways import WAYS
from tests.pricing.providers import aws_tools, azure_tools, read_rows
from tests.pricing.servers import azure_truth, gcp_truth
from tests.pricing.servers.aws import FakeAws, region_of
from tests.pricing.servers.aws_market import Market, small
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import FakeServer, Reply, Request
from tests.pricing.servers.gcp import GcpServer
from tests.pricing.servers.gcp_skus import CLOUD_TPU

LONG = os.environ.get("FAULTS") == "1"
AZURE_REGIONS = ("westeurope", "northeurope", "eastus", "eastus2", "westus3", "japaneast")
AWS_REGIONS = {"us-east-1": "1", "us-west-2": "1", "eu-west-1": "1.125", "ap-northeast-1": "1.25"}
HERE, AWS_HERE = "westeurope", "eu-west-1"


class WholeListFails(AzureServer):
    """Its list of all regions ends after one page."""

    def answer(self, request: Request) -> Reply:
        wanted = request.query.get("$filter", [""])[0]
        if "armRegionName" not in wanted and "$skip" in request.query:
            return Reply(b"", 403)
        return super().answer(request)


class WideAzure(WholeListFails):
    """Every machine in every region, each region a list of its own."""

    def __init__(self) -> None:
        rows = [row for vm in wide_azure() for row in azure_truth.rows_of(vm)]
        super().__init__(rows, page_size=30)
        self.skus = []


def wide_azure() -> list[azure_truth.Vm]:
    return [
        replace(vm, region=region)
        for region in AZURE_REGIONS
        for vm in azure_truth.VMS
        if vm.region == HERE
    ]


@dataclass(frozen=True)
class Part:
    provider: Provider
    server: Callable[[], FakeServer]
    settings: Callable[[Any], dict[str, str]]
    truth: Callable[[Any], dict[str, Offer]]
    matches: Callable[[Request], bool]
    holds: Callable[[Offer], bool]
    """Whether an offer is of the part that fails."""


def _asks_ec2(action: str) -> Callable[[Request], bool]:
    return lambda r: f"Action={action}&".encode() in r.body and region_of(r) == AWS_HERE


def _is_file(kind: str) -> Callable[[Request], bool]:
    return lambda r: r.path.startswith(f"/{kind}") and f"/{AWS_HERE}/index" in r.path


def _aws_server() -> FakeAws:
    return FakeAws(Market(small().boxes, dict(AWS_REGIONS)))


def _aws(matches: Callable[[Request], bool], *options: str, account: bool = True) -> Part:
    return Part(
        aws,
        _aws_server,
        aws_tools.account if account else aws_tools.public_files,
        lambda server: {one.id: one for one in server.market.offers(account=account)},
        matches,
        lambda one: (
            one.region == AWS_HERE and (not options or one.purchase_option.value in options)
        ),
    )


def _gcp(matches: Callable[[Request], bool], holds: Callable[[Offer], bool]) -> Part:
    return Part(
        gcp, GcpServer, lambda server: server.settings_with_project,
        lambda _server: gcp_truth.truth(), matches, holds,
    )  # fmt: skip


PARTS: dict[str, Part] = {
    "azure region": Part(
        azure,
        WideAzure,
        lambda server: server.settings,
        lambda _server: {o.id: o for vm in wide_azure() for o in azure_truth._offers(vm)},
        lambda r: f"armRegionName eq '{HERE}'" in r.query.get("$filter", [""])[0],
        lambda offer: offer.region == HERE,
    ),
    "azure skus": Part(
        azure,
        AzureServer,
        lambda server: server.settings_with_subscription,
        lambda _server: azure_truth.truth(),
        lambda r: r.path.endswith("/skus"),
        lambda _offer: False,
    ),
    "aws spot": _aws(_asks_ec2("DescribeSpotPriceHistory"), "spot"),
    "aws blocks": _aws(_asks_ec2("DescribeCapacityBlockOfferings"), "capacity_block"),
    "aws plans": _aws(
        lambda r: b"instanceFamily" in r.body and AWS_HERE.encode() in r.body, "savings_plan"
    ),
    "aws machines": replace(
        _aws(lambda r: b"Action=DescribeInstanceTypes&" in r.body),
        holds=lambda one: one.purchase_option.value in ("spot", "capacity_block"),
    ),
    "aws sold": _aws(_asks_ec2("DescribeInstanceTypeOfferings")),
    "aws price file": _aws(_is_file("offers"), account=False),
    "aws plan file": _aws(_is_file("savingsPlan"), "savings_plan", account=False),
    "gcp tpu": _gcp(
        lambda r: CLOUD_TPU in r.path, lambda one: one.instance_type in client.slices_of_cloud_tpu()
    ),
    "gcp machine types": _gcp(lambda r: r.path.endswith("/machineTypes"), lambda _one: True),
    "gcp accelerators": _gcp(
        lambda r: r.path.endswith("/acceleratorTypes"), lambda one: "+" in one.instance_type
    ),
}
CASES = [(way, part) for way in WAYS for part in PARTS]
SLOW = ("time-out", "slow drip")
SHORT = [
    (way, list(PARTS)[number % len(PARTS)]) for number, way in enumerate(WAYS) if way not in SLOW
]


@pytest.mark.one_in(5)
@pytest.mark.faults
@pytest.mark.parametrize(("way", "part"), CASES if LONG else SHORT)
def test_all_else_is_published_and_is_the_truth(
    monkeypatch: pytest.MonkeyPatch, way: str, part: str
) -> None:
    aws_tools.hide_own_settings(monkeypatch)
    monkeypatch.setattr(management, "CALL_TIMEOUT_S", 0.4)
    failing, fault = PARTS[part], WAYS[way]()
    fault.matches = failing.matches
    with failing.server() as server:
        server.faults.append(fault)
        truth = failing.truth(server)
        settings = failing.settings(server)
        context = replace(
            azure_tools.context(settings, known_regions=AZURE_REGIONS),
            retrieved_at=_moment(part),
            extra={"sleep": lambda _seconds: None, "call_timeout_s": 0.4},
        )
        rows = list(failing.provider.fetch(context))
    assert fault.seen
    assert_all_else_is_the_truth(way, failing, rows, truth)


def _moment(part: str) -> dt.datetime:
    return {"aws": aws_tools.NOW, "azu": azure_truth.NOW, "gcp": gcp_truth.NOW}[part[:3]]


def assert_all_else_is_the_truth(
    way: str, failing: Part, rows: list[object], truth: dict[str, Offer]
) -> None:
    """What is published outside the part is the truth; in it the truth, what was, or nothing."""
    before = of_yesterday(truth)
    day = max(offer.as_of for offer in truth.values() if offer.as_of)
    parts = tuple(row for row in rows if isinstance(row, NotRead))
    offers = tuple(row for row in rows if isinstance(row, Offer))
    batch = OfferBatch(failing.provider.name, offers, day, not_read=parts)
    result = compare_lists(batch, PublishedState(tuple(before.values()), exchange_rates=RATES), day)
    assert all(failing.holds(one) for part in result.held_parts for one in part.offers)
    published = {o.id: _bare(replace(o, absent_since=None)) for o in result.offers}
    assert published.keys() <= truth.keys()
    wrong = {key for key, offer in published.items() if offer != truth[key]}
    left = {key for key in wrong if published[key] == before[key]}
    assert {one for one in wrong - left if not _may_be_short(way, published[one])} == set()
    gone = truth.keys() - published.keys()
    assert {key for key in wrong | gone if not failing.holds(truth[key])} == set()
    names = [part.reason for part in parts if not part.availability_only]
    assert names or result.absent or not left
    assert not gone


def _may_be_short(way: str, offer: Offer) -> bool:
    """Half of the blocks on offer is a list like any other: the cheapest may be in the other half.
    So is half of what a region sells, where it is small."""
    short = offer.purchase_option.value == "capacity_block" or not offer.sold_now
    return way == "halved list" and short


def _bare(offer: Offer) -> Offer:
    return (aws_tools if offer.provider == "aws" else read_rows).bare(offer)


def test_where_the_whole_list_fails_the_known_regions_are_read() -> None:
    with WholeListFails() as server:
        rows = list(azure.fetch(azure_tools.context(server.settings)))
    kept, told = kept_after(rows, azure_truth.truth(), read_rows.bare)
    assert (kept, told) == (set(), [])
    (part,) = (row for row in rows if isinstance(row, NotRead))
    assert "the list of all regions" in part.reason
