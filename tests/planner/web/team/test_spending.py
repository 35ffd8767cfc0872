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
    ("budget", "period", "estimate", "says"),
    [
        (1000, "total", None, "The plan comes to 900 USD against a budget of 1,000 USD "),
        (1000, "total", 1200, "a budget of 1,000 USD for all months: 200 USD over."),
        (100, "monthly", 900, "600 USD for all months: 300 USD over."),
    ],
)
def test_the_sentence_says_what_is_left_or_over(budget, period, estimate, says):
    project = Project(budget=str(budget), budget_period=period)
    plan = Mock(request={"horizon_months": 6})
    plan.read_summary.return_value.total_cost = Decimal(900)
    done = Mock(spec=Completion, estimate_at_completion=estimate)
    told = headroom_sentence(project, Mock(plan=plan, currency="USD"), done)
    assert says in told.replace("\u00a0", " ")
