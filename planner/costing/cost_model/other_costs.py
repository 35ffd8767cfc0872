"""Costs beside machines, as the request states them. PURE.

- one-off: its amount, or its days at the price of one, in its month
- monthly: its amount in its month and every month of the horizon after it
- by the hour: its price × the accelerator-hours that the work asks for in those months

They are the same whatever a scenario buys, so they move no plan but through budgets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.request.other_costs import OtherCost
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import Stream
from planner.costing.cost_model.terms import Calendar, PaidWhen

Floats = NDArray[np.float64]
KEY = "other"
"""Key of the source that carries them."""


def build_other_cost_source(
    costs: Sequence[OtherCost], scenario: ScenarioKey | None, calendar: Calendar, hours: Floats
) -> CapacitySource | None:
    """The costs of one scenario, or those that all have; None without any. `hours` [T] are the
    accelerator-hours of the work."""
    streams = tuple(_stream(cost, calendar, hours) for cost in select_costs(costs, scenario))
    if not streams:
        return None
    return CapacitySource(KEY, "Other costs", "", "", 0.0, 0.0, fixed_streams=streams)


def select_costs(costs: Iterable[OtherCost], scenario: ScenarioKey | None) -> list[OtherCost]:
    """Those of one scenario, or those that all have."""
    return [c for c in costs if c.scenarios is None or scenario in c.scenarios]


def _stream(cost: OtherCost, calendar: Calendar, hours: Floats) -> Stream:
    quantity = np.zeros(calendar.length)
    if cost.amount is not None:
        quantity[cost.month] = 1.0
        unit, price = "payments", cost.amount
    elif cost.days is not None:
        quantity[cost.month] = cost.days
        unit, price = "days", cost.per_day or 0.0
    elif cost.per_month is not None:
        quantity[cost.month : calendar.months] = 1.0
        unit, price = "months", cost.per_month
    else:
        quantity[cost.month : calendar.months] = hours[cost.month :]
        unit, price = "accelerator-hours", cost.per_accelerator_hour or 0.0
    prices = np.full(calendar.length, float(price))
    is_once = cost.amount is not None or cost.days is not None
    paid = PaidWhen.DATED if is_once else None
    return Stream(Category.OTHER, cost.label, unit, quantity, prices, paid=paid)
