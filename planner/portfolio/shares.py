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


def divide_exactly(
    names: Sequence[str], game: Game, total: int, alone: Mapping[str, int]
) -> Shares:
    """Shapley shares from every group; they sum to `total`.

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
    return Shares(round_to_total(shares, total, alone), "shapley")


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


def remember(game: Game) -> Game:
    """The cost of each group worked out once, and nothing for nobody."""
    known: dict[frozenset[str], float] = {frozenset(): 0.0}

    def cost(group: frozenset[str]) -> float:
        if group not in known:
            known[group] = game(group)
        return known[group]

    return cost
