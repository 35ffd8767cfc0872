"""The team's pages in a real browser: light and dark, wide and narrow, with and without scripts."""

import datetime as dt
import io
import os
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from planner.models import ActualsUpload, Alert, Job, Role, SavedComparison, Scope
from planner.services.actuals import actuals
from planner.services.projects import projects
from planner.services.teams import teams
from planner.services.webhooks import webhooks
from pricing.models import QuarantinedPart
from tests.planner.web.browser import DESK, PHONE, Visit, visit
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),  # One process starts one Chromium.
]

# The sync API runs an event loop, in which Django would refuse the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

LOOKS = (("light", DESK), ("dark", PHONE))
BARE = pytest.param(False, id="without scripts", marks=pytest.mark.sweep)
WITH_AND_WITHOUT_SCRIPTS = pytest.mark.parametrize(
    "scripts", [pytest.param(True, id="with scripts"), BARE]
)
PLAN = {
    "name": "Two runs",
    "start": "2027-01",
    "horizon_months": "6",
    "workload.kind": "accelerator_hours",
    "workload.accelerator": "H100",
    "workload.hours_per_month": "2000",
}
SERVER = {"server": "dgx-h100", "unit_price": 310_000}
PAID = b"month,cost,hours\n2027-01,31000.50,520\n2027-02,29000,480\n2027-03,26000,430\n"


@pytest.fixture
def enter(chromium, live_server):
    """Opens a window for a visitor, or for somebody who has signed in."""
    with ExitStack() as windows:

        def opened(user=None, **options) -> Visit:
            cookies = cookies_of(user, live_server)
            here = visit(chromium, live_server.url, cookies=cookies, **options)
            return windows.enter_context(here)

        yield opened


def cookies_of(user, live_server) -> list[dict[str, str]]:
    if user is None:
        return []
    browser = Client()
    browser.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return [{"name": name, "value": browser.cookies[name].value, "url": live_server.url}]


@pytest.fixture
def full(work) -> dict[str, str]:
    """A team with one of everything; the addresses of its pages."""
    owner = work.access()
    project = work.project(budget="900000", description="A model of our own.")
    plan = projects.approve(owner, projects.submit(owner, work.saved(project)))
    projects.submit(owner, work.saved(work.project(name="Waiting")))
    actuals.load_actuals(owner, project, io.BytesIO(PAID), "paid.csv")
    Alert.objects.create(
        team=work.team, project=project, kind="price_move", message="The plan moved by +9.0%.",
        currency="USD", before="100000", after="109000",
    )  # fmt: skip
    quote = teams.add_quote(
        owner, work.team, {"slug": "our-dgx", "label": "Our DGX", "server": SERVER}
    )
    teams.invite(owner, work.team, Role.EDITOR, "new@alpha.test")
    teams.create_token(owner, work.team, name="Nightly", scopes=[Scope.READ], days=9)
    hook = {"url": "jsons://hooks.test/s3cr3t", "description": "ours", "events": ["test"]}
    webhooks.add_endpoint(owner, work.team, hook)
    QuarantinedPart.objects.create(
        provider="aws", purchase_option="reserved", reason="reserved: 3 prices, × 10 of what is"
        " published", offer_count=3, digest="0", payload=b"",
    )  # fmt: skip
    jobs = {"running job": _job(work, "running"), "failed job": _job(work, "failed")}
    market("60.00")
    portfolio = {"saved portfolio": f"/portfolios/{work.portfolio().pk}/"}
    return addresses(project.pk, plan.pk, quote.pk) | jobs | portfolio


def _job(work, state: str) -> str:
    error = {"detail": "It cannot be used.", "errors": [{"field": "row 2.cost", "message": "no"}]}
    made = Job.objects.create(
        team=work.team, kind="saved_portfolio", state=state, done=3, total=10, error=error,
        heartbeat_at=timezone.now(), message="3 of 10",
    )  # fmt: skip
    return f"/jobs/{made.pk}/"


def addresses(project, plan, quote) -> dict[str, str]:
    here = "/team/alpha/"
    return {
        "dashboard": here,
        "portfolio": f"{here}portfolio/?plan=1&project={project}",
        "project": f"{here}projects/{project}/",
        "project form": f"{here}projects/{project}/edit/",
        "comparison": f"/c/{plan}/",
        "since": f"/c/{plan}/since/",
        "save": f"/save/?{urlencode(PLAN)}",
        "settings": f"{here}settings/",
        "prices": f"{here}prices/",
        "quote": f"{here}prices/quotes/{quote}/",
        "operator": "/operator/",
        "usage": "/usage/",
        "new team": "/teams/new/",
        "password": "/accounts/password/change/",
        "sign out": "/accounts/logout/",
    }


def problems_of(here: Visit, address: str, *rules: str) -> list[str]:
    """Sideways scrolling, what axe finds (by `rules` alone where given), and what the console
    complained of."""
    here.problems.clear()
    settled(here, address)
    too_wide = here.overflow()
    wide = [f"{too_wide} px too wide"] if too_wide > 0 else []
    return [*wide, *here.violations(*rules), *here.problems]


