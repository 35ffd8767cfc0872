"""What is typed survives a reload and the way back, in a real browser."""

from __future__ import annotations

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


@pytest.fixture
def base(live_server) -> str:
    market("98.32")
    return str(live_server.url)


def test_the_first_questions_keep_what_was_typed(chromium, base):
    with visit(chromium, base) as here:
        page = here.open("/")
        model = page.get_by_label("What do you train?")
        model.fill("Llama 3.1 8B")
        page.get_by_label("Where may it run?").select_option(index=1)
        chosen = page.get_by_label("Where may it run?").input_value()
        page.reload(wait_until="load")
        assert model.input_value() == "Llama 3.1 8B"
        page.goto(base + PAGES["method"])
        page.go_back(wait_until="load")
        assert model.input_value() == "Llama 3.1 8B"
        assert page.get_by_label("Where may it run?").input_value() == chosen
        here.open("/")
        assert model.input_value() == "7B"
        assert here.problems == []


def test_the_form_keeps_it_and_the_answer_beside_it_follows(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["change"])
        name = page.locator("[name='name']")
        with page.expect_response(lambda response: "/live/" in response.url):
            name.fill("Spring")
        with page.expect_response(lambda response: "/live/" in response.url):
            page.reload(wait_until="load")
        assert name.input_value() == "Spring"


def test_a_sign_turns_beside_the_form_until_the_figures_are_there(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"] + "&edit=1")
        waiting = []
        page.route("**/plan/live/**", lambda route: waiting.append(route))
        page.locator("[name='horizon_months']").fill("12")
        sign = page.locator("#live .busy")
        expect(sign).to_have_css("opacity", "1")
        waiting.pop().continue_()
        expect(sign).to_have_css("opacity", "0")


def test_figures_that_nobody_answered_are_marked_until_somebody_does(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"] + "&edit=1")
        panel = page.locator("#live")
        page.route("**/plan/live/**", lambda route: route.abort())
        page.locator("[name='horizon_months']").fill("12")
        expect(panel.get_by_role("alert")).to_contain_text("still those from before the change")
        expect(panel.locator(".stale")).to_be_visible()
        page.unroute("**/plan/live/**")
        page.locator("[name='horizon_months']").fill("13")
        expect(panel.get_by_role("alert")).to_have_count(0)
        expect(panel.locator(".stale")).to_have_count(0)


@pytest.mark.parametrize("kind", ["training", "accelerator_hours"])
def test_enter_in_a_box_of_the_form_compares(chromium, base, kind):
    with visit(chromium, base) as here:
        page = here.open(PAGES["change"])
        page.locator(f"label:has(#kind-{kind})").click()
        page.get_by_label("Name of this plan").press("Enter")
        page.wait_for_url("**/plan/?*")
        assert f"workload.kind={kind}" in page.url
