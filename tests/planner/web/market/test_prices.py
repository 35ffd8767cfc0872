"""Prices of the market: which are known, and the history of one as a chart."""

import csv
import datetime as dt
import io
from dataclasses import replace

import pytest
from django.http import QueryDict
from django.utils import timezone

from planner.web.common.choices import list_choices
from planner.web.common.formatting import arrange_coverage, describe_state
from planner.web.market.history import draw_history, draw_lowest
from planner.web.market.market_pages import COLUMNS
from planner.web.market.offers import (
    WAYS_TO_RENT,
    MarketQuery,
    find_rows,
    lowest_prices,
    market_rows,
)
from pricing import catalog
from pricing.bundled.catalog import bundled_catalog
from pricing.market.coverage import CoverageRow, PriceState
from pricing.market.offer_filters import OfferSearch
from pricing.market.offers import PurchaseOption
from pricing.market.place_names import COUNTRY_GROUPS
from pricing.market.snapshot import DatedPrice
from tests.planner.costing.market_of import H100
from tests.planner.web.asking import text
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
        provider: dict(zip(table["columns"], map(describe_state, cells), strict=True))
        for _, provider, cells in table["rows"]
    }
    assert said["Denvr"]["Reserved"] == said["Denvr"]["Low priority"] == "not known"
    assert said["AWS"]["Low priority"] == "not sold"


OFFER = "aws:us-east-1:p5.48xlarge:on_demand"
LATER = dt.date(2100, 1, 1)


@pytest.fixture
def known(db):
    market()
    return catalog.current().offers.find(OFFER), catalog.price_history(OFFER)


def test_what_is_no_longer_sold_ends_with_its_last_price(known):
    offer, past = known
    last = past[-1].date
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
    known = catalog.Catalog.of(offers)
    rows = market_rows(known, find_rows(known, MarketQuery()))
    assert [row.offer.region[-1] for row in rows] == ["2", "1", "3", "0"]


@pytest.mark.parametrize("group", ["eu", "eea", "uk", "switzerland"])
def test_a_group_of_countries_holds_the_regions_of_its_countries_alone(group):
    known = bundled_catalog()
    found = OfferSearch(geography=(group,)).rows(known)
    offers = [*map(known.offers.offer, found.tolist())]
    countries = {known.region(one.provider, one.region).country for one in offers}
    assert countries
    assert known.regions["scaleway", "fr-par-2"].country in COUNTRY_GROUPS["eu"]
    assert countries <= COUNTRY_GROUPS[group]
    named = OfferSearch(geography=("asia", group)).rows(known)
    assert set(found) < set(named)


def test_every_geography_that_the_page_offers_is_one_that_it_takes(client, prices):
    for name, _ in list_choices("geographies"):
        assert client.get("/market/", {"geography": name}).status_code == 200, name
    assert client.get("/market/", {"geography": "atlantis"}).status_code == 400


def test_the_cheapest_of_a_provider_is_that_of_all_pages():
    today = timezone.now().date()
    offers = [offer(price, region=f"region-{price}", as_of=today) for price in ("50", "60")]
    known = catalog.Catalog.of(offers)
    rows = find_rows(known, MarketQuery())
    marks = {
        row.offer.region: row.cheapest_of_provider
        for place in (0, 1)
        for row in market_rows(known, rows[place : place + 1], rows)
    }
    assert marks == {"region-50": True, "region-60": False}


TODAY = dt.date(2026, 11, 25)


def dated(price: str | None, *day: int, **changes: object) -> DatedPrice:
    at = dt.date(*day)
    return DatedPrice(at, None, None if price is None else offer(price, as_of=at, **changes))


def test_the_lowest_price_of_each_provider_and_option_is_drawn_for_two_years():
    """The dearest offers decide nothing, and a cloud with ten of them is drawn all the same."""
    histories = [
        [dated("80", 2023, 7, 1), dated("55.04", 2025, 8, 25)],
        [dated("60", 2026, 1, 15, region="eu-west-1"), dated(None, 2026, 3, 10)],
        [dated("24", 2026, 7, 1, purchase_option=PurchaseOption.SPOT)],
        *[[dated("900", 2022, 1, 1, region=f"r{i}")] for i in range(12)],
    ]
    (chart,) = draw_lowest(histories, TODAY)
    series = {one.name: dict(zip(chart.x, one.values, strict=True)) for one in chart.series}
    assert chart.title == "AWS, last two years"
    assert set(series) == {"On demand", "Spot"}
    assert chart.x[0] == "Dec 2024"
    assert chart.x[-1] == "today"
    demand, spot = series["On demand"], series["Spot"]
    assert demand["Dec 2024"] == demand["Aug 2025"] == 10.0
    assert demand["Sep 2025"] == demand["today"] == pytest.approx(6.88)
    assert (spot["Jun 2026"], spot["Jul 2026"]) == (None, 3.0)


def test_no_price_in_dollars_draws_nothing():
    assert draw_lowest([[dated("7", 2026, 1, 1, currency="EUR")], []], TODAY) == []


def test_the_histories_of_an_accelerator_are_those_of_its_offers(known):
    found = catalog.accelerator_histories(H100, ["aws"])
    assert found[OFFER] == catalog.price_history(OFFER)
    assert not catalog.accelerator_histories(H100, ["gcp"])
    assert {entry.offer.accelerator for one in found.values() for entry in one} == {H100}


@pytest.mark.parametrize("column", list(COLUMNS))
@pytest.mark.parametrize("sign", ["", "-"])
def test_every_column_sorts(known, column, sign):
    asked = MarketQuery.read(QueryDict(f"ordering={sign}{column}"))
    table = catalog.current().offers
    rows = find_rows(catalog.current(), asked)
    values = [getattr(table.offer(int(row)), column, None) for row in rows]
    if column in ("instance_type", "term_months", "region", "provider"):
        assert values == sorted(values, reverse=bool(sign))
    assert len(rows) == len(set(rows.tolist())) > 1


def test_the_file_holds_what_the_filters_find_in_the_same_order(client, known):
    asked = {"accelerator": "H100", "purchase_option": "on_demand", "ordering": "-usd_per_hour"}
    page = client.get("/market/", asked)
    found = [row.offer.id for row in page.context["rows"]]
    file = client.get("/market/offers.csv", asked)
    assert file["Content-Type"] == "text/csv"
    rows = list(csv.DictReader(io.StringIO(file.content.decode())))
    assert [row["id"] for row in rows][: len(found)] == found
    assert len(rows) == page.context["page"].paginator.count
    assert set(rows[0]) == set(client.get("/api/v1/offers/").json()["results"][0])
    refused = client.get("/market/offers.csv", {"accelerator": "nowhere"})
    assert refused["Location"] == "/market/?accelerator=nowhere"


def test_the_cheapest_in_the_eu_is_two_clicks_from_the_start(client, known):
    """Market, then a price, which leads to the offers that it is the lowest of."""
    start = text(client.get("/"))
    assert 'href="/market/"' in start
    titles = [title for title, _, _ in WAYS_TO_RENT]
    (prices,) = [prices for one, prices in lowest_prices() if one.slug == H100]
    assert [one.title for one in prices] == titles
    market_page = text(client.get("/market/"))
    for one in prices:
        listed = client.get(f"/market/?{one.address}").context["rows"]
        if one.usd is None:
            assert not listed
        else:
            assert listed[0].usd_per_accelerator_hour == pytest.approx(one.usd)
            assert f'href="?{one.address}"' in market_page
    assert prices[0].usd is not None
