"""Long names, tabs and tables in a real browser: nothing is wider than its window."""

from __future__ import annotations

import io

import pytest

from planner.models import Role
from planner.services.actuals import actuals
from planner.services.projects import saved_comparisons
from planner.services.teams import teams
from tests.planner.web.browser import PHONE, visit
from tests.planner.web.team.test_browser import cookies_of, settled

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
LONG = "W" * 120


@pytest.mark.parametrize("width", [1280, PHONE])
def test_a_name_without_a_space_widens_no_page(chromium, live_server, work, width):
    project = work.project(name=LONG)
    plan = saved_comparisons.save_comparison(work.access(), project, name=LONG, note=LONG)
    portfolio = work.portfolio(name=LONG)
    pages = (
        "/team/alpha/", "/team/alpha/portfolio/?plan=1", f"/team/alpha/projects/{project.pk}/",
        f"/c/{plan.pk}/", f"/portfolios/{portfolio.pk}/",
    )  # fmt: skip
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=width) as here:
        wide = {}
        for address in pages:
            settled(here, address)
            wide[address] = here.overflow()
        assert {address: by for address, by in wide.items() if by > 0} == {}


def test_a_long_name_leaves_budget_and_plan_of_a_project_in_view(chromium, live_server, work):
    project = work.project(name=LONG, budget="900000")
    plan = saved_comparisons.save_comparison(work.access(), project, name=LONG)
    saved_comparisons.submit(work.access(), plan)
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=1280) as here:
        table = settled(here, "/team/alpha/").get_by_role("region", name="Projects")
        assert table.evaluate("one => one.scrollWidth - one.clientWidth") <= 0


def test_on_a_phone_the_money_of_each_project_stands_within_the_window(chromium, live_server, work):
    work.project(budget="900000")
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=360) as here:
        page = settled(here, "/team/alpha/")
        assert (page.locator("header.navbar").bounding_box() or {})["height"] < 64
        money = page.get_by_role("region", name="Projects").locator("td.num").first
        box = money.bounding_box() or {}
        assert "900,000" in (money.text_content() or "")
        assert box["x"] + box["width"] <= 360


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("members", ["People of the team", "Invitations"]),
        ("servers", ["Server quotes"]),
        ("audit", ["Audit log"]),
    ],
)
def test_on_a_phone_no_button_of_the_settings_is_cut_off(chromium, live_server, work, name, tables):
    quote = {"slug": "our-dgx", "label": "Our DGX", "server": {"server": "dgx-h100"}}
    teams.add_quote(work.access(), work.team, quote)
    teams.invite(work.access(), work.team, Role.EDITOR, "new@alpha.test")
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=360) as here:
        page = settled(here, f"/team/alpha/settings/{name}/")
        for label in tables:
            table = page.get_by_role("region", name=label, exact=True)
            assert table.locator(".stacked").count() == 1
            assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0, label


def test_on_a_phone_the_figures_and_uploads_of_a_project_are_read_downwards(
    chromium, live_server, work
):
    project = work.project(budget="900000")
    work.saved(project)
    paid = io.BytesIO(b"month,cost,hours\n2027-01,31000.50,520\n")
    actuals.load_actuals(work.access(), project, paid, "paid.csv")
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=360) as here:
        page = settled(here, f"/team/alpha/projects/{project.pk}/")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        for label in ("Uploads", "Plan against actual by month", "Plan against actual by category"):
            table = page.get_by_role("region", name=label, exact=True)
            assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0, label


@pytest.mark.parametrize("page", ["", "settings/audit/", "settings/webhooks/"])
def test_on_a_phone_the_chosen_tab_of_a_team_is_in_view(chromium, live_server, work, page):
    cookies = cookies_of(work.users[Role.OWNER], live_server)
    with visit(chromium, live_server.url, cookies=cookies, width=360) as here:
        tabs = here.open(f"/team/alpha/{page}").get_by_role("navigation", name="Team")
        chosen = tabs.locator("[aria-current=page]").bounding_box() or {}
        assert 0 <= chosen["x"] <= chosen["x"] + chosen["width"] <= 360
        assert here.overflow() <= 0
