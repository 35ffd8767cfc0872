"""Prices of the market: which are known, and the history of one as a chart."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from django.utils import timezone

from planner.web.common.choices import list_choices
from planner.web.common.formatting import arrange_coverage, describe_state
from planner.web.market.market_pages import draw_history
from planner.web.market.offers import MarketQuery, search
from pricing import catalog
from pricing.bundled.catalog import bundled_catalog
from pricing.market.coverage import CoverageRow, PriceState
from pricing.market.offer_filters import OfferSearch
from pricing.market.offers import PurchaseOption
from pricing.market.place_names import COUNTRY_GROUPS
from tests.planner.costing.market_of import H100
from tests.planner.workspace import market
from tests.pricing.make import offer


def test_terms_of_a_cloud_that_no_source_speaks_of_are_not_called_not_sold():
    rows = [
        CoverageRow(H100, "denvr", "on_demand", PriceState.PRICED, count=1),
        CoverageRow(H100, "aws", "reserved", PriceState.PRICED, count=2),
        CoverageRow(H100, "azure", "low_priority", PriceState.PRICED, count=2),
    ]
    table = arrange_coverage(rows)
    said = {
        row.provider: dict(zip(table.columns, map(describe_state, row.cells), strict=True))
        for row in table.rows
    }
    assert said["Denvr"]["Reserved"] == said["Denvr"]["Low priority"] == "not known"
    assert said["AWS"]["Low priority"] == "not sold"


OFFER = "aws:us-east-1:p5.48xlarge:on_demand"
LATER = dt.date(2100, 1, 1)


@pytest.fixture
def known(db):
    market()
    return catalog.current().offers.find(OFFER), catalog.price_history(OFFER)


def test_the_price_of_an_offer_that_is_sold_holds_until_today(known):
    offer, past = known
    chart = draw_history(offer, past, today=LATER)
    (series,) = chart.series
    assert (chart.x[-1], chart.x_label) == ("2100-01-01", "day")
    assert series.values[-1] == series.values[-2]
    assert len(chart.x) == len(past) + 1
    assert chart.summary.startswith(f"{len(past)} price")


def test_what_is_no_longer_sold_ends_with_its_last_price(known):
    offer, past = known
    last = past[-1].date.isoformat()
    assert draw_history(replace(offer, sold_now=False), past, today=LATER).x[-1] == last
    assert draw_history(offer, past, today=past[-1].date).x[-1] == last


def test_a_price_too_old_to_plan_with_does_not_come_first():
    today = timezone.now().date()
    old, new = today - dt.timedelta(days=280), today - dt.timedelta(days=1)
    listed, spot = PurchaseOption.ON_DEMAND, PurchaseOption.SPOT
    offers = [
        offer(price, region=f"region-{n}", purchase_option=option, as_of=day)
        for n, (price, option, day) in enumerate(
            [("9", spot, old), ("50", listed, old), ("20", spot, new), ("5", listed, None)]
        )
    ]
    page = search(catalog.Catalog.of(offers), MarketQuery())
    assert [row.offer.region[-1] for row in page.rows] == ["2", "1", "3", "0"]


@pytest.mark.parametrize("group", ["eu", "eea", "uk", "switzerland"])
def test_a_group_of_countries_holds_the_regions_of_its_countries_alone(group):
    known = bundled_catalog()
    found = OfferSearch(geography=(group,)).rows(known)
    countries = {
        known.region(one.provider, one.region).country
        for one in map(known.offers.offer, found.tolist())
    }
    assert countries
    assert countries <= COUNTRY_GROUPS[group]
    named = OfferSearch(geography=("asia", group)).rows(known)
    assert set(found) < set(named)


def test_every_geography_that_the_page_offers_is_one_that_it_takes(client, prices):
    for name, _ in list_choices("geographies"):
        assert client.get("/market/", {"geography": name}).status_code == 200, name
    assert client.get("/market/", {"geography": "atlantis"}).status_code == 400


def test_the_cheapest_of_a_provider_is_that_of_all_pages(monkeypatch):
    monkeypatch.setattr("planner.web.market.offers.PAGE_SIZE", 1)
    today = timezone.now().date()
    offers = [offer(price, region=f"region-{price}", as_of=today) for price in ("50", "60")]
    known = catalog.Catalog.of(offers)
    marks = {
        row.offer.region: row.cheapest_of_provider
        for number in (1, 2)
        for row in search(known, MarketQuery(page=number)).rows
    }
    assert marks == {"region-50": True, "region-60": False}
