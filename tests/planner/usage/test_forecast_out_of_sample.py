"""Forecasts of what had no part in choosing their weights and widths.

The weights were chosen on two public series. Here each is judged by the weights that fit the other
one best, by those of its own first cuts, and by processes that are known because they are made.
"""

from __future__ import annotations

import math
from itertools import product
from random import Random
from statistics import fmean

import pytest

from planner.usage.demand import methods
from planner.usage.demand.forecast import MIN_CUTS, forecast
from planner.usage.demand.methods import SEASON, damped_trend, seasonal_naive
from tests.planner.usage.public_series import ALL_PARTITIONS, PARTITION_GENERAL

AHEAD, MONTHS, PROCESSES = 6, 36, 6
WEIGHTS = tuple(product((0.1, 0.3, 0.5, 0.9), (0.0, 0.1, 0.3), (0.8, 0.9, 1.0)))


def mean_error(expected, actual):
    return fmean(abs(one - other) for one, other in zip(expected, actual, strict=True))


def ratio(series, first=SEASON, last=MONTHS, carry=damped_trend):
    """Error of `carry` over that of the year before, at the cuts from `first` on."""
    cuts = range(first, min(last, len(series) - AHEAD) + 1)
    own = fmean(mean_error(carry(series[:cut], AHEAD), series[cut : cut + AHEAD]) for cut in cuts)
    naive = fmean(
        mean_error(seasonal_naive(series[:cut], AHEAD), series[cut : cut + AHEAD]) for cut in cuts
    )
    return own / naive


def use_weights(monkeypatch, weights):
    for name, value in zip(("LEVEL_WEIGHT", "TREND_WEIGHT", "DAMPING"), weights, strict=True):
        monkeypatch.setattr(methods, name, value)


def best_weights(monkeypatch, series, last=MONTHS):
    def error(weights):
        use_weights(monkeypatch, weights)
        return ratio(series, last=last)

    return min(WEIGHTS, key=error)


@pytest.mark.parametrize(
    ("fitted", "judged"),
    [(ALL_PARTITIONS, PARTITION_GENERAL), (PARTITION_GENERAL, ALL_PARTITIONS)],
)
def test_weights_of_one_series_are_a_tenth_better_on_the_other(fitted, judged, monkeypatch):
    use_weights(monkeypatch, best_weights(monkeypatch, fitted))
    assert ratio(judged) <= 0.5


@pytest.mark.parametrize("series", [ALL_PARTITIONS, PARTITION_GENERAL])
def test_weights_of_the_first_cuts_are_a_tenth_better_on_the_later_ones(series, monkeypatch):
    use_weights(monkeypatch, best_weights(monkeypatch, series, last=SEASON + 3))
    assert ratio(series, first=SEASON + 4) <= 0.7


def test_nearly_any_weights_are_a_tenth_better_on_both(monkeypatch):
    ratios = []
    for weights in WEIGHTS:
        use_weights(monkeypatch, weights)
        ratios += [ratio(ALL_PARTITIONS), ratio(PARTITION_GENERAL)]
    assert fmean(one <= 0.9 for one in ratios) >= 0.95


def made(kind, seed):
    """Hours of 36 months of a process that is known; noise of 15 %."""
    random = Random(f"{kind} {seed}")
    level, phase, hours = 1e4, random.uniform(0, 6), []
    for month in range(MONTHS):
        if kind == "random walk":
            level *= math.exp(random.gauss(0, 0.12))
        if kind == "steps" and random.random() < 0.12:
            level *= math.exp(random.gauss(0, 0.5))
        trend = {"growth": 1.05**month, "decline": 0.96**month}.get(kind, 1.0)
        season = 1 + 0.4 * math.sin(math.tau * month / 12 + phase) if kind == "season" else 1.0
        noise = 0.0 if kind == "random walk" else random.gauss(0, 0.15)
        hours.append(level * trend * season * math.exp(noise))
    return hours


KINDS = {
    "flat": (0.95, 0.65),
    "growth": (0.6, 0.6),
    "decline": (0.5, 0.65),
    "random walk": (0.9, 0.5),
    "steps": (0.95, 0.6),
    "season": (1.15, 0.65),
}
"""Most error over that of the year before, and least share that the range has to hold, from the
month on in which methods can be told apart."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_known_process_is_no_worse_than_the_year_before(kind):
    own, naive, inside = [], [], []
    for seed in range(PROCESSES):
        hours = made(kind, seed)
        for cut in range(SEASON + MIN_CUTS, MONTHS - AHEAD + 1, 2):
            actual, carried = hours[cut : cut + AHEAD], forecast(hours[:cut], AHEAD)
            own.append(mean_error(carried.p50, actual))
            naive.append(mean_error(seasonal_naive(hours[:cut], AHEAD), actual))
            ends = zip(carried.p10, actual, carried.p90, strict=True)
            inside += [low <= one <= high for low, one, high in ends]
    most, least = KINDS[kind]
    assert fmean(own) <= most * fmean(naive)
    assert least <= fmean(inside) <= 0.95


def test_with_too_little_to_tell_a_season_the_range_reaches_to_the_year_before():
    hours = [1000 * (1 + 0.8 * math.sin(math.tau * month / 12)) for month in range(14)]
    carried = forecast(hours, 12)
    assert carried.method == "damped_trend"
    for low, year_ago, high in zip(carried.p10, hours[2:], carried.p90, strict=True):
        assert low <= year_ago <= high
