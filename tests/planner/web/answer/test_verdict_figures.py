"""Figures of the verdict on the page: shares, prices paid, the mark of the payback."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

from planner.web.answer.charts import payback, span
from planner.web.answer.verdict import decision_parts
from tests.golden.answers import REQUESTS, answered
from tests.planner.comparison.finance.test_payback_timing import asked

pytestmark = pytest.mark.xdist_group("golden")


@pytest.mark.parametrize("name", REQUESTS)
def test_the_hours_of_a_decision_add_up_on_the_page(name):
    shown = decision_parts(answered(name))
    whole = sum(one.part.share_of_hours for one in shown)
    shares = [one.share.removesuffix("%").removeprefix("less than ") for one in shown]
    assert abs(sum(map(int, shares)) - round(whole * 100)) <= sum("less" in s.share for s in shown)


def test_parts_that_would_be_rounded_down_alone_add_up(monkeypatch):
    answer = answered("servers bought in several months, sensitivity")
    parts = [
        one.model_copy(update={"share_of_hours": share})
        for one, share in zip(answer.verdict.decision, (0.874, 0.126 - 0.0019), strict=False)
    ]
    split = SimpleNamespace(**{name: getattr(answer, name) for name in ("recommended", "offers")})
    split.verdict = answer.verdict.model_copy(update={"decision": tuple(parts)})
    shares = [int(one.share[:-1]) for one in decision_parts(split)]
    assert sum(shares) == round(sum(one.share_of_hours for one in parts) * 100)


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


@pytest.mark.parametrize(
    ("unit", "low", "high", "label"),
    [
        ("USD per full-time equivalent per year", 90_000, 150_000, "90,000 to 150,000 USD a year"),
        ("fraction of the price", 0.05, 0.1, "5% to 10%"),
        ("months", 2, 11, "2 to 11 months"),
    ],
)
def test_the_span_of_a_driver_names_both_ends_with_their_unit(unit, low, high, label):
    assert span(SimpleNamespace(unit=unit, low=low, high=high)) == label
