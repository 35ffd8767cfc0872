"""Which share of the work each source of a plan does. PURE."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

EXACT = 1e-6
"""Share from which something counts as nothing, or as all."""
ALL = "all of the hours"


def share_of_hours(plan: Scenario, source: CapacitySource, inputs: ModelInputs) -> float:
    """Share of the plan's accelerator-hours that a source serves: of machines that rent whole
    what the demand needs of them, so that the shares of all sources sum to 1."""
    hours = plan.used_hours.get(source.key)
    total_hours = float(plan.served_hours.sum())
    if hours is None or total_hours <= 0:
        return 0.0
    if source.term is None:
        hours = hours * _needed_share_of_rent(plan, inputs)
    return float(hours.sum()) * source.capacity / total_hours


def _needed_share_of_rent(plan: Scenario, inputs: ModelInputs) -> NDArray[np.float64]:
    """[T] share of the hours rented that the demand needs: below 1 where machines rent whole."""
    needed = np.array(plan.served_hours, dtype=np.float64)
    rented = np.zeros(inputs.calendar.months)
    for key, hours in plan.used_hours.items():
        source = inputs.by_key[key]
        if source.term is None:
            rented += hours * source.capacity
        else:
            needed -= hours * source.capacity
    needed = np.maximum(needed, 0.0)
    return np.divide(needed, rented, out=np.ones_like(rented), where=rented > needed)


def format_share(share: float) -> str:
    """A share of the hours, never rounded to none or to all.

    >>> format_share(0.0), format_share(0.004), format_share(0.1)
    ('none of the hours', 'less than 1% of the hours', '10% of the hours')
    >>> format_share(0.996), format_share(1.0)
    ('more than 99% of the hours', 'all of the hours')
    """
    if share <= EXACT:
        return "none of the hours"
    if share >= 1 - EXACT:
        return ALL
    if share < 0.01:
        return "less than 1% of the hours"
    return f"{'more than 99%' if share > 0.99 else f'{share:.0%}'} of the hours"
