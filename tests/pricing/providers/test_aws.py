"""The adapter against an AWS whose every price is known: no wrong one, none missing, none extra."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import provider
from tests.pricing.providers.aws_tools import (
    Found,
    account,
    fetch,
    hide_own_settings,
    public_files,
)
from tests.pricing.servers import aws as fake_aws
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import NOW, Market, china, small
from tests.pricing.servers.base import Fault


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_own_settings(monkeypatch)


@pytest.fixture
def server() -> Iterator[FakeAws]:
    with FakeAws(small()) as running:
        yield running


@pytest.fixture(scope="module")
def seen() -> dict[str, Found]:
    """Every family of the market, with an account and in the public files."""
    with pytest.MonkeyPatch.context() as monkeypatch, FakeAws() as running:
        hide_own_settings(monkeypatch)
        return {"account": fetch(account(running)), "files": fetch(public_files(running))}


def truth(market: Market, *, with_account: bool) -> dict[str, Offer]:
    return {offer.id: offer for offer in market.offers(account=with_account)}


def test_an_account_sees_exactly_the_truth(seen: dict[str, Found]) -> None:
    found = seen["account"]
    assert found.prices() == truth(Market(), with_account=True)
    assert len(found.offers) == len(found.prices())
    assert found.not_read == []


def test_the_public_files_give_exactly_the_truth(seen: dict[str, Found]) -> None:
    found = seen["files"]
    assert found.prices() == truth(Market(), with_account=False)
    assert len(found.offers) == len(found.prices())


def test_the_public_files_say_that_they_lack_spot_and_capacity_blocks(
    seen: dict[str, Found],
) -> None:
    assert seen["files"].not_read == [NotRead("needs AWS credentials", ("spot", "capacity_block"))]


def test_a_server_that_ignores_filters_changes_nothing(server: FakeAws) -> None:
    """Trap 2 of AWS: Windows, licences, SQL, dedicated and reserved capacity share the type."""
    server.keeps_filters = False
    found = fetch(account(server))
    assert found.prices() == truth(server.market, with_account=True)
    assert len(found.offers) == len(found.prices())
    assert found.reasons() >= {
        "not Linux",
        "not shared tenancy",
        "software preinstalled",
        "reserved capacity, not used",
        "sold by the capacity block",
        "not a machine but a dedicated host",
        "the same row again",
    }


def test_trap_1_a_capacity_block_row_of_0_usd_is_never_a_price(server: FakeAws) -> None:
    server.keeps_filters = False
    found = fetch(account(server))
    assert all(offer.effective_price_per_hour > 0 for offer in found.offers)
    blocks = [o for o in found.offers if o.purchase_option is PurchaseOption.CAPACITY_BLOCK]
    assert {o.instance_type for o in blocks} == {"p5.48xlarge", "p4d.24xlarge", "trn1.32xlarge"}


@pytest.mark.parametrize("view", ["account", "files"])
def test_trap_4_a_part_of_an_accelerator_is_exact(seen: dict[str, Found], view: str) -> None:
    counts = {o.instance_type: o.accelerator_count for o in seen[view].offers}
    assert counts["g6f.large"] == Fraction(1, 8)
    assert counts["g6f.4xlarge"] == Fraction(1, 2)


def test_trap_6_one_region_has_one_spelling(server: FakeAws) -> None:
    rows = server.price_rows()
    for row in rows[::2]:
        attributes = row["product"]["attributes"]
        if "regionCode" in attributes:
            attributes["regionCode"] = attributes["regionCode"].upper()
    server.price_rows = lambda: rows  # type: ignore[method-assign]
    assert fetch(account(server)).prices() == truth(server.market, with_account=True)


def test_trap_6_a_row_without_a_region_code_is_placed_by_its_name(server: FakeAws) -> None:
    rows = server.price_rows()
    for row in rows:
        if row["product"]["attributes"].get("locationType") == "AWS Region":
            row["product"]["attributes"].pop("regionCode", None)
    server.price_rows = lambda: rows  # type: ignore[method-assign]
    assert fetch(account(server)).prices() == truth(server.market, with_account=True)


def test_trap_8_an_unknown_accelerator_is_reported_with_its_rows(seen: dict[str, Found]) -> None:
    rows = [row.detail for row in seen["account"].skipped if row.reason == "unknown accelerator"]
    assert rows == ["NVIDIA Z900 (z9.48xlarge)"] * len(Market().regions)


def test_trap_8_the_public_files_report_it_too(seen: dict[str, Found]) -> None:
    details = seen["files"].details("unknown accelerator")
    assert len(details) == 1
    assert next(iter(details)).startswith("z9.48xlarge (GPU instance, 8")


@pytest.mark.parametrize("view", ["account", "files"])
def test_trap_11_retired_machines_are_priced_and_not_sold(
    seen: dict[str, Found], view: str
) -> None:
    retired = [o for o in seen[view].offers if o.instance_type in ("p2.xlarge", "p3.2xlarge")]
    assert retired
    assert not any(offer.sold_now for offer in retired)


def test_what_is_not_offered_in_a_region_is_not_sold_there(server: FakeAws) -> None:
    full = server.market.sold
    server.market.sold = lambda box, region: (  # type: ignore[method-assign]
        full(box, region) and (region, box.name) != ("eu-west-1", "p5.48xlarge")
    )
    offers = fetch(account(server)).offers
    p5 = {o.region: o.sold_now for o in offers if o.id.endswith("p5.48xlarge:on_demand")}
    assert p5 == {"us-west-2": True, "eu-west-1": False}


def test_the_chinese_partition_is_priced_in_its_own_currency() -> None:
    with FakeAws(china()) as server:
        found = fetch({"AWS_PRICE_LIST_URL": f"{server.url}/offers/v1.0/cn"})
    assert found.prices() == truth(china(), with_account=False)
    assert {offer.currency for offer in found.offers} == {"CNY"}


@pytest.mark.parametrize("view", ["account", "files"])
def test_china_is_not_taken_for_gone_where_it_was_not_read(
    seen: dict[str, Found], view: str
) -> None:
    places = ("cn-north-1-pkx-1", "cn-north-1", "cn-northwest-1")
    assert seen[view].partition == NotRead("China has a price list of its own", (), places)


def test_china_alone_takes_nothing_else_away() -> None:
    with FakeAws(china()) as server:
        found = fetch({"AWS_PRICE_LIST_URL": f"{server.url}/offers/v1.0/cn"})
    assert found.partition == NotRead("the list of China knows no other regions")


def test_two_price_lists_make_one_market(server: FakeAws) -> None:
    with FakeAws(china()) as chinese:
        both = f"{server.url}, {chinese.url}/offers/v1.0/cn"
        found = fetch({"AWS_PRICE_LIST_URL": both})
    expected = truth(server.market, with_account=False) | truth(china(), with_account=False)
    assert found.prices() == expected
    assert found.partition is None


def test_a_family_under_a_new_name_is_found_through_ec2() -> None:
    market = small()
    market.boxes = tuple(
        dataclasses.replace(box, family="Reasoning instances") if box.name == "g6f.large" else box
        for box in market.boxes
    )
    with FakeAws(market) as server:
        assert fetch(account(server)).prices() == truth(market, with_account=True)


def test_a_machine_without_a_price_is_reported(server: FakeAws) -> None:
    server.drop = lambda row: row["product"]["attributes"].get("instanceType") == "p5.48xlarge"
    found = fetch(account(server))
    assert "p5.48xlarge us-west-2" in found.details("sold without a listed price")
    assert not [o for o in found.offers if o.id.endswith("p5.48xlarge:on_demand")]


def test_spot_zones_go_by_name_where_aws_tells_no_id(server: FakeAws) -> None:
    server.zone_ids = False
    zones = {o.zone for o in fetch(account(server)).offers if o.region == "us-west-2"}
    assert zones == {"", "us-west-2a", "us-west-2b"}


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_clock_two_hours_off_gives_the_same_spot_prices(server: FakeAws, hours: int) -> None:

    ours = NOW + dt.timedelta(hours=hours)
    got = [o for o in provider.fetch(FetchContext(account(server), ours)) if isinstance(o, Offer)]
    spot = {o.id: o.price_per_hour for o in got if o.purchase_option is PurchaseOption.SPOT}
    expected = {
        offer.id: offer.price_per_hour
        for offer in server.market.offers()
        if offer.purchase_option is PurchaseOption.SPOT
    }
    assert spot == expected


def test_only_the_wanted_region_is_read(server: FakeAws) -> None:
    for settings, with_account in ((account(server), True), (public_files(server), False)):
        found = fetch(settings, regions=("eu-west-1",))
        expected = truth(server.market, with_account=with_account)
        assert found.prices() == {k: o for k, o in expected.items() if o.region == "eu-west-1"}


def test_only_the_wanted_region_is_kept_of_a_server_that_ignores_filters(server: FakeAws) -> None:
    server.keeps_filters = False
    found = fetch(account(server), regions=("eu-west-1",))
    assert {offer.region for offer in found.offers} == {"eu-west-1"}


@pytest.mark.parametrize("settings", [account, public_files])
def test_an_unknown_region_is_named(server: FakeAws, settings: object) -> None:
    with pytest.raises(ProviderUnavailable, match="mars-1"):
        fetch(settings(server), regions=("mars-1",))  # type: ignore[operator]


def test_a_region_that_is_not_enabled_keeps_its_listed_prices(server: FakeAws) -> None:
    server.refuses.add("eu-west-1")
    found = fetch(account(server))
    expected = {
        key: offer
        for key, offer in truth(server.market, with_account=True).items()
        if offer.region != "eu-west-1"
        or offer.purchase_option.value not in ("spot", "capacity_block")
    }
    assert {k: o.price_per_hour for k, o in found.prices().items()} == {
        k: o.price_per_hour for k, o in expected.items()
    }
    assert [(p.purchase_options, p.regions, p.availability_only) for p in found.not_read] == [
        (("spot", "capacity_block"), ("eu-west-1",), False),
        ((), ("eu-west-1",), True),
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("action", "option"),
    [
        ("DescribeSpotPriceHistory", "spot"),
        ("DescribeCapacityBlockOfferings", "capacity_block"),
        ("savingsplans", "savings_plan"),
    ],
)
def test_a_missing_permission_leaves_out_what_it_guards(
    server: FakeAws, action: str, option: str
) -> None:
    server.refuses.add(action)
    found = fetch(account(server))
    expected = truth(server.market, with_account=True)
    assert found.prices() == {
        k: o for k, o in expected.items() if o.purchase_option.value != option
    }
    assert {part.purchase_options for part in found.not_read} == {(option,)}


def test_an_empty_price_list_is_no_price_list(server: FakeAws) -> None:
    server.drop = lambda _row: True
    with pytest.raises(ProviderUnavailable, match="the price list has no accelerators"):
        fetch(account(server))


def test_a_recording_is_replayed_without_a_network(server: FakeAws) -> None:
    for settings in (account(server), public_files(server)):
        kept: dict[str, bytes] = {}
        live = fetch(settings, record=kept.__setitem__)
        asked = len(server.requests)
        again = fetch({}, replay=kept.get)
        assert again.prices() == live.prices()
        assert again.skipped == live.skipped
        assert again.not_read == live.not_read
        assert len(server.requests) == asked


def test_a_refusal_is_recorded_and_replayed(server: FakeAws) -> None:
    server.refuses.add("DescribeSpotPriceHistory")
    kept: dict[str, bytes] = {}
    live = fetch(account(server), record=kept.__setitem__)
    assert fetch({}, replay=kept.get).not_read == live.not_read


def test_a_replay_that_lacks_a_page_names_it(server: FakeAws) -> None:
    kept: dict[str, bytes] = {}
    fetch(account(server), record=kept.__setitem__)
    del kept["spot/eu-west-1-00-0002.json"]
    with pytest.raises(ProviderUnavailable, match=r"spot/eu-west-1-00-0002\.json is missing"):
        fetch({}, replay=kept.get)


@pytest.mark.parametrize("view", ["account", "files"])
def test_the_two_kinds_of_savings_plan_are_offers_of_their_own(
    seen: dict[str, Found], view: str
) -> None:
    plan = "aws:us-east-1:p5.48xlarge:savings_plan:12m:no_upfront"
    rates = {o.id: (o.effective_price_per_hour, o.sku) for o in seen[view].offers}
    assert rates[plan] == (Decimal("39.6288"), "EC2InstanceSavingsPlans")
    assert rates[f"{plan}:compute"] == (Decimal("42.7991"), "ComputeSavingsPlans")


def test_missing_savings_plan_files_leave_their_part_unread(server: FakeAws) -> None:
    server.faults.append(
        Fault.error(None, status=404, matches=lambda r: r.path.startswith("/savingsPlan"))
    )
    found = fetch(public_files(server))
    expected = truth(server.market, with_account=False)
    assert found.prices() == {
        k: o for k, o in expected.items() if o.purchase_option is not PurchaseOption.SAVINGS_PLAN
    }
    assert ("savings_plan",) in {part.purchase_options for part in found.not_read}


def test_a_row_of_0_usd_tells_who_is_sold_by_the_block(
    server: FakeAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EC2 did not name the usage class of all machines from the start."""
    told = fake_aws.described
    monkeypatch.setattr(
        fake_aws,
        "described",
        lambda box: told(box) | {"SupportedUsageClasses": ["on-demand", "spot"]},
    )
    assert fetch(account(server)).prices() == truth(server.market, with_account=True)
