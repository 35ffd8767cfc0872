"""What a phone has room for, in a real browser."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from planner.models import Role
from tests.planner.web.asking import HOURS
from tests.planner.web.browser import PHONE, visit
from tests.planner.web.team.test_browser import cookies_of, settled

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


def test_both_links_of_an_answer_at_team_rates_are_offered_within_the_window(
    chromium, live_server, work
):
    work.team.price_adjustments = [{"provider": "aws", "multiplier": 0.5}]
    work.team.save()
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=PHONE) as here:
        page = settled(here, f"/plan/?{urlencode(HOURS)}")
        page.get_by_text("Copy the link").click()
        for name in ("At list prices", "With our contract rates"):
            box = page.get_by_role("link", name=name).bounding_box() or {}
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE
        note = page.get_by_text("anyone who has it can read them").bounding_box() or {}
        assert note["x"] >= 0


def test_what_can_be_done_with_an_answer_unfolds_on_a_phone_and_stands_open_on_a_desk(
    chromium, live_server, work
):
    names = ("Copy the link", "Add to comparison", "Print", "PDF", "Sign in to save this")
    with visit(chromium, live_server.url, width=PHONE) as here:
        page = settled(here, f"/plan/?{urlencode(HOURS)}")
        assert not page.get_by_text("Add to comparison").is_visible()
        page.get_by_text("More", exact=True).click()
        for name in names:
            box = page.get_by_text(name, exact=True).bounding_box() or {}
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE
        assert here.violations() == []
        page.set_viewport_size({"width": 1440, "height": 900})
        for name in names:
            assert page.get_by_text(name, exact=True).is_visible()
        assert not page.get_by_text("More", exact=True).is_visible()


def test_the_title_of_a_card_is_not_broken_within_its_words(chromium, live_server, work):
    with visit(chromium, live_server.url, width=PHONE) as here:
        page = settled(here, "/market/changes/")
        title = page.locator(".card-title").first
        lines = title.evaluate("e => e.getClientRects().length && e.offsetHeight")
        assert lines < 40


@pytest.mark.parametrize("total", ["618,372 USD", "1,618,372,000 USD"])
def test_the_bar_of_an_answer_takes_one_row_on_a_small_phone(chromium, live_server, work, total):
    with visit(chromium, live_server.url, width=360) as here:
        page = settled(here, f"/plan/?{urlencode(HOURS)}")
        page.locator("[data-total]").evaluate("(e, text) => { e.textContent = text; }", total)
        assert (page.locator("#answer-bar").bounding_box() or {})["height"] < 56
        assert page.get_by_role("link", name="Change the plan").is_visible()
        assert here.overflow() <= 0
