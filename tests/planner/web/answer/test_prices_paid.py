"""Whose prices a plan pays stands in a few words; which they are is folded, and whole on paper."""

from __future__ import annotations

import re

from planner.models import Role
from planner.web.answer.verdict import FigureRow
from tests.planner.web.asking import HOURS, get, text

CUT = {
    "price_adjustments.0.provider": "aws",
    "price_adjustments.0.multiplier": "0.5",
}


def row(response) -> FigureRow:
    return next(one for one in response.context["page"].figure_rows if one.title == "Prices")


def test_team_rates_stand_in_two_words_and_are_named_in_the_fold(client, work):
    work.team.price_adjustments = [{"provider": "aws", "multiplier": 0.5}]
    work.team.save()
    client.force_login(work.users[Role.EDITOR])
    response = get(client, "plan", HOURS, follow=True)
    found = row(response)
    assert found.words == "team rates"
    assert found.details[0] == "contract discounts: 1 of the team Alpha"
    page = re.sub(r"<[^>]+>", " ", text(response))
    assert re.search(r"Prices\s+team rates\s+Which\s+contract discounts: 1 of", page)
    assert "contract discounts: 1 of the team Alpha" in found.in_a_line


def test_one_changed_price_is_said_at_once(client, prices):
    found = row(get(client, "plan", {**HOURS, **CUT}))
    assert found.words == "list prices, but AWS p5.48xlarge −50%"
    assert found.details == ()


def test_list_prices_have_nothing_to_unfold(client, prices):
    response = get(client, "plan", HOURS)
    assert (row(response).words, row(response).details) == ("list prices", ())
