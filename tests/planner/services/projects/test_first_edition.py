"""A thousand comparisons of before there were rules replay to the cent under edition 1."""

from __future__ import annotations

import datetime as dt
import os

import pytest

from planner.comparison import compare
from planner.contract.answer.summary import summarize_answer
from planner.models import SavedComparison
from planner.services.projects.saved_comparisons import replay
from pricing.market.snapshot import Catalog
from tests.planner.services.projects.first_edition import COUNT, figures, read_figures, request_of
from tests.planner.workspace import Workspace
from tests.properties import one_in

TODAY = dt.date(2026, 11, 20)
NUMBERS = range(COUNT) if os.environ.get("FUZZ") == "1" else range(0, COUNT, 40)
ANSWERED = read_figures()


@pytest.mark.fuzz
@pytest.mark.django_db
@pytest.mark.parametrize("number", one_in(3, NUMBERS))
def test_it_replays_to_the_cent(number: int) -> None:
    """The row is as the upgrade of the database left it: the request names edition 1."""
    work, given = Workspace("alpha"), request_of(number)
    request = {**given, "rules": 1}
    answer = compare(request, Catalog.of([]), today=TODAY)
    row = answer.to_json()
    assert figures(row) == ANSWERED[number]
    saved = SavedComparison.objects.create(
        team=work.team, project=work.project(), name=given["name"], given=request, request=request,
        inherited=[], revisions={}, rates=[], answer=row, answered_on=TODAY,
        assumptions=row["assumptions"], summary=summarize_answer(answer).model_dump(mode="json"),
    )  # fmt: skip
    result = replay(saved)
    assert result.identical, result.differences
    assert figures(result.answer.to_json()) == ANSWERED[number]


def test_the_requests_reach_what_a_plan_may_hold() -> None:
    categories = {
        name for one in ANSWERED for _, _, sums in one.values() for name in sums
    }  # fmt: skip
    assert {"compute", "commitment", "upfront", "capex", "power"} <= categories
    assert len(ANSWERED) == COUNT
    assert sum(not one for one in ANSWERED) < COUNT / 100
