"""From the plan page into a project."""

import datetime as dt
from html import unescape
from urllib.parse import urlencode

import pytest

from planner.contract.answer.comparison import summarize_answer
from planner.models import Project, Role, SavedComparison
from planner.services.projects.projects import reprice, save_comparison
from pricing import catalog as catalogs
from tests.planner.costing.market_of import H100
from tests.planner.web.team.texts import text
from tests.planner.workspace import Workspace

LATER = dt.date(2026, 11, 12)
PLAN = {
    "name": "Two runs",
    "start": "2027-01",
    "horizon_months": "6",
    "workload.kind": "accelerator_hours",
    "workload.accelerator": "H100",
    "workload.hours_per_month": "2000",
    "finance.discount_rate_per_year~pct": "8",
    "sensitivity": "false",
    "cheaper_if": "false",
}
HERE = f"/save/?{urlencode(PLAN)}"
NEW = {"name": "Kept", "team": "alpha", "project": "Two runs"}


def test_a_visitor_is_led_to_sign_in_and_back(work, client):
    page = text(client.get(f"/plan/?{urlencode(PLAN)}"))
    assert "Sign in to save this" in page
    assert f"/accounts/login/?next={'%2Fplan%2F%3Fname%3DTwo%2Bruns'}" in page


def test_a_new_project_is_made_of_the_plan(work, signed_in):
    answer = signed_in(Role.EDITOR).post(HERE, NEW)
    project = Project.objects.get(name="Two runs")
    kept = project.saved_comparisons.get()
    assert answer["Location"] == f"/c/{kept.pk}/"
    assert project.workload["hours_per_month"] == 2000
    assert project.assumptions["finance"] == {"discount_rate_per_year": 0.08}


def test_a_price_alert_is_set_on_the_page_of_an_accelerator(work, signed_in):
    browser = signed_in(Role.EDITOR)
    page = text(browser.get(f"/market/accelerator/{H100}/"))
    link = unescape(page.partition('href="/save/')[2].partition('"')[0])
    saved = browser.post(f"/save/{link}", NEW)
    assert saved.status_code == 302
    project = Project.objects.get()
    assert (project.watched, project.workload["accelerator"]) == (True, H100)


def test_a_new_project_takes_the_total_budget_of_the_plan(work, signed_in):
    limited = f"/save/?{urlencode({**PLAN, 'constraints.total_budget': '300000'})}"
    browser = signed_in(Role.EDITOR)
    assert 'value="300000"' in text(browser.get(limited))
    browser.post(limited, {**NEW, "budget": "1,250,000"})
    assert Project.objects.get().budget == "1250000"


def test_a_budget_that_may_be_two_amounts_keeps_nothing(work, signed_in):
    answer = signed_in(Role.EDITOR).post(HERE, {**NEW, "budget": "50.000"})
    assert answer.status_code == 400
    assert "can be read in two ways: 50 or 50000?" in text(answer)
    assert not Project.objects.exists()


def test_a_refusal_of_the_plan_is_shown(work, signed_in):
    wrong = urlencode({**PLAN, "horizon_months": "999"})
    answer = signed_in().post(f"/save/?{wrong}", NEW)
    assert answer.status_code == 400
    assert "horizon_months" in text(answer)


def test_a_foreign_team_cannot_be_chosen(work, signed_in):
    theirs = Workspace("beta").project()
    answer = signed_in().post(HERE, {**NEW, "team": "beta", "project": theirs.name})
    assert answer.status_code == 400
    assert not theirs.saved_comparisons.exists()


def test_the_team_s_overlay_is_in_the_saved_answer(work, signed_in):
    work.team.defaults = {"finance": {"tax_rate": 0.2}}
    work.team.save()
    signed_in(Role.EDITOR).post(HERE, NEW)
    answer = SavedComparison.objects.get().answer
    assert "finance.tax_rate" in {row["field"] for row in answer["inherited"]}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["comparison", "new"])
def test_what_the_team_adds_is_added_once(work, signed_in, kind):
    """The link holds the team's discount already: asked again, it is not given twice."""
    work.team.price_adjustments = [{"multiplier": 0.5}]
    work.team.save()
    project = work.project()
    opened = signed_in(Role.EDITOR).get(f"/plan/?{urlencode(PLAN)}", follow=True)
    link = opened.context["share"].partition("?")[2]
    values = {**NEW, "project": "Another" if kind == "new" else project.name}
    signed_in().post(f"/save/?{link}", values)
    kept = SavedComparison.objects.get()
    again = reprice(kept, catalogs.current())
    assert kept.read_summary() == summarize_answer(again.answer)
    copy = save_comparison(work.access(), kept.project, name="again")
    if kind != "comparison":
        assert copy.summary["total_cost"] == kept.summary["total_cost"]
    page = signed_in().get(f"/plan/?{link}").content.decode()
    assert 'name="inherits"' in page
