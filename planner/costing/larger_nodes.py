"""The larger machine in place of several small ones at the same cost. PURE.

Eight machines of one accelerator and one of eight often cost the same. The optimiser keeps the
small one, which fits every number; where the plan needs whole multiples of it, the large one is
what a team would rent.
"""

from __future__ import annotations

import numpy as np

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Floats, Plan
from pricing.common.copies import replace

_WHOLE = 1e-6
_SAME = 1e-9


def use_larger_nodes(plan: Plan, inputs: ModelInputs) -> Plan:
    """The plan with larger machines where they stand for small ones in every month."""
    rented = dict(plan.rented_hours)
    for source in inputs.sources:
        hours = rented.get(source.stands_for) if source.stands_for else None
        if hours is None or not hours.any():
            continue
        small = inputs.by_key[source.stands_for]
        at_peak = inputs.runs.hours_in(plan.peak, source.accelerator)
        parts = source.capacity / small.capacity
        if _is_multiple(hours, parts, at_peak) and _costs_the_same(small, source, parts, inputs):
            rented[source.key] = hours / parts
            rented[small.key] = np.zeros_like(hours)
    return replace(plan, rented_hours=rented)


def _is_multiple(hours: Floats, parts: float, at_peak: Floats) -> bool:
    """Whether the machines of every month, each for the hours `at_peak`, are a whole multiple of
    the larger one's parts."""
    nodes = np.divide(hours, at_peak, out=np.zeros_like(hours), where=at_peak > 0) / parts
    return bool(np.all(np.abs(nodes - np.round(nodes)) <= _WHOLE))


def _costs_the_same(
    small: CapacitySource, large: CapacitySource, parts: float, inputs: ModelInputs
) -> bool:
    one, other = (source.hour_cash(inputs.calendar) for source in (small, large))
    return bool(np.all(np.abs(other - one * parts) <= _SAME * np.abs(other)))
