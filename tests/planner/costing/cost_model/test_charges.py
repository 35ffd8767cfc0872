"""When charges fall due: terms, masks and streams."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.costing.cost_model.charges import (
    HourCharge,
    UnitCharge,
    build_hour_streams,
    build_unit_streams,
)
from planner.costing.cost_model.terms import Calendar, ChargeTiming, Term

START = dt.date(2027, 11, 1)


def test_months_run_over_the_year() -> None:
    calendar = Calendar(START, 24)
    assert calendar.month(2) == dt.date(2028, 1, 1)
    assert calendar.index(dt.date(2028, 1, 1)) == 2
    assert calendar.index(dt.date(2027, 9, 1)) == -2


def test_a_unit_serves_after_its_lead_time_for_its_life() -> None:
    term = Term(months=6, length=7, lead_months=2, duration_months=3)
    assert term.active[0].tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert term.active[3].tolist() == [0, 0, 0, 0, 0, 1, 0]
    assert term.can_start.tolist() == [True] * 4 + [False] * 2


def test_a_commitment_may_run_beyond_the_horizon() -> None:
    term = Term(
        months=3, length=3 + 1 + 12, lead_months=0, duration_months=12, charges_after_horizon=True
    )
    assert term.active[2].sum() == 12
    assert term.share_charged[:3].tolist() == [1, 1, 1]


def test_or_is_charged_for_its_months_within() -> None:
    term = Term(months=3, length=4, lead_months=0, duration_months=12)
    assert term.share_charged[:3].tolist() == pytest.approx([3 / 12, 2 / 12, 1 / 12])


def test_residual_value_is_due_of_units_that_live_on() -> None:
    term = Term(months=6, length=7, lead_months=1, duration_months=4)
    assert term.at_end[:, 6].tolist() == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("method", ["straight_line", "macrs_5", "none", None])
def test_all_capital_is_written_off_by_the_horizon(method) -> None:
    term = Term(12, 13, 2, 60, depreciation=method)
    assert term.write_off[: 12 - 2].sum(axis=1) == pytest.approx(np.ones(10))


def test_straight_line_writes_the_rest_off_at_the_horizon() -> None:
    term = Term(4, 5, 1, 6, depreciation="straight_line")
    assert term.write_off[0].tolist() == pytest.approx([0, 1 / 6, 1 / 6, 1 / 6, 3 / 6])


def test_hour_charges_follow_the_hours() -> None:
    charge = HourCharge(Category.COMPUTE, "rent", "node-hours", 2.0, np.full(4, 3.0))
    (stream,) = build_hour_streams((charge,), np.array([10.0, 0.0, 5.0]), 4)
    assert (stream.quantity * stream.unit_price).tolist() == [60, 0, 30, 0]


def test_a_price_fixed_at_the_start_stays() -> None:
    term = Term(4, 5, 0, 2)
    price = np.array([10.0, 9.0, 8.0, 7.0, 0.0])
    charge = UnitCharge(
        Category.COMMITMENT, "c", "h", 1.0, price, ChargeTiming.MONTHLY, fixed_at_start=True
    )
    streams = list(build_unit_streams((charge,), term, np.array([1.0, 0.0, 2.0, 0.0])))
    due = sum(s.quantity * s.unit_price for s in streams)
    assert due.tolist() == [10, 10, 16, 16, 0]


def test_a_monthly_price_moves_with_the_month() -> None:
    term = Term(4, 5, 1, 2)
    price = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    charge = UnitCharge(Category.POWER, "p", "kWh", 10.0, price, ChargeTiming.MONTHLY)
    (stream,) = build_unit_streams((charge,), term, np.array([1.0, 1.0, 0.0, 0.0]))
    assert stream.quantity.tolist() == [0, 10, 20, 10, 0]
    assert charge.amounts(term)[0].tolist() == [0, 20, 30, 0, 0]


def test_a_calendar_neither_discounts_nor_taxes_unless_told() -> None:
    plain = Calendar(START, 3)
    assert plain.discount.tolist() == [1, 1, 1, 1]
    assert (plain.length, plain.tax_rate, plain.beyond_months) == (4, 0, 0)
    assert Calendar(START, 3, beyond_months=5).length == 9


def test_macrs_is_cut_at_the_horizon_where_the_rest_is_written_off() -> None:
    """20 % of the first tax year by months, from month 1; the rest in month 4."""
    term = Term(4, 5, 1, 60, depreciation="macrs_5")
    month = 0.2 / 12
    assert term.write_off[0].tolist() == pytest.approx([0, month, month, month, 1 - 3 * month])
    assert term.write_off[3].tolist() == pytest.approx([0, 0, 0, 0, 1])


def test_without_a_method_capital_is_spread_over_the_months_in_service() -> None:
    term = Term(4, 5, 1, 2)
    assert term.write_off.tolist() == [
        [0, 0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0],
    ]  # fmt: skip
    paid = Term(4, 5, 1, 2, depreciation="none").write_off
    assert paid.tolist() == np.eye(4, 5).tolist()


def test_units_of_one_price_are_one_stream_with_what_they_write_off() -> None:
    """Two prices of three starts: 10 in months 0 and 2, 9 in month 1; half of each a month."""
    term = Term(3, 4, 0, 2)
    price = np.array([10.0, 9.0, 10.0, 0.0])
    charge = UnitCharge(Category.UPFRONT, "u", "one", 2.0, price, ChargeTiming.START, True)
    cheap, dear = build_unit_streams((charge,), term, np.array([1.0, 3.0, 1.0]))
    assert (cheap.quantity.tolist(), cheap.unit_price.tolist()) == ([0, 6, 0, 0], [9] * 4)
    assert (dear.quantity.tolist(), dear.unit_price.tolist()) == ([2, 0, 2, 0], [10] * 4)
    assert cheap.write_off.tolist() == [0, 27, 27, 0]
    assert dear.write_off.tolist() == [10, 10, 20, 0]


def test_what_is_paid_at_the_end_is_priced_by_the_start() -> None:
    term = Term(2, 3, 0, 60)
    value = np.array([-50.0, -60.0, 0.0])
    charge = UnitCharge(Category.RESIDUAL, "r", "one", 1.0, value, ChargeTiming.END)
    assert charge.is_priced_at_start
    assert charge.amounts(term).tolist() == [[0, 0, -50], [0, 0, -60]]
