"""The open pages in a real browser: clean, accessible, at every width and in both colours."""

from __future__ import annotations

import os
import re
from urllib.parse import urlencode

import pytest

from tests.planner.costing.market_of import H100
from tests.planner.web.browser import DESK, PHONE, visit
from tests.planner.workspace import market

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The sync API runs an event loop, in which Django would refuse the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

HOURS = urlencode(
    {
        "name": "Steady",
        "workload.kind": "accelerator_hours",
        "workload.accelerator": H100,
        "workload.hours_per_month": "5840",
        "start": "2027-01",
        "horizon_months": "24",
        "on_prem.servers.0.server": "dgx-h100",
        "risk.samples": "1000",
    }
)
PAGES = {
    "start": "/",
    "plan": "/plan/",
    "answer": f"/plan/?{HOURS}",
    "market": "/market/?accelerator=H100",
    "offer": "/market/offer/?id=aws:us-east-1:p5.48xlarge:on_demand",
    "changes": "/market/changes/",
    "hardware": f"/hardware/?compare={H100}&compare=nvidia-l4",
    "method": "/method/",
}


@pytest.fixture
def base(live_server):
    market()
    return live_server.url


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_clean_and_accessible_at_every_width(chromium, base, name, theme):
    with visit(chromium, base, theme=theme) as here:
        page = here.open(PAGES[name])
        for width in (DESK, PHONE):
            page.set_viewport_size({"width": width, "height": 900})
            assert here.violations() == []
            assert here.overflow() <= 0
        assert here.problems == []


def test_every_chart_of_an_answer_is_drawn_and_told_in_words(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        charts = page.locator("[data-chart]")
        assert charts.count() >= 4
        for i in range(charts.count()):
            assert charts.nth(i).locator("canvas").count() == 1
            assert len(charts.nth(i).get_attribute("aria-label") or "") > 20


@pytest.mark.parametrize("scripts", [True, False])
def test_the_way_from_a_question_to_an_answer(chromium, base, scripts):
    with visit(chromium, base, scripts=scripts) as here:
        page = here.open("/")
        page.get_by_label("Model parameters").fill("1")
        page.get_by_label("Training tokens").fill("20")
        page.get_by_role("button", name="Compare renting and owning").click()
        page.wait_for_url(re.compile("/plan/"))
        assert page.locator(".scenario-card.best").count() == 1
        assert "USD over" in (page.locator("#answer").text_content() or "")


def test_an_edited_assumption_changes_the_answer_in_place(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        before = page.locator(".scenario-card .total").all_text_contents()
        box = page.get_by_label(re.compile("^Electricity,"))
        box.fill("0.9")
        box.press("Tab")
        page.wait_for_url(re.compile("electricity_per_kwh=0.9"))
        page.wait_for_function(
            "before => [...document.querySelectorAll('.scenario-card .total')]"
            ".map(e => e.textContent).join() !== before",
            arg=",".join(before),
        )
        assert here.problems == []


def test_the_answer_so_far_follows_the_typing(chromium, base):
    with visit(chromium, base) as here:
        page = here.open("/plan/")
        page.get_by_text("I know my hours").click()
        page.locator("[name='workload.accelerator']").select_option(H100)
        page.get_by_label("Accelerator-hours per month").fill("730")
        page.locator("#live").get_by_text("Hybrid").wait_for()
        assert "26,280" in (page.locator("#live").text_content() or "")


def test_the_whole_way_by_keyboard(chromium, base):
    with visit(chromium, base) as here:
        page = here.open("/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className").find("skip-link") >= 0
        page.get_by_label("Model parameters").focus()
        for text in ("1", "20"):
            page.keyboard.press("Control+A")
            page.keyboard.type(text)
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/plan/"))
        assert page.locator(".scenario-card").count() == 6


def test_a_column_pasted_from_a_spreadsheet_is_the_demand_by_month(chromium, base):
    with visit(chromium, base) as here:
        page = here.open("/plan/")
        page.get_by_text("I know my hours").click()
        page.locator("[name='workload.accelerator']").select_option(H100)
        page.get_by_label("Horizon").fill("3")
        page.get_by_label("Accelerator-hours per month").fill("100\n200\n300")
        page.get_by_role("button", name="Compare", exact=True).click()
        page.wait_for_url(re.compile("hours_per_month"))
        assert "600" in (page.locator("#live").text_content() or "")
