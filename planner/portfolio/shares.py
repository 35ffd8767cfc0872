"""Fair shares of a joint cost: what each project adds to the groups of the others. PURE.

A *game* gives the cost of every group of projects. The Shapley share of a project is what it adds
to the cost of those that joined before it, on average over all orders of joining (Shapley, A value
for n-person games, 1953). Where a group never costs more than its parts apart, no share is above
what the project costs alone. Amounts are whole cents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial, sqrt

import numpy as np
from numpy.typing import NDArray

Game = Callable[[frozenset[str]], float]
EXACT_PROJECTS = 8
"""Projects up to which all groups are planned: 255 of them."""
_BOTH_SIDES_95 = 1.96


@dataclass(frozen=True)
class Shares:
    """The share of each project, in cents."""

    cents: Mapping[str, int]
    method: str
    """`shapley`, `shapley_sampled` or `use`."""
    orders: int = 0
    """Orders of joining that were sampled."""
    error: float = 0.0
    """Half-width of the 95 % interval of the least certain share, over the mean share."""
    moved: bool = False
    """Whether they stand off the average of what projects add, so that no group would leave."""


def divide_exactly(
    names: Sequence[str], game: Game, total: int, alone: Mapping[str, int], slack: float = 0.0
) -> Shares:
    """Shapley shares from every group; they sum to `total`. `slack`: cents that a group has to
    save for it to leave.

    >>> costs = {"a": 100, "b": 100, "c": 40, "ab": 120, "ac": 130, "bc": 130, "abc": 150}
    >>> game = lambda group: costs["".join(sorted(group))] if group else 0
    >>> shares = divide_exactly("abc", game, 150, {n: costs[n] for n in "abc"})
    >>> shares.cents
    {'a': 59, 'b': 58, 'c': 33}
    """
    n = len(names)
    weights = [factorial(k) * factorial(n - k - 1) / factorial(n) for k in range(n)]
    shares = dict.fromkeys(names, 0.0)
    for name in names:
        others = [other for other in names if other != name]
        for size in range(n):
            for group in map(frozenset, combinations(others, size)):
                shares[name] += weights[size] * (game(group | {name}) - game(group))
    stable: Mapping[str, float] = shares
    if find_group_better_off(shares, game, sorted(shares), slack):
        stable = move_into_core(shares, game, total) or shares
    rounded = round_to_total(stable, total, alone)
    return Shares(rounded, "shapley", moved=stable is not shares)


def divide_by_samples(
    names: Sequence[str],
    game: Game,
    total: int,
    alone: Mapping[str, int],
    *,
    pairs: int,
    target: float = 0.0,
) -> Shares:
    """Shapley shares over what projects add in sampled orders of joining, each with its reverse:
    at most so many pairs, and no more where the error is at most `target`. The seed is fixed and
    projects are drawn by name, so that the order in which they are given changes nothing."""
    ordered, drawn = sorted(names), np.random.default_rng(0)
    sums, squares, count = np.zeros(len(ordered)), np.zeros(len(ordered)), 0
    while count < pairs and (count < _LEAST_PAIRS or _error(sums, squares, count) > target):
        order = drawn.permutation(len(ordered))
        added = (_added(ordered, order, game) + _added(ordered, order[::-1], game)) / 2
        sums, squares, count = sums + added, squares + added**2, count + 1
    mean = sums / max(count, 1)
    scale = total / float(mean.sum()) if mean.sum() else 1.0
    shares = {name: float(share) * scale for name, share in zip(ordered, mean, strict=True)}
    return Shares(
        round_to_total(shares, total, alone),
        "shapley_sampled",
        orders=2 * count,
        error=_error(sums, squares, count),
    )


_LEAST_PAIRS = 10


def _added(names: Sequence[str], order: NDArray[np.int64], game: Game) -> NDArray[np.float64]:
    added, group, cost = np.zeros(len(names)), frozenset[str](), 0.0
    for place in order.tolist():
        group = group | {names[place]}
        joined = game(group)
        added[place], cost = joined - cost, joined
    return added


def _error(sums: NDArray[np.float64], squares: NDArray[np.float64], pairs: int) -> float:
    if pairs < 2:
        return float("inf")
    variance = np.maximum(squares - sums**2 / pairs, 0.0) / (pairs - 1)
    mean = abs(float(sums.sum())) / pairs / len(sums)
    widest = _BOTH_SIDES_95 * sqrt(float(variance.max()) / pairs)
    return widest / mean if mean else 0.0


def divide_by_use(weights: Mapping[str, float], total: int, alone: Mapping[str, int]) -> Shares:
    """Shares in proportion to what each uses.

    >>> divide_by_use({"a": 3.0, "b": 1.0}, 100, {"a": 60, "b": 90}).cents
    {'a': 60, 'b': 40}
    """
    sum_of_weights = sum(weights.values())
    equal = total / len(weights)
    shares = {
        name: total * weight / sum_of_weights if sum_of_weights else equal
        for name, weight in weights.items()
    }
    return Shares(round_to_total(shares, total, alone), "use")


def round_to_total(
    shares: Mapping[str, float], total: int, alone: Mapping[str, int]
) -> dict[str, int]:
    """Shares in whole cents that sum to `total`, none above `alone` where those allow it.

    What a share is above its limit goes to the others in proportion to their room. Cents left over
    go to the largest remainders, of equals to the first name.

    >>> round_to_total({"a": 33.4, "b": 33.3, "c": 33.3}, 100, {"a": 33, "b": 50, "c": 50})
    {'a': 33, 'b': 34, 'c': 33}
    """
    has_room = sum(alone.values()) >= total
    limited = _within(shares, total, alone) if has_room else _scaled(shares, total)
    floors = {name: int(np.floor(share + _HAIR)) for name, share in limited.items()}
    left = total - sum(floors.values())
    ranked = sorted(limited, key=lambda name: (floors[name] - round(limited[name], 6), name))
    while left > 0:
        for name in ranked:
            if left > 0 and (not has_room or floors[name] < alone[name]):
                floors[name], left = floors[name] + 1, left - 1
    return floors


_HAIR = 1e-6


def _scaled(shares: Mapping[str, float], total: int) -> dict[str, float]:
    missing = (total - sum(shares.values())) / len(shares)
    return {name: share + missing for name, share in shares.items()}


def _within(shares: Mapping[str, float], total: int, alone: Mapping[str, int]) -> dict[str, float]:
    limited = {name: min(share, float(alone[name])) for name, share in shares.items()}
    missing = total - sum(limited.values())
    room = {name: alone[name] - share for name, share in limited.items()}
    in_all = sum(room.values())
    if missing > 0 and in_all > 0:
        return {name: share + missing * room[name] / in_all for name, share in limited.items()}
    return limited if missing >= 0 else _scaled(limited, total)


def move_into_core(
    shares: Mapping[str, float], game: Game, total: float
) -> dict[str, float] | None:
    """The shares nearest to some, by the sum of squares, that no group would leave; None where
    every division has such a group.

    Dykstra's projections onto x(group) ≤ cost of each group in turn and onto x(all) = total
    (Boyle and Dykstra, A method for finding projections onto the intersection of convex sets,
    1986): the nearest point is one, so that the order of names changes nothing.

    >>> costs = {"a": 60, "b": 60, "c": 60, "ab": 70, "ac": 110, "bc": 110, "abc": 120}
    >>> game = lambda group: costs["".join(sorted(group))]
    >>> nearest = move_into_core({"a": 40, "b": 40, "c": 40}, game, 120)
    >>> {name: round(share) for name, share in nearest.items()}
    {'a': 35, 'b': 35, 'c': 50}
    """
    names = sorted(shares)
    groups = [g for size in range(1, len(names)) for g in combinations(range(len(names)), size)]
    inside = np.array([[i in group for i in range(len(names))] for group in groups], float)
    costs = np.array([game(frozenset(names[i] for i in group)) for group in groups])
    point = np.array([shares[name] for name in names], float)
    steps = np.zeros(len(groups))
    for _ in range(_MOST_ROUNDS):
        point = point + (total - point.sum()) / len(names)
        if (inside @ point - costs).max() <= _IN_CORE:
            return {name: float(share) for name, share in zip(names, point, strict=True)}
        for g, row in enumerate(inside):
            size = row.sum()
            step = min(0.0, (costs[g] - row @ (point - steps[g] * row)) / size)
            point, steps[g] = point + (step - steps[g]) * row, step
    return None


_MOST_ROUNDS, _IN_CORE = 2_000, 0.5
"""Rounds of projections, and cents by which a group may stay above what it costs alone."""


def find_group_better_off(
    shares: Mapping[str, float], game: Game, names: Sequence[str], slack: float = 0.0
) -> tuple[str, ...]:
    """The group that would save most by leaving together, and more than `slack` cents; none where
    the shares are in the core."""
    best: tuple[str, ...] = ()
    most = max(float(len(names)), slack)  # cents that rounding may part
    for size in range(2, len(names)):
        for group in combinations(sorted(names), size):
            saved = sum(shares[name] for name in group) - game(frozenset(group))
            if saved > most:
                best, most = group, saved
    return best


def remember(game: Game) -> Game:
    """The cost of each group worked out once, and nothing for nobody."""
    known: dict[frozenset[str], float] = {frozenset(): 0.0}

    def cost(group: frozenset[str]) -> float:
        if group not in known:
            known[group] = game(group)
        return known[group]

    return cost
