"""Draws of the simulation: their bias, their spread and how they are summed up."""

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.outcomes import RiskParameters, draw_lognormal, spot_factor
from planner.costing.analysis.plan_costs import shift_months
from planner.costing.analysis.simulation import summarize_risk


def test_a_growth_factor_has_mean_1_and_widens_with_time() -> None:
    z = np.random.default_rng(1).standard_normal(200_000)
    factor = draw_lognormal(z, 0.3, np.array([0.0, 1.0, 2.0]))
    assert factor.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.01)
    assert np.log(factor).std(axis=0) == pytest.approx([0, 0.3, 0.6], abs=0.01)
    assert (draw_lognormal(z[:3], 0.0, np.array([0.0, 5.0])) == 1.0).all()


def test_work_beyond_the_horizon_is_counted_in_its_last_month() -> None:
    hours = np.array([1.0, 2.0, 3.0, 4.0])
    late = {0: [1, 2, 3, 4], 1: [0, 1, 2, 7], 3: [0, 0, 0, 10], 9: [0, 0, 0, 10]}
    for slip, moved in late.items():
        assert shift_months(hours, slip).tolist() == moved
        left = [0.0] * min(slip, 3) + hours[: max(4 - slip, 1)].tolist()
        assert shift_months(hours, slip, keep_total=False).tolist() == left


def test_costs_of_samples_are_summed_up_by_scenario() -> None:
    one, other = np.arange(100.0), np.full(100, 30.0)
    parameters = RiskParameters(100, 4)
    keys = (ScenarioKey.CLOUD, ScenarioKey.HYBRID)
    found = summarize_risk(keys, np.array([one, other]), 2 * np.array([one, other]), parameters)
    assert found.percentiles[ScenarioKey.CLOUD] == pytest.approx((9.9, 49.5, 89.1))
    assert found.total_percentiles[ScenarioKey.CLOUD] == pytest.approx((19.8, 99, 178.2))
    assert found.mean == {ScenarioKey.CLOUD: 49.5, ScenarioKey.HYBRID: 30.0}
    # Of 0 to 29 the first is cheaper, at 30 both are and the first counts.
    assert found.probability_cheapest == {ScenarioKey.CLOUD: 0.31, ScenarioKey.HYBRID: 0.69}
    assert (found.samples, found.seed) == (100, 4)
    assert summarize_risk((), np.zeros((0, 100)), np.zeros((0, 100)), parameters).mean == {}


def test_spot_costs_more_the_more_interruptions_lose_of_it() -> None:
    """(1 − √(2 δ / M) − R / M at the mean) over the same at the rate drawn, M = 730 / λ."""
    one = RiskParameters(
        1, 1, spot_interruptions_per_month=20, checkpoint_save_hours=0.1, restart_hours=0.5
    )
    rate = 20 / 730
    usual = 1 - (2 * 0.1 * rate) ** 0.5 - 0.5 * rate
    twice = 1 - (2 * 0.1 * 2 * rate) ** 0.5 - 0.5 * 2 * rate
    assert spot_factor(one, np.array([1.0, 2.0])) == pytest.approx([1.0, usual / twice])
    assert spot_factor(one, np.array([1e6])) == pytest.approx([usual / 0.05])
