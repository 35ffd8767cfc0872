"""Quantiles of errors hold as often as they say, one team one vote."""

import random

import pytest

from planner.sizing.performance.teams import conformal_quantile, conformal_range


def test_a_new_team_lies_inside_as_often_as_the_range_says():
    draw = random.Random(3)
    inside = 0
    for _ in range(2000):
        errors = [(str(i), draw.gauss(0, 1)) for i in range(25)]
        low, high = conformal_range(errors[1:])
        inside += low <= errors[0][1] <= high
    assert inside / 2000 == pytest.approx(0.8, abs=0.03)


def test_a_team_of_many_runs_has_one_vote():
    many = [("a", 5.0)] * 50
    others = [(name, 0.0) for name in "bcdefgh"]
    assert conformal_quantile([*many, *others], 0.5) == pytest.approx(0.0, abs=0.7)
    assert conformal_quantile([*many, *others], 0.5) < 1


def test_levels_beyond_the_outermost_error_stay_at_it():
    assert conformal_range([("a", 1.0), ("b", 2.0)]) == (1.0, 2.0)
