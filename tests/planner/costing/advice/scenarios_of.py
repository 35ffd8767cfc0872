"""Scenarios of a few lines, their figures chosen so that sums are done in the head."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.scenario import CostLine
from planner.costing.cost_model.terms import Calendar
from planner.costing.results.scenario_result import Scenario

CALENDAR = Calendar(dt.date(2027, 1, 1), 12, beyond_months=24)


def line(month: int, category: str, amount: float, source: str = "server:a", **more: Any):
    plain = dict.fromkeys(
        ("label", "provider", "region", "instance_type", "purchase_option", "unit", "offer_id"), ""
    )
    return CostLine(
        month=month,
        category=Category(category),
        quantity=1.0,
        unit_price=Decimal(str(amount)),
        amount=Decimal(str(amount)),
        source=source,
        **(plain | more),
    )


def monthly(category: str, amounts: Sequence[float], source: str, first: int = 0):
    """A line in each month from `first` on."""
    return [line(first + i, category, amount, source) for i, amount in enumerate(amounts)]


def plan(*lines: CostLine, key: str = "hybrid", **fields: Any) -> Scenario:
    starts = {name: np.array(units) for name, units in fields.pop("units", {}).items()}
    return Scenario(
        ScenarioKey(key), True, lines=lines, calendar=CALENDAR, units_started=starts, **fields
    )
