"""A change in place in a real browser: the total first, everything else marked until it follows."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, expect

from tests.planner.web.browser import visit
from tests.planner.web.test_browser import PAGES, unfold
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
REST = re.compile(r"/plan/\?")
TREND, TREND_FIELD = "Cloud price trend, % a year", "finance.cloud_price_trend_per_year~pct"
ENDED = ("htmx:", "Failed to load resource: net::ERR_FAILED")
"""What the console says of a request that was ended."""
WORKED_OUT = "Dashed: from before, being worked out again"


@pytest.fixture
def base(live_server) -> str:
    market()
    return str(live_server.url)


class Held:
    """Requests for the rest of an answer, which wait until they are let through."""

    def __init__(self, page) -> None:
        self.page, self.routes = page, []
        page.route(REST, lambda route: self.routes.append(route))

    def wait(self, count: int) -> None:
        for _ in range(200):
            if len(self.routes) >= count:
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"{len(self.routes)} requests, not {count}")

    def let_through(self) -> None:
        for route in self.routes:
            with suppress(Error):  # of those that the page has ended
                route.continue_()
        self.routes.clear()
        self.page.unroute(REST)


@pytest.fixture
def answer(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
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


def test_the_total_shown_first_stays_and_the_rest_is_marked_until_it_follows(answer):
    page = answer.page
    before, held = total(page), Held(page)
    change(page, TREND, "20")
    held.wait(1)
    first = total(page)
    assert first != before
    expect(page.locator("[data-was]")).to_have_text(f"was {before}")
    expect(page.locator("#rest")).to_contain_text(WORKED_OUT)
    expect(page.locator("#rest")).to_be_in_viewport()
    for part in ("#figures", "#fold-why", "#fold-time", "#fold-numbers", ".answer-actions"):
        expect(page.locator(part)).to_have_class(re.compile("stale"))
    assert page.locator(".answer-actions").evaluate("one => one.inert")
    assert f"{TREND_FIELD}=20" in page.url
    held.let_through()
    expect(page.locator("#rest")).to_have_count(0)
    expect(page.locator(".stale")).to_have_count(0)
    assert total(page) == first
    expect(page.locator(".verdict-figures .first dd")).to_have_text(first)
    expect(page.locator("#a-finance-cloud-price-trend-per-year-state")).to_have_text("given")
    assert page.evaluate("spoken") == [f"Total {first}, was {before}"]


def test_an_answer_that_was_overtaken_is_dropped(answer):
    page = answer.page
    held = Held(page)
    change(page, TREND, "20")
    held.wait(1)
    overtaken = total(page)
    change(page, TREND, "25")
    held.wait(2)
    last = total(page)
    assert last != overtaken
    held.let_through()
    expect(page.locator("#rest")).to_have_count(0)
    expect(page.locator(".verdict-figures .first dd")).to_have_text(last)
    assert total(page) == last
    assert f"{TREND_FIELD}=25" in page.url


def test_undo_works_before_the_rest_has_come(answer):
    page = answer.page
    before, held = total(page), Held(page)
    change(page, TREND, "20")
    held.wait(1)
    assert total(page) != before
    page.unroute(REST)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(re.compile(r"/plan/(?!.*cloud_price_trend)"))
    expect(page.locator("[data-total]")).to_have_text(before)
    expect(page.locator("#rest")).to_have_count(0)


def test_undo_keeps_the_folds_open_and_goes_on_while_there_is_something_to_undo(answer):
    page = answer.page
    page.locator("details#over-time").evaluate("one => { one.open = false; }")
    folds = "all => all.filter(one => one.open).map(one => one.id)"
    before, opened = total(page), page.locator("details.fold").evaluate_all(folds)
    totals = [before]
    for value in ("20", "25"):
        change(page, TREND, value)
        expect(page.locator("[data-total]")).not_to_have_text(totals[-1])
        expect(page.locator("#rest")).to_have_count(0)
        totals.append(total(page))
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(page.locator("[data-total]")).to_have_text(totals[1])
    expect(page.locator("[data-was]")).to_have_text(f"was {before}")
    assert page.locator("details.fold").evaluate_all(folds) == opened
    undo.click()
    expect(page.locator("[data-total]")).to_have_text(before)
    expect(undo).to_be_hidden()
    assert page.locator("details.fold").evaluate_all(folds) == opened


def test_an_answer_opened_anew_has_nothing_to_undo(answer):
    page = answer.page
    change(page, TREND, "20")
    expect(page.locator("#rest")).to_have_count(0)
    page.goto(page.url)
    expect(page.locator("[data-undo]")).to_be_hidden()


def test_a_change_that_is_overtaken_is_no_error_in_the_console(answer):
    page = answer.page
    held = Held(page)
    change(page, TREND, "20")
    held.wait(1)
    change(page, TREND, "25")
    held.wait(2)
    held.let_through()
    expect(page.locator("#rest")).to_have_count(0)
    assert answer.problems == []


def press_while_the_rest_comes(page, held, target):
    """Presses, and lets nothing go for as long as the answer would take to be swapped in."""
    target.hover()
    page.mouse.down()
    with page.expect_response(REST):
        held.let_through()
    page.wait_for_timeout(200)


def test_undo_works_where_the_rest_comes_while_it_is_pressed(answer):
    page = answer.page
    before, held = total(page), Held(page)
    change(page, TREND, "20")
    held.wait(1)
    press_while_the_rest_comes(page, held, page.get_by_role("button", name="Undo"))
    page.mouse.up()
    page.wait_for_url(re.compile(r"/plan/(?!.*cloud_price_trend)"))
    expect(page.locator("[data-total]")).to_have_text(before)


def test_a_rest_that_comes_during_a_press_is_shown_after_it(answer):
    page = answer.page
    held = Held(page)
    change(page, TREND, "20")
    held.wait(1)
    first = total(page)
    press_while_the_rest_comes(page, held, page.locator("[data-total]"))
    expect(page.locator("#rest")).to_have_count(1)
    page.mouse.up()
    expect(page.locator("#rest")).to_have_count(0)
    expect(page.locator(".stale")).to_have_count(0)
    assert total(page) == first


def test_a_rest_that_does_not_come_is_said_in_view_and_can_be_loaded(answer):
    page = answer.page
    page.route(REST, lambda route: route.abort())
    change(page, TREND, "20")
    alert = page.locator("#rest[role='alert']")
    expect(alert).to_contain_text("Only the total is new: the server did not answer")
    expect(alert).to_be_in_viewport()
    first = total(page)
    expect(page.locator("#figures")).to_have_class(re.compile("stale"))
    assert answer.violations() == []
    page.unroute(REST)
    alert.get_by_role("link", name="Load the whole answer").click()
    expect(page.locator(".verdict-figures .first dd")).to_have_text(first)


def test_a_refused_change_does_not_stop_the_rest_of_the_one_before(answer):
    page = answer.page
    held = Held(page)
    change(page, TREND, "20")
    held.wait(1)
    first = total(page)
    change(page, "PUE, ratio", "-1")
    expect(page.locator("#a-on-prem-pue-error")).to_contain_text("not allowed")
    held.wait(2)
    held.let_through()
    expect(page.locator("#rest")).to_have_count(0)
    expect(page.locator(".verdict-figures .first dd")).to_have_text(first)
    assert total(page) == first


def test_a_refused_change_leaves_the_figures_unmarked(answer):
    page = answer.page
    before = total(page)
    change(page, "PUE, ratio", "-1")
    expect(page.locator("#refused")).to_contain_text("still those from before the change")
    expect(page.locator(".stale")).to_have_count(0)
    expect(page.locator("[data-undo]")).to_be_hidden()
    assert total(page) == before


def move_slider(page) -> None:
    page.locator("[data-driver]").first.evaluate(
        "one => { one.value = one.max; one.dispatchEvent(new Event('change', { bubbles: true })); }"
    )


def test_a_slider_that_the_server_does_not_answer_says_so_in_view(answer):
    """The folds may all be closed but that of the sliders, far above the boxes."""
    page = answer.page
    page.locator("details#basis").evaluate("one => { one.open = false; }")
    before = total(page)
    page.route("**/plan/total/**", lambda route: route.abort())
    move_slider(page)
    alert = page.locator("#refused [role='alert']")
    expect(alert).to_contain_text("The figures are still those from before the change")
    expect(alert).to_be_in_viewport()
    assert total(page) == before
    assert answer.violations() == []
    page.unroute("**/plan/total/**")
    move_slider(page)
    expect(page.locator("[data-was]")).to_have_text(f"was {before}")
    expect(alert).to_have_count(0)
