"""Tables in a real browser: none is cut off on a desk."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.planner.web.browser import PHONE, visit
from tests.planner.web.test_browser import PAGES
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture
def base(live_server):
    market()
    return live_server.url


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["market", "hardware", "accelerators", "accelerator", "answer"])
def test_no_table_is_cut_off_on_a_desk(chromium, base, name):
    with visit(chromium, base) as here:
        page = here.open(PAGES[name])
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        cut_off = page.evaluate(
            """() => [...document.querySelectorAll(".table-responsive")]
                .filter(one => one.scrollWidth > one.clientWidth + 1)
                .map(one => one.getAttribute("aria-label"))"""
        )
        assert cut_off == []


@pytest.mark.sweep
def test_on_a_phone_the_tables_of_an_accelerator_are_read_downwards(chromium, base):
    with visit(chromium, base, width=PHONE) as here:
        page = here.open(PAGES["accelerator"])
        tables = page.locator(".table-responsive:has(.stacked)")
        assert tables.count() == 2
        assert [one.evaluate("e => e.scrollWidth - e.clientWidth") for one in tables.all()] == [
            0,
            0,
        ]
        heads = tables.first.locator("tbody tr").first.locator("td[data-head]")
        assert heads.evaluate_all("all => all.map(one => one.dataset.head)") == [
            "On demand", "Spot", "One year", "Three years", "Offers",
        ]  # fmt: skip
        assert here.violations() == []


@pytest.mark.sweep
def test_on_a_phone_a_refused_request_says_so_above_its_form(chromium, base):
    with visit(chromium, base, width=PHONE) as here:
        refused = here.open(PAGES["refused"]).get_by_role("alert")
        expect(refused).to_contain_text("Horizon")
        assert (refused.bounding_box() or {})["y"] < 400


@pytest.mark.sweep
def test_on_a_phone_the_money_stands_on_the_first_screen(chromium, base):
    with visit(chromium, base, width=PHONE) as here:
        page = here.open(PAGES["answer"])
        for title in ("Total", "Capital to approve now", "Budget", "Owed afterwards"):
            place = page.locator(".verdict-figures dt").get_by_text(title, exact=True)
            box = place.bounding_box() or {}
            assert box["y"] + box["height"] <= 844, title
        assert (page.locator("header").bounding_box() or {})["height"] <= 64
