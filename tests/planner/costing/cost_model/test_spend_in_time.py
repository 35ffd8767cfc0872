"""When bills are paid, what credits and minimum spends make of them, and what a unit is for."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.contract.request.on_prem import Credit, Existing, MinimumSpend
from planner.costing.cost_model.spend_pools import SpendPool, read_pools, settle_pools
from planner.costing.cost_model.terms import Calendar, PaidWhen


def for_use(*amounts: float, ahead: float = 0.0) -> np.ndarray:
    """Bills by month, of which the second has `ahead` to pay in advance beside."""
    return np.array([[one, ahead * (month == 1)] for month, one in enumerate(amounts)])


CALENDAR = Calendar(dt.date(2027, 1, 1), 3, discount_rate_per_year=0.21, tax_rate=0.25)


@pytest.mark.parametrize(
    ("timing", "months"), [("month_start", 0.0), ("month_middle", 0.5), ("month_end", 1.0)]
)
@pytest.mark.parametrize(("days", "terms"), [(0.0, 0.0), (365 / 6, 2.0)])
def test_bills_are_paid_after_their_moment_and_terms(
    timing: str, months: float, days: float, terms: float
) -> None:
    one = replace(CALENDAR, cash_timing=timing, payment_terms_days=days)
    late = np.arange(4) + months + terms
    assert one.paid_months(PaidWhen.RUNNING) == pytest.approx(late)
    assert one.running_discount == pytest.approx(1.21 ** (-late / 12))
    assert one.paid_months(PaidWhen.DATED).tolist() == [0, 1, 2, 3]
    assert one.paid_months(PaidWhen.MONTH_END).tolist() == [1, 2, 3, 4]
    assert one.is_plain == (not months and not terms)


def test_a_credit_pays_the_bills_of_its_provider_until_it_is_used_up_or_over() -> None:
    bills = {"aws": for_use(10.0, 20, 30, 40, ahead=7), "gcp": for_use(1.0, 1, 1, 1)}
    pools = [
        SpendPool("first", "aws", 25.0, 0, 3, is_credit=True),
        SpendPool("second", "aws", 100.0, 1, 2, is_credit=True),
        SpendPool("elsewhere", "azure", 5.0, 0, 3, is_credit=True),
    ]
    found = [amounts.tolist() for _, amounts in settle_pools(pools, bills)]
    assert found == [[-10, -15, 0, 0], [0, -5, -30, 0], [0, 0, 0, 0]]
    assert bills["aws"].tolist() == for_use(10, 20, 30, 40, ahead=7).tolist()


def test_what_bills_lack_of_a_minimum_spend_is_owed_at_its_end() -> None:
    bills = {"aws": for_use(10.0, 13, 30, 40, ahead=7)}
    least = SpendPool("least", "aws", 100.0, 1, 2, is_credit=False)
    ((_, owed),) = settle_pools([least], bills)
    assert owed.tolist() == [0, 0, 50, 0]
    ((_, enough),) = settle_pools([replace(least, amount=50.0)], bills)
    assert enough.tolist() == [0, 0, 0, 0]
    assert list(settle_pools([], {})) == []


def test_a_bill_that_is_paid_or_counts_saves_as_much_after_tax() -> None:
    credit = SpendPool("c", "aws", 1.0, 1, 2, is_credit=True)
    paid = [0, 0.75 * 1.21 ** (-1 / 12), 0.75 * 1.21 ** (-2 / 12), 0]
    assert credit.worth(CALENDAR) == pytest.approx(np.array([paid, [0] * 4]).T)
    least = replace(credit, is_credit=False)
    counted = [0, *[0.75 * 1.21 ** (-3 / 12)] * 2, 0]
    assert least.worth(CALENDAR) == pytest.approx(np.array([counted, counted]).T)
    assert (credit.category, least.category) == (Category.CREDIT, Category.SHORTFALL)
    assert (credit.paid, least.paid) == (PaidWhen.RUNNING, PaidWhen.MONTH_END)


def test_pools_count_their_months_from_the_start_of_the_plan() -> None:
    """A minimum of 120 over four months, of which one is before the plan and two within it."""
    existing = Existing(
        credits=(
            Credit(label="late", amount=50.0, provider="aws", expires=dt.date(2030, 1, 1)),
            Credit(label="soon", amount=40.0, provider="aws", expires=dt.date(2027, 2, 1)),
            Credit(label="over", amount=40.0, provider="aws", expires=dt.date(2026, 12, 1)),
        ),
        minimum_spend=(
            MinimumSpend(
                label="least", provider="gcp", amount=120.0, first=dt.date(2027, 2, 1),
                last=dt.date(2027, 5, 1), spent=10.0,
            ),
            MinimumSpend(
                label="met", provider="gcp", amount=90.0, first=dt.date(2026, 12, 1),
                last=dt.date(2027, 2, 1), spent=90.0,
            ),
        ),
    )  # fmt: skip
    assert read_pools(existing, CALENDAR) == (
        SpendPool("soon", "aws", 40.0, 0, 1, is_credit=True),
        SpendPool("late", "aws", 50.0, 0, 3, is_credit=True),
        SpendPool("least", "gcp", 120 * 2 / 4 - 10, 1, 2, is_credit=False),
    )