def settled(here: Visit, address: str) -> Page:
    page = here.open(address)
    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    return page


@pytest.mark.sweep
@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_every_page_is_clean(work, full, enter, theme, width):
    owner = work.users[Role.OWNER]
    owner.is_staff = True
    owner.save()
    here = enter(owner, theme=theme, width=width)
    rules = ["color-contrast"] if theme == "dark" else []
    found = {name: problems_of(here, address, *rules) for name, address in full.items()}
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.sweep
@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("address", ["login", "signup", "password/reset"])
def test_every_account_page_is_clean(db, settings, enter, theme, width, address):
    settings.SIGNUP_OPEN = True
    assert problems_of(enter(theme=theme, width=width), f"/accounts/{address}/") == []


@pytest.mark.sweep
@WITH_AND_WITHOUT_SCRIPTS
def test_a_plan_is_saved_submitted_and_approved(work, enter, scripts):
    editor = enter(work.users[Role.EDITOR], scripts=scripts)
    page = settled(editor, f"/plan/?{urlencode(PLAN)}")
    page.get_by_role("link", name="Save to a project").first.click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two runs draft")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two runs submitted")

    approver = enter(work.users[Role.APPROVER], scripts=scripts)
    theirs = settled(approver, page.url.removeprefix(editor.base))
    theirs.get_by_role("button", name="Approve").click()
    expect(theirs.get_by_role("heading", level=1)).to_contain_text("Two runs approved")
    assert SavedComparison.objects.get().approved_by == work.users[Role.APPROVER]
    assert editor.problems + approver.problems == []


@pytest.mark.sweep
@pytest.mark.parametrize("scripts", [True, False])
def test_projects_are_planned_together_ticked_out_and_kept(work, enter, scripts):
    work.project(name="speech")
    work.project(name="vision")
    here = enter(work.users[Role.OWNER], scripts=scripts)
    page = settled(here, "/team/alpha/portfolio/")
    page.get_by_role("button", name="Plan together").click()
    shares = page.get_by_role("region", name="Shares")
    expect(shares).to_contain_text("vision")
    expect(page.locator(".plot .series").first).to_be_visible()
    page.get_by_role("checkbox", name="vision").uncheck()
    if not scripts:
        page.get_by_role("button", name="Plan together").click()
    expect(shares).not_to_contain_text("vision")
    page.get_by_text("Keep this plan").click()
    page.get_by_label("Name of the plan").fill("Speech alone")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Speech alone draft")
    expect(page.get_by_role("region", name="Shares")).not_to_contain_text("vision")
    assert here.problems == []


@pytest.mark.sweep
def test_a_large_file_is_sent_and_read(work, full, enter):
    page = settled(enter(work.users[Role.EDITOR]), full["project"])
    rows = b"month,cost\n" + b"2027-04,1.00\n" * 100_000
    file = {"name": "large.csv", "mimeType": "text/csv", "buffer": rows}
    page.get_by_label("Monthly actuals").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    read = page.get_by_role("row", name="large.csv")
    expect(read).to_contain_text("100,000", timeout=60_000)


@pytest.mark.sweep
def test_a_refused_file_says_why_without_leaving_the_page(work, full, enter):
    page = settled(enter(work.users[Role.EDITOR]), full["project"])
    file = {"name": "wrong.csv", "mimeType": "text/csv", "buffer": b"month,cost\n2027-01,much\n"}
    page.get_by_label("Monthly actuals").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("row 2 › cost")).to_be_visible()


REFUSED = {
    "project": ("/team/alpha/projects/new/", "Name", "x" * 10, "Budget", "much", "Save"),
    "team": (
        "/teams/new/",
        "Name of the team",
        "Alpha",
        "Name of the team",
        "Alpha",
        "Create team",
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_form_is_clean_and_keeps_what_was_typed(work, enter, theme, width, name):
    address, first, value, second, wrong, button = REFUSED[name]
    here = enter(work.users[Role.OWNER], theme=theme, width=width)
    page = settled(here, address)
    page.get_by_label(first, exact=True).fill(value)
    page.get_by_label(second, exact=True).fill(wrong)
    page.get_by_role("button", name=button).click()
    expect(page.get_by_label(first, exact=True)).to_have_value(value)
    here.problems.clear()  # The console tells of the status 400.
    assert here.violations() == []
    assert here.overflow() <= 0


@pytest.mark.sweep
def test_the_dashboard_loads_what_plans_will_have_cost(enter, work, full) -> None:
    ActualsUpload.objects.update(created_at=timezone.make_aware(dt.datetime(2027, 4, 2)))
    here = enter(work.users[Role.VIEWER])
    page = here.open(full["dashboard"])
    expect(page.get_by_text("chance of ending over budget")).to_have_count(1)
    assert here.problems == []
