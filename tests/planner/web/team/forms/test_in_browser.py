"""Forms of a team in a real browser: by keyboard, on a phone, after a refusal."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from planner.models import Role
from tests.planner.web.browser import visit
from tests.planner.web.team.test_browser import cookies_of
from tests.planner.workspace import Workspace, market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
PRICES = "/team/alpha/settings/prices/"


@pytest.fixture
def owner(live_server):
    market()
    return cookies_of(Workspace("alpha").users[Role.OWNER], live_server)


def test_a_refused_box_has_the_keyboard_and_enter_saves(chromium, live_server, owner):
    with visit(chromium, live_server.url, width=360, cookies=owner) as here:
        page = here.open(PRICES)
        assert page.evaluate("document.documentElement.scrollHeight") <= 3_300
        page.locator("[name='finance.tax_rate~pct']").fill("none")
        page.keyboard.press("Enter")
        expect(page.locator("[name='finance.tax_rate~pct']")).to_be_focused()
        assert here.violations() == []
        page.keyboard.press("Control+A")
        page.keyboard.type("20")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Saved. Every new comparison")).to_be_visible()


def test_another_row_appears_in_view(chromium, live_server, owner):
    with visit(chromium, live_server.url, width=360, cookies=owner) as here:
        page = here.open(PRICES)
        page.get_by_role("button", name="Add another discount").click()
        expect(page.get_by_role("group", name="Discount 2")).to_be_in_viewport()


def test_tokens_and_webhooks_are_read_downwards_on_a_phone(chromium, live_server, owner):
    with visit(chromium, live_server.url, width=360, cookies=owner) as here:
        page = here.open("/team/alpha/settings/tokens/")
        page.get_by_label("Purpose").fill("Nightly")
        page.keyboard.press("Enter")
        assert_fits(page, "Tokens")
        page = here.open("/team/alpha/settings/webhooks/")
        page.get_by_label("Address").fill("https://hooks.test/of-the-whole-team/and/more")
        page.keyboard.press("Enter")
        assert_fits(page, "Webhooks")
        assert here.violations() == []


def assert_fits(page, name: str) -> None:
    part = page.get_by_role("region", name=name, exact=True)
    expect(part).to_be_visible()
    assert part.evaluate("e => e.scrollWidth - e.clientWidth") == 0
