"""A change in place in a real browser: the new total is said and can be undone."""

import pytest
from playwright.sync_api import expect

from tests.planner.web.browser import visit
from tests.planner.web.test_browser import PAGES
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
EDITED = "**/plan/?**"
TREND = "Cloud price trend, % a year"
ENDED = ("htmx:", "Failed to load resource: net::ERR_FAILED")
"""What the console says of a request that was ended."""


@pytest.fixture
def base(live_server) -> str:
    market()
    return str(live_server.url)


@pytest.fixture
def answer(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        page.goto(page.url + "#basis")
        page.evaluate(
            """() => { window.spoken = [];
            new MutationObserver(() => spoken.push(announced.textContent))
                .observe(document.getElementById("announced"), { childList: true }); }"""
        )
        yield here
        assert [one for one in here.problems if not one.startswith(ENDED)] == []


def total(page) -> str:
    return page.locator("[data-total]").text_content() or ""


def change(page, name: str, value: str) -> None:
    box = page.get_by_label(name)
    box.fill(value)
    box.press("Tab")


def test_undo_keeps_the_tab_and_goes_on_while_there_is_something_to_undo(answer):
    page = answer.page
    page.get_by_role("link", name="Rests on").click()
    before, totals = total(page), []
    for value in ("20", "25"):
        last = total(page)
        change(page, TREND, value)
        expect(page.locator("[data-total]")).not_to_have_text(last)
        totals.append(total(page))
        expect(page.locator("#basis")).to_be_visible()
    assert page.evaluate("spoken") == [f"Expected {one}, was {before}" for one in totals]
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(page.locator("[data-total]")).to_have_text(totals[0])
    expect(page.locator("[data-was]")).to_have_text(f"was {before}")
    expect(page.locator("#basis")).to_be_visible()
    undo.click()
    expect(page.locator("[data-total]")).to_have_text(before)
    expect(undo).to_be_hidden()


def test_each_tab_has_an_address_and_shows_alone(chromium, base):
    with visit(chromium, base, scripts=False) as here:
        page = here.open(PAGES["answer"])
        panels = page.locator(".tab-panel")
        assert [one.is_visible() for one in panels.all()] == [False] * 4
        for i, name in enumerate(("Why", "Over time", "Rests on", "Numbers")):
            page.get_by_role("link", name=name, exact=True).click()
            assert page.url.partition("#")[2] == panels.nth(i).get_attribute("id")
            assert [one.is_visible() for one in panels.all()] == [k == i for k in range(4)]


def test_a_refused_change_leaves_the_figures_unmarked(answer):
    page = answer.page
    before = total(page)
    change(page, "PUE, ratio", "-1")
    expect(page.locator("#refused")).to_contain_text("still those from before the change")
    expect(page.locator("[data-undo]")).to_be_hidden()
    assert total(page) == before


def test_a_change_that_the_server_does_not_answer_says_so_in_view(answer):
    page = answer.page
    before = total(page)
    page.route(EDITED, lambda route: route.abort())
    change(page, TREND, "20")
    alert = page.locator("#refused [role='alert']")
    expect(alert).to_contain_text("The figures are still those from before the change")
    expect(alert).to_be_in_viewport()
    assert total(page) == before
    assert answer.violations() == []
    page.unroute(EDITED)
    change(page, TREND, "25")
    expect(page.locator("[data-was]")).to_have_text(f"was {before}")
    expect(alert).to_have_count(0)


def test_a_driver_moved_reads_its_curve_at_once_and_keeps_its_scale_and_thumb(answer):
    page = answer.page
    page.get_by_role("link", name="Why", exact=True).click()
    thumb = page.locator("[data-driver][data-box^='a-']").first
    before, low, scale = total(page), thumb.get_attribute("min"), thumb.get_attribute("max")
    with page.expect_response(EDITED):
        milliseconds = thumb.evaluate(
            """(one, low) => { const since = performance.now(); one.value = low;
            one.dispatchEvent(new Event("input", { bubbles: true }));
            const took = performance.now() - since;
            one.dispatchEvent(new Event("change", { bubbles: true })); return took; }""",
            low,
        )
    assert milliseconds <= 300
    expect(page.locator("[data-was]")).to_have_text(f"was {before}")
    assert (thumb.input_value(), thumb.get_attribute("max")) == (low, scale)
