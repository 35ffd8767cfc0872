"""List prices of other clouds that come with the program: market at once, plans where ticked."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client

from planner.contract.answer.common import ScenarioKey
from planner.contract.labels import OTHER_CLOUD_TITLES
from pricing import catalog
from pricing.bundled import files
from pricing.market.offers import PurchaseOption
from pricing.market.places import MARKETPLACES, OTHER_CLOUDS, find_partition
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, offer
from tests.planner.costing.market_of import catalog as market_of

MONTH = 730
OFFERS = tuple(files.read_other_clouds())


def ruled(**fields: Any) -> Compared:
    prices = market_of(offer("98.32"), *OFFERS)
    return compared(prices, MONTH * 8, **({"rules": 2, "on_prem": {"servers": []}} | fields))


def cost(found: Compared) -> Decimal:
    return found.scenarios[ScenarioKey.ON_DEMAND].total_cost / (24 * MONTH)


def test_each_is_of_another_cloud_with_a_title_a_source_and_a_day() -> None:
    for one in OFFERS:
        assert find_partition(one.provider, one.region) in (OTHER_CLOUDS, MARKETPLACES)
        assert one.provider in OTHER_CLOUD_TITLES
        assert one.source
        assert one.as_of
        assert one.purchase_option in (PurchaseOption.ON_DEMAND, PurchaseOption.SPOT)


def test_spot_is_below_on_demand_and_no_offer_is_there_twice() -> None:
    assert len({one.id for one in OFFERS}) == len(OFFERS)
    prices: defaultdict[tuple[str, ...], dict[PurchaseOption, Decimal]] = defaultdict(dict)
    for one in OFFERS:
        key = one.provider, one.region, one.instance_type
        prices[key][one.purchase_option] = one.price_per_hour
    pairs = [by_option for by_option in prices.values() if len(by_option) == 2]
    assert len(pairs) >= 6
    for by_option in pairs:
        assert by_option[PurchaseOption.SPOT] < by_option[PurchaseOption.ON_DEMAND]


def test_a_plan_takes_them_where_they_are_ticked_alone() -> None:
    cheapest = min(
        one.price_per_accelerator_hour
        for one in OFFERS
        if one.accelerator == H100 and one.purchase_option is PurchaseOption.ON_DEMAND
    )
    assert cost(ruled()) == Decimal("98.32")
    ticked = ruled(constraints={"partitions": ["commercial", "other-clouds"]})
    assert cost(ticked) == 8 * cheapest


def test_what_they_would_save_is_said() -> None:
    (one,) = [a for a in ruled(cheaper_if=True).answer.cheaper_if if "other-clouds" in str(a.value)]
    assert one.field == "constraints.partitions"
    assert float(one.saving) > 0


@pytest.mark.sweep
@pytest.mark.django_db
def test_pages_have_them_in_the_market_and_not_in_the_head(client: Client) -> None:
    call_command("load_catalog")
    page = client.get("/market/?provider=nebius").content.decode()
    assert "Nebius" in page.partition("<main")[2]
    head = client.get("/").content.decode().partition("<main")[0]
    assert "Google Cloud" in head
    assert "Nebius" not in head
    operator = get_user_model().objects.create_superuser("operator", "operator@example.com", "x")
    client.force_login(operator)
    assert "IBM Cloud" in client.get("/operator/").content.decode()
    with time_machine.travel(dt.datetime(2027, 12, 1, tzinfo=dt.UTC), tick=False):
        assert "gcp on_demand" in client.get("/readyz").content.decode()
        assert "nebius" not in client.get("/readyz").content.decode()


@pytest.mark.sweep
@pytest.mark.django_db
def test_the_command_puts_them_into_the_market(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("load_catalog", "--no-other-clouds")
    before = {one.provider for one in catalog.current().revisions}
    call_command("load_catalog")
    now = catalog.current()
    assert {one.provider for one in now.revisions} == before | {one.provider for one in OFFERS}
    stored = {one for one in now.offers.offers if one.provider not in before}
    assert stored == set(OFFERS)
    call_command("load_catalog")
    assert "nebius: " in capsys.readouterr().out
    assert catalog.current().revisions == now.revisions
