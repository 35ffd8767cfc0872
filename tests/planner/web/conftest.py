import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.planner.web.browser import launch
from tests.planner.workspace import market

# The sync API runs an event loop, in which Django would refuse the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


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
