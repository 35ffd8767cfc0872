"""Draws of the simulation: their bias, their spread and how they are summed up."""

from __future__ import annotations

import numpy as np
import pytest

from planner.costing.analysis.monte_carlo import RiskParameters, draw_samples

MANY = RiskParameters(samples=200_000, seed=5, residual_sd=0.5, slip_months_sd=1.5, hours_sd=0.3)


def test_a_draw_of_the_resale_value_is_1_on_average() -> None:
    """exp(σ z − ½ σ²) has mean 1 and, of its logarithm, the standard deviation σ."""
    resale = draw_samples(MANY).resale
    assert resale.mean() == pytest.approx(1.0, abs=0.01)
    assert np.log(resale).mean() == pytest.approx(-0.125, abs=0.01)
    assert np.log(resale).std() == pytest.approx(0.5, abs=0.01)
