"""A bill is read in a real browser: files stay chosen, the eye goes on at the answer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.planner.usage.make import table
from tests.planner.web.browser import visit
from tests.planner.web.plan.test_usage import MONTHS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

OWN = table([{"Monat": f"2025-0{n}", "GPU Stunden": "100"} for n in range(1, 5)])


def choose(page, *files: tuple[str, bytes]) -> None:
    page.get_by_label("Bills or logs").set_input_files(
        [{"name": name, "mimeType": "text/csv", "buffer": content} for name, content in files]
    )
    page.get_by_role("button", name="Read", exact=True).click()


def names_chosen(page) -> list[str]:
    box = page.locator("#usage-file")
    return box.evaluate("box => [...box.files].map(file => file.name)")


def test_a_file_stays_chosen_while_its_columns_are_settled(chromium, live_server):
    with visit(chromium, live_server.url, width=360) as here:
        page = here.open("/usage/")
        choose(page, ("own.csv", OWN), ("again.csv", OWN.replace(b"100", b"200")))
        expect(page.get_by_label("Monat as month")).to_be_focused()
        assert names_chosen(page) == ["own.csv", "again.csv"]
        expect(page.get_by_text("Choose the files again")).to_have_count(0)
        page.get_by_role("button", name="Read", exact=True).press("Enter")
        expect(page.get_by_role("heading", name="What the file says")).to_be_focused()
        choose(page, ("own.csv", OWN))
        expect(page.get_by_text("own.csv is still here: press Read.")).to_be_visible()
        expect(page.get_by_label("Bills or logs")).to_be_visible()
        assert names_chosen(page) == ["own.csv"]
        assert here.violations() == []


def test_a_refused_box_is_next_and_the_file_stays(chromium, live_server):
    with visit(chromium, live_server.url) as here:
        page = here.open("/usage/")
        page.get_by_text("Projects, single runs").click()
        page.get_by_label("From", exact=True).fill("soon")
        choose(page, ("bill.csv", table(MONTHS)))
        expect(page.get_by_label("From", exact=True)).to_be_focused()
        expect(page.get_by_label("From", exact=True)).to_have_value("soon")
        assert names_chosen(page) == ["bill.csv"]


def test_on_a_phone_what_a_bill_says_is_read_downwards(chromium, live_server):
    with visit(chromium, live_server.url, width=360) as here:
        page = here.open("/usage/")
        choose(page, ("bill.csv", table(MONTHS)))
        for name in ("Rows of the file", "Use", "Demand"):
            part = page.get_by_role("region", name=name, exact=True)
            assert part.evaluate("e => e.scrollWidth - e.clientWidth") == 0, name
        expect(page.get_by_role("region", name="Use", exact=True)).to_contain_text("60.00 USD")
        assert here.violations() == []
