"""Tables in a real browser: none is cut off on a desk."""

from __future__ import annotations

import pytest

from tests.planner.web.browser import visit
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
@pytest.mark.parametrize("name", ["market", "hardware", "accelerators", "accelerator", "answer"])
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
