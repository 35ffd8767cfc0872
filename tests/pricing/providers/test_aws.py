"""The adapter against an AWS whose every price is known: no wrong one, none missing, none extra."""

import dataclasses
import datetime as dt
from decimal import Decimal

import pytest

from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import provider
from tests.pricing.providers.aws_tools import Found, account, fetch, hide_own_settings, public_files
from tests.pricing.servers import aws as fake_aws
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import NOW, Market, china, small
from tests.pricing.servers.base import Fault

pytestmark = pytest.mark.usefixtures("own_settings")


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


def test_trap_8_an_unknown_accelerator_is_reported_with_its_rows(seen: dict[str, Found]) -> None:
    rows = [row.detail for row in seen["account"].skipped if row.reason == "unknown accelerator"]
    assert rows == ["NVIDIA Z900 (z9.48xlarge)"] * len(Market().regions)


def test_what_is_not_offered_in_a_region_is_not_sold_there(server: FakeAws) -> None:
    full = server.market.sold
    server.market.sold = lambda box, region: (  # type: ignore[method-assign]
        full(box, region) and (region, box.name) != ("eu-west-1", "p5.48xlarge")
    )
    offers = fetch(account(server)).offers
    p5 = {o.region: o.sold_now for o in offers if o.id.endswith("p5.48xlarge:on_demand")}
    assert p5 == {"us-west-2": True, "eu-west-1": False}


@pytest.mark.parametrize("view", ["account", "files"])
def test_china_is_not_taken_for_gone_where_it_was_not_read(
    seen: dict[str, Found], view: str
) -> None:
    places = ("cn-north-1-pkx-1", "cn-north-1", "cn-northwest-1")
    assert seen[view].partition == NotRead("China has a price list of its own", (), places)


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


@pytest.mark.parametrize("settings", [account, public_files])
def test_an_unknown_region_is_named(server: FakeAws, settings: object) -> None:
    with pytest.raises(ProviderUnavailable, match="mars-1"):
        fetch(settings(server), regions=("mars-1",))  # type: ignore[operator]


@pytest.mark.parametrize("view", ["account", "files"])
def test_the_two_kinds_of_savings_plan_are_offers_of_their_own(
    seen: dict[str, Found], view: str
) -> None:
    plan = "aws:us-east-1:p5.48xlarge:savings_plan:12m:no_upfront"
    rates = {o.id: (o.effective_price_per_hour, o.sku) for o in seen[view].offers}
    assert rates[plan] == (Decimal("39.6288"), "EC2InstanceSavingsPlans")
    assert rates[f"{plan}:compute"] == (Decimal("42.7991"), "ComputeSavingsPlans")


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


def test_refused_credentials_fall_back_to_the_public_list(server: FakeAws) -> None:
    server.refuses.add("pricing")
    found = fetch(account(server))
    assert found.prices() == truth(server.market, with_account=False)
    (part,) = found.not_read
    assert part.purchase_options == ("spot", "capacity_block")
    assert "AWS refused the credentials" in part.reason


def test_an_unknown_error_is_not_called_refused_credentials(server: FakeAws) -> None:
    body = b'{"__type": "TeapotException", "message": "short and stout"}'
    server.faults.append(
        Fault.error(None, 418, error_body=body, matches=lambda r: b"FormatVersion" in r.body)
    )
    found = fetch(account(server))
    assert found.prices() == truth(server.market, with_account=False)
    (part,) = found.not_read
    assert "AWS answered an error (" in part.reason
    assert "418" in part.reason
    assert "refused" not in part.reason
