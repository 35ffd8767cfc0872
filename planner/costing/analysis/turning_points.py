"""How far one figure may move before another plan costs no more than the advised one. PURE.

The plans stay as they are, their hours of use follow (`plan_exposure`): a re-planned rival could
only be cheaper, so another plan is the better one at the latest from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.sensitivity import case_units, cost_plans, distinct_plans
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario

FURTHEST = 4.0
"""Times, or share, of its value to which a figure is moved in search of another plan."""
STEPS = 7
"""Halvings of that way in logarithms: to within 1.1 %."""

Change = Callable[[ModelInputs, float], ModelInputs]
_CHANGES: Mapping[str, Change] = {
    "workload.hours": ModelInputs.with_demand,
    "rental_prices": ModelInputs.with_rental_prices,
    "on_prem.servers.unit_price": ModelInputs.with_unit_prices,
}


@dataclass(frozen=True)
class TurningPoint:
    """Where the advised plan and another one cost the same."""

    field: str
    multiplier: float
    """Times the figure's value."""
    scenario: ScenarioKey
    """Whose plan is the cheaper one beyond it."""


def find_turning_points(
    inputs: ModelInputs,
    scenarios: Mapping[ScenarioKey, Scenario],
    advised: ScenarioKey,
    work: WorkMeter | None = None,
) -> list[TurningPoint]:
    """Of each figure the nearest turning point below and above, the nearest first; those that the
    `work` that may be spent allows for."""
    work = WorkMeter() if work is None else work
    plans = distinct_plans(scenarios, advised)
    if len(plans) < 2:
        return []
    keys = {key for plan in plans for key in (*plan.units_started, *plan.used_hours)}
    restricted = inputs.select_sources(keys)
    points: list[TurningPoint] = []
    with suppress(WorkSpentError):
        for field, change in _CHANGES.items():
            if field != "on_prem.servers.unit_price" or restricted.servers.to_buy:
                points.extend(_both_ways(field, change, restricted, plans, work))
    return sorted(points, key=lambda point: abs(log(point.multiplier)))


def _both_ways(
    field: str, change: Change, inputs: ModelInputs, plans: Sequence[Scenario], work: WorkMeter
) -> Iterator[TurningPoint]:
    units = case_units(inputs) / 4

    def cheapest(multiplier: float) -> int:
        work.charge(units)
        return int(np.argmin(cost_plans(plans, change(inputs, multiplier))))

    if cheapest(1.0) != 0:
        return
    for far in (1.0 / FURTHEST, FURTHEST):
        beyond = cheapest(far)
        if not beyond:
            continue
        near = 1.0
        for _ in range(STEPS):
            middle = sqrt(near * far)
            at_middle = cheapest(middle)
            near, far, beyond = (near, middle, at_middle) if at_middle else (middle, far, beyond)
        yield TurningPoint(field, far, plans[beyond].key)
