"""The charts and the sentence of a project: the same figures as the services give."""

from __future__ import annotations

from decimal import Decimal
from unittest.mock import Mock

import pytest

from planner.models import Project
from planner.services.actuals.completion import Completion
from planner.web.team.sentences import headroom_sentence

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
        (1000, "total", 900, 1100, "100 USD left, but 100 USD over in 1 of 10 cases or more."),
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
