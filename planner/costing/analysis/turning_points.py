"""How far one figure may move before another plan costs no more than the advised one. PURE.

The plans stay as they are, their hours of use follow (`plan_exposure`): a re-planned rival could
only be cheaper, so another plan is the better one at the latest from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from pricing.market.offers import HOURS_PER_MONTH

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
    ends_payback: bool = False
    """Whether the purchases of the advised plan no longer pay back beyond it."""
    begins_payback: bool = False
    """Whether purchases that are not advised pay back beyond it, and cost less."""


@dataclass(frozen=True)
class Payback:
    """What purchases have to save before any resale: those of the advised plan, or of another."""

    rents: Sequence[Scenario]
    """The plans that buy nothing, against the cheapest of which they are held."""
    least: float
    """In the money of the plan."""
    refused: Scenario | None = None
    """Of an advised plan that buys nothing the one whose purchases do not save as much."""


def find_turning_points(
    inputs: ModelInputs,
    scenarios: Mapping[ScenarioKey, Scenario],
    advised: ScenarioKey,
    work: WorkMeter | None = None,
    payback: Payback | None = None,
    *,
    as_asked: bool = False,
) -> list[TurningPoint]:
    """Of each figure the nearest turning point below and above, the nearest first; those that the
    `work` that may be spent allows for. With `payback` one may be where it ends or begins.
    `as_asked`: hours move as in a request for so many times of them."""
    work = WorkMeter() if work is None else work
    plans = distinct_plans(scenarios, advised)
    refused = () if payback is None or payback.refused is None else (payback.refused,)
    if len(plans) + len(refused) < 2:
        return []
    keys = {key for plan in (*plans, *refused) for key in (*plan.units_started, *plan.used_hours)}
    restricted = inputs.select_sources(keys)
    points: list[TurningPoint] = []
    units = case_units(restricted) / 4
    with suppress(WorkSpentError):
        for field, plain in _CHANGES.items():
            change = plain
            if field == HOURS and as_asked:
                change = _choose_hours_change(restricted, refused)
            if field != PRICE or restricted.servers.to_buy:
                cost_at = _charged(partial(_costs, change, restricted, plans), units, work)
                turns = _both_ways(cost_at)
                points += [TurningPoint(field, m, plans[at].key) for m, at in turns]
                if payback is not None:
                    ask = _Asked(field, change, restricted, plans[0], payback)
                    points += _turns_of_payback(ask, units, work)
    return _nearest_each_way(points)


def _choose_hours_change(inputs: ModelInputs, refused: Sequence[Scenario]) -> Change:
    hourly = [s for s in inputs.sources if s.term is None and s.capacity]
    if inputs.is_level and inputs.whole_nodes and all(s.accelerators > 1 for s in hourly):
        capacity = min((s.capacity for s in hourly), default=0.0)
        return partial(_with_whole_nodes, capacity) if capacity else ModelInputs.with_demand
    return _for_longer if refused and not inputs.is_level else ModelInputs.with_demand


def _with_whole_nodes(capacity: float, inputs: ModelInputs, factor: float) -> ModelInputs:
    before, after = (fill_nodes(peak, capacity) for peak in (inputs.peak, inputs.peak * factor))
    is_full = before <= inputs.peak * (1 + ROUNDING)
    moves = (before > 0) & (is_full | (after <= before))
    return inputs.with_demand(np.divide(after, before, out=np.ones_like(after), where=moves))


def _for_longer(inputs: ModelInputs, factor: float) -> ModelInputs:
    hours = inputs.hours * factor
    return inputs.in_other_months(hours, np.maximum(inputs.peak, hours / HOURS_PER_MONTH))


@dataclass(frozen=True)
class _Asked:
    field: str
    change: Change
    inputs: ModelInputs
    advised: Scenario
    payback: Payback


def _turns_of_payback(ask: _Asked, units: float, work: WorkMeter) -> list[TurningPoint]:
    refused, rents = ask.payback.refused, ask.payback.rents
    if refused is None:
        turns = _both_ways(_charged(partial(_held, ask, ask.advised), units, work))
        return [TurningPoint(ask.field, m, rents[at - 1].key, ends_payback=True) for m, at in turns]
    turns = _both_ways(_charged(partial(_lacking, ask, refused), units, work))
    return [TurningPoint(ask.field, m, refused.key, begins_payback=True) for m, _ in turns]


def _nearest_each_way(points: Sequence[TurningPoint]) -> list[TurningPoint]:
    ranked = sorted(points, key=lambda point: (abs(log(point.multiplier)), point.ends_payback))
    nearest: dict[tuple[str, bool], TurningPoint] = {}
    for point in ranked:
        nearest.setdefault((point.field, point.multiplier > 1), point)
    return list(nearest.values())


def _costs(
    change: Change, inputs: ModelInputs, plans: Sequence[Scenario], multiplier: float
) -> Floats:
    return np.asarray(cost_plans(plans, change(inputs, multiplier)))


def _held(ask: _Asked, plan: Scenario, multiplier: float) -> Floats:
    unsold = ask.change(ask.inputs.with_assumption("residual_rate", 0.0), multiplier)
    nominal = replace(unsold.calendar, discount_rate_per_year=0.0)
    paid, *rents = cost_plans([plan, *ask.payback.rents], unsold, nominal)
    least = ask.payback.least * (multiplier if ask.field == PRICE else 1.0)
    return np.array([paid + least, *rents])


def _lacking(ask: _Asked, refused: Scenario, multiplier: float) -> Floats:
    owed, *rents = _held(ask, refused, multiplier)
    bought, rented = _costs(ask.change, ask.inputs, [refused, ask.advised], multiplier)
    return np.array([0.0, max(owed - min(rents), bought - rented)])


def _charged(cost_at: CostsAt, units: float, work: WorkMeter) -> CostsAt:
    def charged(multiplier: float) -> Floats:
        work.charge(units)
        return cost_at(multiplier)

    return charged


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
