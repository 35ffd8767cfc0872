"""What the first screen of an answer says before anything is unfolded."""

from __future__ import annotations

from typing import Any

from tests.planner.web.asking import HOURS, get, text

UNNAMED = {name: value for name, value in HOURS.items() if name != "name"}


def test_a_plan_without_a_name_is_called_by_what_to_do(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", UNNAMED | {"start": "2031-02", "horizon_months": "5"}))
    assert '<h1 class="h2" id="plan-title">Rent, 5 months from February 2031</h1>' in page
    assert "<title>Rent, 5 months from February 2031 · GPU cost planner</title>" in page


def test_a_plan_that_there_is_none_of_says_so_in_its_title(client: Any, prices: Any) -> None:
    asked = UNNAMED | {"start": "2031-02", "constraints.total_budget": "1"}
    page = text(get(client, "plan", asked))
    assert '<h1 class="h2" id="plan-title">No plan within these limits, ' in page


def test_a_name_stands_as_it_was_given(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", UNNAMED | {"name": "Spring"}))
    assert '<h1 class="h2" id="plan-title">Spring</h1>' in page


def test_months_that_are_over_are_said_before_the_advice(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", HOURS | {"start": "2019-01"}))
    said = page.index("The plan begins in January 2019, before today: ")
    assert said < page.index('class="decision"')
    assert "before today" not in text(get(client, "plan", HOURS | {"start": "2031-01"}))
