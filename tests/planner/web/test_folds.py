"""Folds and paper in a real browser: short on the screen, whole on paper, no dead buttons."""

from __future__ import annotations

import pytest

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
def test_without_scripts_no_button_offers_to_print(chromium, base):
    with visit(chromium, base, scripts=False) as here:
        assert not here.open(PAGES["answer"]).locator("[data-print]").is_visible()
    with visit(chromium, base) as here:
        assert here.open(PAGES["answer"]).locator("[data-print]").is_visible()


@pytest.mark.sweep
def test_the_chooser_is_short_on_the_screen_and_whole_on_paper(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["accelerators"])
        assert page.evaluate("document.documentElement.scrollHeight") <= 2500
        others = page.get_by_role("region", name="Accelerators that do not fit")
        assert not others.is_visible()
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert others.is_visible()
        page.emulate_media(media="screen")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert not others.is_visible()


@pytest.mark.sweep
@pytest.mark.parametrize("scripts", [True, False])
def test_the_menu_of_a_phone_is_folded_only_where_scripts_can_open_it(chromium, base, scripts):
    with visit(chromium, base, width=PHONE, scripts=scripts) as here:
        page = here.open("/")
        market = page.get_by_role("navigation", name="Main").get_by_role("link", name="Market")
        assert market.is_visible() is not scripts
        assert page.locator(".navbar-toggler").is_visible() is scripts
        if not scripts:
            market.click()
            page.wait_for_url("**/market/")
            assert here.overflow() == 0
