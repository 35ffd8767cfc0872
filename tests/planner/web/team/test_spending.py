"""The charts and the sentence of a project: the same figures as the services give."""

from __future__ import annotations

from decimal import Decimal

import pytest

from planner.web.team.sentences import headroom_sentence

pytestmark = pytest.mark.usefixtures("months_over")


PAID = b"month,cost,hours\n2027-01,36000,4800\n2027-02,24000,4000\n"


@pytest.mark.parametrize(
    ("budget", "cost", "says"),
    [
        (1000, 900, "The plan comes to 900 USD against a budget of 1,000 USD for all months: 100 "),
        (1000, 1200, "a budget of 1,000 USD for all months: 200 USD over."),
    ],
)
def test_the_sentence_says_what_is_left_or_over(budget, cost, says):
    told = headroom_sentence("The plan comes to", Decimal(cost), Decimal(budget), "USD")
    assert says in told.replace("\u00a0", " ")
