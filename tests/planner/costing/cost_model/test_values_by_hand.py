"""Sales, prices by date, rents of an hour and late starts, worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis.break_even import compute_rent
from planner.costing.analysis.samples import Samples
from planner.costing.cost_model.charges import UnitCharge
from planner.costing.cost_model.ownership import ServerBatch, sale_value
from planner.costing.cost_model.rental import least_by_date
from planner.costing.cost_model.terms import ChargeTiming

USUAL = {"residual_rate": 0.8, "resale_cost_rate": 0.1, "server_price_trend_per_year": -0.5}


@pytest.mark.parametrize(
    ("months", "bought", "rate", "fetches"),
    [
        (12, 0, 0.4, 1000 * 0.4 * 0.9),  # what is left of its price
        (12, 12, 0.4, 500 * 0.4 * 0.9),  # of the price of the year in which it was bought
        (12, 0, 0.8, 500 * 0.9),  # a new one costs less on that day
        (24, 0, 0.8, 250 * 0.9),
    ],
)
def test_a_server_fetches_what_is_left_and_no_more_than_a_new_one(months, bought, rate, fetches):
    terms: Any = USUAL | {"residual_rate": rate}
    value = sale_value(1000.0, np.array(months), np.array(bought), terms)
    assert float(value) == pytest.approx(fetches)


def test_a_stated_resale_value_falls_by_the_residual_rate_of_a_year():
    server: Any = SimpleNamespace(assumptions=lambda _of_all: USUAL)
    batch = ServerBatch(units=1, age_months=30, resale_today=1000.0)
    fetched = [batch.sale_value(month, server, {}) for month in (0, 12, 24)]
    assert fetched == pytest.approx([1000.0, 800.0, 640.0])


def by_date(prices: list[float], capacity: float, source: str = "list") -> Any:
    charge = SimpleNamespace(unit_price=np.array(prices))
    offer = SimpleNamespace(source=source, purchase_option="capacity_block")
    return SimpleNamespace(offer=offer, capacity=capacity, hour_charges=(charge,))


def test_the_least_by_date_is_of_its_month_or_an_earlier_one_at_what_paying_then_counts():
    hours, worth = np.array([10.0, 20.0, 30.0]), np.array([1.0, 0.5, 0.25])
    sources = [by_date([8.0, 4.0, 16.0], 2.0), by_date([6.0, 9.0, 9.0], 1.0)]
    assert least_by_date(sources, hours, worth) == pytest.approx(
        10 * 4 + 20 * 2 * 0.5 + 30 * 2 * 0.25
    )
    assert least_by_date([], hours, worth) == np.inf


def test_rent_of_an_hour_spreads_what_is_due_at_the_start_at_prices_of_today():
    prices = np.array([1_460.0, 2_920.0])
    charges = tuple(
        UnitCharge(None, "", "", 1.0, prices, timing)
        for timing in (ChargeTiming.MONTHLY, ChargeTiming.START)
    )
    term = SimpleNamespace(active=np.ones((1, 4)), duration_months=4)
    source: Any = SimpleNamespace(hour_charges=(), unit_charges=charges, term=term)
    assert compute_rent(source, None).per_hour == pytest.approx(2.0 + 2.0 / 4)


@pytest.mark.parametrize(
    ("is_owned", "sold", "starts"),
    [(True, [1, 1, 0, 1, 1], 3), (True, [1, 1, 0, 0, 0], 1), (False, [1, 1, 0, 1, 1], 2)],
)
def test_units_of_late_work_start_as_much_later_and_when_they_are_sold(is_owned, sold, starts):
    own: Any = SimpleNamespace(is_owned=is_owned, available=sold)
    cohort: Any = SimpleNamespace(
        month=1, source=own, costs=SimpleNamespace(can_start=np.array(sold, bool))
    )
    late: Any = SimpleNamespace(slip=1)
    assert Samples.start_of(late, cohort) == starts
