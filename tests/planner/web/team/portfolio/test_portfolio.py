"""Team → Portfolio: the plan for ticked projects, and what is kept."""

import pytest

from planner.models import Job, Role, SavedPortfolio
from planner.web.common.formatting import money
from planner.web.team.portfolio_page import PortfolioPage
from tests.planner.portfolio.portfolios import planned, relay
from tests.planner.web.team.texts import text

HERE = "/team/alpha/portfolio/"


@pytest.fixture
def projects(work):
    return [work.project(name="speech"), work.project(name="vision")]


def test_a_window_is_planned_with_and_kept(projects, signed_in):
    key = projects[0].pk
    values = {"plan": "1", "project": [key], f"from-{key}": "2027-02", f"until-{key}": "2027-04"}
    browser = signed_in()
    page = text(browser.get(HERE, values))
    assert 'value="2027-04"' in page
    assert "It pays" in page
    browser.post(f"{HERE}?form=save", {**values, "name": "Later"})
    (one, other) = SavedPortfolio.objects.get().request["projects"]
    assert one["window"] == {"start": "2027-02", "deadline": "2027-04"}
    assert "window" not in other


@pytest.mark.parametrize(
    ("side", "typed", "words"),
    [
        ("until", "2040-01", "speech: The months within which it may move: "),
        ("until", "soon", "speech: The last month in which it may move: "),
    ],
)
def test_a_window_that_cannot_be_names_its_project(projects, signed_in, side, typed, words):
    key = projects[0].pk
    page = text(signed_in().get(HERE, {"plan": "1", "project": [key], f"{side}-{key}": typed}))
    assert words in page


def test_a_plan_is_kept_and_shown_again(work, projects, signed_in):
    values = {"plan": "1", "project": [projects[0].pk], "name": "Board", "shares": "use"}
    browser = signed_in()
    browser.post(f"{HERE}?form=save", values)
    saved = SavedPortfolio.objects.get()
    assert (saved.name, saved.read_answer().shares_method) == ("Board", "use")
    assert [one.name for one in saved.read_answer().projects] == ["speech"]
    assert "Board" in text(browser.get(HERE))
    assert "It pays" in text(browser.get(f"/portfolios/{saved.pk}/"))


def test_a_large_plan_is_kept_by_a_job_that_leads_to_it(projects, signed_in):
    values = {"plan": "1", "project": [p.pk for p in projects], "name": "Large"}
    browser = signed_in()
    browser.post(f"{HERE}?form=save", {**values, "in_background": "on"})
    job, saved = Job.objects.get(), SavedPortfolio.objects.get()
    assert job.result == {"saved_portfolio": str(saved.pk)}
    assert str(saved.pk) in text(browser.get(f"/jobs/{job.pk}/"))


def test_a_kept_plan_is_approved_and_exported(work, projects, signed_in):
    saved = work.portfolio(role=Role.EDITOR)
    browser = signed_in(Role.APPROVER)
    browser.post(f"/team/alpha/portfolios/{saved.pk}/approve/", {"version": saved.version})
    assert "approved" in text(browser.get(f"/portfolios/{saved.pk}/"))
    exported = browser.get(f"/portfolios/{saved.pk}/export/xlsx/")
    assert exported.content[:2] == b"PK"
    for form in ("commitments",):  # of a comparison alone
        assert browser.get(f"/portfolios/{saved.pk}/export/{form}/").status_code == 404


def test_one_s_own_plan_is_not_approved_by_oneself(work, signed_in):
    saved = work.portfolio(role=Role.APPROVER)
    browser = signed_in(Role.APPROVER)
    assert "Approve</button>" not in text(browser.get(f"/portfolios/{saved.pk}/"))
    page = browser.post(f"/team/alpha/portfolios/{saved.pk}/approve/", {"version": 1}, follow=True)
    assert "You saved it" in text(page)


@pytest.mark.sweep
def test_the_capital_of_a_portfolio_is_all_that_its_first_order_is_invoiced_with():
    answer = planned(relay())
    figures, order = dict(PortfolioPage(answer).figures), answer.next_order
    beside = ("install", "network_storage", "spares")
    due = sum(
        line.amount
        for line in answer.lines
        if line.month == order.month and line.category in ("capex", *beside)
    )
    assert figures["Capital to approve first"] == f"{money(due, 'USD')}, from February 2027"
    assert due > order.due_at_start
    first = PortfolioPage(answer).timeline[0]
    assert first.month == f"{answer.month(first.purchase.month):%B %Y}"
    assert first.purchase.due_at_start + first.fittings == due
    owed = answer.total_cost - sum(answer.cash_per_month)
    assert figures["Owed after the plan"] == (money(owed, "USD") if owed else "nothing")


def test_a_portfolio_says_what_is_left_of_its_budget_and_how_sure_it_is():
    request = relay()
    page = PortfolioPage.of(planned(request), request)
    figures = dict(page.figures)
    [projects] = page.charts
    done = sum(sum(one.values) for one in projects.series) * 730
    assert done == pytest.approx(4 * 8 * 8 * 730 * 0.9, rel=1e-3)
    assert figures["Budget"] == "none stated for all projects together"
    assert figures["Range of the total"].startswith(
        "396,653 USD to 677,461 USD in 8 of 10 cases (median"
    )
    assert len([name for name in figures if name.startswith("Range")]) == 1
    assert figures["No plan is cheaper"] == "proven"
    limited = request | {"limits": {"total_budget": 9_000_000}}
    answer = planned(limited)
    resale = sum(line.amount for line in answer.lines if line.category == "residual")
    left = 9_000_000 - (answer.total_cost - resale)
    assert left >= 0
    words = dict(PortfolioPage.of(answer, limited).figures)["Budget"]
    assert words.startswith(f"{money(left, 'USD')} left of {money(9_000_000, 'USD')}")
    assert ("of resale" in words) == bool(resale)
