"""Each other cloud against a server that speaks its API: all offers, no decoy, units proved."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from pricing import discovery
from pricing.ingest.fetch import FetchResult, fetch
from pricing.ingest.provider import FetchContext, ProviderUnavailable
from pricing.market.clouds import CLOUD_PARTITIONS, find_partition
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.publish.batch import OfferBatch
from pricing.publish.comparison import PublishedState, compare_lists
from tests.pricing.other_clouds.server import CLOUDS, OtherCloud
from tests.pricing.other_clouds.truth import Truth
from tests.pricing.servers.base import Fault
from tests.properties import one_in

NOW = dt.datetime(2026, 11, 20, 6, 0, tzinfo=dt.UTC)
RATES = ExchangeRates.of([ExchangeRate("EUR", dt.date(2026, 6, 30), Decimal("0.8684"))])


@pytest.fixture(params=CLOUDS)
def server(request: pytest.FixtureRequest) -> Iterator[OtherCloud]:
    with OtherCloud(request.param) as running:
        yield running


def read(server: OtherCloud, **changes: Any) -> FetchResult:
    provider: Any = discovery.all_providers()[server.name]
    settings = {provider.setting: server.url, provider.key_setting or "NO_KEY": "not-for-loopback"}
    extra = {"sleep": lambda _seconds: None, "call_timeout_s": 0.4}
    return fetch(provider, FetchContext(settings, NOW, extra=extra, **changes))


def seen(result: FetchResult) -> dict[str, Truth]:
    return {
        one.id: Truth(
            one.region, one.instance_type, one.accelerator, one.accelerator_count,
            f"{one.price_per_hour.normalize():f}", one.purchase_option.value, one.currency,
            one.sold_now,
        )
        for one in result.offers
    }  # fmt: skip


def truth(server: OtherCloud) -> set[Truth]:
    return {replace(one, price=f"{Decimal(one.price).normalize():f}") for one in server.truth}


def test_every_offer_comes_and_nothing_else(server: OtherCloud) -> None:
    result = read(server)
    assert set(seen(result).values()) == truth(server)
    assert len(result.offers) == len(server.truth)
    assert {one.as_of for one in result.offers} == {NOW.date()}
    assert not result.not_read


def test_its_offers_pass_the_checks_of_a_publication(server: OtherCloud) -> None:
    result = read(server)
    batch = OfferBatch(server.name, result.offers, NOW.date())
    compared = compare_lists(batch, PublishedState(exchange_rates=RATES), NOW.date())
    assert (compared.rejected_rows, compared.held_parts) == ((), ())


def test_no_key_leaves_for_loopback(server: OtherCloud) -> None:
    read(server)
    assert server.requests
    for request in server.requests:
        assert "not-for-loopback" not in repr(request.headers) + repr(request.query)


FAULTS = {
    "throttled for a while": Fault.burst(3),
    "500 for a while": Fault.error(3),
    "cut once": Fault.truncated(1),
    "lost once": Fault.lost(1),
    "slow once": Fault.time_out(0.8),
    "throttled": Fault.burst(None),
    "500": Fault.error(None),
    "403": Fault.error(None, status=403),
    "404": Fault.error(None, status=404),
    "cut": Fault.truncated(keep=0.6),
    "lost": Fault.lost(),
    "empty": Fault(rewrite=lambda _body: b""),
    "a web page": Fault(rewrite=lambda _body: b"<html>Health</html>"),
    "a list": Fault(rewrite=lambda _body: b"[1, 2]"),
    "another document": Fault(rewrite=lambda _body: b'{"status": "ok"}'),
    "nulls": Fault(rewrite=lambda _body: b"null"),
}


@pytest.mark.parametrize("way", one_in(6, list(FAULTS)))
def test_a_fault_gives_the_truth_or_none_of_it(server: OtherCloud, way: str) -> None:
    fault = replace(FAULTS[way], seen=0)
    server.faults.append(fault)
    if fault.times is None:
        with pytest.raises(ProviderUnavailable) as refused:
            read(server)
        assert refused.value.hint
    else:
        assert set(seen(read(server)).values()) == truth(server)


def test_a_run_of_some_regions_gives_theirs_alone(server: OtherCloud) -> None:
    region = server.truth[0].region
    result = read(server, regions=(region,))
    assert set(seen(result).values()) == {one for one in truth(server) if one.region == region}


def test_a_zone_of_scaleway_may_fail_by_itself() -> None:
    with OtherCloud("scaleway") as server:
        fault = Fault.error(None)
        fault.matches = lambda request: "nl-ams-1" in request.path
        server.faults.append(fault)
        result = read(server)
    assert set(seen(result).values()) == truth(server)
    assert [part.regions for part in result.not_read] == [("nl-ams-1",)]


def test_the_us_list_of_ovh_is_another_list_in_dollars() -> None:
    with OtherCloud("ovhcloud") as server:
        settings = {"OVH_API_URL": server.url, "OVH_SUBSIDIARY": "us"}
        result = fetch(discovery.all_providers()["ovhcloud"], FetchContext(settings, NOW))
    assert {(one.region, one.currency) for one in result.offers} == {("catalog-us", "USD")}


def test_a_median_says_of_how_many_machines_it_is() -> None:
    with OtherCloud("vast") as server:
        result = read(server)
    sources = {one.instance_type: one.source for one in result.offers}
    assert sources["1x H100 SXM 80 GB"] == "Vast.ai, median of 4 verified machines"
    assert ("too few machines for a median", "1x B200 180 GB: 2") in {
        (row.reason, row.detail) for row in result.skipped
    }


def test_a_node_on_infiniband_says_its_network_and_others_do_not() -> None:
    with OtherCloud("voltage-park") as server:
        offers = read(server).offers
    assert {one.instance_type.split()[-1]: one.network_gbps for one in offers} == {
        "ethernet": None,
        "infiniband": 3200.0,
    }


def test_a_key_goes_into_a_header_over_https_alone_and_its_lack_is_said() -> None:
    provider: Any = discovery.all_providers()["lambda"]
    with pytest.raises(ProviderUnavailable, match="LAMBDA_API_KEY is not set"):
        fetch(provider, FetchContext({}, NOW))
    assert not provider.is_configured({})
    assert provider.is_configured({"LAMBDA_API_KEY": "k"})


def test_they_are_read_by_default_only_where_it_is_asked_for() -> None:
    by_default = discovery.default_providers({}).keys()
    assert {"aws", "azure", "gcp"} <= by_default
    assert not by_default & set(CLOUDS)
    others = discovery.default_providers({"REFRESH_OTHER_CLOUDS": "1", "LAMBDA_API_KEY": "k"})
    assert {"oci", "vast", "lambda", "aws"} <= others.keys()
    assert "hyperstack" not in others


@pytest.mark.parametrize("name", CLOUDS)
def test_each_is_apart_from_the_clouds_that_a_plan_chooses_from(name: str) -> None:
    assert find_partition(name, "anywhere") not in CLOUD_PARTITIONS
