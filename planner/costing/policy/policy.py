"""The policy of a comparison: what to do now, what to watch, what waiting is worth. PURE.

The policy is fitted on samples of its own and costed in the outcomes in which plans are judged, so
that what it saves is what it saves on paths that it has not seen:

    worth = min(E best plan decided today, E best plan of the comparison) − E policy

A trigger is the price of one thing at which a move is first made, all else as today; it is told
where the worth is at least `WORTH_TELLING` of the best plan decided today.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.plan_costs import list_priced_sources, list_reservations
from planner.costing.analysis.simulation import (
    Simulation,
    drawing_units,
    recourse_units,
    simulation_of,
)
from planner.costing.choice import Candidate, Choice
from planner.costing.optimizer.work import WorkMeter
from planner.costing.policy.least_squares import (
    CONSTANT_SD,
    DateFit,
    Move,
    Paths,
    Policy,
    best_fixed,
    bound,
    fit_policy,
    follow,
    moves_made,
)
from planner.costing.policy.moves import MOST_KEYS, SELL, START, Bundle, Decisions

Floats = NDArray[np.float64]

WORTH_TELLING = 0.02
"""Share of the best plan decided today from which waiting is worth a word; 2026."""
MOST_BUNDLES = 2
"""Plans whose purchases and contracts are decided on, the cheapest first."""
MOST_TRIGGERS = 3
LEAST_CHANCE = 0.02
"""Chance of a move below which nobody need watch for it; 2026."""
ENDS = 0.01, 0.99
FAN = 0.1, 0.5, 0.9
GRID = 200
"""Prices at which a trigger is looked for, between those quantiles of the outcomes."""
FITTED_ON = 1
"""What is added to the seed of the outcomes for the samples that a policy is fitted on."""


@dataclass(frozen=True)
class Trigger:
    """The price of one thing at which a move is made, all else as today."""

    move: str
    """`START` or `SELL`."""
    bundle: int
    key: str
    """Source whose price it is."""
    is_above: bool
    factors: tuple[float | None, ...]
    """Factor on the price of today at each date; None: the move does not turn on it then."""
    chance: float
    """Share of outcomes in which the move is ever made."""
    fan: Floats
    """[K, 3] factor on the price at p10, p50 and p90 of the outcomes at each date."""

    @property
    def date(self) -> int:
        """First date at which it turns the decision."""
        return next(k for k, factor in enumerate(self.factors) if factor is not None)


@dataclass(frozen=True)
class PolicyResult:
    """What to do at each date, and what that is worth; amounts are net present."""

    decisions: Decisions
    first: Move
    """What to do now."""
    expected: float
    """Mean cost of the policy in the outcomes; that of the best plan where it is no cheaper."""
    fixed: float
    """Mean cost of the best plan that is decided today."""
    bound: float
    """Mean cost that no policy of these moves goes below."""
    triggers: tuple[Trigger, ...]
    """None where the best plan decided today is no dearer."""

    @property
    def worth(self) -> float:
        """What being able to wait and to sell is worth."""
        return self.fixed - self.expected

    @property
    def is_worth_telling(self) -> bool:
        """Whether being able to decide again is worth a word."""
        return self.worth > 0.0 and self.worth >= WORTH_TELLING * abs(self.fixed)


def bundle_of(name: str) -> int:
    """The bundle that a move of this name starts."""
    return int(name.partition(" ")[2])


def find_policy(
    choice: Choice, simulation: Simulation, every_months: int, work: WorkMeter
) -> PolicyResult | None:
    """What to do every few months; None where nothing is left to decide: nothing may be bought or
    signed, or there is but one date."""
    decisions = list_decisions(choice, simulation, every_months)
    if decisions is None:
        return None
    months, parameters = simulation.inputs.calendar.months, simulation.parameters
    samples = parameters.samples
    drivers = len(simulation.drivers.processes)
    starts = sum((1 << len(b.units)) + len(decisions.months) for b in decisions.bundles)
    work.charge(drawing_units(samples, drivers, months))
    work.charge(2 * starts * recourse_units(samples, 1, 0, months))
    plans = [decisions.waiting, *(bundle.plan for bundle in decisions.bundles)]
    fresh = replace(parameters, seed=parameters.seed + FITTED_ON)
    fitted_on = replace(
        decisions, simulation=simulation_of(simulation.inputs, fresh, plans)
    ).paths()
    best = float(choice.expected[choice.admissible].min())
    return evaluate(decisions, fitted_on, decisions.paths(), best)


def evaluate(
    decisions: Decisions, fitted_on: Paths, paths: Paths, best_plan: float
) -> PolicyResult:
    """The policy fitted on some paths, in others."""
    policy = fit_policy(fitted_on)
    made = moves_made(policy, paths)
    first = paths.moves[0][int(made[0][0])]
    expected, fixed = float(follow(policy, paths).mean()), min(best_fixed(paths)[0], best_plan)
    is_cheaper = expected < fixed  # a plan may make moves that no policy has
    return PolicyResult(
        decisions=decisions,
        first=first,
        expected=min(expected, fixed),
        fixed=fixed,
        bound=min(expected, float(bound(policy, fitted_on, paths).mean())),
        triggers=_list_triggers(decisions, policy, paths, made) if is_cheaper else (),
    )


def list_decisions(choice: Choice, simulation: Simulation, every_months: int) -> Decisions | None:
    """The best plan that buys and signs nothing, and what the best others buy or sign first."""
    inputs = simulation.inputs
    if not every_months or inputs.pools or inputs.calendar.months <= every_months:
        return None
    known = list_priced_sources([], inputs) | simulation.drivers.of_source.keys()
    order = sorted(choice.admissible, key=choice.rank_of)
    ranked = [choice.candidates[i] for i in order]
    ranked = [one for one in ranked if not list_reservations(one.plan, inputs)]
    waiting = next((one.plan for one in ranked if not _starts(one)), None)
    if waiting is None:
        return None
    bundles: list[Bundle] = []
    for one in ranked:
        if not 0 < len(_starts(one)) <= MOST_KEYS or not _starts(one) <= known:
            continue
        bundle = Bundle.of(one.plan)
        # What holds the sources of a cheaper bundle is hardly another move.
        if not any(bundle.units.keys() >= other.units.keys() for other in bundles):
            bundles.append(bundle)
    if not bundles:
        return None
    return Decisions(simulation, waiting, tuple(bundles[:MOST_BUNDLES]), every_months)


def _starts(one: Candidate) -> set[str]:
    return {key for key, units in one.plan.units_started.items() if units.any()}


def _chance(name: str, made: Sequence[NDArray[np.intp]], paths: Paths) -> float:
    """Share of outcomes in which a move is ever made after the first date."""
    is_made = np.zeros(paths.count, bool)
    for date in range(1, len(paths)):
        is_named = np.array([move.name == name for move in paths.moves[date]])
        is_made |= is_named[made[date]] & paths.open(date)
    return float(is_made.mean())


def _list_triggers(
    decisions: Decisions, policy: Policy, paths: Paths, made: Sequence[NDArray[np.intp]]
) -> tuple[Trigger, ...]:
    """What is waited for before a bundle is started or, where one is started now, sold or followed
    by another once its service has ended."""
    first = paths.moves[0][int(made[0][0])]
    starts = [f"{START} {b}" for b in range(len(decisions.bundles))]
    positions = [
        first.end if any(move.start == first.end for move in moves) else 0 for moves in paths.moves
    ]
    rows = []
    for name in [*starts, SELL] if first.name in starts else starts:
        chance = _chance(name, made, paths)
        bundle = bundle_of(first.name if name == SELL else name)
        own, sources = decisions.bundles[bundle].units, decisions.simulation.inputs.by_key
        for column, key in enumerate(decisions.figures if chance >= LEAST_CHANCE else ()):
            if key not in own and sources[key].term is not None:
                continue  # the price of what is held instead
            is_above = (key in own) == (name == SELL)
            factors = [
                _turn(policy.fits[k], paths, k, positions[k], name, column, is_above)
                for k in range(1, len(paths))
            ]
            if any(factors):
                move = name.partition(" ")[0]
                prices = [state[:, 2 * column + 1] for state in paths.state]
                fan = np.quantile(prices, FAN, axis=1).T
                rows.append(Trigger(move, bundle, key, is_above, (None, *factors), chance, fan))
    rows.sort(key=lambda row: (-row.chance, row.date))
    return tuple(rows[:MOST_TRIGGERS])


def _turn(
    fit: DateFit, paths: Paths, date: int, position: int, name: str, column: int, is_above: bool
) -> float | None:
    """Factor on a price from which a move is made in a position, all else as today; None where it
    is made at all prices of 98 in 100 outcomes, or at none."""
    state = paths.state[date]
    moves = [(i, m.name) for i, m in enumerate(paths.moves[date]) if m.start == position]
    wanted = [n for n, (_, made) in enumerate(moves) if made == name]
    low, high = np.quantile(state[:, 2 * column + 1], ENDS)
    if not wanted or high - low < CONSTANT_SD:
        return None
    factors = np.linspace(low, high, GRID) if is_above else np.linspace(high, low, GRID)
    grid = np.tile(paths.state[0][0], (GRID, 1))
    grid[:, 2 * column], grid[:, 2 * column + 1] = np.log(factors), factors
    costs = fit.predict(grid)[:, [i for i, _ in moves]]
    is_made = costs.argmin(axis=1) == wanted[0]
    if is_made.all() or not is_made[-1]:
        return None
    return float(factors[np.flatnonzero(~is_made)[-1] + 1])
