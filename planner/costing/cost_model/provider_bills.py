"""What a provider bills for a source: what credits and minimum spends count. PURE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.spend_pools import BILLED
from planner.costing.cost_model.terms import Calendar

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bills:
    """What a provider bills for a source, before tax."""

    hour: Floats
    """[L] for a node-hour."""
    unit: Floats
    """[T, L] for a unit started in month m."""
    fixed: Floats
    """[L] whatever the plan."""


def bills_of(source: CapacitySource, calendar: Calendar) -> Bills:
    """What its provider bills for a source, by month."""
    hour, fixed = np.zeros(calendar.length), np.zeros(calendar.length)
    unit = np.zeros((calendar.months, calendar.length))
    for charge in source.hour_charges:
        if charge.category in BILLED:
            hour += charge.per_hour
    for unit_charge in source.unit_charges:
        if unit_charge.category in BILLED and source.term is not None:
            unit += unit_charge.amounts(source.term)
    for stream in source.fixed_streams:
        if stream.category in BILLED:
            fixed += stream.quantity * stream.unit_price
    return Bills(hour, unit, fixed)
