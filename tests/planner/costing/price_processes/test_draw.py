"""Joint paths: the same for a seed, true to one price's quantiles, falling together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.process import Floats, PriceKind, PriceProcess
from tests.planner.costing.price_processes.test_process import LIST, MARKET, SPOT

HARDWARE = replace(MARKET, kind=PriceKind.HARDWARE, drift=-0.4)
ALL = (LIST, SPOT.at_discount(0.7), MARKET, HARDWARE)


def _draw(*processes: PriceProcess, months: int = 37, samples: int = 4000, seed: int = 3) -> Floats:
    return draw_paths(processes, months, samples, np.random.default_rng(seed))


def test_a_seed_gives_the_same_paths() -> None:
    assert np.array_equal(_draw(*ALL), _draw(*ALL))
    assert not np.array_equal(_draw(*ALL), _draw(*ALL, seed=4))


def test_month_0_is_today_and_all_prices_are_positive() -> None:
    paths = _draw(*ALL)
    assert paths.shape == (4, 4000, 37)
    assert (paths[:, :, 0] == 1).all()
    assert (paths > 0).all()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("months", [12, 24, 36])
@pytest.mark.parametrize("process", ALL)
def test_paths_have_the_quantiles_of_the_interval(process: PriceProcess, months: int) -> None:
    ends = (0.1, 0.9)
    drawn = np.quantile(_draw(process, samples=8000)[0, :, months], ends)
    assert np.log(drawn) == pytest.approx(np.log(process.interval(months, ends)), abs=0.06)


def test_rent_spot_and_resale_of_a_family_fall_together() -> None:
    together = np.corrcoef(np.log(_draw(*ALL)[:, :, 24]))
    assert (together[np.triu_indices(4, 1)] > 0.05).all()
    assert together[2, 3] > 0.3


def test_a_family_moves_closer_with_itself_than_with_another() -> None:
    other = replace(MARKET, family="l4")
    together = np.corrcoef(np.log(_draw(MARKET, HARDWARE, other)[:, :, 24]))
    assert together[0, 1] > together[0, 2] > 0


def test_one_place_cuts_all_its_prices_of_a_family_at_once() -> None:
    """On demand and commitments of a family change in the same month where rates agree."""
    commitment = replace(LIST, kind=PriceKind.COMMITMENT)
    paths = _draw(LIST, commitment, replace(commitment, place="b"))
    first, same, elsewhere = (np.abs(paths[:, :, 36] - 1) > 1e-6)[[0, 1, 2]]
    assert (first == same).mean() > 0.99
    assert (first == elsewhere).mean() < 0.9


def test_an_order_of_processes_is_no_matter_of_their_distribution() -> None:
    forward, backward = _draw(MARKET, SPOT), _draw(SPOT, MARKET)
    ends = np.quantile(np.log(forward[0, :, 24]), (0.1, 0.9))
    assert np.quantile(np.log(backward[1, :, 24]), (0.1, 0.9)) == pytest.approx(ends, abs=0.08)


def test_one_month_and_no_movement() -> None:
    assert (_draw(*ALL, months=1) == 1).all()
    still = PriceProcess("h100", PriceKind.LIST, "training")
    assert (_draw(still) == 1).all()
