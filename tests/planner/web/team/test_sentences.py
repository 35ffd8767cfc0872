"""Sentences of the team's pages, one state after the other."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from planner.models import Job, Project, SavedComparison
from planner.web.team import sentences

DAY = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("kind", "arguments", "title"),
    [("price_refresh", {}, "Price refresh"), ("comparison", {}, "Comparison")],
)
def test_a_job_is_named_by_what_it_does(kind: str, arguments: dict[str, Any], title: str) -> None:
    assert sentences.job_title(Job(kind=kind, arguments=arguments)) == title


@pytest.mark.parametrize(
    ("budget", "period", "line"),
    [
        ("", "total", "No budget set"),
        ("12000", "total", "Budget 12,000\u00a0USD for the whole plan"),
        ("12000", "yearly", "Budget 12,000\u00a0USD a year"),
        ("12000", "monthly", "Budget 12,000\u00a0USD a month"),
    ],
)
def test_the_budget_says_its_period(budget: str, period: str, line: str) -> None:
    project = Project(budget=budget, budget_period=period)
    assert sentences.budget_line(project, "USD") == line


def _saved(**values: Any) -> SavedComparison:
    return SavedComparison(answered_on=DAY.date(), **values)


def test_the_history_names_each_step_taken() -> None:
    assert sentences.history_line(_saved()) == "Answered 20 November 2026"
    steps = {"submitted_at": DAY, "submitted_as": "ada", "approved_at": DAY + dt.timedelta(1)}
    line = (
        "Answered 20 November 2026 · submitted 20 November 2026 by ada · approved 21 November 2026"
    )
    assert sentences.history_line(_saved(**steps)) == line
    back = _saved(sent_back_at=DAY, sent_back_as="bo")
    assert sentences.history_line(back).endswith(" · sent back 20 November 2026 by bo")


@pytest.mark.parametrize(
    ("budget", "cost", "says"),
    [
        (1000, 900, "The plan comes to 900 USD against a budget of 1,000 USD for all months: 100 "),
        (1000, 1200, "a budget of 1,000 USD for all months: 200 USD over."),
    ],
)
def test_the_sentence_says_what_is_left_or_over(budget: int, cost: int, says: str) -> None:
    told = sentences.headroom_sentence("The plan comes to", Decimal(cost), Decimal(budget), "USD")
    assert says in told.replace("\u00a0", " ")
