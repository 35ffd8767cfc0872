"""The mark of the payback on the chart of the answer."""

from __future__ import annotations

from decimal import Decimal

import pytest

from planner.web.answer.charts import payback
from tests.planner.comparison.finance.test_payback_timing import asked


@pytest.mark.parametrize(
    ("month", "resale", "place", "label"),
    [
        ("2027-12", None, "Dec 2027", "Paid off in December 2027"),
        ("2040-01", Decimal(5_000), "end", "Paid off with the resale"),
        ("2040-01", None, "end", "Paid off after the plan"),
    ],
)
def test_the_mark_says_when_and_by_what_the_plan_is_paid_off(month, resale, place, label):
    answer = asked()
    changed = answer.verdict.model_copy(update={"payback": month, "resale": resale})
    chart = payback(answer.model_copy(update={"verdict": changed}))
    (mark,) = chart.marks
    assert (mark.x, mark.label) == (place, label)
    assert mark.y == chart.series[0].values[list(chart.x).index(place)]


def test_a_plan_that_never_pays_off_has_no_mark():
    answer = asked()
    never = answer.verdict.model_copy(update={"payback": None})
    assert list(payback(answer.model_copy(update={"verdict": never})).marks) == []
