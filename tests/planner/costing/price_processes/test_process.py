"""One price: its mean, its quantiles, its units."""

import datetime as dt
import math
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.process import (
    Floats,
    PriceKind,
    PriceProcess,
    all_processes,
    find_family,
    find_process,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators
from pricing.market.offers import PurchaseOption
from tests.planner.costing.price_processes.marginal import interval, sorted_log_factors

LIST = PriceProcess(
    "h100", PriceKind.LIST, "training", changes_per_year=0.4, change_size=0.3, rise_share=0.1
)
SPOT = PriceProcess(
    "h100",
    PriceKind.SPOT,
    "training",
    resets_per_year=0.9,
    usual_discount=math.log(0.3),
    discount_sd=0.5,
    shock_sd=0.2,
)
CLIMBING = replace(SPOT.at_discount(0.4), shock_sd=0.25, momentum=0.9)
MARKET = PriceProcess("h100", PriceKind.MARKET, "training", drift=-0.2, drift_sd=0.2, shock_sd=0.3)


def test_a_discount_is_a_share_of_the_on_demand_price() -> None:
    assert SPOT.at_discount(0.3).pull == pytest.approx(0)
    with pytest.raises(InvalidInput, match="discount"):
        SPOT.at_discount(0.0)


H100 = "nvidia-h100-80gb-sxm"


def test_every_row_has_source_date_and_evidence() -> None:
    for (kind, scope), one in all_processes().items():
        assert one.source, (kind, scope)
        assert dt.date(2013, 1, 1) < one.fitted_to < dt.date(2030, 1, 1), (kind, scope)
        assert one.series > 0, (kind, scope)
        assert one.cells > 0, (kind, scope)


@pytest.mark.parametrize("option", PurchaseOption)
def test_every_accelerator_has_a_process_under_every_option(option: PurchaseOption) -> None:
    for accelerator in all_accelerators():
        process = find_process(accelerator.slug, option)
        assert process.family == find_family(accelerator.slug).name  # type: ignore[union-attr]


def test_spot_of_h100_moves_as_the_history_did() -> None:
    """Log-price sd of 12-month moves about 0.8 while spot still costs most of on demand."""
    process = find_process(H100, PurchaseOption.SPOT).at_discount(0.83)
    assert 0.6 < sorted_log_factors(process, 12).std() < 1.0


HARDWARE = replace(MARKET, kind=PriceKind.HARDWARE, drift=-0.4)
ALL = (LIST, SPOT.at_discount(0.7), MARKET, HARDWARE, CLIMBING)


def _draw(*processes: PriceProcess, months: int = 37, samples: int = 4000, seed: int = 3) -> Floats:
    return draw_paths(processes, months, samples, seed)


def test_month_0_is_today_and_all_prices_are_positive() -> None:
    paths = _draw(*ALL)
    assert paths.shape == (5, 4000, 37)
    assert (paths[:, :, 0] == 1).all()
    assert (paths > 0).all()


@pytest.mark.parametrize("months", [12, 24, 36])
@pytest.mark.parametrize("process", ALL)
def test_paths_have_the_quantiles_of_the_interval(process: PriceProcess, months: int) -> None:
    ends = (0.1, 0.9)
    drawn = np.quantile(_draw(process, samples=8000)[0, :, months], ends)
    assert np.log(drawn) == pytest.approx(np.log(interval(process, months, ends)), abs=0.06)


def test_spot_climbs_on_and_stays_below_the_price_on_demand() -> None:
    """Google's H100 spot doubled in six months of steps one way (2026); 0.4 of on demand may rise
    to all of it, and a month's move tells of the next."""
    paths = _draw(CLIMBING, samples=8000)[0]
    assert paths.max() == pytest.approx(1 / 0.4)
    assert paths.min() >= 0.08 / 0.4 - 1e-6
    assert (paths[:, 6] > 1.9).mean() > 0.02
    calm = _draw(replace(CLIMBING, resets_per_year=0.0, shock_sd=0.1))[0]
    moves = np.diff(np.log(calm[:, :5]))
    assert np.corrcoef(moves[:, 0], moves[:, 1])[0, 1] == pytest.approx(0.9, abs=0.03)


def test_rent_spot_and_resale_of_a_family_fall_together() -> None:
    together = np.corrcoef(np.log(_draw(*ALL[:4])[:, :, 24]))
    assert (together[np.triu_indices(4, 1)] > 0.05).all()
    assert together[2, 3] > 0.3


def test_one_place_cuts_all_its_prices_of_a_family_at_once() -> None:
    """On demand and commitments of a family change in the same month where rates agree."""
    commitment = replace(LIST, kind=PriceKind.COMMITMENT)
    paths = _draw(LIST, commitment, replace(commitment, place="b"))
    first, same, elsewhere = (np.abs(paths[:, :, 36] - 1) > 1e-6)[[0, 1, 2]]
    assert (first == same).mean() > 0.99
    assert (first == elsewhere).mean() < 0.9
