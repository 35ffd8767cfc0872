"""Policies on small trees, against dynamic programming by enumeration."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from planner.costing.policy.least_squares import (
    Move,
    Paths,
    best_fixed,
    bound,
    fit_policy,
    follow,
    moves_made,
)

PRICES = (1.0, 2.0, 5.0)
"""Rents: each next one is lower, the same or higher, as likely; at an end it stays."""
BUYING, RUNNING, KEPT = 10.0, 0.5, 0.6
"""What a server costs, what running it costs, and the share of its worth that a date leaves."""


def sale(age: int, price: float) -> float:
    """What a server fetches: more where rents are high."""
    return float(BUYING * KEPT**age * (0.5 + price / 8.0))


def tree(dates: int, ends: bool = False) -> Paths:
    """Every path of the tree: rent, buy, keep or sell, and buy again. With `ends` the work is over
    at each next date as likely as not, and nothing costs anything from then on."""
    each = product((-1, 0, 1), (True, False) if ends else (True,))
    rows = list(product(each, repeat=dates - 1))
    every = np.array(rows, dtype=int).reshape(len(rows), dates - 1, 2)
    steps = every[:, :, 0]
    going = np.cumprod(every[:, :, 1], axis=1).astype(bool)
    is_open = np.column_stack([np.full(len(steps), True), going])
    at = np.ones((len(steps), dates), dtype=int)
    for k in range(1, dates):
        at[:, k] = np.clip(at[:, k - 1] + steps[:, k - 1], 0, 2)
    prices = np.array(PRICES)[at]
    moves: list[list[Move]] = []
    for k in range(dates):
        row, nothing = [], np.zeros(len(prices))
        last = k == dates - 1
        rent = prices[:, k]
        row.append(Move("wait", 0, 0, rent))
        sold = np.array([sale(1, p) for p in rent]) if last else nothing
        row.append(Move("buy", 0, 0 if last else 1 + k, BUYING + RUNNING - sold))
        for since in range(k):
            age = k - since
            left = np.array([sale(age + 1, p) for p in rent]) if last else nothing
            row.append(Move("keep", 1 + since, 0 if last else 1 + since, RUNNING - left))
            fetched = np.array([sale(age, p) for p in rent])
            row.append(Move("sell", 1 + since, 0, rent - fetched))
        moves.append([replace(move, cost=move.cost * is_open[:, k]) for move in row])
    known = [prices[:, [k]] for k in range(dates)]
    return Paths(state=known, moves=moves, is_open=list(is_open.T) if ends else ())


def optimum(dates: int, goes_on: float = 1.0) -> float:
    """By enumeration of prices, positions and moves: no regression, no paths."""

    @cache
    def value(k: int, at: int, since: int | None) -> float:
        if k == dates:
            return 0.0
        last, price = k == dates - 1, PRICES[at]

        def after(position: int | None) -> float:
            following = (min(max(at + step, 0), 2) for step in (-1, 0, 1))
            return 0.0 if last else goes_on / 3 * sum(value(k + 1, i, position) for i in following)

        if since is None:
            left = sale(1, price) if last else 0.0
            return min(price + after(None), BUYING + RUNNING - left + after(k))
        age = k - since
        left = sale(age + 1, price) if last else 0.0
        return min(RUNNING - left + after(since), price - sale(age, price) + after(None))

    return value(0, 1, None)


@pytest.mark.parametrize("dates", [1, 2, 3, 4, 5])
def test_a_small_tree_is_decided_as_by_enumeration(dates: int) -> None:
    paths, best = tree(dates), optimum(dates)
    policy = fit_policy(paths)
    assert float(follow(policy, paths).mean()) == pytest.approx(best, rel=1e-6)
    assert float(bound(policy, paths, paths).mean()) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("dates", [2, 3, 4])
def test_a_tree_whose_work_may_end_is_decided_as_by_enumeration(dates: int) -> None:
    paths, best = tree(dates, ends=True), optimum(dates, goes_on=0.5)
    policy = fit_policy(paths)
    assert float(follow(policy, paths).mean()) == pytest.approx(best, rel=1e-6)
    assert float(bound(policy, paths, paths).mean()) == pytest.approx(best, rel=1e-6)


def test_waiting_is_worth_something_on_the_tree() -> None:
    """Else the trees above would test nothing but the best fixed plan."""
    assert optimum(5) < 0.9 * best_fixed(tree(5))[0]


def fixed_plans(paths: Paths) -> Iterator[float]:
    def go_on(k: int, position: int, cost: float) -> Iterator[float]:
        if k == len(paths):
            yield cost
            return
        for move in paths.moves[k]:
            if move.start == position:
                yield from go_on(k + 1, move.end, cost + float(move.cost.mean()))

    yield from go_on(0, 0, 0.0)


def test_the_best_fixed_plan_is_the_least_of_all_of_them() -> None:
    paths = tree(4)
    assert best_fixed(paths)[0] == pytest.approx(min(fixed_plans(paths)))


def test_a_poor_policy_costs_more_and_its_bound_is_lower() -> None:
    """A policy that looks at no price: it may cost no less than the optimum, nor may its bound be
    above it."""
    paths, best = tree(5), optimum(5)
    blind = fit_policy(paths, most_terms=1)
    assert float(follow(blind, paths).mean()) > best * 1.01
    assert float(bound(blind, paths, paths).mean()) < best * (1.0 - 1e-6)


def test_moves_made_cost_what_the_policy_costs() -> None:
    paths = tree(4)
    policy = fit_policy(paths)
    cost = np.zeros(paths.count)
    for moves, made in zip(paths.moves, moves_made(policy, paths), strict=True):
        cost += np.stack([move.cost for move in moves])[made, np.arange(paths.count)]
    assert cost == pytest.approx(follow(policy, paths))
