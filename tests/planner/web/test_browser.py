"""The open pages in a real browser: clean, accessible, at every width and in both colours."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.planner.costing.market_of import H100
from tests.planner.web.browser import DESK, PHONE, visit
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),  # One process starts one Chromium.
]

PLAN = {
    "name": "Steady",
    "workload.kind": "accelerator_hours",
    "workload.accelerator": H100,
    "workload.hours_per_month": "5840",
    "start": "2027-01",
    "horizon_months": "24",
    "on_prem.servers.0.server": "dgx-h100",
    "risk.samples": "1000",
}
HOURS = urlencode(PLAN)
TRAINING = "workload.kind=training&workload.parameters~bn=7&workload.tokens~bn=20&start=2027-01"
BROKEN = urlencode({**PLAN, "horizon_months": "500"})
PAGES = {
    "start": "/",
    "plan": "/plan/",
    "change": f"/plan/?{TRAINING}&edit=1",
    "refused": f"/plan/?{BROKEN}",
    "answer": f"/plan/?{HOURS}",
    "accelerators": f"/plan/accelerators/?{TRAINING}",
    "market": "/market/?accelerator=H100",
    "offer": "/market/offer/?id=aws:us-east-1:p5.48xlarge:on_demand",
    "accelerator": f"/market/accelerator/{H100}/",
    "changes": "/market/changes/",
    "method": "/method/",
}
EXPECTED = {"refused": "400 (Bad Request)"}
"""What a page's console says because of its status alone."""


WIDTHS = (1920, DESK, 1024, 768)


def unfold(page):
    """Opens what is folded away, and every tab of an answer."""
    page.evaluate(
        """document.querySelectorAll("details.fold").forEach(one => { one.open = true; });
        document.querySelectorAll(".tab-panel").forEach(one => { one.style.display = "block"; });"""
    )


@pytest.fixture
def base(live_server):
    market()
    return live_server.url


@pytest.mark.sweep
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_clean_and_accessible_at_every_width_and_in_both_colours(chromium, base, name):
    with visit(chromium, base) as here:
        page = here.open(PAGES[name])
        assert here.violations() == []
        unfold(page)
        assert here.violations() == []
        page.evaluate("document.documentElement.dataset.bsTheme = 'dark'")
        assert here.violations("color-contrast") == []
        for width in (*WIDTHS, PHONE):
            page.set_viewport_size({"width": width, "height": 900})
            assert here.overflow() <= 0
        expected = EXPECTED.get(name, "no such text")
        assert [problem for problem in here.problems if expected not in problem] == []


@pytest.mark.sweep
def test_the_colours_that_a_visitor_chose_are_served_from_the_first_byte(chromium, base):
    with visit(chromium, base, theme="dark", width=PHONE) as here:
        page = here.open("/")
        assert page.locator("html").get_attribute("data-bs-theme") == "dark"
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
        assert here.problems == []


@pytest.mark.sweep
def test_without_scripts_the_chart_is_drawn_and_the_navigation_open(chromium, base):
    with visit(chromium, base, scripts=False, width=PHONE) as here:
        page = here.open(PAGES["answer"])
        assert page.locator("#figures figure polyline").count() >= 2
        assert page.locator("#navigation").is_visible()


@pytest.mark.sweep
def test_on_a_phone_a_button_opens_the_navigation(chromium, base):
    with visit(chromium, base, width=PHONE) as here:
        page = here.open("/")
        expect(page.locator("#navigation")).to_be_hidden()
        page.get_by_role("button", name="Navigation").click()
        expect(page.get_by_role("link", name="Market")).to_be_visible()
        assert here.problems == []


@pytest.mark.sweep
def test_every_chart_of_an_answer_is_drawn_and_told_in_words(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
        charts = page.locator("svg.plot")
        assert charts.count() >= 3
        for chart in charts.all():
            assert chart.locator(".series").count() >= 1
            assert len(chart.get_attribute("aria-label") or "") > 20
        assert here.problems == []


@pytest.mark.sweep
@pytest.mark.parametrize("scripts", [True, False])
def test_the_way_from_a_question_to_an_answer(chromium, base, scripts):
    with visit(chromium, base, scripts=scripts) as here:
        page = here.open("/")
        page.get_by_label("Model", exact=True).fill("1B")
        page.get_by_label("Training tokens").fill("20")
        page.get_by_role("button", name="Compare renting and owning").click()
        page.wait_for_url(re.compile("/plan/"))
        page.get_by_role("link", name="Why", exact=True).click()
        expect(page.locator(".scenario-row.best")).to_be_visible()
        assert "USD over" in (page.locator("#answer").text_content() or "")
        page.get_by_role("link", name="Change the plan").click()
        page.get_by_label("Horizon").fill("18")
        page.get_by_role("button", name="Compare renting and owning").click()
        page.wait_for_url(re.compile("horizon_months=18"))
        assert "Due within the plan" in (page.locator("#answer").text_content() or "")


@pytest.mark.sweep
def test_the_whole_way_by_keyboard(chromium, base):
    with visit(chromium, base) as here:
        page = here.open("/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className").find("skip-link") >= 0
        page.get_by_label("Model", exact=True).focus()
        for text in ("1B", "20"):
            page.keyboard.press("Control+A")
            page.keyboard.type(text)
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/plan/"))
        assert page.locator(".scenario-row").count() >= 1
        page.locator(".term").first.focus()
        assert page.locator(".term-note").first.is_visible()


@pytest.mark.sweep
def test_a_column_pasted_from_a_spreadsheet_fills_the_months(chromium, base):
    with visit(chromium, base) as here:
        page = here.open("/plan/?start=2027-01&horizon_months=3&workload.kind=accelerator_hours")
        page.locator("[name='workload.accelerator']").select_option(H100)
        page.get_by_text("Month by month").first.click()
        page.get_by_label("2027-01").first.evaluate(
            """box => { const data = new DataTransfer(); data.setData("text", "1,000\\n2000\\t300");
            box.dispatchEvent(new ClipboardEvent("paste",
                { clipboardData: data, bubbles: true, cancelable: true })); }"""
        )
        assert page.get_by_label("2027-03").first.input_value() == "300"
        page.get_by_label("2027-02").first.fill("700")
        page.get_by_label("2027-02").first.press("Tab")
        page.get_by_role("button", name="Compare renting and owning").click()
        page.wait_for_url(re.compile("hours_per_month"))
        assert "2,000 accelerator-hours" in (page.locator("#answer").text_content() or "")


@pytest.mark.sweep
def test_the_copied_link_opens_the_same_answer(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("link", name="Copy the link").click()
        expect(page.get_by_text("Link copied")).to_be_visible()
        link = page.evaluate("navigator.clipboard.readText()")
        assert "prices=aws.1" in link
        before = page.locator(".scenarios .num").all_text_contents()
        page.goto(link)
        assert page.locator(".scenarios .num").all_text_contents() == before
