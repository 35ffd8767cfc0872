"""The plan of all projects on a phone, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from planner.models import Role
from tests.planner.web.browser import PHONE, visit
from tests.planner.web.team.test_browser import cookies_of, settled

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


@pytest.mark.sweep
def test_on_a_phone_the_plan_of_all_projects_takes_the_place_of_its_form(
    chromium, live_server, work
):
    work.project(name="speech")
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=PHONE) as here:
        page = settled(here, "/team/alpha/portfolio/")
        page.get_by_role("button", name="Plan together").click()
        total = page.get_by_text("All its payments, not discounted")
        expect(total).to_be_visible()
        expect(page.get_by_label("speech")).to_be_hidden()
        assert (total.bounding_box() or {})["y"] < 780
        shares = page.get_by_role("region", name="Shares")
        assert shares.evaluate("e => e.scrollWidth - e.clientWidth") == 0
        saves = shares.locator("[data-head=Saves]")
        expect(saves).to_be_visible()
        page.get_by_text("Which projects, and how the cost is divided").click()
        expect(page.get_by_label("speech")).to_be_visible()


@pytest.mark.sweep
def test_a_plan_cannot_be_kept_while_another_is_planned(chromium, live_server, work):
    work.project(name="speech")
    work.project(name="vision")
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies) as here:
        page = settled(here, "/team/alpha/portfolio/")
        page.get_by_role("button", name="Plan together").click()
        save = page.locator("#portfolio-save button").last
        expect(save).to_be_enabled()
        waiting = []
        page.route("**/team/alpha/portfolio/?plan=*", lambda one: waiting.append(one))
        page.get_by_label("speech").uncheck()
        expect(save).to_be_disabled()
        waiting[0].continue_()
        expect(page.get_by_text("for one project")).to_be_visible()
        expect(save).to_be_enabled()
        assert here.problems == []
