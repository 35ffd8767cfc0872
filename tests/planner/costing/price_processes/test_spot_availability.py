"""Whether spot is there: shares that add up, and their limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.costing.price_processes.spot_availability import SpotAvailability
from pricing.common.invalid_input import InvalidInput


@given(st.floats(0, 100), st.floats(0, 500), st.floats(0, 500))
def test_spot_and_its_fallback_never_run_more_than_all_hours(
    rate: float, waiting: float, patience: float
) -> None:
    one = SpotAvailability(rate, waiting)
    fallback = one.fallback_share(patience)
    assert 0 <= fallback <= 1 - one.available_share + 1e-12
    assert 0 <= one.on_demand_share(patience) <= 1
    assert one.fallback_share(patience + 1) <= fallback


def test_patience_0_leaves_nothing_waiting() -> None:
    one = SpotAvailability(2.0, 10.0)
    assert one.available_share + one.fallback_share(0) == pytest.approx(1)
    assert one.fallback_share(1e6) == pytest.approx(0)


def test_an_hour_costs_between_spot_and_on_demand() -> None:
    one = SpotAvailability(20.0, 12.0)
    assert 2.0 < one.effective_usd_per_hour(2.0, 6.0, patience_hours=1.0) < 6.0
    assert SpotAvailability(0.0, 12.0).effective_usd_per_hour(2.0, 6.0, 1.0) == 2.0


def test_shares_of_samples_are_those_of_one_machine() -> None:
    one = SpotAvailability(3.0, 8.0)
    rate, waiting = np.array([1.0, 2.0, 0.0, 1.0]), np.array([1.0, 0.5, 1.0, 0.0])
    alone = [
        SpotAvailability(3.0 * r, 8.0 * w).on_demand_share(2.0)
        for r, w in zip(rate.tolist(), waiting.tolist(), strict=True)
    ]
    assert one.on_demand_shares(rate, waiting, 2.0) == pytest.approx(alone)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="waiting_hours"):
        SpotAvailability(1.0, -1.0)
    with pytest.raises(InvalidInput, match="patience_hours"):
        SpotAvailability(1.0, 1.0).fallback_share(-1.0)
