"""Tables and buttons in a real browser: none is cut off, and words stand apart."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.planner.web.browser import PHONE, visit
from tests.planner.web.test_browser import PAGES, unfold
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
@pytest.mark.parametrize("name", ["market", "offer", "accelerators", "accelerator", "answer"])
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


GAP = """link => {
    const words = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
    const drawn = document.createRange();
    const [first, second] = [words.nextNode(), words.nextNode()];
    drawn.setStart(second, second.data.indexOf("the"));
    drawn.setEnd(second, second.length);
    const begins = drawn.getBoundingClientRect().left;
    drawn.selectNodeContents(first);
    return begins - drawn.getBoundingClientRect().right;
}"""


@pytest.mark.sweep
def test_the_words_of_the_button_to_change_a_plan_stand_apart(chromium, base):
    """It read "Changethe plan": a row of boxes drops the blank before one."""
    with visit(chromium, base) as here:
        button = here.open(PAGES["answer"]).locator(".answer-actions a:has(.spelled-out)")
        assert button.evaluate(GAP) > 2


@pytest.mark.sweep
def test_on_a_phone_the_tables_of_an_accelerator_are_read_downwards(chromium, base):
    with visit(chromium, base, width=PHONE) as here:
        page = here.open(PAGES["accelerator"])
        tables = page.locator(".table-responsive:has(.stacked)")
        widths = [one.evaluate("e => e.scrollWidth - e.clientWidth") for one in tables.all()]
        assert widths == [0, 0, 0]
        heads = tables.first.locator("tbody tr").first.locator("td[data-head]")
        assert heads.evaluate_all("all => all.map(one => one.dataset.head)") == [
            "On demand", "Spot", "One year", "Three years", "Offers",
        ]  # fmt: skip
        assert here.violations() == []


@pytest.mark.sweep
@pytest.mark.parametrize("width", [360, 768])
def test_no_table_of_an_answer_is_scrolled_aside_below_a_desk(chromium, base, width):
    with visit(chromium, base, width=width) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
        tables = page.locator("#answer .table-responsive").all()
        wide = [
            one.get_attribute("aria-label")
            for one in tables
            if one.is_visible() and one.evaluate("e => e.scrollWidth - e.clientWidth") > 0
        ]
        assert len(tables) >= 9
        assert wide == []
        box = page.locator("#assumption-boxes tbody tr").filter(has_text="Electricity").first
        name, value, unit = (
            box.locator(part).bounding_box() or {} for part in ("th", "input", "td:nth-child(3)")
        )
        assert name["y"] < value["y"] <= unit["y"] + unit["height"]
        assert unit["y"] <= value["y"] + value["height"]
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


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("start", ["Lowest prices"]),
        ("accelerators", ["Money against time", "Accelerators that fit"]),
        ("market", ["Offers"]),
        ("offer", ["Purchase options"]),
        ("changes", ["Ages of the prices of AWS"]),
        ("accelerator", ["Cheapest by provider", "Servers to buy"]),
    ],
)
def test_on_a_phone_prices_are_read_without_scrolling_aside(chromium, base, name, tables):
    with visit(chromium, base, width=360) as here:
        page = here.open(PAGES[name])
        for label in tables:
            table = page.get_by_role("region", name=label, exact=True)
            assert table.evaluate("e => e.scrollWidth - e.clientWidth") == 0, label
        assert here.violations() == []


@pytest.mark.sweep
def test_on_a_phone_offers_are_still_sorted_by_their_heads(chromium, base):
    with visit(chromium, base, width=360) as here:
        page = here.open(PAGES["market"])
        page.get_by_role("link", name="USD per hour").click()
        expect(page).to_have_url(re.compile("ordering="))
        assert here.overflow() <= 0


@pytest.mark.sweep
def test_on_a_phone_the_market_is_short_at_first(chromium, base):
    with visit(chromium, base, width=360) as here:
        page = here.open("/market/")
        assert page.evaluate("document.documentElement.scrollHeight") <= 5200
        assert here.overflow() <= 0
        assert here.violations() == []


@pytest.mark.sweep
def test_on_a_phone_further_filters_are_folded_until_one_is_used(chromium, base):
    with visit(chromium, base, width=360, scripts=False) as here:
        page = here.open("/market/")
        expect(page.get_by_label("Region")).to_be_hidden()
        page.get_by_text("More filters").click()
        page.get_by_label("Region").fill("us-east-1")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_label("Region")).to_have_value("us-east-1")
        expect(page.get_by_label("Region")).to_be_visible()
        page.set_viewport_size({"width": 1366, "height": 900})
        here.open("/market/")
        expect(page.get_by_label("Region")).to_be_visible()
        expect(page.get_by_text("More filters")).to_be_hidden()


@pytest.mark.sweep
def test_hints_stand_equally_far_below_their_boxes(chromium, base):
    with visit(chromium, base) as here:
        gaps = here.open("/").evaluate(
            """() => [...document.querySelectorAll("main .form-hint")]
                .filter(one => one.checkVisibility() && one.previousElementSibling)
                .map(one => {
                  let box = one.previousElementSibling;
                  if (box.localName === "datalist") box = box.previousElementSibling;
                  return [box, Math.round(one.offsetTop - box.offsetTop - box.offsetHeight)];
                })
                .filter(([box]) => box.matches(".form-control, .form-select, .input-group"))
                .map(([, gap]) => gap)"""
        )
        assert len(gaps) >= 3
        assert len(set(gaps)) == 1


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["start", "change", "answer", "market", "accelerator"])
@pytest.mark.parametrize("width", [1280, 1366])
def test_letters_of_twice_the_size_do_not_make_a_page_wider(chromium, base, name, width):
    with visit(chromium, base, width=width) as here:
        page = here.open(PAGES[name])
        assert page.locator("header").bounding_box()["height"] < 60
        page.evaluate("document.documentElement.style.fontSize = '32px'")
        assert here.overflow() == 0
