"""Data kept and carried out: by volume, by place and by the hour."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category
from planner.costing.cost_model import storage_prices
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar


class Assumed(dict[str, float]):
    """Prices that stand in, none of them of the request."""

    def is_from_request(self, field: str) -> bool:
        return False


DEFAULTS: Any = Assumed(storage_per_gib_month=0.02, egress_per_gib=0.08)
CALENDAR = Calendar(dt.date(2027, 1, 1), 3)
HOURS = np.array([100.0, 0.0, 0.5])
NOWHERE = ("elsewhere", "there")


def charges(**volumes: float) -> Any:
    return CloudData(DEFAULTS, **volumes).build_charges(*NOWHERE, 8.0, CALENDAR, HOURS)


def test_a_place_without_a_known_price_takes_the_default() -> None:
    data = CloudData(DEFAULTS, storage_gib=1000.0, egress_gib_per_month=100.0)
    assert data.has_data
    assert data.monthly_cost_at(*NOWHERE) == pytest.approx(1000 * 0.02 + 100 * 0.08)


def test_data_is_shared_by_the_reference_hours_served() -> None:
    """1,000 GiB · 8 / 100 h a node-hour; nothing in a month that serves none."""
    storage, egress = charges(storage_gib=1000.0, egress_gib_per_month=100.0)
    assert (storage.category, egress.category) == (Category.STORAGE, Category.EGRESS)
    assert storage.quantity.tolist() == [80, 0, 16000, 0]
    assert storage.unit_price.tolist() == [0.02] * 4
    assert egress.quantity.tolist() == [8, 0, 1600, 0]
    assert egress.per_hour.tolist() == pytest.approx([0.64, 0, 128, 0])


def test_a_known_place_charges_its_tiers_in_the_currency_of_the_request() -> None:
    rates = storage_prices.find_rates("aws", "us-east-1", "egress")
    usd = storage_prices.tiered_cost(rates, 100_000.0)
    data = CloudData(DEFAULTS, egress_gib_per_month=100_000.0, units_per_usd=0.9)
    assert rates[0].currency == "USD"
    (egress,) = data.build_charges("aws", "us-east-1", 8.0, CALENDAR, HOURS)
    assert egress.unit_price[0] == pytest.approx(usd * 0.9 / 100_000)
    assert data.monthly_cost_at("aws", "us-east-1") == pytest.approx(usd * 0.9)
    in_usd = CloudData(DEFAULTS, egress_gib_per_month=100_000.0)
    assert in_usd.monthly_cost_at("aws", "us-east-1") == pytest.approx(usd)
    assert CloudData(DEFAULTS).build_charges("aws", "us-east-1", 8.0, CALENDAR, HOURS) == ()
