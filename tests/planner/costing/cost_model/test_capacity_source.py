"""What one source costs a plan: charges, tax, what is left after the horizon, units in service."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge, Stream, UnitCharge
from planner.costing.cost_model.terms import Calendar, ChargeTiming, Term

CALENDAR = Calendar(dt.date(2027, 1, 1), 4, discount_rate_per_year=0.21, tax_rate=0.25)
LENGTH = CALENDAR.length


def unit_charge(category: Category, price: float, timing: ChargeTiming) -> UnitCharge:
    return UnitCharge(category, "", "units", 1.0, np.full(LENGTH, price), timing)


def source(option: str = "owned", lead: int = 1, life: int = 2, **fields: Any) -> CapacitySource:
    plain: dict[str, Any] = {
        "hour_charges": (
            HourCharge(Category.POWER, "", "kWh", 2.0, np.arange(1.0, LENGTH + 1)),
            HourCharge(Category.STORAGE, "", "GiB", 1.0, np.full(LENGTH, 0.5)),
        ),
        "unit_charges": (
            unit_charge(Category.CAPEX, 1000.0, ChargeTiming.START),
            unit_charge(Category.STAFF, 10.0, ChargeTiming.MONTHLY),
        ),
        "term": Term(4, LENGTH, lead, life, depreciation="straight_line"),
    }
    return CapacitySource("key", "label", option, "h100", 8, 16.0, **(plain | fields))


def test_an_hour_costs_all_that_is_charged_for_it() -> None:
    assert source().hour_cash(CALENDAR).tolist() == [2.5, 4.5, 6.5, 8.5]


def test_a_rented_hour_is_weighed_after_tax_and_discounted() -> None:
    option = source("on_demand", term=None, is_spot=True).rental_option(CALENDAR)
    after_tax = np.array([2.5, 4.5, 6.5, 8.5]) * 0.75
    assert option.hour_cash == pytest.approx(after_tax)
    assert option.hour_cost == pytest.approx(after_tax * 1.21 ** (-np.arange(4) / 12))
    assert (option.capacity, option.accelerators, option.is_spot) == (16.0, 8, True)


def test_a_unit_costs_its_price_and_its_months_less_the_tax_they_save() -> None:
    """Started in month 0: 1000 at once, 10 in months 1 and 2, written off by 500 in both."""
    option = source().commitment_option(CALENDAR)
    cash = np.array([1000, 10 - 0.25 * 510, 10 - 0.25 * 510, 0, 0])
    assert option.start_cash[0] == pytest.approx(cash[:4])
    assert option.start_cost[0] == pytest.approx(cash @ CALENDAR.discount)
    assert option.capex.tolist() == [1000.0] * 4
    assert option.hour_cash == pytest.approx(np.array([2.5, 4.5, 6.5, 8.5]) * 0.75)
    assert (option.is_owned, option.lead_months, option.duration_months) == (True, 1, 2)


def test_nothing_starts_that_would_come_too_late_or_may_not() -> None:
    starts = np.isfinite(source().commitment_option(CALENDAR).start_cost)
    assert starts.tolist() == [True, True, True, False]
    none = source(max_units=0).commitment_option(CALENDAR)
    assert none.max_units == 0
    dated = source(available=np.array([False, True, False, True])).commitment_option(CALENDAR)
    assert np.isfinite(dated.start_cost).tolist() == [False, True, False, False]


def test_capital_that_is_not_taxed_saves_no_tax() -> None:
    residual = unit_charge(Category.RESIDUAL, -100.0, ChargeTiming.MONTHLY)
    charges = (unit_charge(Category.CAPEX, 1000.0, ChargeTiming.START), residual)
    untaxed = source(unit_charges=charges, taxes_capital=False).commitment_option(CALENDAR)
    assert untaxed.start_cash[0].tolist() == [1000, -100, -100, 0]
    taxed = source(unit_charges=charges).commitment_option(CALENDAR)
    assert taxed.start_cash[0].tolist() == [1000, -100 - 0.25 * 400, -100 - 0.25 * 400, 0]


def test_a_commitment_is_an_expense_in_the_month_that_pays_it() -> None:
    charges = (unit_charge(Category.COMMITMENT, 100.0, ChargeTiming.MONTHLY),)
    option = source("reserved", lead=0, unit_charges=charges).commitment_option(CALENDAR)
    assert option.start_cash[0].tolist() == [75, 75, 0, 0]
    assert option.is_owned is False


def test_what_a_commitment_owes_after_the_horizon() -> None:
    """Started in month 2 of 4 for 5 months: 2 of 5 payments within, 3 of 5 after."""
    charges = (unit_charge(Category.COMMITMENT, 100.0, ChargeTiming.MONTHLY),)
    one = source("reserved", lead=0, life=5, unit_charges=charges)
    assert one.due_after_horizon() == pytest.approx([100, 200, 300, 400])


def test_units_in_service_are_those_started_and_those_already_owned() -> None:
    started = np.array([1.0, 2.0, 0.0, 0.0])
    assert source().units_in_service(started).tolist() == [0, 1, 3, 2]
    old = source(existing=np.array([3, 3, 1, 0]))
    assert old.units_in_service(started).tolist() == [3, 4, 4, 2]
    assert source(term=None).units_in_service(started).tolist() == []


def test_what_is_due_whatever_the_plan_is_due_after_tax() -> None:
    quantity, price = np.full(LENGTH, 2.0), np.full(LENGTH, 100.0)
    fixed = (
        Stream(Category.STAFF, "", "", quantity, price),
        Stream(Category.RESIDUAL, "", "", quantity, -price),
    )
    assert source(fixed_streams=fixed).fixed_cash(CALENDAR).tolist() == [0.0] * LENGTH
    untaxed = source(fixed_streams=fixed, taxes_capital=False).fixed_cash(CALENDAR)
    assert untaxed.tolist() == [150 - 200] * LENGTH


def test_streams_are_the_hours_used_and_the_units_started() -> None:
    hours, started = np.array([0.0, 5.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0, 0.0])
    streams = list(source().build_streams(started, hours, CALENDAR))
    due = {s.category: float(s.quantity @ s.unit_price) for s in streams}
    assert due == {
        Category.POWER: 5 * 2 * 2.0,
        Category.STORAGE: 5 * 0.5,
        Category.CAPEX: 2000.0,
        Category.STAFF: 40.0,
    }
    idle = source().build_streams(np.zeros(4), hours, CALENDAR)
    assert {s.category for s in idle} == {Category.POWER, Category.STORAGE}


def test_each_purchase_writes_off_its_own_price() -> None:
    """1,000 over two months, or 1,200 in the last one, each relieved of a quarter."""
    prices = UnitCharge(
        Category.CAPEX, "", "units", 1.0, np.array([1000.0, 1200.0, 0.0]), ChargeTiming.START
    )
    server = CapacitySource(
        "server", "", "owned", "h100", 8, 16.0, unit_charges=(prices,), term=Term(2, 3, 0, 60)
    )
    calendar = Calendar(dt.date(2027, 1, 1), 2, discount_rate_per_year=0.21, tax_rate=0.25)
    later = 1.21 ** (-1 / 12)
    assert server.commitment_option(calendar).start_cost == pytest.approx(
        [1000 - 250 * (0.5 + 0.5 * later), (1200 - 300) * later]
    )


def test_payments_count_no_resale() -> None:
    """1,000, relieved of the quarter that its write-off saves; 200 at the end are no payment."""
    charges = (
        unit_charge(Category.CAPEX, 1000.0, ChargeTiming.START),
        unit_charge(Category.RESIDUAL, -200.0, ChargeTiming.END),
    )
    option = source(lead=0, life=60, unit_charges=charges, term=None)
    owned = replace(option, term=Term(4, LENGTH, 0, 60, depreciation="none"))
    assert owned.commitment_option(CALENDAR).payments.tolist() == [750.0] * 4
