"""Shares of one whole, rounded together."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import permutations

import pytest

from planner.contract.amounts import (
    format_named_shares,
    format_shares,
    fractions_of_whole,
    round_shares,
)

WHOLES = [
    (0.8749, 0.1249, 0.0002),
    (0.87499999963, 0.125),
    (0.865, 0.135),
    (1 / 3,) * 3,
    (1.0,),
    (0.5, 0.5000000000000002),
    (0.992, 0.004, 0.004),
]


def made_up(seed: int) -> list[float]:
    drawn = random.Random(seed)
    weights = [drawn.random() ** 4 for _ in range(drawn.randint(1, 9))]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("digits", [0, 1])
@pytest.mark.parametrize("fractions", [*WHOLES, *map(made_up, range(40))])
def test_shares_of_a_whole_add_up_to_it(fractions: list[float], digits: int) -> None:
    every = 100 * 10**digits
    rounded = round_shares(fractions, digits)
    assert sum(rounded) == every
    assert all(abs(a - b * every) < 1 for a, b in zip(rounded, fractions, strict=True))


def test_what_is_left_from_computing_moves_no_per_cent() -> None:
    """12.5 and 87.5: alone the first is 12 and the second 88, or with noise 87."""
    for noise in (0.0, 4e-10, -4e-10, 3e-7):
        assert format_shares([0.875 - noise, 0.125]) == ["88%", "12%"]
        assert format_shares([0.125 - noise, 0.875]) == ["12%", "88%"]


@pytest.mark.parametrize(
    ("fractions", "words"),
    [
        ((0.996, 0.004), ["more than 99%", "less than 1%"]),
        ((0.994, 0.006), ["99%", "1%"]),
        ((1.0, 0.0), ["100%", "0%"]),
        ((1 - 5e-7, 5e-7), ["100%", "0%"]),
        ((0.4978, 0.4962, 0.006), ["50%", "50%", "less than 1%"]),
        ((0.992, 0.004, 0.004), ["99%", "less than 1%", "less than 1%"]),
    ],
)
def test_no_share_is_rounded_to_none_or_to_all(fractions: list[float], words: list[str]) -> None:
    assert format_shares(fractions) == words


def test_what_nobody_named_has_is_left_out_of_the_shares() -> None:
    assert format_shares([0.5, 0.3]) == ["50%", "30%"]


def test_the_order_of_names_changes_no_share() -> None:
    parts = {"rent": 0.335, "reserve": 0.335, "buy": 0.33}
    told = [format_named_shares(dict(order)) for order in permutations(parts.items())]
    assert all(one == {"rent": "34%", "reserve": "33%", "buy": "33%"} for one in told)


def test_fractions_of_amounts_sum_to_one_whatever_their_order() -> None:
    drawn = random.Random(7)
    for count in range(1, 20):
        amounts = {f"p{i}": drawn.randrange(0, 10**7) for i in range(count - 1)} | {"last": 1}
        whole = sum(amounts.values())
        fractions = fractions_of_whole(amounts, whole)
        assert sum(Decimal(str(one)) for one in fractions.values()) == 1
        assert all(abs(fractions[k] - own / whole) < 1e-6 for k, own in amounts.items())
        assert fractions_of_whole(dict(reversed(amounts.items())), whole) == fractions
