"""One price: its mean, its quantiles, its units."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace

import numpy as np
import pytest

from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.process import (
    KINDS,
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
MARKET = PriceProcess("h100", PriceKind.MARKET, "training", drift=-0.2, drift_sd=0.2, shock_sd=0.3)


def test_a_discount_is_a_share_of_the_on_demand_price() -> None:
    assert SPOT.at_discount(0.3).pull == pytest.approx(0)
    with pytest.raises(InvalidInput, match="discount"):
        SPOT.at_discount(0.0)


def test_every_purchase_option_has_a_kind_of_price() -> None:
    assert set(KINDS) == set(PurchaseOption)


H100 = "nvidia-h100-80gb-sxm"


def _width(process: PriceProcess) -> float:
    low, high = np.log(interval(process, 24, (0.05, 0.95)))
    return float(high - low)


def test_every_row_has_source_date_and_evidence() -> None:
    for (kind, scope), one in all_processes().items():
        assert one.source, (kind, scope)
        assert dt.date(2013, 1, 1) < one.fitted_to < dt.date(2030, 1, 1), (kind, scope)
        assert one.series > 0, (kind, scope)
        assert one.cells > 0, (kind, scope)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("option", PurchaseOption)
def test_every_accelerator_has_a_process_under_every_option(option: PurchaseOption) -> None:
    for accelerator in all_accelerators():
        process = find_process(accelerator.slug, option)
        assert process.family == find_family(accelerator.slug).name  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", PriceKind)
def test_an_unknown_accelerator_is_less_certain(kind: PriceKind) -> None:
    unknown = find_process("nvidia-x900", kind)
    assert unknown.level == "general"
    assert unknown.family == "nvidia-x900"
    known = [find_process(slug, kind) for slug in (H100, "nvidia-a100-80gb-sxm", "nvidia-l4")]
    assert all(_width(unknown) >= _width(one) for one in known)


def test_a_family_without_history_takes_its_tiers() -> None:
    process = find_process("aws-trainium3", PurchaseOption.SPOT)
    assert (process.level, process.tier, process.family) == ("tier", "training", "trainium3")


def test_spot_of_h100_moves_as_the_history_did() -> None:
    """Log-price sd of 12-month moves about 0.8 while spot still costs most of on demand."""
    process = find_process(H100, PurchaseOption.SPOT).at_discount(0.83)
    assert 0.6 < sorted_log_factors(process, 12).std() < 1.0


def test_list_prices_stand_more_often_than_not() -> None:
    for slug in (H100, "nvidia-v100-16gb-sxm", "nvidia-l4"):
        assert interval(find_process(slug, PurchaseOption.ON_DEMAND), 12, (0.5,)) == 1


def test_old_families_are_cut_more_rarely() -> None:
    young = find_process("nvidia-a100-80gb-sxm", PurchaseOption.ON_DEMAND, year=2024)
    old = find_process("nvidia-a100-80gb-sxm", PurchaseOption.ON_DEMAND, year=2027)
    assert young.changes_per_year > old.changes_per_year


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
    assert np.log(drawn) == pytest.approx(np.log(interval(process, months, ends)), abs=0.06)


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
