"""The board pack of a portfolio: its figures are those of the page, for whoever reads it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.models import Role, SavedPortfolio
from planner.services.portfolio import portfolios
from planner.web.answer.board_pack import PackFacts
from planner.web.team.portfolio_page import OTHERS, PortfolioPage, portfolio_pack
from tests.planner.web.paper import read_paper
from tests.planner.web.team.texts import text
from tests.planner.workspace import WORKLOAD

TODAY = dt.date(2026, 11, 20)
NAMES = ("speech", "vision", "search", "ranking", "driving", "fraud", "genes")


@pytest.fixture
def projects(work):
    made = [work.project(name=name) for name in NAMES[:2]]
    made[1].created_by = work.users[Role.EDITOR]
    made[1].save()
    return made


def of(answer: PortfolioAnswer) -> tuple[list[str], str]:
    return read_paper(portfolio_pack(PortfolioPage(answer), PackFacts(TODAY)))


def test_every_figure_of_the_page_stands_on_paper(work, projects, signed_in):
    answer = work.portfolio().read_answer()
    page = PortfolioPage(answer)
    pages, words = of(answer)
    assert 1 <= len(pages) <= 3
    assert answer.headline in words
    for title, figure in page.figures:
        assert f"{title} {figure}".replace("\xa0", " ") in words
    for share in page.shares:
        assert share.row.explanation.replace("\xa0", " ") in words
    assert page.shares_note in words
    for one in page.timeline:
        assert f"{one.ordered} {one.units}: " in words


def test_amounts_of_millions_stand_on_one_line(work):
    answer = work.portfolio().read_answer()
    (one,) = answer.projects
    large = {"alone": Decimal(9_182_816), "share": Decimal(8_274_924), "saving": Decimal(907_892)}
    shares = (one.model_copy(update={**large, "explanation": "Because."}),)
    words = of(answer.model_copy(update={"projects": shares}))[1]
    assert "9,182,816 USD 8,274,924 USD 907,892 USD" in words


@pytest.mark.sweep
def test_a_chart_of_many_projects_names_the_largest_and_sums_up_the_others(work):
    several = [
        {"name": name, "workload": {**WORKLOAD, "hours_per_month": 200 * number}}
        for number, name in enumerate(NAMES, 1)
    ]
    answer = work.portfolio(request={**work.portfolio().request, "projects": several}).read_answer()
    chart = of(answer)[1].partition("Which project uses")[2].partition("Accelerators at work")[0]
    assert OTHERS in chart
    assert all(name in chart for name in NAMES[-4:])
    assert not any(name in chart for name in NAMES[:3])


def test_the_page_offers_it_for_the_projects_that_are_ticked(projects, signed_in):
    browser, asked = signed_in(), f"?plan=1&project={projects[0].pk}"
    page = browser.get(f"/team/alpha/portfolio/{asked}")
    assert f"/team/alpha/portfolio/pack/{asked}".replace("&", "&amp;") in page.content.decode()
    response = browser.get(f"/team/alpha/portfolio/pack/{asked}")
    assert response["Content-Type"] == "application/pdf"
    words = read_paper(response.content)[1]
    assert "speech" in words
    assert "vision" not in words


def test_where_there_is_no_plan_it_leads_back_to_the_page(work, signed_in):
    response = signed_in().get("/team/alpha/portfolio/pack/?plan=1")
    assert response.status_code == 302
    assert response["Location"].startswith("/team/alpha/portfolio/?plan=1")


def test_it_says_who_kept_and_who_approved_the_plan(work, projects, signed_in):
    saved = portfolios.approve_portfolio(work.access(), work.portfolio())
    browser = signed_in()
    assert f"/portfolios/{saved.pk}/pack/" in text(browser.get(f"/portfolios/{saved.pk}/"))
    words = read_paper(browser.get(f"/portfolios/{saved.pk}/pack/").content)[1]
    assert f"Approved {saved.approved_as} " in words
    assert saved.name in words


def test_a_member_gets_no_more_than_the_page_shows(work, projects, signed_in):
    signed_in().post(
        "/team/alpha/portfolio/save/",
        {"plan": "1", "name": "Ours", "project": [p.pk for p in projects]},
    )
    saved = SavedPortfolio.objects.get()
    words = read_paper(signed_in(Role.EDITOR).get(f"/portfolios/{saved.pk}/pack/").content)[1]
    assert "vision" in words
    assert "speech" not in words
    assert "Cost of the plan" not in words
    assert "What the money is spent on" not in words


def test_the_files_beside_it_go_by_the_names_of_those_of_a_comparison(work, projects, signed_in):
    saved = work.portfolio()
    page = text(signed_in(Role.OWNER).get(f"/portfolios/{saved.pk}/"))
    for form, title in {
        "csv": "CSV",
        "xlsx": "Excel",
        "json": "JSON",
        "focus": "FOCUS 1.2",
    }.items():
        assert f'/portfolios/{saved.pk}/export/{form}/">{title}</a>' in page
