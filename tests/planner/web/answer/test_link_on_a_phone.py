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
        note = page.get_by_text("whoever has it can read them").bounding_box() or {}
        assert note["x"] >= 0


def test_the_title_of_a_card_is_not_broken_within_its_words(chromium, live_server, work):
    with visit(chromium, live_server.url, width=PHONE) as here:
        page = settled(here, "/market/changes/")
        title = page.locator(".card-title").first
        lines = title.evaluate("e => e.getClientRects().length && e.offsetHeight")
        assert lines < 40
