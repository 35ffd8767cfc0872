"""One price: its mean, its quantiles, its units."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.costing.price_processes.process import KINDS, PriceKind, PriceProcess
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

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

processes = st.builds(
    PriceProcess,
    family=st.just("h100"),
    kind=st.sampled_from(PriceKind),
    tier=st.just("training"),
    changes_per_year=st.floats(0, 1),
    changes_shape=st.floats(0.5, 5),
    change_size_sd=st.floats(0, 1),
    rise_share=st.floats(0, 1),
    drift=st.floats(-0.5, 0.5),
    drift_sd=st.floats(0, 0.5),
    resets_per_year=st.floats(0, 2),
    usual_discount=st.floats(-2, 0),
    discount_sd=st.floats(0, 1),
    discount=st.none() | st.floats(-2, 0),
    shock_sd=st.floats(0, 0.8),
)


@given(processes, st.floats(0, 60))
@settings(max_examples=40, deadline=None)
def test_quantiles_rise_and_prices_stay_positive(process: PriceProcess, months: float) -> None:
    quantiles = process.interval(months, (0.05, 0.1, 0.5, 0.9, 0.95))
    assert (np.diff(quantiles) >= 0).all()
    assert (quantiles > 0).all()


@pytest.mark.parametrize("process", [LIST, SPOT.at_discount(0.8), MARKET])
def test_today_is_certain(process: PriceProcess) -> None:
    assert process.interval(0).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("process", [LIST, SPOT.at_discount(0.8), MARKET])
@pytest.mark.parametrize("months", [3, 12, 36])
def test_draws_have_the_mean_of_the_formula(process: PriceProcess, months: int) -> None:
    drawn = process.sorted_log_factors(months)
    error = 4 * drawn.std() / math.sqrt(len(drawn))
    assert drawn.mean() == pytest.approx(process.mean_log_factor(months), abs=error + 1e-6)


def test_without_drift_or_pull_the_logarithm_is_a_martingale() -> None:
    assert replace(MARKET, drift=0.0).mean_log_factor(24) == 0
    assert SPOT.mean_log_factor(24) == 0


def test_dear_spot_falls_and_cheap_spot_rises() -> None:
    dear, cheap = SPOT.at_discount(0.8), SPOT.at_discount(0.1)
    assert dear.interval(12)[1] < 1 < cheap.interval(12)[2]
    assert dear.mean_log_factor(12) < 0 < cheap.mean_log_factor(12)


def test_spot_settles_and_rents_wander_on() -> None:
    def width(process: PriceProcess, months: int) -> float:
        low, high = np.log(process.interval(months, (0.1, 0.9)))
        return float(high - low)

    assert width(SPOT, 60) < 1.3 * width(SPOT, 24)
    assert width(MARKET, 60) > 1.5 * width(MARKET, 24)


def test_rates_are_per_year() -> None:
    """λ = 0.4 a year without doubt about it: e^(−0.4) of the prices stand after 12 months."""
    sure = replace(LIST, changes_shape=1e6)
    still = float((sure.sorted_log_factors(12) == 0).mean())
    assert 0.64 < still < 0.76


def test_a_discount_is_a_share_of_the_on_demand_price() -> None:
    assert SPOT.at_discount(0.3).pull == pytest.approx(0)
    with pytest.raises(InvalidInput, match="discount"):
        SPOT.at_discount(0.0)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(InvalidInput, match="quantiles"):
        LIST.interval(12, (1.1,))
    with pytest.raises(InvalidInput, match="months"):
        LIST.interval(-1)


def test_every_purchase_option_has_a_kind_of_price() -> None:
    assert set(KINDS) == set(PurchaseOption)
