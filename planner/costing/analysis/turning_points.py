"""How far one figure may move before another plan costs no more than the advised one. PURE.

The plans stay as they are, their hours of use follow (`plan_exposure`): a re-planned rival could
only be cheaper, so another plan is the better one at the latest from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import floor, isfinite, log, sqrt

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.sensitivity import case_units, cost_plans, distinct_plans
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_peaks import ROUNDING, fill_nodes

FURTHEST = 4.0
"""Times, or share, of its value to which a figure is moved in search of another plan."""
STEPS = 128
"""Of that way, equal in logarithms: to within 1.1 %."""
STRAIGHT_LOOKS = 5
"""Looks for the end of the lead where a straight line says, before halves are gone through."""

Floats = NDArray[np.float64]
Change = Callable[[ModelInputs, float], ModelInputs]
CostsAt = Callable[[float], Floats]
"""What plans cost at a multiple of a figure, the advised one first."""
HOURS, PRICE = "workload.hours", "on_prem.servers.unit_price"
_CHANGES: Mapping[str, Change] = {
    HOURS: ModelInputs.with_demand,
    "rental_prices": ModelInputs.with_rental_prices,
    PRICE: ModelInputs.with_unit_prices,
}


@dataclass(frozen=True)
class TurningPoint:
    """Where the advised plan and another one cost the same."""

    field: str
    multiplier: float
    """Times the figure's value."""
    scenario: ScenarioKey
    """Whose plan is the cheaper one beyond it; of what no longer pays back that which rents."""


def find_turning_points(
    inputs: ModelInputs,
    scenarios: Mapping[ScenarioKey, Scenario],
    advised: ScenarioKey,
    work: WorkMeter | None = None,
    *,
    as_asked: bool = False,
) -> list[TurningPoint]:
    """Of each figure the nearest turning point below and above, the nearest first; those that the
    `work` that may be spent allows for. `as_asked`: hours move as in a request for so many times
    of them."""
    work = WorkMeter() if work is None else work
    plans = distinct_plans(scenarios, advised)
    if len(plans) < 2:
        return []
    keys = {key for plan in plans for key in (*plan.units_started, *plan.used_hours)}
    restricted = inputs.select_sources(keys)
    points: list[TurningPoint] = []
    units = case_units(restricted) / 4
    with suppress(WorkSpentError):
        for field, plain in _CHANGES.items():
            change = _choose_hours_change(restricted) if field == HOURS and as_asked else plain
            if field != PRICE or restricted.servers.to_buy:
                cost_at = partial(_costs, change, restricted, plans, units, work)
                points += [TurningPoint(field, m, plans[at].key) for m, at in _both_ways(cost_at)]
    return sorted(points, key=lambda point: abs(log(point.multiplier)))


def _choose_hours_change(inputs: ModelInputs) -> Change:
    hourly = [s for s in inputs.sources if s.term is None and s.capacity]
    if inputs.is_level and inputs.whole_nodes and all(s.accelerators > 1 for s in hourly):
        capacity = min((s.capacity for s in hourly), default=0.0)
        return partial(_with_whole_nodes, capacity) if capacity else ModelInputs.with_demand
    return ModelInputs.with_demand


def _with_whole_nodes(capacity: float, inputs: ModelInputs, factor: float) -> ModelInputs:
    before, after = (fill_nodes(peak, capacity) for peak in (inputs.peak, inputs.peak * factor))
    is_full = before <= inputs.peak * (1 + ROUNDING)
    moves = (before > 0) & (is_full | (after <= before))
    return inputs.with_demand(np.divide(after, before, out=np.ones_like(after), where=moves))


def _costs(
    change: Change,
    inputs: ModelInputs,
    plans: Sequence[Scenario],
    units: float,
    work: WorkMeter,
    multiplier: float,
) -> Floats:
    work.charge(units)
    return np.asarray(cost_plans(plans, change(inputs, multiplier)))


def _both_ways(cost_at: CostsAt) -> Iterator[tuple[float, int]]:
    as_planned = _Step(0, 1.0, cost_at(1.0))
    if as_planned.cheapest:
        return
    for furthest in (1.0 / FURTHEST, FURTHEST):
        beyond = _Step(STEPS, furthest, cost_at(furthest))
        if beyond.cheapest:
            turn = _nearest_beyond(as_planned, beyond, cost_at)
            yield turn.multiplier, turn.cheapest


@dataclass(frozen=True)
class _Step:
    number: int
    multiplier: float
    costs: Floats

    @property
    def cheapest(self) -> int:
        return int(np.argmin(self.costs))

    @property
    def lead(self) -> float:
        return float(self.costs[1:].min() - self.costs[0])


def _nearest_beyond(near: _Step, far: _Step, cost_at: CostsAt) -> _Step:
    furthest = far.multiplier
    for look in count():
        between = far.number - near.number
        if between == 1:
            return far
        next_number = near.number + between // 2
        share = near.lead / (near.lead - far.lead)
        if look < STRAIGHT_LOOKS and isfinite(share):
            crossing = near.multiplier + share * (far.multiplier - near.multiplier)
            next_number = floor(STEPS * log(crossing) / log(furthest))
        number = min(max(next_number, near.number + 1), far.number - 1)
        multiplier = _multiplier_of(number, furthest)
        step = _Step(number, multiplier, cost_at(multiplier))
        near, far = (near, step) if step.cheapest else (step, far)
    raise AssertionError("the way has an end")


def _multiplier_of(number: int, furthest: float) -> float:
    low, high, near, far = 0, STEPS, 1.0, furthest
    while True:
        middle, multiplier = (low + high) // 2, sqrt(near * far)
        if number == middle:
            return multiplier
        if number < middle:
            high, far = middle, multiplier
        else:
            low, near = middle, multiplier
