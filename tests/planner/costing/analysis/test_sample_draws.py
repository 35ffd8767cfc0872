"""Single samples: their spread, their demand and their ties, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from planner.costing.analysis.monte_carlo import (
    RiskParameters,
    RiskSamples,
    demand_in_sample,
    draw_samples,
    spot_factor,
)
from planner.costing.analysis.risk_result import _first_cheapest


def one_sample(slip: int = 0, growth: float = 0.0, price: float = 0.0) -> RiskSamples:
    ones = np.ones(1)
    return RiskSamples(ones * growth, ones * price, np.array([slip]), ones, ones, ones)


def test_nothing_varies_unless_a_spread_is_given() -> None:
    plain = RiskParameters(50, 3)
    drawn = draw_samples(plain)
    assert (drawn.slip == 0).all()
    assert (drawn.spot == 1).all()
    assert (drawn.resale == 1).all()
    assert (drawn.level == 1).all()
    assert (plain.demand_growth_sd, plain.price_sd) == (0, 0)
    costly = RiskParameters(50, 3, spot_interruptions_per_month=5)
    assert (draw_samples(costly).spot == 1).all()


def test_interruptions_have_a_coefficient_of_variation_of_a_half() -> None:
    """With restarts alone a useful hour costs (1 − a) / (1 − a g), so g can be read off it."""
    one = RiskParameters(200_000, 5, spot_interruptions_per_month=10, restart_hours=0.5)
    a = 0.5 * 10 / 730
    g = (1 - (1 - a) / draw_samples(one).spot) / a
    assert g.mean() == pytest.approx(1.0, abs=0.005)
    assert g.std() == pytest.approx(0.5, abs=0.005)


def test_twice_the_interruptions_cost_what_young_says() -> None:
    one = RiskParameters(
        1, 0, spot_interruptions_per_month=20, checkpoint_save_hours=0.1, restart_hours=0.5
    )
    rate = 20 / 730
    usual = 1 - (2 * 0.1 * rate) ** 0.5 - 0.5 * rate
    twice = 1 - (2 * 0.1 * 2 * rate) ** 0.5 - 0.5 * 2 * rate
    assert spot_factor(one, np.array([1.0, 2.0])) == pytest.approx([1.0, usual / twice])
    assert spot_factor(one, np.array([1e6])) == pytest.approx([usual / 0.05])


def test_a_sample_late_by_a_month_keeps_its_peak() -> None:
    """100 h at a peak of 50, then 60 at 60: all of it falls to month 1, 2 h at peak."""
    hours, peak = np.array([100.0, 60.0]), np.array([50.0, 60.0])
    demand, width, prices = demand_in_sample(hours, peak, RiskParameters(1, 0), one_sample(), 0)
    assert demand.tolist() == [100, 60]
    assert width.tolist() == [50, 60]
    assert prices.tolist() == [1, 1]
    demand, width, _ = demand_in_sample(hours, peak, RiskParameters(1, 0), one_sample(1), 0)
    assert demand.tolist() == [0, 160]
    assert width.tolist() == [0, 80]


def test_work_without_a_peak_is_done_in_an_hour() -> None:
    hours, peak = np.array([100.0, 60.0]), np.array([50.0, 0.0])
    _, width, _ = demand_in_sample(hours, peak, RiskParameters(1, 0), one_sample(), 0)
    assert width.tolist() == [50, 60]


def test_half_an_accelerator_at_the_peak_works_twice_as_long() -> None:
    hours, peak = np.array([100.0, 60.0]), np.array([0.5, 60.0])
    _, width, _ = demand_in_sample(hours, peak, RiskParameters(1, 0), one_sample(), 0)
    assert width.tolist() == [0.5, 60]


def test_a_sample_that_grows_grows_in_width_and_price() -> None:
    sure = RiskParameters(1, 0, demand_growth_sd=0.2, price_sd=0.1)
    hours = np.array([100.0, 100.0])
    demand, width, prices = demand_in_sample(hours, hours, sure, one_sample(0, 2.0, -1.0), 0)
    grown = np.exp(0.2 * 2 / 12 - 0.5 * (0.2 / 12) ** 2)
    assert demand == pytest.approx([100, 100 * grown])
    assert width == pytest.approx([100, 100 * grown])
    assert prices == pytest.approx([1, np.exp(-0.1 / 12 - 0.5 * (0.1 / 12) ** 2)])


def test_a_hair_is_a_billionth_of_the_cost() -> None:
    million = np.array([[1e6 + 1e-4], [1e6]])
    assert _first_cheapest(million).tolist() == [0]
    assert _first_cheapest(million + np.array([[1e-2], [0.0]])).tolist() == [1]
    assert _first_cheapest(-million).tolist() == [0]
    assert _first_cheapest(np.array([[1.0], [0.0], [0.0]])).tolist() == [1]
