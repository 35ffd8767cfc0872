"""Reservations by date: whole days, the most machines, the longest stretch of months."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.costing.cost_model.rental import (
    is_list_price_by_date,
    limit_by_date,
    price_rental,
    reserved_days,
    reserved_hours,
)
from planner.costing.cost_model.storage_egress import CloudData
from tests.planner.costing.cost_model.test_rental import CALENDAR, HOURS, assumed, source

FULL = np.full(7, 730.0)


def available(option: str, hours: object, peak: object) -> list[bool]:
    months = np.asarray(hours)
    found = limit_by_date(source(option), months, np.asarray(peak), np.zeros(len(months))).available
    assert found is not None
    return [bool(month) for month in found]


def test_a_stretch_longer_than_a_reservation_is_served_at_its_start_alone() -> None:
    peak = np.full(7, 8.0)
    assert available("dws_calendar_mode", FULL * 8, peak) == [True] * 3 + [False] * 4
    assert available("capacity_block", FULL * 8, peak) == [True] * 6 + [False]


def test_months_that_have_more_days_than_a_reservation_are_not_all_served() -> None:
    """January to March have 90 days, July to September 92, of which 62 are in the first two;
    January to June 181, March to August 184."""
    work = np.full(6, 730.0)
    mode, block = "dws_calendar_mode", "capacity_block"
    for option, month, held in ((mode, 1, 3), (mode, 7, 2), (block, 1, 6), (block, 3, 5)):
        days = reserved_days(work, dt.date(2027, month, 1))
        found = limit_by_date(source(option), work * 8, np.full(6, 8.0), days)
        assert found.available is not None
        assert found.available.tolist() == [True] * held + [False] * (6 - held)


def test_every_stretch_of_work_may_be_reserved_anew() -> None:
    hours = np.array([1.0, 1, 1, 1, 0, 1]) * 730
    assert available("dws_calendar_mode", hours, np.full(6, 8.0)) == [
        True, True, True, False, False, True,
    ]  # fmt: skip


def test_a_reservation_holds_80_machines_of_google_cloud_and_64_of_aws() -> None:
    hours = np.array([730.0])
    assert available("dws_calendar_mode", hours, [640.0]) == [True]
    assert available("dws_calendar_mode", hours, [641.0]) == [False]
    assert available("capacity_block", hours, [512.0]) == [True]
    assert available("capacity_block", hours, [513.0]) == [False]


def test_what_is_rented_otherwise_or_quoted_is_not_limited() -> None:
    assert is_list_price_by_date(source("capacity_block"))
    assert not is_list_price_by_date(source("on_demand"))
    block = source("capacity_block")
    assert block.offer is not None
    quoted = replace(block, offer=replace(block.offer, source="request"))
    assert not is_list_price_by_date(quoted)


def test_months_in_which_it_is_not_sold_stay_out() -> None:
    months = np.array([False, True])
    one = replace(source("capacity_block"), available=months)
    found = limit_by_date(one, np.full(2, 730.0), np.full(2, 8.0), np.full(2, 30.0)).available
    assert found is not None
    assert found.tolist() == [False, True]


def test_the_rest_of_the_last_day_is_paid_too() -> None:
    """30 h take two days of 24 h: 18 h more than used, 0.6 of each hour used, at 40 USD."""
    at_peak = np.array([30.0, 24.0, 0.0, 730.0])
    data = CloudData(assumed())
    block = source("capacity_block")
    found = price_rental(block, assumed(), CALENDAR, HOURS, data, hours_at_peak=at_peak)
    used, rest = found.hour_charges
    assert np.asarray(rest.per_hour).tolist() == pytest.approx([24, 0, 0, 0, 0])
    assert rest.label == "o: rest of the days reserved"
    assert (used.category, used.unit) == (rest.category, rest.unit)


@given(st.floats(0.01, 730))
def test_paid_hours_are_whole_days_or_the_month(hours: float) -> None:
    paid = float(reserved_hours(np.array([hours]))[0]) * hours
    assert hours * (1 - 1e-9) <= paid <= max(730.0, hours) + 1e-6
    assert paid == pytest.approx(730) or paid / 24 == pytest.approx(round(paid / 24))
