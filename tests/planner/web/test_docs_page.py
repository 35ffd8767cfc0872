"""The interactive page runs under our content security policy, exceptions none."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.planner.web.browser import visit

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


@pytest.mark.sweep
def test_the_page_lists_operations_and_breaks_no_policy(
    chromium: Browser, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Playwright's loop would make Django think that it runs inside an asynchronous one.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    page = chromium.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{live_server.url}/api/v1/docs/")
    page.wait_for_selector("text=/api/v1/comparisons/", timeout=30_000)
    assert page.locator(".opblock").count() > 50
    page.click("#operations-servers-list_servers .opblock-summary")
    page.click("#operations-servers-list_servers .try-out__btn")
    page.click("#operations-servers-list_servers .execute")
    page.wait_for_selector("text=dgx-h100", timeout=30_000)
    assert [text for text in complaints if "policy" in text.lower() or "Error" in text] == []
    page.close()


@pytest.mark.sweep
def test_every_text_of_the_page_can_be_read(chromium: Browser, live_server: Any) -> None:
    with visit(chromium, live_server.url) as here:
        page = here.open("/api/v1/docs/")
        page.wait_for_selector("text=/api/v1/comparisons/", timeout=30_000)
        for method in ("get", "post", "delete"):
            page.locator(f".opblock-{method} .opblock-summary").first.click()
        page.locator(".try-out__btn").first.click()
        page.wait_for_selector(".microlight")
        assert here.violations("color-contrast") == []


@pytest.mark.sweep
@pytest.mark.parametrize("theme", ["dark", ""])
def test_the_page_is_dark_where_the_others_are(
    chromium: Browser, live_server: Any, theme: str
) -> None:
    with visit(chromium, live_server.url, theme=theme) as here:
        here.page.emulate_media(color_scheme="dark")
        page = here.open("/api/v1/docs/")
        page.wait_for_selector("text=/api/v1/comparisons/", timeout=30_000)
        ground = "getComputedStyle(document.documentElement).backgroundColor"
        assert page.evaluate(ground) == "rgb(28, 32, 34)"
        for method in ("get", "post", "delete"):
            page.locator(f".opblock-{method} .opblock-summary").first.click()
        page.locator(".try-out__btn").first.click()
        page.wait_for_selector(".microlight")
        assert here.violations("color-contrast") == []


@pytest.mark.sweep
def test_the_page_leads_back_to_the_planner(chromium: Browser, live_server: Any) -> None:
    with visit(chromium, live_server.url, width=360) as here:
        page = here.open("/api/v1/docs/")
        page.wait_for_selector("text=/api/v1/comparisons/", timeout=30_000)
        assert here.overflow() <= 0
        assert here.violations("landmark-no-duplicate-main", "link-name", "color-contrast") == []
        page.get_by_role("navigation", name="Main").get_by_role("link", name="Market").click()
        assert page.url.endswith("/market/")


@pytest.mark.sweep
def test_without_scripts_the_page_names_the_schema(chromium: Browser, live_server: Any) -> None:
    with visit(chromium, live_server.url, scripts=False) as here:
        page = here.open("/api/v1/docs/")
        schema = page.get_by_role("link", name="OpenAPI schema")
        assert schema.get_attribute("href").endswith("/api/v1/schema/")
