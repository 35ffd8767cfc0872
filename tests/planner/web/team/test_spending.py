"""The charts and the sentence of a project: the same figures as the services give."""

from __future__ import annotations

import io
from decimal import Decimal

import pytest

from planner.models import BudgetPeriod, Role
from planner.services.actuals import actuals
from planner.services.actuals.burn import burn
from planner.services.actuals.completion import estimate_completion
from planner.services.actuals.headroom import Headroom
from planner.web.team.spending import burn_chart, cause_chart, headroom_sentence
from tests.planner.web.team.texts import text

pytestmark = pytest.mark.usefixtures("months_over")


PAID = b"month,cost,hours\n2027-01,36000,4800\n2027-02,24000,4000\n"


def room(cost: int, high: int | None = None, period: str = "total") -> Headroom:
    return Headroom(
        currency="USD",
        budget=Decimal(1000),
        period=BudgetPeriod(period),
        cost=Decimal(cost),
        is_estimate=high is not None,
        high=None if high is None else Decimal(high),
    )


def words(headroom: Headroom) -> str:
    return headroom_sentence(headroom).replace("\u00a0", " ")


def test_the_sentence_says_what_is_left_or_over():
    assert (
        words(room(900)) == "The plan comes to 900 USD against a budget of 1,000 USD: 100 USD left."
    )
    assert words(room(1200, 1300)).endswith("against a budget of 1,000 USD: 200 USD over.")
    assert words(room(900, 1100)) == (
        "At completion 900 USD against a budget of 1,000 USD: 100 USD left, but at the highest "
        "month's ratio 100 USD over."
    )
    assert "for all months, set by the month" in words(room(900, period="monthly"))


def test_the_charts_draw_what_the_services_say(work):
    project = work.project(budget="900000")
    work.saved(project)
    actuals.load_actuals(work.access(), project, io.BytesIO(PAID))
    table = actuals.variance(project)
    done, spent = estimate_completion(project, table), table.as_dict()["total"]
    chart = burn_chart(burn(table), room(900), "USD")
    ends = {series.name: series.values[-1] for series in chart.series}
    assert ends["Estimate"] == float(done.estimate)
    assert (ends["Lowest"], ends["Highest"]) == (float(done.low), float(done.high))
    assert (ends["Plan"], ends["Budget"], ends["Paid"]) == (float(done.planned_total), 1000, None)
    assert chart.x[0] == "Jan 2027"
    assert "2027-" not in chart.summary
    assert "Paid by February 2027" in chart.summary
    falls = cause_chart(table)
    first, *steps, last = falls.series[0].values
    assert (first, last) == (float(spent["planned"]), float(spent["actual"]))
    assert round(first + sum(steps), 2) == last
    assert any("accelerator-hours more" in str(name) for name in falls.x)


def test_without_hours_no_hours_are_named(work):
    project = work.project()
    work.saved(project)
    actuals.load_actuals(work.access(), project, io.BytesIO(b"month,cost\n2027-01,36000\n"))
    chart = cause_chart(actuals.variance(project))
    assert not any("accelerator-hours" in str(name) for name in chart.x)
    assert "Hours are not known on both sides" in chart.summary


def test_the_page_shows_headroom_and_plan_before_the_first_actuals(work, signed_in):
    project = work.project(budget="900000")
    work.saved(project)
    page = text(signed_in(Role.VIEWER).get(f"/team/alpha/projects/{project.pk}/"))
    assert "against a budget of 900,000 USD" in page
    assert "Cost up to each month" in page
    assert "From plan to actual" not in page
