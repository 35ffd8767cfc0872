"""The total that comes before the rest of an answer is the total of that answer."""

from __future__ import annotations

import pytest

from planner.comparison import TooMuchWork, compare, find_total
from planner.costing.optimizer.work import WorkMeter
from tests.golden.answers import MARKET, REQUESTS, answered
from tests.planner.costing.market_of import TODAY


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_total_by_itself_is_that_of_the_whole_answer(name):
    answer = answered(name)
    alone = find_total(REQUESTS[name], MARKET, today=TODAY)
    assert alone.currency == answer.currency
    assert alone.total == (answer.recommended.total_cost if answer.recommended else None)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("risk, limits", 200_000),
        ("servers bought in several months, sensitivity", 120_000),
    ],
)
def test_a_search_that_ends_early_comes_to_the_same_total_both_times(name, units):
    answer = compare(REQUESTS[name], MARKET, today=TODAY, work=WorkMeter(units))
    assert any("the search ended early" in one for one in answer.warnings)
    alone = find_total(REQUESTS[name], MARKET, today=TODAY, work=WorkMeter(units))
    assert alone.total == answer.recommended.total_cost


def test_too_little_work_is_refused_in_the_same_words():
    request = REQUESTS["owed after the horizon"]
    with pytest.raises(TooMuchWork) as alone:
        find_total(request, MARKET, today=TODAY, work=WorkMeter(20_000))
    with pytest.raises(TooMuchWork) as whole:
        compare(request, MARKET, today=TODAY, work=WorkMeter(20_000))
    assert alone.value.message == whole.value.message
