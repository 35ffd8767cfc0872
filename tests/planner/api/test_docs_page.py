"""The interactive page runs under our content security policy, exceptions none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.planner.web.browser import launch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    # Playwright's loop would make Django think that it runs inside an asynchronous one.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser.new_page()
        browser.close()


@pytest.mark.sweep
def test_the_page_lists_operations_and_breaks_no_policy(page: Page, live_server: Any) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{live_server.url}/api/v1/docs/")
    page.wait_for_selector("text=/api/v1/comparisons/", timeout=30_000)
    assert page.locator(".opblock").count() > 50
    page.click("#operations-servers-servers_list .opblock-summary")
    page.click("#operations-servers-servers_list .try-out__btn")
    page.click("#operations-servers-servers_list .execute")
    page.wait_for_selector("text=dgx-h100", timeout=30_000)
    assert [text for text in complaints if "policy" in text.lower() or "Error" in text] == []
