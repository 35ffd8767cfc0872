"""The charts and the sentence of a project: the same figures as the services give."""

from __future__ import annotations

import io
from decimal import Decimal
from unittest.mock import Mock

import pytest

from planner.models import Project
from planner.services.actuals import actuals
from planner.services.actuals.completion import BurnMonth, Completion, burn, estimate_completion
from planner.web.team.spending import (
    burn_chart,
    headroom_sentence,
)

pytestmark = pytest.mark.usefixtures("months_over")


PAID = b"month,cost,hours\n2027-01,36000,4800\n2027-02,24000,4000\n"


@pytest.mark.parametrize(
    ("budget", "period", "estimate", "high", "says"),
    [
        (
            1000,
            "total",
            None,
            None,
            "The plan comes to 900 USD against a budget of 1,000 USD: 100 ",
        ),
        (1000, "total", 1200, 1300, "against a budget of 1,000 USD: 200 USD over."),
        (1000, "total", 900, 1100, "100 USD left, but at the highest month's ratio 100 USD over."),
        (100, "monthly", 900, None, "600 USD for all months, set by the month: 300 USD over."),
    ],
)
def test_the_sentence_says_what_is_left_or_over(budget, period, estimate, high, says):
    project = Project(budget=str(budget), budget_period=period)
    plan = Mock(request={"horizon_months": 6})
    plan.read_summary.return_value.total_cost = Decimal(900)
    done = Mock(spec=Completion, estimate_at_completion=estimate, high=high)
    told = headroom_sentence(project, Mock(plan=plan, currency="USD"), done)
    assert says in told.replace("\u00a0", " ")


def test_the_charts_draw_what_the_services_say(work):
    project = work.project(budget="900000")
    work.saved(project)
    actuals.load_actuals(work.access(), project, io.BytesIO(PAID))
    table = actuals.variance(project)
    done = estimate_completion(project, table)
    chart = burn_chart(burn(table), Decimal(1000), "USD")
    ends = {series.name: series.values[-1] for series in chart.series}
    assert ends["Estimate"] == float(done.estimate_at_completion)
    assert (ends["Lowest"], ends["Highest"]) == (float(done.low), float(done.high))
    assert (ends["Plan"], ends["Budget"], ends["Paid"]) == (float(done.planned_total), 1000, None)
    assert chart.x[0] == "Jan 2027"
    assert "2027-" not in chart.summary
    assert "Paid by February 2027" in chart.summary


def month(name: str, planned: int, actual: int | None, estimate: int | None) -> BurnMonth:
    low, high = (None, None) if estimate is None else (estimate - 50, estimate + 50)
    amounts = (None if one is None else Decimal(one) for one in (actual, estimate, low, high))
    return BurnMonth(name, Decimal(planned), *amounts)


def test_every_line_and_word_of_the_cost_up_to_each_month():
    months = [
        month("2027-01", 400, 500, None),
        month("2027-02", 1200, 900, 900),
        month("2027-03", 1000, None, 1300),
    ]
    chart = burn_chart(months, Decimal(1000), "USD")
    assert [(one.name, list(one.values), one.role) for one in chart.series] == [
        ("Paid", [500, 900, None], "paid"),
        ("Budget", [1000, 1000, 1000], "budget"),
        ("Estimate", [None, 900, 1300], "next_best"),
        ("Plan", [400, 1200, 1000], "advised"),
        ("Lowest", [None, 850, 1250], "low"),
        ("Highest", [None, 950, 1350], "high"),
    ]
    assert (chart.kind, list(chart.x)) == ("line", ["Jan 2027", "Feb 2027", "Mar 2027"])
    assert chart.summary.replace("\u00a0", " ") == (
        "The plan comes to 1,000 USD by March 2027. On the way it reaches 1,200 USD, in February "
        "2027; resale and credits come off afterwards. Paid by February 2027: 900 USD of 1,200 "
        "USD planned. From there on the estimate: costs that follow use at the use so far and "
        "current prices, the rest as planned; where no hours are known, all at the ratio of paid "
        "to planned."
    )
    unpaid = burn_chart([month("2027-01", 400, None, None)], None, "USD")
    assert [one.name for one in unpaid.series] == ["Plan"]
    assert unpaid.summary == "The plan comes to 400\u00a0USD by January 2027."
    assert burn_chart([], None, "USD") is None
