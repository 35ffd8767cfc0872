"""Which units to hold for a load given hour by hour, and who serves each hour. PURE.

Only how long each level lasts matters, not when: sorted, the hours become a load-duration
curve. Units serve it in layers, the one that is cheapest to run at the bottom, so a layer
between x and x′ runs E(x′) − E(x) accelerator-hours with E(x) = Σ over hours of
min(load, x). Layers end where units end; on the grid of their common capacity, some hundred
blocks stand for the 8,760 hours of a year and lose nothing.
(Stoft, Power System Economics, 2002, part 2: load-duration and screening curves.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from planner.costing.plan_columns import Entries
from planner.costing.plan_highs import LinearProgram
from planner.costing.plan_problem import Floats

_FINEST_GRID = 1_000
"""Capacities are told apart to a thousandth of an accelerator when a grid is looked for."""
_NODE_LIMIT = 5_000


@dataclass(frozen=True)
class HourSource:
    """Something that serves load: held by the whole unit, or rented by the hour."""

    key: str
    capacity: float
    """Reference accelerators served by one node."""
    hour_cost: float
    """Of one node-hour of use."""
    unit_cost: float = 0.0
    """Of holding one unit for all the hours; 0 and no `max_units`: rented, fractions allowed."""
    max_units: int | None = None

    @property
    def is_rented(self) -> bool:
        return self.unit_cost == 0.0 and self.max_units is None


@dataclass(frozen=True)
class HourPlan:
    """Units held and node-hours used; `cost` is never below `bound`."""

    cost: float
    bound: float
    units: dict[str, int]
    node_hours: dict[str, Floats]
    """key → [H] node-hours used in each hour."""


def dispatch_hours(load: Floats, sources: Sequence[HourSource]) -> HourPlan | None:
    """The cheapest whole units and rentals that serve `load` [H], in reference accelerators.

    None where no source can serve all of it.

    >>> busy_day = np.array([8.0] * 16 + [24.0] * 8)
    >>> rent, year = HourSource("rent", 8.0, 20.0), HourSource("held", 8.0, 0.0, 300.0)
    >>> plan = dispatch_hours(busy_day, [rent, year])
    >>> plan.cost, plan.units, float(plan.node_hours["rent"].sum())
    (620.0, {'held': 1}, 16.0)
    """
    rented = sorted((s for s in sources if s.is_rented), key=_merit)[:1]
    held = sorted((s for s in sources if not s.is_rented), key=_merit)
    if rented:  # a unit that is dearer to run than the rental serves nothing
        held = [s for s in held if _merit(s)[0] < _merit(rented[0])[0]]
    levels = _levels(load, [s.capacity for s in held])
    if levels.size == 0:
        counts = {s.key: 0 for s in sources if not s.is_rented}
        return HourPlan(0.0, 0.0, counts, {s.key: 0.0 * load for s in sources})
    found = _whole_units(load, levels, held, rented)
    if found is None:
        return None
    units, bound = found
    node_hours = _node_hours(load, held, rented, units)
    cost = sum(s.unit_cost * n for s, n in zip(held, units, strict=True))
    cost += sum(s.hour_cost * float(node_hours[s.key].sum()) for s in (*held, *rented))
    idle = {s.key: np.zeros_like(load) for s in sources if s.key not in node_hours}
    counts = {s.key: 0 for s in sources if not s.is_rented}
    counts |= {s.key: n for s, n in zip(held, units, strict=True)}
    return HourPlan(cost, min(bound, cost), counts, node_hours | idle)


def _merit(source: HourSource) -> tuple[float, float, str]:
    """Cheapest to run first."""
    return source.hour_cost / source.capacity, source.unit_cost / source.capacity, source.key


def _levels(load: Floats, capacities: Sequence[float]) -> Floats:
    """Tops of the blocks: the levels of the load, or a grid on which every unit ends if shorter."""
    peak = float(load.max(initial=0.0))
    levels = np.unique(load[load > 0])
    step = _common_step(capacities)
    if step is None or peak / step >= levels.size:
        return levels
    return np.minimum(step * np.arange(1, np.ceil(peak / step - 1e-9) + 1), peak)


def _common_step(capacities: Sequence[float]) -> float | None:
    """The largest capacity that goes into each a whole number of times, None where there is none.

    >>> _common_step([8.0, 1.8, 4.0]), _common_step([1.0, 2.0**0.5])
    (0.2, None)
    """
    parts = [Fraction(c).limit_denominator(_FINEST_GRID) for c in capacities]
    exact = all(abs(float(p) - c) <= 1e-12 * c for p, c in zip(parts, capacities, strict=True))
    if not parts or not exact:
        return None
    whole = lcm(*(part.denominator for part in parts))
    return gcd(*(int(part * whole) for part in parts)) / whole


def _energy(load: Floats, tops: Floats) -> Floats:
    """E(x) = Σ over hours of min(load, x) at each x of `tops`."""
    ordered = np.sort(load)
    below = np.searchsorted(ordered, tops, side="right")
    served = np.concatenate([[0.0], ordered.cumsum()])
    return np.asarray(served[below] + tops * (ordered.size - below))


def _whole_units(
    load: Floats, tops: Floats, held: Sequence[HourSource], rented: Sequence[HourSource]
) -> tuple[list[int], float] | None:
    """Whole units of each held source, and a bound on the cost."""
    width = np.diff(tops, prepend=0.0)
    hours = np.diff(_energy(load, tops), prepend=0.0) / width
    blocks, peak = tops.size, float(tops[-1])
    lower = np.concatenate([width, np.full(len(held), -np.inf)])
    upper = np.concatenate([width, np.zeros(len(held))])
    program = LinearProgram(lower, upper)
    sources = [*held, *rented]
    prices = np.array([s.hour_cost / s.capacity for s in sources])
    most = [np.ceil(peak / s.capacity) if s.max_units is None else s.max_units for s in held]
    scale = max(float(prices.max(initial=0.0) * hours.max()), 1e-12)
    cost = (prices[:, None] * hours).ravel() / scale
    program.add_columns(
        cost,
        np.zeros(cost.size),
        np.tile(width, len(sources)),
        _layers(blocks, len(held), len(sources)),
    )
    unit = Entries(
        start=np.arange(len(held) + 1),
        row=blocks + np.arange(len(held)),
        value=-np.array([s.capacity for s in held]),
    )
    unit_cost = np.array([s.unit_cost for s in held]) / scale
    program.add_columns(unit_cost, np.zeros(len(held)), np.array(most, np.float64), unit)
    columns = cost.size + np.arange(len(held))
    if not program.run():
        return None
    values, bound = program.values(), program.objective
    if np.abs(values[columns] - np.round(values[columns])).max(initial=0.0) > 1e-9:
        outcome = program.whole(columns, node_limit=_NODE_LIMIT)
        if outcome.values is None:
            return None
        values, bound = outcome.values, outcome.bound
    return [int(n) for n in np.round(values[columns])], bound * scale


def _layers(blocks: int, held: int, sources: int) -> Entries:
    """Entries of the width each source serves of each block: its block, and what holds it."""
    block = np.tile(np.arange(blocks), sources)
    source = np.repeat(np.arange(sources), blocks)
    both = np.stack([block, blocks + source], axis=1)
    kept = np.stack([np.ones(block.size, bool), source < held], axis=1)
    start = np.concatenate([[0], kept.sum(axis=1).cumsum()])
    return Entries(start=start, row=both[kept], value=np.ones(int(kept.sum())))


def _node_hours(
    load: Floats, held: Sequence[HourSource], rented: Sequence[HourSource], units: Sequence[int]
) -> dict[str, Floats]:
    """Every hour served in order of merit, what is left by the rental."""
    left, hours = load.astype(np.float64), {}
    for source, count in zip(held, units, strict=True):
        served = np.minimum(left, source.capacity * count)
        hours[source.key] = served / source.capacity
        left = left - served
    for source in rented:
        hours[source.key] = left / source.capacity
    return hours
