from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.planner.web.browser import launch
from tests.planner.workspace import market


@pytest.fixture
def prices(db):
    """A small market, published."""
    market()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for the session; each test opens a context of its own."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()
