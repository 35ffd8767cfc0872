"""The price history of an offer as a chart."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from planner.web.market.market_pages import draw_history
from pricing import catalog
from tests.planner.workspace import market

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
