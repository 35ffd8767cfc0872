"""The larger machine in place of several small ones at the same cost. PURE.

Eight machines of one accelerator and one of eight often cost the same. The optimiser keeps the
small one, which fits every number; where the plan needs whole multiples of it, the large one is
what a team would rent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

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
    for source, small in _pairs(inputs, rented):
        hours = rented.get(small.key)
        if hours is None or not hours.any():
            continue
        at_peak = inputs.runs.hours_in(plan.peak, source.accelerator)
        parts = source.capacity / small.capacity
        if _is_multiple(hours, parts, at_peak) and _costs_the_same(small, source, parts, inputs):
            rented[source.key] = hours / parts + rented.get(source.key, 0.0)
            rented[small.key] = np.zeros_like(hours)
    return replace(plan, rented_hours=rented)


def _pairs(
    inputs: ModelInputs, rented: Iterable[str]
) -> Iterator[tuple[CapacitySource, CapacitySource]]:
    """Larger machines with the small ones that they may take the place of. Beside credits, minimum
    spends and limits that part machines, rentals of every size are sources of the plan, the largest
    come first."""
    yield from ((s, inputs.by_key[s.stands_for]) for s in inputs.sources if s.stands_for)
    if not (inputs.keeps_books and (inputs.pools or inputs.parts_nodes)):
        return
    alike: dict[tuple[object, ...], list[CapacitySource]] = {}
    for source in map(inputs.by_key.__getitem__, rented):
        offer = source.offer
        if offer is not None and source.available is None:
            place = (source.provider, offer.region, source.purchase_option, source.accelerator)
            alike.setdefault((*place, source.limit_groups), []).append(source)
    for group in alike.values():
        by_size = sorted(group, key=lambda source: -source.capacity)
        yield from ((large, s) for large, s in combinations(by_size, 2) if _fits(large, s))


def _fits(large: CapacitySource, small: CapacitySource) -> bool:
    """Whether a larger machine is a whole number of small ones."""
    parts = large.capacity / small.capacity
    return parts > 1.5 and abs(parts - round(parts)) <= _SAME


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
