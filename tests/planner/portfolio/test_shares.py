"""Shares of a joint cost: what every division must be, whatever the game."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.portfolio.shares import divide_by_samples, divide_by_use, divide_exactly

NAMES = "abcde"


def game_of(seed, count):
    """A random game in which a group never costs more than its parts: a fixed cost for machines
    of the busiest member, shared by all, and a cost of its own for each."""
    random = np.random.default_rng(seed)
    peaks = random.integers(1, 9, count) * 1000
    own = random.integers(0, 500, count)
    places = {name: i for i, name in enumerate(NAMES[:count])}

    def cost(group):
        at = [places[name] for name in group]
        return float(max((peaks[i] for i in at), default=0) + own[at].sum()) if at else 0.0

    return cost


def sample(names, game, total, alone, orders):
    return divide_by_samples(names, game, total, alone, pairs=orders // 2)


def alone_of(names, game):
    return {name: round(game(frozenset(name))) for name in names}


@pytest.mark.parametrize("seed", range(20))
def test_shares_sum_to_the_cent_and_nobody_pays_more_than_alone(seed):
    names = NAMES[: 2 + seed % 4]
    game = game_of(seed, len(names))
    total, alone = round(game(frozenset(names))), alone_of(names, game)
    weights = {name: float(i + 1) for i, name in enumerate(names)}
    for shares in (
        divide_exactly(names, game, total, alone),
        sample(names, game, total, alone, orders=40),
        divide_by_use(weights, total, alone),
    ):
        assert sum(shares.cents.values()) == total
        assert all(shares.cents[name] <= alone[name] for name in names)


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_names_changes_nothing(seed):
    game = game_of(seed, 5)
    total, alone = round(game(frozenset(NAMES))), alone_of(NAMES, game)
    turned = NAMES[::-1]
    for divide in (divide_exactly, lambda *a: sample(*a, orders=30)):
        one, other = divide(NAMES, game, total, alone), divide(turned, game, total, alone)
        assert dict(one.cents) == dict(other.cents)


def test_the_shares_of_a_runway_are_the_known_ones():
    # Littlechild and Owen, 1973: the cost of a runway is that of the largest aircraft.
    lengths = {"a": 1200, "b": 2400, "c": 3600}
    shares = divide_exactly(
        "abc", lambda g: float(max((lengths[n] for n in g), default=0)), 3600, lengths
    )
    assert dict(shares.cents) == {"a": 400, "b": 1000, "c": 2200}


def test_samples_come_close_to_the_exact_shares_within_their_error():
    game = game_of(3, 5)
    total, alone = round(game(frozenset(NAMES))), alone_of(NAMES, game)
    exact = divide_exactly(NAMES, game, total, alone)
    sampled = sample(NAMES, game, total, alone, orders=2000)

    most = max(abs(exact.cents[n] - sampled.cents[n]) for n in NAMES)
    assert most <= 2 * sampled.error * total / len(NAMES) + 1
    assert sampled.orders == 2000


@given(
    st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1e6), min_size=1), st.integers(0, 10**7)
)
def test_shares_by_use_sum_to_the_cent_whatever_is_used(weights, total):
    alone = dict.fromkeys(weights, total)
    shares = divide_by_use(weights, total, alone)
    assert sum(shares.cents.values()) == total
    assert min(shares.cents.values()) >= 0


def test_every_group_is_asked_for_in_an_exact_division():
    seen = set()

    def game(group):
        seen.add(group)
        return float(len(group))

    divide_exactly("abcd", game, 4, dict.fromkeys("abcd", 1))
    assert {frozenset(g) for k in range(5) for g in combinations("abcd", k)} <= seen
